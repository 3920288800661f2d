#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.cholesky.{compiler}.{mpi} mpi=all compiler=all timeout=300 virtual=1 -- --sennit {sennit} --program
#     {apps}/cholesky-{compiler}-{mpi} --data {room}/data
"""Runs of apps/cholesky under `sennit run`: results for awkward sizes and grids, matrices from files,
and one clear line with its exit code for each bad input.

usage: cholesky_test.py --sennit BIN --program BIN --data FOLDER
"""

import argparse
import os
import subprocess
import sys

GOOD = [  # ranks, threads, arguments
    (1, 1, "--n 1 --block 4"),
    (2, 1, "--n 7 --block 16"),
    (2, 2, "--n 97 --block 10"),
    (2, 1, "--n 256 --block 16 --grid 1x2"),
    (2, 2, "--n 256 --block 16 --grid 2x1 --repeat 3"),
    (4, 1, "--n 301 --block 20"),
    (4, 2, "--n 300 --block 33 --grid 4x1"),
    (2, 1, "--matrix {data}/laplacian-63.mtx --block 8"),
    (2, 1, "--matrix {data}/array-5.mtx --block 2"),
]
BAD = [  # ranks, arguments, exit code, words of the line
    (2, "--matrix {data}/short.mtx", 3, "the file ends before its last entry"),
    (2, "--matrix {data}/index.mtx", 3, "line 3: an index is outside the matrix"),
    (2, "--matrix {data}/header.mtx", 3, "only real and integer"),
    (2, "--matrix {data}/missing.mtx", 3, "cannot be opened"),
    (2, "--matrix {data}/indefinite.mtx --block 1", 5, "leading minor of order 2"),
    (1, "--n 0", 2, "bad option --n"),
    (2, "--grid 3x3", 2, "does not match 2 ranks"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--sennit", "--program", "--data"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    failures = 0

    def run(ranks, threads, arguments):
        command = [options.sennit, "run", "-n", str(ranks), "--threads", str(threads),
                   options.program, *arguments.format(data=options.data).split()]
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=240, check=False,
                              env={k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"})

    for ranks, threads, arguments in GOOD:
        done = run(ranks, threads, arguments)
        if done.returncode != 0 or "residual" not in done.stdout:
            failures += 1
            print(f"FAILED {ranks} ranks, {threads} threads, {arguments}:\n{done.stdout}")
    for ranks, arguments, code, words in BAD:
        done = run(ranks, 1, arguments)
        if done.returncode != code or done.stdout.count(words) != 1:
            failures += 1
            print(f"FAILED {ranks} ranks, {arguments}: exit code {done.returncode}, expected {code} "
                  f"and '{words}' once:\n{done.stdout}")
    print(f"{len(GOOD) + len(BAD) - failures} of {len(GOOD) + len(BAD)} runs as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
