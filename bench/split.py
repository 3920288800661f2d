#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What SENNIT_SPLIT gains and costs: a page of Markdown.

usage: split.py [--build build/release] [--rounds 5] [--inner]

--inner: only what is about regions in tasks and in other regions.

Imbalance is of processor time: on a busy machine it shows who had a processor. Costs are instructions,
counted by callgrind. bench/split.c is the program."""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import cells
import machine
import report

SPLITS = (1, 2, 4, 8, 16)
AUTO = 8  # what SENNIT_SPLIT=auto is (openmp/env/split.cpp); on one worker it is as without
COMPILERS = ("gcc", "clang")
WORKERS = 2
LOOP = ("2000", "20")  # iterations, regions
COUNTED_LOOP = "400"
REGIONS = 200  # whose instructions are counted
AUTO_REGIONS = 40
TIMED_LOOP = ("2000", "100")
INNER_REGIONS = 64000  # whose instructions are counted
TASK_LOOP = "7000"  # iterations of a loop of about 10 us
TASKS = 150  # with such a loop
SLEEPERS = 4  # workers
SLEEPS = ("16", "10")  # in a region, and regions


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


def instructions(build, compiler, split, arguments, workers=1):
    """Of one run, on one processor: there the end of a region makes the others wait alike on a quiet and on a busy machine."""
    processor = min(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as scratch:
        out_file = pathlib.Path(scratch) / "callgrind.out"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out_file}", program(build, compiler),
                        *arguments], check=True, capture_output=True, timeout=300,
                       env={**environment(build, split, workers), "OMP_WAIT_POLICY": "passive"},
                       preexec_fn=lambda: os.sched_setaffinity(0, [processor]))
        return int(re.search(r"^(?:summary|totals): (\d+)", out_file.read_text(), re.MULTILINE).group(1))


def of_a_region(build, compiler, split, kind, iterations, regions, workers=1):
    """without what the program's start takes"""
    once, twice = (instructions(build, compiler, split, (kind, iterations, str(count)), workers)
                   for count in (regions, 2 * regions))
    return (twice - once) / regions


def processor_seconds(build, compiler, split):
    """of the whole program, its waits without"""
    before = machine.processor_seconds()
    subprocess.run([program(build, compiler), "balanced", *TIMED_LOOP], check=True, capture_output=True, timeout=300,
                   env={**environment(build, split, WORKERS), "OMP_WAIT_POLICY": "passive"})
    return machine.processor_seconds() - before


def auto_instructions(build, compiler, regions=AUTO_REGIONS, runs=3, enough=float("-inf")):
    """What auto adds to a balanced loop, in percent. Waits only add instructions, so each side's least run counts. With
    `enough`, only until that percentage is reached."""
    least = {1: float("inf"), "auto": float("inf")}
    for _ in range(runs):
        for split in least:
            least[split] = min(least[split], of_a_region(build, compiler, split, "balanced", COUNTED_LOOP, regions, WORKERS))
        percent = 100 * (least["auto"] / least[1] - 1)
        if percent <= enough:
            break
    return percent


def auto_seconds(build, compiler, rounds):
    """The same of processor time: the least of rounds that take turns"""
    seconds = {split: [] for split in (1, "auto")}
    for number in range(2 * rounds):
        for split in sorted(seconds, key=str, reverse=number % 2 == 0):
            seconds[split].append(processor_seconds(build, compiler, split))
    return 100 * (min(seconds["auto"]) / min(seconds[1]) - 1)


def inner_instructions(build, compiler, split):
    """Of an inner region of one thread, while nobody is idle"""
    return of_a_region(build, compiler, split, "inner", "0", INNER_REGIONS, 2)


def task_instructions(build, compiler, split):
    """Of a task with a loop of 10 us, while nobody is idle"""
    return of_a_region(build, compiler, split, "inner", TASK_LOOP, TASKS, 2)


