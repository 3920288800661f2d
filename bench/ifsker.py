#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The versions of apps/ifsker beside each other: a page of Markdown.

usage: ifsker.py [--build build/release] [--ranks N,N...] [--grid 1280x512] [--fields 16] [--steps 50] [--pieces 2]
                 [--rounds 7] [--mpi openmpi] [--compiler gcc] [--network WORDS]

As in the paper on task-aware MPI, section 7.2 and figure 14: all versions have a rank for each core, and one thread
each. The same grid is computed by 1, 2, 4... ranks (default: up to as many as there are cores). In each round every
version runs once with each number of ranks under Sennit, and pure once without it, all in a random order. Times are
the program's own, of the steps. Ratios are taken within a round: a speed-up is over pure under Sennit with the first
number of ranks, and an efficiency is over the same version with the first number of ranks. All runs have to end with
the same values. With --network (docs/user/simulate.md), messages cross Sennit's injected network, so only Sennit runs."""

import report
import versions

VERSIONS = ("pure", "interop-blk", "interop-nonblk")


def command(options, version, ranks, sennit):
    """argv and environment of one run"""
    start, environment = versions.start(options, ranks, 1, sennit)
    if options.network:
        environment["SENNIT_NETWORK"] = options.network
    return [*start, options.build / f"apps/ifsker-{options.compiler}-{options.mpi}", "--version", version, "--grid", options.grid,
            "--fields", options.fields, "--steps", options.steps, "--pieces", options.pieces], environment


def rows_of(options, seconds):
    least = options.ranks[0]
    for ranks in options.ranks:
        for version in VERSIONS:
            ours, same = seconds[version, ranks, True], seconds[version, least, True]
            stock = seconds.get((version, ranks, False))
            efficiency = [a * least / (b * ranks) for a, b in zip(same, ours)]
            yield [ranks, version, versions.spread(ours, 4), versions.ratios(seconds["pure", least, True], ours),
                   versions.spread(efficiency, 2), versions.spread(stock, 4) if stock else "–"]


def parse():
    parser = versions.parser_of(__doc__.splitlines()[0])
    parser.add_argument("--ranks", help="numbers of ranks, with commas between them")
    parser.add_argument("--grid", default="1280x512")
    parser.add_argument("--fields", type=int, default=16)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--pieces", type=int, default=2)
    parser.add_argument("--network", default="", help="words of SENNIT_NETWORK")
    options = parser.parse_args()
    options.build = options.build.resolve()
    try:
        options.ranks = ([int(word) for word in options.ranks.split(",")] if options.ranks
                         else [1 << i for i in range(versions.cores().bit_length())])
    except ValueError:
        parser.error(f"--ranks {options.ranks}: expected numbers with commas between them")
    return options


def main():
    options = parse()
    cases = [(version, ranks, True) for ranks in options.ranks for version in VERSIONS]
    if not options.network:
        cases += [("pure", ranks, False) for ranks in options.ranks]
    facts = versions.facts(options)
    seconds = versions.measure(options, cases, command)
    network = f", network {options.network}" if options.network else ""
    versions.print_head("IFSKer: the versions of the paper on task-aware MPI", "ifsker.py", facts,
                        f"{options.rounds} rounds; {options.grid} points, {options.fields} fields, {options.steps} steps, "
                        f"{options.pieces} pieces; ranks of one thread; {options.compiler}, {options.mpi}{network}")
    print(report.markdown(["ranks", "version", "Sennit, s", "speed-up", "efficiency", "stock, s"],
                          [[str(cell) for cell in row] for row in rows_of(options, seconds)]))


if __name__ == "__main__":
    main()
