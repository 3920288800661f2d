#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What SENNIT_SPLIT gains and costs: a page of Markdown.

usage: split.py [--build build/release] [--rounds 5]

Imbalance is of processor time: on a busy machine it shows who had a processor. Costs are instructions,
counted by callgrind. bench/split.c is the program."""

import argparse
import pathlib
import re
import statistics
import subprocess
import tempfile

import cells
import machine
import report

SPLITS = (1, 2, 4, 8, 16)
AUTO = 8  # what SENNIT_SPLIT=auto is (omp/env/split.cpp); on one worker it is as without
COMPILERS = ("gcc", "clang")
WORKERS = 2
LOOP = ("2000", "20")  # iterations, regions
COUNTED_LOOP = "400"
REGIONS = 200  # whose instructions are counted


def environment(build, split, workers):
    return {**cells.clean_environment(), "LD_LIBRARY_PATH": str(build / "lib/omp"),
            "OMP_NUM_THREADS": str(workers), "SENNIT_SPLIT": str(split)}


def program(build, compiler):
    return str(build / "bench" / compiler / "split")


def imbalance(build, compiler, split, rounds):
    """(median percent, the checksums of all rounds)"""
    found, sums = [], set()
    for _ in range(rounds):
        out = subprocess.run([program(build, compiler), "triangular", *LOOP], check=True, text=True,
                             capture_output=True, timeout=300, env=environment(build, split, WORKERS)).stdout
        found.append(float(re.search(r"imbalance=([\d.]+)", out).group(1)))
        sums.add(re.search(r"checksum=(\S+)", out).group(1))
    return statistics.median(found), sums


def instructions(build, compiler, split, arguments):
    """of one run on one worker"""
    with tempfile.TemporaryDirectory() as scratch:
        out_file = pathlib.Path(scratch) / "callgrind.out"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out_file}", program(build, compiler),
                        *arguments], check=True, capture_output=True, timeout=300, env=environment(build, split, 1))
        return int(re.search(r"^(?:summary|totals): (\d+)", out_file.read_text(), re.MULTILINE).group(1))


def of_a_region(build, compiler, split, kind, iterations, regions):
    """without what the program's start takes"""
    once, twice = (instructions(build, compiler, split, (kind, iterations, str(count)))
                   for count in (regions, 2 * regions))
    return (twice - once) / regions


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    build = options.build.resolve()
    print("# Threads that are split: what it gains and costs\n")
    print("`bench/split.py` printed this; [user/balance.md](../user/balance.md) says what `SENNIT_SPLIT` does.\n")
    machine.print_facts(set())
    print(f"\n## A triangular loop\n\n`schedule(static)`, iteration i takes time ~ i; {WORKERS} workers. Percent imbalance: "
          f"processor time of the busiest kernel\nthread in the loop / mean - 1, median of {options.rounds} runs. The sum "
          "is the same in all runs of a row: partial sums belong\nto threads, whoever runs them.\n")
    lines = []
    for split in (*SPLITS, "auto"):
        cell = [str(split), str((AUTO if split == "auto" else split) * WORKERS)]
        for compiler in COMPILERS:
            percent, sums = imbalance(build, compiler, split, options.rounds)
            cell.append(f"{percent:.1f}" + ("" if len(sums) == 1 else " (sums differ)"))
        lines.append(cell)
    print(report.markdown(["SENNIT_SPLIT", "threads", *(f"{compiler} %" for compiler in COMPILERS)], lines))
    print("\n## What it costs\n\nInstructions, by callgrind, on one worker. *A thread*: what each further thread adds to a "
          "region with a static loop of 64\niterations, the loop's own bounds and the compiler's code among them. *A "
          "balanced loop*: a region of "
          f"{int(COUNTED_LOOP) ** 2 // 2:,} additions, against\nthe same without splitting.\n")
    lines = []
    first = {}
    for split in SPLITS:
        cell = [str(split)]
        for compiler in COMPILERS:
            region = of_a_region(build, compiler, split, "empty", "64", REGIONS)
            loop = of_a_region(build, compiler, split, "balanced", COUNTED_LOOP, 5)
            whole, alone = first.setdefault(compiler, (region, loop))
            cell += ["" if split == 1 else f"{(region - whole) / (split - 1):.0f}", f"{100 * (loop / alone - 1):+.2f}%"]
        lines.append(cell)
    print(report.markdown(["SENNIT_SPLIT", *(f"{compiler}, {what}" for compiler in COMPILERS
                                             for what in ("a thread", "a balanced loop"))], lines))


main()
