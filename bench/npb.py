#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NPB's OpenMP programs beside another program: a table of Markdown (docs/results/applications.json).

usage: npb.py FOLDER [--build build/release] [--before lib/omp] [--programs mg.S,cg.S] [--threads 3,8] [--rounds 5]
              [--neighbours 1]

FOLDER has NPB's programs, built with GCC: mg.S.x or mg.S, and so on. NPB is NASA's and not part of Sennit. The
runtimes take turns: each round runs every program once under each of them, in another order. Meanwhile other programs
compute all the time, as many as --neighbours says."""

import argparse
import contextlib
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

import cells
import machine
import report

LIMIT_S = 120
VERIFIED = re.compile(r"Verification\s*=\s*SUCCESSFUL")
STOCK, SENNIT, BEFORE = "libgomp", "Sennit", "Sennit before"


def programs_in(folder, names):
    """{name: path} of those that are named, or of all."""
    found = {path.name.removesuffix(".x"): path for path in sorted(folder.iterdir())
             if re.fullmatch(r"[a-z]{2}\.[SWABC](\.x)?", path.name)}
    if missing := [name for name in names if name not in found]:
        sys.exit(f"{folder} has no {', '.join(missing)}")
    return {name: found[name] for name in names or found}


@contextlib.contextmanager
def neighbours(count):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def run(path, library, threads):
    """Seconds: (elapsed, of processors), both of the whole program."""
    environment = {**cells.clean_environment(), "OMP_NUM_THREADS": str(threads)}
    if library:
        environment["LD_LIBRARY_PATH"] = str(library)
    before, begin = machine.processor_seconds(), time.monotonic()
    out = subprocess.run([str(path)], stdin=subprocess.DEVNULL, check=True, text=True, capture_output=True, timeout=LIMIT_S,
                         env=environment, cwd="/").stdout
    elapsed, took = time.monotonic() - begin, machine.processor_seconds() - before
    if not VERIFIED.search(out):
        sys.exit(f"{path} with {threads} threads under {library or STOCK} does not verify")
    return elapsed, took


def describe(samples):
    return f"{statistics.median(samples):.2f} [{min(samples):.2f} – {max(samples):.2f}]"


def row_of(name, threads, taken, runtimes):
    """`taken`: {runtime: [(elapsed, of processors)]}"""
    row = [name, str(threads)]
    stock = [statistics.median(column) for column in zip(*taken[STOCK])]
    for runtime in runtimes:
        elapsed, processors = zip(*taken[runtime])
        row.append(describe(elapsed))
        if runtime != STOCK:
            row.append(f"{statistics.median(elapsed) / stock[0]:.2f}, {statistics.median(processors) / stock[1]:.2f}")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--before", type=pathlib.Path, help="lib/omp of another build of Sennit")
    parser.add_argument("--programs", default="")
    parser.add_argument("--threads", default="3,8")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--neighbours", type=int, default=1)
    options = parser.parse_args()
    programs = programs_in(options.folder.resolve(), [name for name in options.programs.split(",") if name])
    runtimes = {STOCK: None, SENNIT: options.build.resolve() / "lib/omp"}
    if options.before:
        runtimes[BEFORE] = options.before.resolve()
    taken = {(name, threads): {runtime: [] for runtime in runtimes}
             for name in programs for threads in map(int, options.threads.split(","))}
    with neighbours(options.neighbours):
        for number in range(options.rounds):
            order = [(cell, runtime) for cell in taken for runtime in runtimes]
            random.Random(number).shuffle(order)
            for (name, threads), runtime in order:
                taken[name, threads][runtime].append(run(programs[name], runtimes[runtime], threads))
    machine.print_facts(set())
    print(f"- beside {options.neighbours} program(s) that compute all the time\n- rounds: {options.rounds}, in turns\n\n"
          "Seconds of the whole program, median [least – largest]. *ratio*: to libgomp's, of elapsed time, then of processor "
          "time.\nAll results verify.\n")
    head = ["program", "threads"]
    for runtime in runtimes:
        head += [runtime] if runtime == STOCK else [runtime, "ratio"]
    print(report.markdown(head, [row_of(*cell, columns, runtimes) for cell, columns in taken.items()]))


main()
