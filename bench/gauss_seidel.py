#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The versions of apps/gauss-seidel beside each other: a page of Markdown.

usage: gauss_seidel.py [--build build/release] [--ranks 2] [--threads N] [--size 4096] [--block 512] [--iterations 50]
                       [--rounds 7] [--mpi openmpi] [--compiler gcc] [--versions pure,interop-blk] [--network WORDS]

As in the paper on task-aware MPI, section 7.1: versions without tasks have a rank for each core, the others --ranks
ranks with --threads threads each (default: as many cores as there are). In each round every version runs once under
Sennit, and once under the stock runtime and MPI where it does not need Sennit, all in a random order. Times are the
program's own, of the iterations. Ratios are taken within a round. All runs have to end with the same grid. With
--network (docs/user/simulate.md), messages cross Sennit's injected network, so only Sennit runs."""

import argparse
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys

import cells
import machine
import report

ALONE = ("pure", "nbuffer")  # no tasks: a rank a core
STOCK = (*ALONE, "forkjoin", "sentinel")
VERSIONS = (*STOCK, "interop-blk", "interop-nonblk", "detach")
LIMIT_S = 300
RESULT = re.compile(r": ([\d.]+) s, [\d.]+ million cells/s, checksum (\w+)")


def command(options, version, sennit):
    """argv and environment of one run"""
    ranks, threads = (options.ranks * options.threads, 1) if version in ALONE else (options.ranks, options.threads)
    program = [options.build / f"apps/gauss-seidel-{options.compiler}-{options.mpi}", "--version", version, "--size",
               options.size, "--block", options.block, "--iterations", options.iterations]
    environment = cells.clean_environment()
    if sennit:
        start = [options.build / "bin/sennit", "run", "-n", ranks, "--threads", threads, "--mpi", options.mpi]
        if options.network:
            environment["SENNIT_NETWORK"] = options.network
    else:
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        more = [*root, "--oversubscribe", "--bind-to", "none"] if options.mpi == "openmpi" else []
        start = [f"mpiexec.{options.mpi}", *more, "-n", ranks]
        environment["OMP_NUM_THREADS"] = str(threads)
    return [str(word) for word in [*start, *program]], environment


def run(options, version, sennit):
    """(seconds, checksum)"""
    argv, environment = command(options, version, sennit)
    done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    found = RESULT.search(done.stdout)
    if done.returncode or not found or done.stderr:
        sys.exit(f"{' '.join(argv)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return float(found[1]), found[2]


def measure(options, cases):
    """{case: seconds of each round}"""
    shuffle = random.Random(options.seed)
    seconds, sums = {case: [] for case in cases}, set()
    for number in range(options.rounds):
        for case in shuffle.sample(cases, len(cases)):
            took, checksum = run(options, *case)
            seconds[case].append(took)
            sums.add(checksum)
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    if len(sums) != 1:
        sys.exit(f"the versions' grids differ: checksums {', '.join(sorted(sums))}")
    return seconds


def spread(values, digits):
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f} – {max(values):.{digits}f}]"


def rows_of(options, seconds):
    first = seconds[options.versions[0], True]
    for version in options.versions:
        ours = seconds[version, True]
        stock = seconds.get((version, False))
        yield [version, spread(ours, 4), spread([a / b for a, b in zip(first, ours)], 2),
               spread(stock, 4) if stock else "–",
               spread([a / b for a, b in zip(ours, stock)], 2) if stock else "–"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--ranks", type=int, default=2, help="of the versions with tasks")
    parser.add_argument("--threads", type=int, help="of each of these ranks")
    parser.add_argument("--size", default="4096")
    parser.add_argument("--block", default="512")
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="openmpi")
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc")
    parser.add_argument("--versions", default=",".join(VERSIONS), help="the first is what the others are compared with")
    parser.add_argument("--network", default="", help="words of SENNIT_NETWORK")
    parser.add_argument("--seed", type=int, default=20181109, help="of the order of the runs")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.threads = options.threads or max(1, len(os.sched_getaffinity(0)) // options.ranks)
    options.versions = options.versions.split(",")
    if unknown := [version for version in options.versions if version not in VERSIONS]:
        parser.error(f"no version {unknown[0]}; there are {', '.join(VERSIONS)}")
    return options


def main():
    options = parse()
    cases = [(version, True) for version in options.versions]
    if not options.network:
        cases += [(version, False) for version in options.versions if version in STOCK]
    facts = machine.describe(sorted(os.sched_getaffinity(0)), pathlib.Path(__file__).parent.parent, {options.mpi})
    seconds = measure(options, cases)
    print("# Gauss-Seidel: the versions of the paper on task-aware MPI\n\n    bench/gauss_seidel.py\n")
    for name, text in facts:
        print(f"- {name}: {text}")
    print(f"- load average after: {', '.join(f'{load:.2f}' for load in os.getloadavg())}")
    network = f", network {options.network}" if options.network else ""
    print(f"- runs: {options.rounds} rounds; {options.size} cells, blocks of {options.block}, {options.iterations} iterations; "
          f"{options.ranks} ranks of {options.threads} threads, or {options.ranks * options.threads} ranks without tasks; "
          f"{options.compiler}, {options.mpi}{network}\n")
    print(report.markdown(["version", "Sennit, s", f"faster than {options.versions[0]}", "stock, s", "Sennit / stock"],
                          list(rows_of(options, seconds))))


if __name__ == "__main__":
    main()
