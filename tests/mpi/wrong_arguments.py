#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: mpi.wrong_arguments.{mpi} mpi=all timeout=1200 processors=2 -- --sennit {sennit} --program
#     {bin}/wrong_arguments-{mpi} --mpi {mpi} --exec {mpiexec}
"""Where ranks outnumber cores, wrong arguments of collective calls are found on the same ranks, with the same classes
and calls of error handlers, as without Sennit (programs/wrong_arguments.c).

usage: wrong_arguments.py --sennit SENNIT --program PROGRAM --mpi mpich|openmpi --exec MPIEXEC
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RANKS = "3"
# What bare MPI does not survive, and one after which it is not right either: its root alone finds the error, and the
# others have begun.
CRASHES = {
    "mpich": ["Bcast received_in_place", "Reduce negative_count", "Allreduce negative_count",
              "Reduce_scatter negative_count", "Reduce_scatter_block negative_count", "Scan negative_count",
              "Exscan negative_count", "Dist_graph_create other"],
    "openmpi": ["Scatterv uncommitted", "Allgather null_comm", "Neighbor_allgather null_comm",
                "Exscan received_in_place", "Reduce same_buffer"],
}
WAYS = {"mpich": ["return", "handler", "tasks"], # its handlers must return
        "openmpi": ["return", "handler", "jump", "tasks"]}
ROW = re.compile(r"^\w+ \w+ \d+:(?: \| -?\d+ \d+ \d+)+$", re.MULTILINE)


def rows(line, words, left_out, settings):
    """What rank 0 prints, or None."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "rows"
        line = [*line, *words, str(file), *left_out]
        run = subprocess.run(line, env=os.environ | settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=150)
        printed = file.read_text(encoding="utf-8") if file.exists() else ""
    found = ROW.findall(printed)
    if run.returncode == 0 and found and printed.endswith("\nend\n"):
        return found
    print(f"{' '.join(line)}: code {run.returncode}\n{printed[-1000:]}\n{run.stdout[-2000:]}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in "sennit", "program", "exec":
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--mpi", choices=CRASHES, required=True)
    options = parser.parse_args()
    left_out = [word for case in CRASHES[options.mpi] for word in case.split()]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe"}
    wrong = 0
    for way in WAYS[options.mpi]:
        alone = "return" if way == "tasks" else way
        bare = rows([options.exec, "-n", RANKS, options.program], [alone, "alone"], left_out, root)
        ours = rows([options.sennit, "run", "--mpi", options.mpi, "-n", RANKS, "--threads", "1", options.program],
                    [way, "checked"], left_out, {"SENNIT_DOORBELLS": "on"})
        if bare is None or ours is None:
            wrong += 1
            continue
        different = [(a, b) for a, b in zip(bare, ours) if a != b]
        wrong += len(different) + abs(len(bare) - len(ours))
        for one in different:
            print(f"{way}:\n  bare {one[0]}\n  ours {one[1]}")
        print(f"{way}: {len(bare)} calls, {len(different)} different")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