def sleeping_ms(build, compiler, split, rounds):
    """a region in a task, while the other workers are idle: the least of some"""
    least = float("inf")
    for _ in range(rounds):
        begin = time.monotonic()
        subprocess.run([program(build, compiler), "sleeping", *SLEEPS], check=True, capture_output=True, timeout=300,
                       env=environment(build, split, SLEEPERS))
        least = min(least, time.monotonic() - begin)
    return 1000 * least / int(SLEEPS[1])


def print_inner(build, rounds):
    print(f"\n## Regions in tasks\n\n*Sleeping*: a region of {SLEEPS[0]} iterations that sleep for 10 ms, in a task, with "
          f"{SLEEPERS} threads of which the others are idle; the least\nof {rounds} runs. *Quiet*: instructions of an empty region in "
          "another one, where nobody is idle, by callgrind.\n*Task*: of "
          f"a task whose only work is a loop of {TASK_LOOP} divisions, about 10 us, in the same place.\n")
    lines = [[str(split), *(cell for compiler in COMPILERS for cell in (
        f"{sleeping_ms(build, compiler, split, rounds):.0f}", f"{inner_instructions(build, compiler, split):.0f}",
        f"{task_instructions(build, compiler, split):,.0f}"))]
        for split in (1, "inner", "auto")]
    print(report.markdown(["SENNIT_SPLIT", *(f"{compiler}, {what}" for compiler in COMPILERS for what in ("sleeping, ms", "quiet", "task"))],
                          lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inner", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    if options.inner:
        print_inner(build, options.rounds)
        return
    print("# Threads that are split: what it gains and costs\n")
    print("`bench/split.py` printed this; docs/user/split.md says what `SENNIT_SPLIT` does.\n")
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
          "region with a static loop of 64\niterations, the loop's own bounds and the compiler's code among them; *bare*: to a "
          "region without a loop, so the runtime's\nown. *A balanced loop*: a region of "
          f"{int(COUNTED_LOOP) ** 2 // 2:,} additions, against\nthe same without splitting.\n")
    lines = []
    first = {}
    for split in SPLITS:
        cell = [str(split)]
        for compiler in COMPILERS:
            region = of_a_region(build, compiler, split, "empty", "64", REGIONS)
            loop = of_a_region(build, compiler, split, "balanced", COUNTED_LOOP, 5)
            bare = of_a_region(build, compiler, split, "bare", "1", REGIONS)
            whole, alone, least = first.setdefault(compiler, (region, loop, bare))
            more = ["", ""] if split == 1 else [f"{(found - one) / (split - 1):.0f}" for found, one in ((region, whole), (bare, least))]
            cell += [*more, f"{100 * (loop / alone - 1):+.2f}%"]
        lines.append(cell)
    print(report.markdown(["SENNIT_SPLIT", *(f"{compiler}, {what}" for compiler in COMPILERS
                                             for what in ("a thread", "bare", "a balanced loop"))], lines))
    print(f"\n`auto` on {WORKERS} workers, what it adds to a balanced loop (goal: at most 1%). Instructions: of {AUTO_REGIONS} "
          f"regions of {int(COUNTED_LOOP) ** 2 // 2:,} additions,\nthe least of 3. Processor time: the program with {TIMED_LOOP[1]} regions of "
          f"{int(TIMED_LOOP[0]) ** 2 // 2:,}; the least of {2 * options.rounds} runs that take turns.\nWho waits sleeps "
          "(`OMP_WAIT_POLICY=passive`): else waits would count.\n")
    lines = [[compiler, *(f"{percent:+.2f}%" for percent in (auto_instructions(build, compiler),
                                                             auto_seconds(build, compiler, options.rounds)))]
             for compiler in COMPILERS]
    print(report.markdown(["", "instructions", "processor time"], lines))
    print("\nIt is a cost of each region, whatever is in it: its further threads, and that the workers look after each other at its end.\n"
          "So a region of 80,000 additions, some 0.1 ms, is short for it, and longer ones pay in proportion less.")
    print_inner(build, options.rounds)


if __name__ == "__main__":
    main()
