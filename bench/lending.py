# SPDX-License-Identifier: Apache-2.0
"""Ranks that lend their cores: two hybrid ranks whose work is as 1 to 3 in each step, always the same way
round or by turns. The mean is the time of the same program with even work and one thread for each core: nobody
can be faster by lending. Each way runs in each round; the table has the median of the rounds, and their least
and greatest, as multiples of the round's mean.

usage: taskset -c CORES lending.py BUILD [ROUNDS]; on all of the cores
"""

import os
import pathlib
import random
import subprocess
import sys

import machine
import report

STEPS = 8
ROWS = [(row, grain) for row in ("uneven", "turns") for grain in (100, 1000, 10000)]
# threads for each core; settings; under Sennit?
WAYS = {"one thread a core": (1, {}, True), "stock": (2, {}, False),
        "Sennit, no doorbells": (2, {"SENNIT_DOORBELLS": "off"}, True),
        "Sennit": (2, {}, True), "Sennit, lending": (2, {"SENNIT_LENDING": "on"}, True)}


def run_once(build, mpi, row, grain, way, timeout):
    """Microseconds, or None. Of two ranks."""
    each, settings, ours = WAYS[way]
    threads = max(1, each * len(os.sched_getaffinity(0)) // 2)
    environment = machine.plain_environment()
    environment.update(settings)
    program = [str(build / f"bench/gcc-{mpi}/phases"), row, str(grain), str(STEPS)]
    if ours:
        line = [str(build / "bin/sennit"), "run", "--mpi", mpi, "-n", "2", "--threads", str(threads), *program]
    else:
        environment["OMP_NUM_THREADS"] = str(threads)
        options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if mpi == "openmpi" else []
        line = [f"mpiexec.{mpi}", *options, "-n", "2", *program]
    try:
        done = subprocess.run(line, capture_output=True, text=True, env=environment,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    return int(done.stdout) if done.returncode == 0 else None


def measure(build, mpi, rounds, seed, timeout, progress):
    order = random.Random(seed)
    cells = {row: {way: [] for way in WAYS} for row in ROWS}
    for number in range(rounds):
        for row, grain in order.sample(ROWS, len(ROWS)):
            mean = run_once(build, mpi, "even", grain, "one thread a core", timeout)
            for way in order.sample(list(WAYS), len(WAYS)):
                took = run_once(build, mpi, row, grain, way, timeout)
                if took and mean:
                    cells[row, grain][way].append(took / mean)
        progress(f"{mpi}, lending: round {number + 1} of {rounds}")
    return cells


def section(build, mpis, rounds, seed, timeout, progress):
    parts = ["## Ranks with different amounts of work", " ".join(__doc__.split("usage:")[0].split())]
    for mpi in mpis:
        cells = measure(build, mpi, rounds, seed, timeout, progress)
        parts.append(report.markdown(
            [f"{mpi}: work", "us of work in a region", *WAYS],
            [[row, grain, *map(report.median_text, ways.values())] for (row, grain), ways in cells.items()]))
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(section(pathlib.Path(sys.argv[1]).resolve(), ("mpich", "openmpi"), int(sys.argv[2]) if len(sys.argv) > 2 else 3, 1, 120,
                  lambda line: print(line, file=sys.stderr)))
