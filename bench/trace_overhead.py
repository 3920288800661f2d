#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a trace costs: tasks traced and not traced, in turn, and instructions a task by callgrind.

usage: trace_overhead.py [--build build/release] [--rounds 21] [--counters page-faults,task-clock] [--real-time]

Two threads run a stream of tasks with two dependences each, long enough that about 100,000 of them run
in a second. Of the rounds' ratios the median is told, of wall time and of processor time (which other
work on the machine disturbs less). With --counters they run with a trace that has these, too, and the page says what each of a
task's two turns costs, its start and its end: there its thread asks for its counters."""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import machine

RATE = 100_000  # tasks a second


def environment(build, trace, threads, **more):
    clean = {**machine.plain_environment(), "LD_LIBRARY_PATH": str(build / "lib/omp"), "OMP_NUM_THREADS": str(threads)}
    return clean | ({"SENNIT_TRACE": str(trace)} if trace else {}) | more


def run(options, build, steps, trace=None, **more):
    """(wall, processor seconds); `more`: variables of its environment."""
    try:
        out = subprocess.run([build / "bench/gcc/trace-tasks", str(options.tasks), str(steps)], check=True, text=True,
                             capture_output=True, timeout=120, env=environment(build, trace, 2, **more),
                             preexec_fn=machine.start_of_runs(options)).stdout
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


def ratios(name, of, to):
    """The table of two lists of runs, in turn."""
    print(f"| {name} | median | least | most | of the least times |\n| --- | ---: | ---: | ---: | ---: |")
    for index, time in enumerate(("wall time", "processor time")):
        found = sorted(a[index] / b[index] for a, b in zip(of, to))
        best = min(a[index] for a in of) / min(b[index] for b in to)
        print(f"| {time} | {100 * (statistics.median(found) - 1):+.1f}% | {100 * (found[0] - 1):+.1f}% | "
              f"{100 * (found[-1] - 1):+.1f}% | {100 * (best - 1):+.1f}% |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--tasks", type=int, default=50_000)
    parser.add_argument("--counters", default="", help="also: what counting these costs")
    parser.add_argument("--real-time", action="store_true", help="run before everything else on the machine (SCHED_RR)")
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        trace = scratch / "trace"
        # So many steps that two threads with a processor each run at the rate that is asked for, busy machine or not.
        steps = 10_000
        took = min(run(options, build, steps)[1] for _ in range(3)) / 2
        steps = max(1, round(steps * options.tasks / RATE / took))
        ways = {"plain": (None, {}), "traced": (trace, {})}
        if options.counters:
            ways["counted"] = (trace, {"SENNIT_COUNTERS": options.counters})
        runs = {way: [] for way in ways}
        for number in range(options.rounds):
            for way, (where, more) in list(ways.items())[::-1 if number % 2 else 1]:
                runs[way].append(run(options, build, steps, where, **more))
        plain, traced = runs["plain"], runs["traced"]
        rate = options.tasks / (min(cpu for _, cpu in plain) / 2)
        command = " ".join(["bench/trace_overhead.py", *sys.argv[1:]])
        print(f"## Recording\n\n    {command}\n")
        print(f"{options.tasks} tasks of {steps} steps with two dependences each, 2 threads: {rate:,.0f} tasks a second "
              f"of two processors (best); {options.rounds} rounds in turn; load {os.getloadavg()[0]:.1f}")
        cost = {way: instructions_a_task(build, scratch, way) for way in (None, trace)}
        print(f"callgrind, one thread: {cost[None]:,.0f} instructions a task not traced, {cost[trace]:,.0f} traced: "
              f"{cost[trace] - cost[None]:,.0f} for its events\n")
        ratios("traced / not traced", traced, plain)
        if options.counters:
            turns = 2 * options.tasks
            each = [1e9 * (a[1] - b[1]) / turns for a, b in zip(runs["counted"], traced)]
            least = 1e9 * (min(a[1] for a in runs["counted"]) - min(b[1] for b in traced)) / turns
            counted = instructions_a_task(build, scratch, trace, SENNIT_COUNTERS=options.counters)
            print(f"\n## Counting (--counters)\n\n    {command}\n")
            print(f"{options.counters}: {counted - cost[trace]:,.0f} instructions a task more, the kernel's not counted; "
                  f"{turns} turns, each {statistics.median(each):.0f} ns of processor time more than traced (median), {least:.0f} ns (of "
                  "the least times)\n")
            ratios("counted / traced", runs["counted"], traced)


if __name__ == "__main__":
    main()
