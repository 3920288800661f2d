#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small collectives where ranks outnumber cores: by the messages of each MPI, and in shared memory
(SENNIT_NODE_COLLECTIVES). A run prints the best of five repetitions, in microseconds a call; beside it is the
processor time of all ranks for each call, without that of the start, which other work on the machine changes
less. Every way runs in each round, in an order of its own; the table has the median of the rounds, and their
least and greatest.

- allreduce: MPI_Allreduce of one double
- bcast: MPI_Bcast of one double, by each rank in its turn
- bcasts: the same, all by rank 0
- reduce: MPI_Reduce of one double, to each rank in its turn
- reduces: the same, all to rank 0

usage: small_collectives.py BUILD [ROUNDS [ROWS]]; also of virtual ranks, which `./dev bench` leaves out
"""

import pathlib
import random
import subprocess
import sys

import machine
import report

RANKS = (4, 8, 16)
FEW_RANKS = (4, 16)
ROWS = ("allreduce", "bcast", "bcasts", "reduce", "reduces")
FEW_ROWS = ("allreduce", "bcast", "reduce")
CALLS, REPETITIONS = 1000, 5
# mpi, setting (None: not started by Sennit), options of `sennit run`
WAYS = {"MPICH, messages": ("mpich", "off"), "MPICH, shared memory": ("mpich", "on"), "Open MPI, bare": ("openmpi", None),
        "Open MPI, messages": ("openmpi", "off"), "Open MPI, shared memory": ("openmpi", "on")}
VIRTUAL_WAYS = {f"{name}, {how} ({virtual})": (mpi, setting, virtual)
                for virtual in ("--virtual", "--virtual=fibers")
                for name, mpi in (("MPICH", "mpich"), ("Open MPI", "openmpi"))
                for how, setting in (("messages", "off"), ("shared memory", "on"))}


def command(build, row, mpi, setting, options, ranks, calls):
    program = [str(build / f"bench/gcc-{mpi}/crowd"), row, str(calls)]
    if setting is None:
        return ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *program]
    return [str(build / "bin/sennit"), "run", *options, "--mpi", mpi, "-n", str(ranks), "--threads", "1", *program]


def run_once(build, row, way, ranks, calls, timeout):
    """(microseconds a call, seconds of processor time), or None."""
    mpi, setting, *options = way
    environment = machine.plain_environment()
    if setting:
        environment["SENNIT_NODE_COLLECTIVES"] = setting
    before = machine.processor_seconds()
    try:
        done = subprocess.run(command(build, row, mpi, setting, options, ranks, calls), capture_output=True, text=True,
                              env=environment, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    return (int(done.stdout) / 1000, machine.processor_seconds() - before) if done.returncode == 0 else None


def measure(build, rows, all_ranks, ways, rounds, seed, timeout, progress):
    order = random.Random(seed)
    cells = {(row, ranks, way): [] for row in rows for ranks in all_ranks for way in ways}
    for number in range(rounds):
        places = list(cells)
        order.shuffle(places)
        starts = {}  # whatever the row
        for row, ranks, way in places:
            if (ranks, way) not in starts:
                starts[ranks, way] = run_once(build, row, ways[way], ranks, ranks, timeout)
            start = starts[ranks, way]
            run = run_once(build, row, ways[way], ranks, CALLS, timeout)
            if start and run:
                calls = REPETITIONS * (CALLS - CALLS % ranks - ranks)
                cells[row, ranks, way].append((run[0], max(0, run[1] - start[1]) * 1e6 / calls))
        progress(f"small collectives: round {number + 1} of {rounds}")
    return cells


def section(build, rounds, seed, timeout, progress, rows=FEW_ROWS, ranks=FEW_RANKS, ways=WAYS):
    cells = measure(build, rows, ranks, ways, rounds, seed, timeout, progress)
    lines = [[row, way, number, *(report.median_text([value[part] for value in values], "{:.1f}") for part in (0, 1))]
             for (row, number, way), values in cells.items()]
    about, what = __doc__.split("usage:")[0].strip().split("\n\n")
    shown = [line for line in what.splitlines() if line.split(":")[0].removeprefix("- ") in rows]
    return "\n\n".join(["## Small collectives", " ".join(about.split()), "\n".join(shown),
                        report.markdown(["call", "way", "ranks", "us a call", "us of processor time a call"], lines)])


if __name__ == "__main__":
    print(section(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3, 1, 120,
                 lambda line: print(line, file=sys.stderr), sys.argv[3].split(",") if len(sys.argv) > 3 else ROWS,
                 RANKS, WAYS | VIRTUAL_WAYS))
