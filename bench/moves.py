# SPDX-License-Identifier: Apache-2.0
"""Moves of a core between two programs of a pool, under the policy `lend`: one computes on all cores and reaches a
scheduling point every so often; the other one owns half of the cores, and now and then wants one. `back`: until the
owner has it, with the time that the program takes to its next scheduling point; `lent`: from the owner's giving it
until the program uses it again, as long as the program waits for a core, or does without one. The table has the
median of the rounds, and their least and greatest.

usage: taskset -c CORES moves.py BUILD [ROUNDS]; on all of the cores
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import machine
import report

GRAINS = (10, 100, 1000)
SECONDS = "3"
COLUMNS = ("moves a second", "back: median", "back: 99%", "back: most", "lent: median", "lent: 99%", "lent: most")


def run_once(build, grain, timeout):
    """The columns, or None."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**machine.plain_environment(), "SENNIT_BOARD": os.path.join(folder, "board")}
        sennit = [str(build / "bin/sennit")]

        def say(*words):
            return subprocess.run([*sennit, *words], env=environment, capture_output=True, timeout=timeout, check=False)
        if say("pool", "start", "bench", "--policy", "lend").returncode != 0:
            return None
        try:
            with subprocess.Popen([*sennit, "exec", "--pool", "bench", str(build / "bench/gcc/chunks"), str(grain)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as program:
                program.stdout.readline()
                done = subprocess.run([str(build / "bench/moves"), SECONDS], capture_output=True, text=True,
                                      env={**environment, "SENNIT_POOL": "bench"}, timeout=timeout, check=False)
                program.stdin.close()
                program.stdout.read()
            right = done.returncode == 0 and program.returncode == 0
            return [float(word) for word in done.stdout.split()[1:]] if right else None
        except subprocess.TimeoutExpired:
            return None
        finally:
            say("pool", "stop", "bench", "--now")


def section(build, rounds, timeout, progress):
    cells = {grain: [] for grain in GRAINS}
    for number in range(rounds):
        for grain, found in cells.items():
            if (values := run_once(build, grain, timeout)) is not None:
                found.append(values)
        progress(f"moves: round {number + 1} of {rounds}")
    lines = []
    for grain, found in cells.items():
        columns = [report.median_text(column, "{:.0f}") for column in zip(*found)]
        lines.append([grain, *(columns or ["failed"] * len(COLUMNS))])
    return "\n\n".join(["## Moves", " ".join(__doc__.split("usage:")[0].split()), "Microseconds.",
                        report.markdown(["us between scheduling points", *COLUMNS], lines)])


if __name__ == "__main__":
    print(section(pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 3, 120,
                  lambda line: print(line, file=sys.stderr)))
