#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: mpi.outside_cost.{of}.alone.{mpi} mpi=all of=c|F90
#     if="SENNIT_VALGRIND and not sanitized and (of == 'c' or mpifc)" timeout=900 -- --program
#     {bin}/outside_cost-{of}-alone-{mpi} --limit 11 --mpi-library {library}
# script: mpi.outside_cost.{of}.omp.{mpi} mpi=all of=c|F90
#     if="SENNIT_VALGRIND and not sanitized and (of == 'c' or mpifc)" timeout=900 -- --program
#     {bin}/outside_cost-{of}-omp-{mpi} --limit 20 --mpi-library {library} --omp-folder {omp}
# script: mpi.outside_cost.{of}.watched.{mpi} mpi=all of=c|F90
#     if="SENNIT_VALGRIND and not sanitized and (of == 'c' or mpifc)" timeout=900 -- --program
#     {bin}/outside_cost-{of}-alone-{mpi} --limit 20 --mpi-library {library} --watched-by
#     {file('sennit-omp')}
"""Calls outside of tasks cost hardly more than the bare MPI's, in instructions that callgrind counts.

usage: outside_cost.py --program FILE --limit INSTRUCTIONS --mpi-library FILE [--omp-folder FOLDER | --watched-by FILE]

The program counts its calls between two requests to callgrind and says how many there were. It runs
bare and with Sennit's libraries, one rank; the difference per call is what is judged.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMEOUT_S = 240 # on a busy machine


def instructions_per_call(program, settings, *arguments):
    """Of the first thread; others only look after the process."""
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("LD_", "OMP_", "SENNIT_"))}
    environment |= {"OMP_NUM_THREADS": "2", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **settings}
    with tempfile.TemporaryDirectory() as scratch:
        counts = pathlib.Path(scratch) / "counts"
        argv = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes",
                f"--callgrind-out-file={counts}", program, *arguments]
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S,
                              check=False)
        calls = re.search(r"^calls=(\d+)$", done.stdout, re.MULTILINE)
        if done.returncode != 0 or not calls:
            sys.exit(f"outside_cost.py: {program} failed\n{done.stdout}{done.stderr}")
        text = pathlib.Path(f"{counts}-01").read_text(encoding="utf-8")
    return int(re.search(r"^totals: (\d+)$", text, re.MULTILINE).group(1)) / int(calls.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--limit", type=float, required=True)
    parser.add_argument("--mpi-library", required=True)
    parser.add_argument("--omp-folder")
    parser.add_argument("--watched-by", help="the OpenMP library, preloaded for a program without OpenMP")
    options = parser.parse_args()
    settings = {"LD_PRELOAD": options.mpi_library}
    if options.omp_folder:
        settings["LD_LIBRARY_PATH"] = options.omp_folder
    if options.watched_by:
        settings["LD_PRELOAD"] += f":{options.watched_by}"
        settings["SENNIT_ONLY_WATCHED"] = "1"
    bare = instructions_per_call(options.program, {})
    ours = instructions_per_call(options.program, settings)
    print(f"instructions per call: {bare:.1f} bare, {ours:.1f} with Sennit, {ours - bare:.1f} more "
          f"(limit {options.limit:g}), ratio {ours / bare:.3f}")
    if bare < 10:
        sys.exit("outside_cost.py: nothing was counted")
    sys.exit(ours - bare > options.limit)


if __name__ == "__main__":
    main()
