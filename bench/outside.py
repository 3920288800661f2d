#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What calls outside of tasks cost: ping-pong through Sennit and past it, in turn within one process.

usage: outside.py [--build build/release] [--rounds 9] [--pairs 1500]

mpi-outside.c says how it is measured. A process gives the median of its pairs of blocks; a round is a
process bare, where both ways are the MPI library's own (so what it shows is the noise), and one under
Sennit, for each MPI and compiler. Exit code 1: a median of the rounds is above the goal."""

import argparse
import pathlib
import statistics
import subprocess
import sys

import cells
import machine
import report

GOAL = cells.GOALS["outside"]
BOUND = cells.Mode("", 1, bound=True)
MPIS = ("mpich", "openmpi")
# What, how many bytes, round trips in a block.
TRIPS = {"ping-pong, 8 bytes": ("pingpong", 8, 400), "ping-pong, 64 KiB": ("pingpong", 65536, 10),
         "exchange, 8 bytes": ("exchange", 8, 400)}


def ratio_and_time(build, mpi, compiler, trip, pairs, sennit):
    """(with / past the layer, ns of a round trip past it), medians of one process's pairs"""
    environment = {**cells.clean_environment(), "OMP_NUM_THREADS": str(BOUND.threads)}
    argv = [*cells.mpi_launcher(mpi, BOUND), *([build / "bin/sennit", "exec"] if sennit else []),
            build / f"bench/{compiler}-{mpi}/mpi-outside", *map(str, TRIPS[trip]), str(pairs)]
    out = subprocess.run(argv, check=True, text=True, capture_output=True, timeout=120, env=environment).stdout
    times = [tuple(map(float, line.split())) for line in out.splitlines()]
    return statistics.median(a / b for a, b in times), statistics.median(b for _, b in times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--pairs", type=int, default=1500)
    options = parser.parse_args()
    build = options.build.resolve()
    cases = [(mpi, compiler, trip) for mpi in MPIS for compiler in ("gcc", "clang") for trip in TRIPS]
    found = {}
    for _ in range(options.rounds):
        for case in cases:
            for sennit in (False, True):
                found.setdefault((case, sennit), []).append(ratio_and_time(build, *case, options.pairs, sennit))
    machine.print_facts(set(MPIS))
    print(f"- runs: {options.rounds} rounds of {options.pairs} pairs of blocks\n")
    rows, missed = [], False
    for case in cases:
        cell = [", ".join(case)]
        for sennit in (False, True):
            ratios = sorted(ratio for ratio, _ in found[case, sennit])
            cell.append(f"{statistics.median(ratios):.4f} [{ratios[0]:.4f} – {ratios[-1]:.4f}]")
        met = statistics.median(ratios) <= GOAL
        missed |= not met
        rows.append([*cell, report.number(statistics.median(ns for _, ns in found[case, True])), "met" if met else "missed"])
    print(report.markdown(["calls", "bare / bare (noise)", "Sennit / bare", "ns a trip, bare", f"goal ≤ {GOAL}"], rows))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
