#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes on one board that are killed, then random task programs for a while, under settings that
change from round to round.

    stress.py MINUTES --build build/release [--seed N] [--round SECONDS]

Each round draws compiler, threads, users and settings and runs task-graphs with fresh seeds. Ends with
the totals; at the first difference, crash or hang it says how to repeat that round and exits with 1.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import time

SETTINGS = (
    ("SENNIT_POLICY", ("fifo", "lifo", "ma3", "sa", "fa")),
    ("SENNIT_THROTTLE", ("1", "4", "32")),
    ("SENNIT_WINDOW", ("1", "16")),
    ("SENNIT_STACK_CACHE", ("0", "2")),
    ("SENNIT_SPIN_US", ("0", "10")),
    ("OMP_WAIT_POLICY", ("active", "passive")),
    ("OMP_CANCELLATION", ("true", "true")),
    ("OMP_MAX_TASK_PRIORITY", ("10",)),
    ("OMP_THREAD_LIMIT", ("6",)),
    ("SENNIT_FREE_AGENTS", ("1", "3")),
)
FEATURES = ("suspend", "lock_yield", "nested", "cancel", "detach", "pool")


def draw(dice):
    """The settings and arguments of a round."""
    environment = {"OMP_NUM_THREADS": str(dice.choice((1, 2, 2, 3, 4, 8)))}
    for name, values in SETTINGS:
        if dice.random() < 0.3:
            environment[name] = dice.choice(values)
    arguments = [dice.choice(("--users", "--users", "--league")), str(dice.choice((1, 1, 1, 2)))]
    without = [feature for feature in FEATURES if dice.random() < 0.2]
    if without:
        arguments += ["--without", ",".join(without)]
    return environment, arguments


def kill_on_board(built, seed):
    """2000 kills, and one at each instruction of a few thousand."""
    board = built / "board-stress"
    if not board.exists():
        sys.exit(f"stress: no {board}: build it first")
    command = [str(board), "--joins", "30000", "--steps", "1000000", "--kills", "2000", "--seed", str(seed)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    print(result.stdout, end="")
    if result.returncode != 0:
        sys.exit(f"stress: {result.stderr}\n  {' '.join(command)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--round", type=int, default=20, metavar="SECONDS")
    options = parser.parse_args()
    library = options.build.resolve() / "lib/omp"
    built = options.build.resolve() / "tests/stress"
    binaries = [path for path in (built / "task-graphs.gcc", built / "task-graphs.clang")
                if path.exists()]
    if not binaries:
        sys.exit(f"stress: no task-graphs in {options.build}: build it first")
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("OMP_", "GOMP_", "KMP_", "SENNIT_"))}
    dice = random.Random(options.seed)
    end = time.monotonic() + 60 * options.minutes
    kill_on_board(built, options.seed)
    programs = nodes = rounds = 0
    while time.monotonic() < end:
        binary = dice.choice(binaries)
        environment, arguments = draw(dice)
        environment["LD_LIBRARY_PATH"] = str(library)
        seconds = max(1, min(options.round, int(end - time.monotonic())))
        command = [str(binary), "--seed", str(dice.randrange(1 << 48)),
                   "--seconds", str(seconds), *arguments]
        try:
            result = subprocess.run(command, env={**clean, **environment}, capture_output=True, text=True,
                                    timeout=20 * seconds + 300)
            failed, output = result.returncode != 0, result.stdout + result.stderr
        except subprocess.TimeoutExpired:
            failed, output = True, "no end"
        if failed:
            words = [f"{name}={value}" for name, value in environment.items()]
            sys.exit(f"stress: after {programs} programs:\n{output}\n"
                     f"  {' '.join(words + command)}")
        counted = re.search(r"(\d+) programs, (\d+) nodes", output)
        programs += int(counted[1])
        nodes += int(counted[2])
        rounds += 1
    print(f"{options.minutes:g} minutes, {rounds} rounds, {programs} programs, {nodes} nodes: "
          "no difference")


if __name__ == "__main__":
    main()
