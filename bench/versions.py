# SPDX-License-Identifier: Apache-2.0
"""An application's versions beside each other: how a run is started, rounds in a random order, a page's head. Used by
gauss_seidel.py, ifsker.py and stencil.py. A run prints `: SECONDS s, ... checksum SUM`; all have to end with the same sum."""

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

LIMIT_S = 300
RESULT = re.compile(r": ([\d.]+) s, .*checksum (\w+)")


def start(options, ranks, threads, sennit, words=()):
    """argv up to the program, and the environment. `words`: options of sennit run."""
    environment = cells.clean_environment()
    if sennit:
        return [options.build / "bin/sennit", "run", "-n", ranks, "--threads", threads, "--mpi", options.mpi, *words], environment
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    more = [*root, "--oversubscribe", "--bind-to", "none"] if options.mpi == "openmpi" else []
    environment["OMP_NUM_THREADS"] = str(threads)
    return [f"mpiexec.{options.mpi}", *more, "-n", ranks], environment


def run(argv, environment):
    """(seconds, checksum)"""
    argv = [str(word) for word in argv]
    done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    found = RESULT.search(done.stdout)
    if done.returncode or not found or done.stderr:
        sys.exit(f"{' '.join(argv)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return float(found[1]), found[2]


def measure(options, cases, command):
    """{case: seconds of each round}. command(options, *case): argv and environment."""
    shuffle = random.Random(options.seed)
    seconds, sums = {case: [] for case in cases}, set()
    for number in range(options.rounds):
        for case in shuffle.sample(cases, len(cases)):
            took, checksum = run(*command(options, *case))
            seconds[case].append(took)
            sums.add(checksum)
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    if len(sums) != 1:
        sys.exit(f"the versions' results differ: checksums {', '.join(sorted(sums))}")
    return seconds


def spread(values, digits):
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f} – {max(values):.{digits}f}]"


def ratios(above, below, digits=2):
    """within a round"""
    return spread([a / b for a, b in zip(above, below)], digits)


def parser_of(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="openmpi")
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc")
    parser.add_argument("--seed", type=int, default=20181109, help="of the order of the runs")
    return parser


def cores():
    return len(os.sched_getaffinity(0))


def facts(options):
    """of the machine, before the runs"""
    return machine.describe(sorted(os.sched_getaffinity(0)), pathlib.Path(__file__).parent.parent, {options.mpi})


def print_head(title, script, found, runs):
    print(f"# {title}\n\n    bench/{script}\n")
    for name, text in found:
        print(f"- {name}: {text}")
    print(f"- load average after: {', '.join(f'{load:.2f}' for load in os.getloadavg())}")
    print(f"- runs: {runs}\n")
