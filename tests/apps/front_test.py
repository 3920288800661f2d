#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""apps/front: every time of arrival is right, and the same bit by bit wherever the domains are, however
many ranks and threads there are, under Sennit and under the stock runtime."""
import argparse
import os
import re
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--sennit", required=True)
parser.add_argument("--mpiexec", required=True)
parser.add_argument("--program", required=True)
args = parser.parse_args()
MESH = ["--side", "6", "--cells", "20", "--period", "5"]
STOCK = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
         "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMP_NUM_THREADS": "2"}


def run(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=250,
                          env={**os.environ, **(environment or {})})
    found = re.search(r"moved (\d+).*\narrived \d+ missed 0 worst \S+ checksum (\w+): right", done.stdout)
    if done.returncode or not found:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return int(found[1]), found[2]


def sennit(ranks, threads, *options, environment=None):
    return run([args.sennit, "run", "-n", str(ranks), "--threads", str(threads), args.program, *MESH,
                *options], environment)


_, expected = sennit(1, 1, "--period", "0", "--loops", "serial")
for ranks, threads, options, moves in ((2, 2, ("--strategy", "greedy"), False),
                                       (2, 1, ("--strategy", "rotate", "--loops", "taskloop"), True),
                                       (3, 1, ("--strategy", "random"), True),
                                       (2, 2, ("--strategy", "spread"), True)):
    moved, checksum = sennit(ranks, threads, *options)
    if checksum != expected or (moves and not moved):
        sys.exit(f"{ranks} ranks, {threads} threads, {options}: {moved} moved, {checksum}, not {expected}")
moved, checksum = sennit(2, 1, environment={"SENNIT_BALANCE": "rotate"})
if not moved or checksum != expected:
    sys.exit(f"SENNIT_BALANCE=rotate: {moved} moved, {checksum}, not {expected}")
moved, checksum = run([args.mpiexec, "-n", "2", args.program, *MESH, "--strategy", "rotate"], STOCK)
if not moved or checksum != expected:
    sys.exit(f"stock runtime: {moved} moved, {checksum}, not {expected}")
bad = subprocess.run([args.sennit, "run", "-n", "1", args.program, "--strategy", "greedyy"],
                     capture_output=True, text=True, check=False)
if bad.returncode == 0 or "there is no strategy 'greedyy'; use one of none, greedy" not in bad.stderr:
    sys.exit(f"an unknown strategy: {bad.returncode}\n{bad.stderr}")
print("front: all right")
