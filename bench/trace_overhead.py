#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a trace costs: tasks traced and not traced, in turn, and instructions a task by callgrind.

usage: trace_overhead.py [--build build/release] [--rounds 21]

Two threads run a stream of tasks with two dependences each, long enough that about 100,000 of them run
in a second. Of the rounds' ratios the median is told, of wall time and of processor time (which other
work on the machine disturbs less)."""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

import machine

RATE = 100_000  # tasks a second


def environment(build, trace, threads, **more):
    clean = {**machine.plain_environment(), "LD_LIBRARY_PATH": str(build / "lib/omp"), "OMP_NUM_THREADS": str(threads)}
    return clean | ({"SENNIT_TRACE": str(trace)} if trace else {}) | more


def run(build, tasks, steps, trace=None, threads=2):
    """(wall, processor seconds)"""
    try:
        out = subprocess.run([build / "bench/gcc/trace-tasks", str(tasks), str(steps)], check=True, text=True,
                             capture_output=True, timeout=120, env=environment(build, trace, threads)).stdout
    finally:
        if trace:
            shutil.rmtree(trace, ignore_errors=True)
    wall, cpu = map(float, out.split())
    return wall, cpu


def instructions(build, tasks, scratch, trace=None, **more):
    """Of the whole program with one thread; `more`: variables of its environment."""
    out_file = scratch / "callgrind.out"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out_file}", build / "bench/gcc/trace-tasks",
                    str(tasks), "1"], check=True, capture_output=True, timeout=300, env=environment(build, trace, 1, **more))
    if trace:
        shutil.rmtree(trace, ignore_errors=True)
    return int(re.search(r"^(?:summary|totals): (\d+)", out_file.read_text(), re.MULTILINE).group(1))


def instructions_a_task(build, scratch, trace=None, **more):
    many = 4_000
    return (instructions(build, 2 * many, scratch, trace, **more) - instructions(build, many, scratch, trace, **more)) / many


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--tasks", type=int, default=50_000)
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        trace = scratch / "trace"
        # So many steps that two threads with a processor each run at the rate that is asked for, busy machine or not.
        steps = 10_000
        took = min(run(build, options.tasks, steps)[1] for _ in range(3)) / 2
        steps = max(1, round(steps * options.tasks / RATE / took))
        plain, traced = [], []
        for number in range(options.rounds):
            for with_trace in ((False, True), (True, False))[number % 2]:
                (traced if with_trace else plain).append(run(build, options.tasks, steps, trace if with_trace else None))
        rate = options.tasks / (min(cpu for _, cpu in plain) / 2)
        print(f"{options.tasks} tasks of {steps} steps with two dependences each, 2 threads: {rate:,.0f} tasks a second "
              f"of two processors (best); {options.rounds} rounds in turn; load {os.getloadavg()[0]:.1f}\n")
        print("| traced / not traced | median | least | most | of the least times |\n| --- | ---: | ---: | ---: | ---: |")
        for index, name in enumerate(("wall time", "processor time")):
            ratios = sorted(t[index] / p[index] for t, p in zip(traced, plain))
            best = min(t[index] for t in traced) / min(p[index] for p in plain)
            print(f"| {name} | {100 * (statistics.median(ratios) - 1):+.1f}% | {100 * (ratios[0] - 1):+.1f}% | "
                  f"{100 * (ratios[-1] - 1):+.1f}% | {100 * (best - 1):+.1f}% |")
        cost = {way: instructions_a_task(build, scratch, way) for way in (None, trace)}
        print(f"\ncallgrind, one thread: {cost[None]:,.0f} instructions a task not traced, {cost[trace]:,.0f} traced: "
              f"{cost[trace] - cost[None]:,.0f} for its events")


if __name__ == "__main__":
    main()
