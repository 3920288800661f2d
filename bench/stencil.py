#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The versions of apps/stencil beside each other: a page of Markdown.

usage: stencil.py [--build build/release] [--threads N] [--size 4096] [--strips 16] [--steps 100] [--rounds 7]
                  [--mpi openmpi] [--compiler gcc]

As in the paper on OpenMP in Charm++, section 4.4 and figure 2: one rank, and the load is balanced. So shared loops have
nothing to gain, and the question is what they cost: the paper's three bars are equal within about 1%. In each round
every version runs once as it is and once with --split auto under Sennit, and once under the stock OpenMP runtime, all
in a random order. Times are the program's own, of the steps. Ratios are taken within a round, over plain OpenMP under
Sennit. All runs have to end with the same cells."""

import report
import versions

VERSIONS = ("openmp", "objects", "shared")
WAYS = {"Sennit": (), "Sennit, --split auto": ("--split", "auto"), "stock": None}


def command(options, version, way):
    """argv and environment of one run"""
    start, environment = versions.start(options, 1, options.threads, WAYS[way] is not None, WAYS[way] or ())
    return [*start, options.build / f"apps/stencil-{options.compiler}-{options.mpi}", "--version", version, "--size",
            options.size, "--strips", options.strips, "--steps", options.steps], environment


def parse():
    parser = versions.parser_of(__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=versions.cores())
    parser.add_argument("--size", default="4096")
    parser.add_argument("--strips", type=int, default=16)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    options.build = options.build.resolve()
    return options


def main():
    options = parse()
    cases = [(version, way) for version in VERSIONS for way in WAYS]
    facts = versions.facts(options)
    seconds = versions.measure(options, cases, command)
    versions.print_head("Stencil: the versions of the paper on OpenMP in Charm++", "stencil.py", facts,
                        f"{options.rounds} rounds; {options.size} cells in {options.strips} strips, {options.steps} steps; "
                        f"1 rank of {options.threads} threads; {options.compiler}, {options.mpi}")
    plain = seconds["openmp", "Sennit"]
    print(report.markdown(["version", "under", "s", "/ openmp under Sennit"],
                          [[version, way, versions.spread(seconds[version, way], 4),
                            versions.ratios(seconds[version, way], plain, 3)] for version, way in cases]))


if __name__ == "__main__":
    main()
