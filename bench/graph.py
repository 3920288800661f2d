#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An irregular code under several runtimes and schedules: a page of Markdown (docs/results/graph.json).

usage: graph.py [--build build/release] [--scale 16] [--rounds 9] [--threads 2] [--real-time] [--lb4omp FOLDER]

FOLDER has LB4OMP's runtime as libomp.so.5. All cells take turns: each round runs every one of them once, in another
order. bench/graph.c is the program."""

import argparse
import dataclasses
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

KERNELS = ("triangles", "pagerank", "distances")
RUNS = "3"  # of a kernel in one process, whose median counts


@dataclasses.dataclass(frozen=True)
class Way:
    label: str
    compiler: str  # or "plug-in": clang with it
    schedule: str  # static: the compiler's; runtime: what the environment says
    environment: tuple = ()
    sennit: bool = False


WAYS = (
    Way("libgomp, static", "gcc", "static"),
    Way("libgomp, dynamic,64", "gcc", "runtime", (("OMP_SCHEDULE", "dynamic,64"),)),
    Way("libomp, static", "clang", "static"),
    Way("libomp, dynamic,64", "clang", "runtime", (("OMP_SCHEDULE", "dynamic,64"),)),
    Way("libomp, KMP_SCHEDULE=static,steal", "clang", "runtime",
        (("OMP_SCHEDULE", "static"), ("KMP_SCHEDULE", "static,steal"))),
    *(Way(f"Sennit, {label}, {compiler}", compiler, schedule, environment, True)
      for compiler in ("gcc", "clang")
      for label, schedule, environment in (
          ("static", "static", ()),
          ("dynamic,64", "runtime", (("OMP_SCHEDULE", "dynamic,64"),)),
          ("static --split 4", "static", (("SENNIT_SPLIT", "4"),)),
          ("static --split 8", "static", (("SENNIT_SPLIT", "8"),)),
          ("static --split auto", "static", (("SENNIT_SPLIT", "auto"),)))),
)
LENT = Way("Sennit, static --split loops, clang and the plug-in", "plug-in", "static", (("SENNIT_SPLIT", "loops"),), True)

LB4OMP = ("fac2", "awf_b", "mfsc", "static_steal")


def lb4omp_ways(folder):
    """It wants to know how fast the processor is, in MHz."""
    mhz = re.search(r"^cpu MHz\s*: (\d+)", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1]
    return tuple(Way(f"LB4OMP, {name}", "clang", "runtime",
                     (("OMP_SCHEDULE", name), ("KMP_CPU_SPEED", mhz), ("LD_LIBRARY_PATH", folder))) for name in LB4OMP)


def compile_lent(build):
    """Where the plug-in is."""
    output = build / "bench/plug-in/graph"
    output.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(build / "bin/sennit"), "cc", "clang-19", "-std=c11", "-O2", "-fopenmp",
                    str(pathlib.Path(__file__).parent / "graph.c"), "-o", str(output)], check=True)


def run_at_once():
    """In the child: before all ordinary threads of the machine."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))


def run(build, way, kernel, options):
    """(seconds, checksum)"""
    environment = {**cells.clean_environment(), "OMP_NUM_THREADS": str(options.threads), **dict(way.environment)}
    if way.sennit:
        environment["LD_LIBRARY_PATH"] = str(build / "lib/omp")
    out = subprocess.run([str(build / "bench" / way.compiler / "graph"), kernel, way.schedule, str(options.scale), RUNS],
                         check=True, text=True, capture_output=True, timeout=600, env=environment,
                         preexec_fn=run_at_once if options.real_time else None).stdout
    found = re.fullmatch(r"seconds=(\S+) checksum=(\S+)\n", out)
    return float(found[1]), found[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--real-time", action="store_true", help="SCHED_RR: for a machine that is busy")
    parser.add_argument("--lb4omp", help="the folder of its libomp.so.5")
    options = parser.parse_args()
    build = options.build.resolve()
    ways = WAYS + (lb4omp_ways(options.lb4omp) if options.lb4omp else ())
    if (build / "lib/libsennit-pass.so").exists():
        compile_lent(build)
        ways += (LENT,)
    seconds = {(way, kernel): [] for way in ways for kernel in KERNELS}
    sums = {}
    for number in range(options.rounds):
        order = list(seconds)
        random.Random(number).shuffle(order)
        for way, kernel in order:
            took, checksum = run(build, way, kernel, options)
            seconds[way, kernel].append(took)
            # Who adds which part of a sum of fractions differs; nine digits do not.
            if sums.setdefault(kernel, checksum) != checksum:
                sys.exit(f"{way.label}, {kernel}: {checksum}, not {sums[kernel]}")
    print("# An irregular code under several runtimes\n")
    print("`bench/graph.py` printed this. Three kernels on an R-MAT graph of "
          f"2^{options.scale} vertices, {options.threads} threads: triangles are\ncounted, ranks of pages computed (20 "
          "rounds), distances found level by level. Vertices with many edges have low\nnumbers, so equal numbers of "
          "iterations are unequal work. docs/user/split.md says what `--split` does.\n")
    machine.print_facts(set())
    if options.real_time:
        print("- programs ran before all others (SCHED_RR), as the machine was busy")
    print(f"\nMilliseconds, median of {options.rounds} processes, and how far apart their quartiles are in percent. "
          "All results are the same.\n")
    lines = []
    for way in ways:
        line = [way.label]
        for kernel in KERNELS:
            found = seconds[way, kernel]
            middle = statistics.median(found)
            quartiles = statistics.quantiles(found, n=4) if len(found) > 1 else [middle] * 3
            line.append(f"{1000 * middle:.1f} ({100 * (quartiles[2] - quartiles[0]) / middle:.0f}%)")
        lines.append(line)
    print(report.markdown(["", *KERNELS], lines))


main()
