# SPDX-License-Identifier: Apache-2.0
"""Two programs with imbalanced phases, each of two ranks whose work is as 1 to 3: one after the
other, on all cores, and side by side in a pool, under the policy that never lends and the one that does. From the
first one's begin to the last one's end, as multiples of the ideal: the work of both by the cores, measured by the
same program with even work. Each way runs in each round; the table has the median of the rounds, and their least
and greatest.

usage: taskset -c CORES two_programs.py BUILD [ROUNDS]; on all of the cores
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

import machine
import report

GRAIN, STEPS = "1000", "24"
WAYS = ("one after the other", "side by side, static", "side by side, lend")
ROWS = ("uneven", "turns")


class Cores:
    """Runs of `phases`, with a board of their own."""

    def __init__(self, build, mpi, timeout):
        self.build, self.mpi, self.timeout = build, mpi, timeout
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {**machine.plain_environment(), "SENNIT_BOARD": os.path.join(self.folder.name, "board")}

    def sennit(self, *words):
        return [str(self.build / "bin/sennit"), *words]

    def start(self, row, *options):
        program = str(self.build / f"bench/gcc-{self.mpi}/phases")
        return subprocess.Popen(self.sennit("run", "--mpi", self.mpi, "-n", "2", *options, program, row, GRAIN, STEPS, "clock"),
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.environment)

    def times(self, processes):
        """Begin and end of each, in microseconds; None where one has failed."""
        found = []
        for process in processes:
            try:
                said, _ = process.communicate(timeout=self.timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                said = ""
            found.append(tuple(float(word) for word in said.split()) if process.returncode == 0 else None)
        return None if None in found else found

    def alone(self, row):
        times = self.times([self.start(row, "--threads", str(max(1, len(os.sched_getaffinity(0)) // 2)))])
        return times and times[0][1] - times[0][0]

    def together(self, row, policy):
        started = subprocess.run(self.sennit("pool", "start", "bench", "--policy", policy), env=self.environment,
                                 capture_output=True, timeout=self.timeout, check=False)
        if started.returncode != 0:
            return None
        times = self.times([self.start(row, "--pool", "bench") for _ in range(2)])
        subprocess.run(self.sennit("pool", "stop", "bench", "--now"), env=self.environment, capture_output=True,
                       timeout=self.timeout, check=False)
        return times and max(end for _, end in times) - min(begin for begin, _ in times)


def run_once(cores, row, way):
    if way == WAYS[0]:
        both = [cores.alone(row) for _ in range(2)]
        return None if None in both else sum(both)
    return cores.together(row, way.split()[-1])


def section(build, mpis, rounds, seed, timeout, progress):
    parts = ["## Two programs in a pool", " ".join(__doc__.split("usage:")[0].split())]
    for mpi in mpis:
        order = random.Random(seed)
        cores = Cores(build, mpi, timeout)
        cells = {row: {way: [] for way in WAYS} for row in ROWS}
        for number in range(rounds):
            for row in order.sample(ROWS, len(ROWS)):
                ideal = cores.alone("even")
                for way in order.sample(WAYS, len(WAYS)):
                    took = run_once(cores, row, way)
                    if ideal and took:
                        cells[row][way].append(took / (2 * ideal))
            progress(f"{mpi}, two programs: round {number + 1} of {rounds}")
        parts.append(report.markdown([f"{mpi}: work", *WAYS],
                                     [[row, *map(report.median_text, ways.values())] for row, ways in cells.items()]))
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(section(pathlib.Path(sys.argv[1]).resolve(), ("mpich", "openmpi"), int(sys.argv[2]) if len(sys.argv) > 2 else 3, 1, 120,
                  lambda line: print(line, file=sys.stderr)))
