# SPDX-License-Identifier: Apache-2.0
"""Whole programs on more ranks than cores: the same work on 4 and on 8 ranks, on two cores, as multiples of the
time of 2 ranks of the bare MPI. Each way runs in each round; the table has the median of the rounds, and their
least and greatest."""

import os
import random
import subprocess

import machine
import report

ROWS = {"cg": ("conjugate gradients: in each step two rows of 4 KiB and two sums", "512", "50"),
        "halo": ("messages to and from both neighbours, a sum every tenth step", "512", "100")}
RANKS = (4, 8)
MPIS = {"mpich": "MPICH", "openmpi": "Open MPI"}
WAYS = ("bare", "Sennit")


def run_once(build, mpi, row, ranks, way, timeout):
    """Microseconds a step, or None. Bare MPICH is left out where its ranks would spin in each other's way."""
    _, size, steps = ROWS[row]
    environment = machine.plain_environment()
    program = [str(build / f"bench/gcc-{mpi}/kernels"), row, size, steps]
    cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0))[:2])
    if way == "Sennit":
        line = [str(build / "bin/sennit"), "run", "--mpi", mpi, "-n", str(ranks), "--threads", "1", *program]
    else:
        options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if mpi == "openmpi" else []
        line = [f"mpiexec.{mpi}", *options, "-n", str(ranks), *program]
    try:
        done = subprocess.run(["taskset", "-c", cores, *line], capture_output=True, text=True, env=environment,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    return float(done.stdout) if done.returncode == 0 else None


def cells_of_a_round(build, order, timeout):
    cells = {}
    for mpi in order.sample(list(MPIS), len(MPIS)):
        for row in order.sample(list(ROWS), len(ROWS)):
            two = run_once(build, mpi, row, 2, "bare", timeout)
            if not two:
                continue
            kinds = [(ranks, way) for ranks in RANKS for way in WAYS if (mpi, way) != ("mpich", "bare")]
            for ranks, way in order.sample(kinds, len(kinds)):
                took = run_once(build, mpi, row, ranks, way, timeout)
                if took:
                    cells[row, ranks, mpi, way] = took / two
    return cells


def section(build, rounds, seed, timeout, progress):
    order = random.Random(seed)
    found = {}
    for number in range(rounds):
        for cell, value in cells_of_a_round(build, order, timeout).items():
            found.setdefault(cell, []).append(value)
        progress(f"kernels: round {number + 1} of {rounds}")
    ways = [("mpich", "Sennit"), ("openmpi", "bare"), ("openmpi", "Sennit")]
    lines = [[row, ranks, *(report.median_text(found.get((row, ranks, *way), [])) for way in ways)]
             for row in ROWS for ranks in RANKS]
    return "\n\n".join(["## Whole programs", " ".join(__doc__.split()),
                        "\n".join(f"- {row}: {what[0]}" for row, what in ROWS.items()),
                        report.markdown(["row", "ranks", *(f"{MPIS[mpi]}, {way}" for mpi, way in ways)], lines)])
