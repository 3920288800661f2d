#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small collectives where ranks outnumber cores: by the messages of each MPI, and in shared memory
(SENNIT_NODE_COLLECTIVES). A run prints the best of five repetitions, in microseconds a call; beside it is the
processor time of all ranks for each call, without that of the start, which other work on the machine changes
less. Every way runs in each round, in an order of its own; the table has the median of the rounds, and their
least and greatest.

usage: small_collectives.py BUILD [ROUNDS]
"""

import pathlib
import random
import subprocess
import sys

import machine
import report

RANKS = (4, 8, 16)
CALLS, REPETITIONS = 1000, 5
# mpi, started by Sennit, setting
WAYS = {"MPICH, messages": ("mpich", "off"), "MPICH, shared memory": ("mpich", "on"), "Open MPI, bare": ("openmpi", None),
        "Open MPI, messages": ("openmpi", "off"), "Open MPI, shared memory": ("openmpi", "on")}


def command(build, mpi, setting, ranks, calls):
    program = [str(build / f"bench/gcc-{mpi}/crowd"), "allreduce", str(calls)]
    if setting is None:
        return ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *program]
    return [str(build / "bin/sennit"), "run", "--mpi", mpi, "-n", str(ranks), "--threads", "1", *program]


def run_once(build, way, ranks, calls, timeout):
    """(microseconds a call, seconds of processor time), or None."""
    mpi, setting = WAYS[way]
    environment = machine.plain_environment()
    if setting:
        environment["SENNIT_NODE_COLLECTIVES"] = setting
    before = machine.processor_seconds()
    try:
        done = subprocess.run(command(build, mpi, setting, ranks, calls), capture_output=True, text=True,
                              env=environment, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    return (int(done.stdout) / 1000, machine.processor_seconds() - before) if done.returncode == 0 else None


def measure(build, rounds, seed, timeout, progress):
    order = random.Random(seed)
    cells = {(ranks, way): [] for ranks in RANKS for way in WAYS}
    for number in range(rounds):
        places = list(cells)
        order.shuffle(places)
        for ranks, way in places:
            start = run_once(build, way, ranks, ranks, timeout)
            run = run_once(build, way, ranks, CALLS, timeout)
            if start and run:
                calls = REPETITIONS * (CALLS - CALLS % ranks - ranks)
                cells[ranks, way].append((run[0], max(0, run[1] - start[1]) * 1e6 / calls))
        progress(f"round {number + 1} of {rounds}")
    return cells


def section(build, rounds, seed, timeout, progress):
    cells = measure(build, rounds, seed, timeout, progress)
    lines = [[way, ranks, *(report.median_text([value[part] for value in values], "{:.1f}") for part in (0, 1))]
             for (ranks, way), values in cells.items()]
    return "\n\n".join(["## Small collectives", " ".join(__doc__.split("usage:")[0].split()),
                        report.markdown(["MPI_Allreduce of one double", "ranks", "us a call",
                                         "us of processor time a call"], lines)])


if __name__ == "__main__":
    print(section(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3, 1, 120,
                 lambda line: print(line, file=sys.stderr)))
