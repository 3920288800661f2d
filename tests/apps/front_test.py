#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.front.{mpi} mpi=all timeout=600 -- --sennit {sennit} --mpiexec {mpiexec} --program
#     {apps}/front-{paired}-{mpi}
"""apps/front: every time of arrival is right, and the same bit by bit wherever the domains are, however
many ranks and threads there are and whatever they share, under Sennit and under the stock runtime."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

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
    # What cells in the band cost is measured.
    costs = re.search(r"in the band [\d.]+ ns, ratio ([\d.]+)", done.stdout)
    if not costs or float(costs[1]) <= 1:
        sys.exit(f"{' '.join(command)}: the band costs no more\n{done.stdout}")
    return int(found[1]), found[2], done.stdout


def sennit(ranks, threads, *options, environment=None):
    return run([args.sennit, "run", "-n", str(ranks), "--threads", str(threads), "--split", "inner", args.program,
                *MESH, *options], environment)


told = subprocess.run([args.program, "--help"], capture_output=True, text=True, timeout=250, check=True)
if not told.stdout.startswith("usage: front ") or told.stderr:
    sys.exit(f"--help: {told}")
_, expected, _ = sennit(1, 1, "--period", "0", "--loops", "serial")
# What is only for moving moves. What is for balance does so if it pays. Emulated loads are the same in each run, and
# what moves cost is not measured before the first ones. So it is certain that these come.
EMULATED = ("--emulate", "100")
for ranks, threads, options, moves in ((2, 2, ("--strategy", "greedy"), False),
                                       (2, 2, ("--strategy", "greedy", *EMULATED), True),
                                       (2, 1, ("--strategy", "rotate", "--loops", "taskloop"), True),
                                       (3, 1, ("--strategy", "random"), True),
                                       (2, 2, ("--strategy", "spread", "--domains", "threads"), False),
                                       (2, 2, ("--strategy", "spread", "--domains", "threads", *EMULATED), True),
                                       (2, 2, ("--strategy", "follow", *EMULATED), True),
                                       (2, 2, ("--strategy", "rotate", "--loops", "taskloop", "--domains", "threads"), True),
                                       (1, 3, ("--loops", "taskloop"), False),
                                       (1, 3, ("--domains", "serial"), False)):
    moved, checksum, _ = sennit(ranks, threads, *options)
    if checksum != expected or (moves and not moved):
        sys.exit(f"{ranks} ranks, {threads} threads, {options}: {moved} moved, {checksum}, not {expected}")
moved, checksum, _ = sennit(2, 1, environment={"SENNIT_BALANCE": "rotate"})
if not moved or checksum != expected:
    sys.exit(f"SENNIT_BALANCE=rotate: {moved} moved, {checksum}, not {expected}")
moved, checksum, _ = run([args.mpiexec, "-n", "2", args.program, *MESH, "--strategy", "rotate"], STOCK)
if not moved or checksum != expected:
    sys.exit(f"stock runtime: {moved} moved, {checksum}, not {expected}")


def check_sharing():
    """Threads that have no domain take pieces of others' loops. Emulated work, so that it does not depend on how many
    processors there are, or how busy."""
    one = ["--side", "1", "--cells", "32", "--steps", "20", "--period", "0", "--emulate", "3000", "--ratio", "100",
           "--domains", "threads"]
    found = {loops: float(re.search(r"thread_lambda (\S+)", sennit(1, 4, *one, "--loops", loops)[2])[1])
             for loops in ("serial", "taskloop", "parallel")}
    if abs(found["serial"] - 3) > 1e-3 or max(found["taskloop"], found["parallel"]) > 1.5:
        sys.exit(f"loops are not shared: imbalance {found}")


check_sharing()


def check_report():
    """The trace tells what each call did, and all objects' work, wherever they were."""
    with tempfile.TemporaryDirectory() as folder:
        trace, page = os.path.join(folder, "trace"), os.path.join(folder, "page.html")
        done = subprocess.run([args.sennit, "run", f"--trace={trace}", "-n", "2", "--threads", "1", args.program,
                               *MESH, "--strategy", "rotate"], capture_output=True, text=True, timeout=250,
                              check=True)
        moved = int(re.search(r"moved (\d+)", done.stdout)[1])
        text = subprocess.run([args.sennit, "report", trace, "--html", page], capture_output=True, text=True,
                              timeout=100, check=True).stdout
        with open(page, encoding="utf-8") as file:
            data = json.JSONDecoder().raw_decode(file.read().split("const DATA = ")[1])[0]
    objects = data["runs"][0]["objects"]
    calls, ranks = objects["calls"], objects["ranks"]
    problems = [what for what, wrong in (
        ("no table", not re.search(r"^Calls of sennit_balance\(\)", text, re.MULTILINE)
         or f"; {moved} moves, " not in text),
        ("moves", sum(call["moved"] for call in calls) != moved or not moved),
        ("every object moves in each call", any(call["moved"] != 36 for call in calls)),
        ("strategy", any(call["strategy"] != "rotate" for call in calls)),
        ("the next period", any(call["then"] < 0 for call in calls)),
        ("the imbalance found is not that of the objects", any(
            abs(a["then"] - b["lambda"]) > 1 for a, b in zip(calls, calls[1:]))),
        ("objects", len(objects["list"]) != 36 or sum(one["moves"] for one in objects["list"]) != moved),
        ("ranks", [sum(rank[key] for rank in ranks) for key in ("held", "came", "left")] != [36, moved, moved]),
        ("bytes", sum(rank["bytes"] for rank in ranks) != sum(call["bytes"] for call in calls)),
        ("work", min(rank["work"] for rank in ranks) <= 0),
    ) if wrong]
    if problems:
        sys.exit(f"sennit report: wrong: {problems}\n{text}\n{json.dumps(objects, indent=1)}")


check_report()
bad = subprocess.run([args.sennit, "run", "-n", "1", args.program, "--strategy", "greedyy"],
                     capture_output=True, text=True, check=False)
if bad.returncode == 0 or "there is no strategy 'greedyy'; use one of none, greedy" not in bad.stderr:
    sys.exit(f"an unknown strategy: {bad.returncode}\n{bad.stderr}")
print("front: all right")
