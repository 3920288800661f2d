#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: mpi.rank_fibers.{mpi} mpi=all if=rank_fibers timeout=600 labels=mpi,virtual processors=2
#     others={bin}/rank_fibers -- --sennit {sennit} --program {others}-{mpi} --waits {others}_waits-{mpi} --teams
#     {others}_teams-{mpi} --uneven {others}_uneven-{mpi} --objects {others}_objects-{mpi} {others}_openmp_objects-{mpi}
#     --openmp {others}_openmp --exec {others}_exec --doorbells {bin}/doorbells-{mpi} --mpi {mpi}
"""Rank fibers (sennit run --virtual=fibers): what has to stay a rank's own while it hops between kernel
threads, how a rank ends, that nothing is left behind, that waits outside of MPI leave the core to other
ranks, that uneven ranks share the workers evenly, and that the work on objects is counted wherever it is done.

usage: rank_fibers.py --sennit COMMAND --program PROGRAM --waits PROGRAM --teams PROGRAM --uneven PROGRAM
           --objects PROGRAM PROGRAM --openmp PROGRAM --exec PROGRAM --doorbells PROGRAM --mpi mpich|openmpi
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import harness  # pylint: disable=wrong-import-position

LIMIT = 120  # seconds until a test counts as failed

# How rank 1 ends, and the job's exit code. MPICH's launcher mixes that of all ranks, which it kills.
TEAM_ENDS = {"exit": 5, "segfault": 139, "abort": 134}
ENDS = {"exit": 5, "atexit": 6, "segfault": 139, "abort": 134, "kill": 137}
EXECS_WITH = 8  # how the program ends that a rank becomes

failures = []


def one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def two_processors():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


def run(options, folder, ranks, *words, program=None, threads=1, prepare=None, virtual=True, **variables):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("SENNIT_DOORBELLS", "SENNIT_BOARD", "OMP_NUM_THREADS")}
    environment |= {"TMPDIR": folder, **variables}
    line = [options.sennit, "run", *(["--virtual=fibers"] if virtual else []), "--mpi", options.mpi, "-n", str(ranks), "--threads",
            str(threads), program or options.program, *words]
    job = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=LIMIT, preexec_fn=prepare,
                         check=False)
    print(f"{ranks} ranks {' '.join(words)}: {job.returncode}")
    return job


def run_in_two(options, folder, ranks, *words, prepare=None):
    """As ranks that do not fit into one address space: every other one is in a second one."""
    script = os.path.join(folder, "in_two")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n"
                   "export SENNIT_VIRTUAL_JOB=space-$((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} % 2))\n"
                   f"exec {options.sennit} exec --virtual=fibers --mpi {options.mpi} \"$@\"\n")
    os.chmod(script, 0o700)
    return run(options, folder, ranks, options.program, *words, program=script, virtual=False,
               prepare=prepare)


def run_without_mpi(options, folder, *words, prepare=None):
    environment = {name: value for name, value in os.environ.items() if name not in ("SENNIT_BOARD", "OMP_NUM_THREADS")}
    line = [options.sennit, "run", "--virtual=fibers", *words]
    job = subprocess.run(line, env=environment | {"TMPDIR": folder}, capture_output=True, text=True, timeout=LIMIT,
                         preexec_fn=prepare, check=False)
    print(f"without MPI: {job.returncode}")
    return job


def check(condition, what, job):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}\n{job.returncode}\n{job.stdout}\n{job.stderr}", file=sys.stderr)


def is_left(folder):
    """Does a host of the jobs still meet there? It may take a moment to end."""
    for _ in range(100):
        jobs = [entry for parent in os.scandir(folder) if parent.name.startswith("sennit-virtual-")
                for entry in os.scandir(parent)]
        if not jobs:
            return False
        time.sleep(0.1)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--waits", required=True)
    parser.add_argument("--teams", required=True)
    parser.add_argument("--uneven", required=True)
    parser.add_argument("--objects", required=True, nargs=2)
    parser.add_argument("--openmp", required=True)
    parser.add_argument("--exec", required=True)
    parser.add_argument("--doorbells", required=True)
    parser.add_argument("--mpi", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for ranks, prepare in ((2, None), (4, None), (7, None), (4, one_processor)):
            job = run(options, folder, ranks, "whole", prepare=prepare)
            check(job.returncode == 0 and job.stdout == "whole\n", f"{ranks} ranks", job)
        for prepare in (None, one_processor):
            job = run_in_two(options, folder, 4, "whole", prepare=prepare)
            check(job.returncode == 0 and job.stdout == "whole\n", "4 ranks in two address spaces", job)
        for library, function in harness.allocators().items():
            job = run(options, folder, 3, "whole", LD_PRELOAD=library, RANK_FIBERS_ALLOCATOR=function)
            check(job.returncode == 0 and job.stdout == "whole\n", f"with {library}", job)
        for ranks in (2, 3):
            job = run(options, folder, ranks, program=options.waits, threads=2, prepare=one_processor)
            check(job.returncode == 0 and job.stdout == "away\n", f"{ranks} ranks that wait outside of MPI", job)
        for ranks in (2, 3):
            for prepare in (one_processor, None):
                job = run(options, folder, ranks, "whole", program=options.teams, threads=3, prepare=prepare)
                check(job.returncode == 0 and job.stdout == "teams\n", f"{ranks} ranks with teams", job)
        if len(os.sched_getaffinity(0)) > 1:
            job = run(options, folder, 8, program=options.uneven, prepare=two_processors)
            check(job.returncode == 0 and job.stdout == "even\n", "uneven ranks on two workers", job)
        # Without OpenMP, the library of objects measures by itself, unless something looks for hangs.
        for program, hang in zip(options.objects, ("off", "report")):
            for ranks, prepare in ((2, one_processor), (4, two_processors)):
                job = run(options, folder, ranks, program=program, prepare=prepare, SENNIT_HANG=hang)
                check(job.returncode == 0 and job.stdout == "objects\n", f"{ranks} ranks that work on objects", job)
        for prepare in (one_processor, two_processors):
            job = run_without_mpi(options, folder, options.openmp, prepare=prepare)
            check(job.returncode == 0 and job.stdout == "openmp\n", "a rank without MPI", job)
            job = run_without_mpi(options, folder, "--apart", "-n", "1", options.openmp, ":", "-n", "1", options.openmp,
                                  prepare=prepare)
            check(job.returncode == 0 and job.stdout == "openmp\n" * 2, "two programs without MPI in a pool", job)
        job = run(options, folder, 2, "spins", "2000", program=options.doorbells, prepare=one_processor)
        check(job.returncode == 0, "a rank that tests by itself soon leaves the worker to the other one", job)
        for way in ("spins", "calls"):
            job = run_without_mpi(options, folder, options.exec, os.path.join(folder, way), way, prepare=two_processors)
            check(job.returncode == EXECS_WITH, f"exec by another thread, the main flow {way}", job)
            check(not is_left(folder), f"exec, {way}: nothing is left", job)
        ends = [(options.program, 1, *end) for end in ENDS.items()]
        ends += [(options.teams, 3, *end) for end in TEAM_ENDS.items()]
        for program, threads, way, code in ends:
            job = run(options, folder, 4, way, program=program, threads=threads)
            check(job.returncode == code if options.mpi == "openmpi" else job.returncode != 0, way, job)
            check(not is_left(folder), f"{way}: nothing is left", job)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
