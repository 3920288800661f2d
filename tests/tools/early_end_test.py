# SPDX-License-Identifier: Apache-2.0
# whole: tools.early_end labels=virtual -- {sennit} {programs} {ways} -- {mpis}
"""A rank that ends before MPI_Init: the job ends, whatever mpiexec makes of it, and one line names rank and code.

Usage: early_end_test.py SENNIT FOLDER-OF-PROGRAMS WAY... -- MPI...
Ways: processes, virtual, fibers."""
import os
import subprocess
import sys
import tempfile

import harness
from harness import Running, own_lines

SENNIT, PROGRAMS = sys.argv[1:3]
WAYS, MPIS = sys.argv[3:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
OPTIONS = {"processes": [], "virtual": ["--virtual"], "fibers": ["--virtual=fibers"]}
# How it ends: the job's exit code, and words of the line.
ENDS = {"kill": (137, "SIGKILL"), "segv": (139, "SIGSEGV"), "7": (7, "with code 7 before MPI_Init"),
        "0": (1, "with code 0 before MPI_Init")}


def check(mpi, options, end, delay, environment=None):
    """Rank 1 of three ends; the others go into MPI_Init."""
    code, words = ENDS[end]
    command = [SENNIT, "run", *options, "-n", "3", os.path.join(PROGRAMS, f"ranks.{mpi}"), "early", "1", end, delay]
    with Running(command, environment=environment) as job:
        got, out, errors = job.finish()
        assert got == code, f"{command}: exit code {got}, wanted {code}; output {out!r}, errors {errors}"
        lines = [line for line in own_lines(errors) if "rank 1 " in line]
        assert len(lines) == 1 and words in lines[0], f"{command}: {errors}"
        assert not job.left_behind(), "processes were left behind"


def each_end(mpi, way):
    # At once, and while the others wait already.
    for at, end in enumerate(ENDS):
        check(mpi, OPTIONS[way], end, "0" if at % 2 == 0 else "300000")


def in_a_pool(mpi):
    with tempfile.TemporaryDirectory() as folder:
        environment = {"SENNIT_BOARD": os.path.join(folder, "board")}
        settings = {**os.environ, **environment}
        subprocess.run([SENNIT, "pool", "start", "early"], env=settings, check=True, stdout=subprocess.DEVNULL)
        for way, end in zip(WAYS, ("0", "7", "kill")):
            check(mpi, [*OPTIONS[way], "--pool", "early"], end, "0", environment)
        subprocess.run([SENNIT, "pool", "stop", "early"], env=settings, check=True, stdout=subprocess.DEVNULL)


def apart(mpi):
    with tempfile.TemporaryDirectory() as folder:
        ranks = os.path.join(PROGRAMS, f"ranks.{mpi}")
        command = [SENNIT, "run", "--apart", "-n", "2", ranks, ":", "-n", "2", ranks, "early", "1", "0", "0"]
        with Running(command, environment={"SENNIT_BOARD": os.path.join(folder, "board")}) as job:
            code, out, errors = job.finish()
            assert code == 1, f"exit code {code}; output {out!r}, errors {errors}"
            assert out.count(" of 2 pid ") == 2, f"the other job is to run: {out!r}, {errors}"
            assert any("rank 1 " in line and "code 0 before MPI_Init" in line for line in own_lines(errors)), errors
            assert not job.left_behind(), "processes were left behind"


def one_of_several_programs(mpi):
    """A program without MPI is a job's rank that never calls MPI_Init."""
    ranks = os.path.join(PROGRAMS, f"ranks.{mpi}")
    with Running([SENNIT, "run", f"--mpi={mpi}", "-n", "2", "sh", "-c", "exit 3"]) as job:
        code, _, errors = job.finish()
        assert code == 3 and not own_lines(errors), f"nobody waits for MPI_Init: {code}, {errors}"
    with Running([SENNIT, "run", "-n", "1", ranks, "wait", ":", "-n", "1", ranks, "early", "1", "0", "0"]) as job:
        code, _, errors = job.finish()
        assert code == 1 and any("rank 1 " in line for line in own_lines(errors)), f"{code}, {errors}"


def one_test(function, *arguments):
    return lambda: function(*arguments)


if __name__ == "__main__":
    tests = {f"test_{mpi}_{way}": one_test(each_end, mpi, way) for mpi in MPIS for way in WAYS}
    for function in (in_a_pool, apart, one_of_several_programs):
        tests.update({f"test_{mpi}_{function.__name__}": one_test(function, mpi) for mpi in MPIS})
    harness.run_tests(tests, at_once=2)
