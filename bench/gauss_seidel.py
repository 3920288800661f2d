#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The versions of apps/gauss-seidel beside each other: a page of Markdown.

usage: gauss_seidel.py [--build build/release] [--ranks 2] [--threads N] [--size 4096] [--block 512] [--iterations 50]
                       [--rounds 7] [--mpi openmpi] [--compiler gcc] [--versions pure,interop-blk,interop-blk:fifo]
                       [--network WORDS]

As in the paper on task-aware MPI, section 7.1: versions without tasks have a rank for each core, the others --ranks
ranks with --threads threads each (default: as many cores as there are). In each round every version runs once under
Sennit, and once under the stock runtime and MPI where it does not need Sennit, all in a random order. Times are the
program's own, of the iterations. A version may have a policy behind a colon; such a row is of Sennit alone. Ratios are
taken within a round. All runs have to end with the same grid. With --network (docs/user/simulate.md), messages cross
Sennit's injected network, so only Sennit runs."""

import report
import versions

ALONE = ("pure", "nbuffer")  # no tasks: a rank a core
STOCK = (*ALONE, "forkjoin", "sentinel")
VERSIONS = (*STOCK, "interop-blk", "interop-nonblk", "detach")


def command(options, version, sennit):
    """argv and environment of one run"""
    version, _, policy = version.partition(":")
    ranks, threads = (options.ranks * options.threads, 1) if version in ALONE else (options.ranks, options.threads)
    program = [options.build / f"apps/gauss-seidel-{options.compiler}-{options.mpi}", "--version", version, "--size",
               options.size, "--block", options.block, "--iterations", options.iterations]
    start, environment = versions.start(options, ranks, threads, sennit, ("--policy", policy) if policy else ())
    if options.network:
        environment["SENNIT_NETWORK"] = options.network
    return start + program, environment


def rows_of(options, seconds):
    first = seconds[options.versions[0], True]
    for version in options.versions:
        ours = seconds[version, True]
        stock = seconds.get((version, False))
        yield [version, versions.spread(ours, 4), versions.ratios(first, ours),
               versions.spread(stock, 4) if stock else "–", versions.ratios(ours, stock) if stock else "–"]


def parse():
    parser = versions.parser_of(__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2, help="of the versions with tasks")
    parser.add_argument("--threads", type=int, help="of each of these ranks")
    parser.add_argument("--size", default="4096")
    parser.add_argument("--block", default="512")
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--versions", default=",".join(VERSIONS), help="the first is what the others are compared with")
    parser.add_argument("--network", default="", help="words of SENNIT_NETWORK")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.threads = options.threads or max(1, versions.cores() // options.ranks)
    options.versions = options.versions.split(",")
    if unknown := [version for version in options.versions if version.partition(":")[0] not in VERSIONS]:
        parser.error(f"no version {unknown[0]}; there are {', '.join(VERSIONS)}")
    return options


def main():
    options = parse()
    cases = [(version, True) for version in options.versions]
    if not options.network:
        cases += [(version, False) for version in options.versions if version in STOCK]
    facts = versions.facts(options)
    seconds = versions.measure(options, cases, command)
    network = f", network {options.network}" if options.network else ""
    versions.print_head("Gauss-Seidel: the versions of the paper on task-aware MPI", "gauss_seidel.py", facts,
                        f"{options.rounds} rounds; {options.size} cells, blocks of {options.block}, {options.iterations} "
                        f"iterations; {options.ranks} ranks of {options.threads} threads, or "
                        f"{options.ranks * options.threads} ranks without tasks; {options.compiler}, {options.mpi}{network}")
    print(report.markdown(["version", "Sennit, s", f"faster than {options.versions[0]}", "stock, s", "Sennit / stock"],
                          list(rows_of(options, seconds))))


if __name__ == "__main__":
    main()
