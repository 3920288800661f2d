# SPDX-License-Identifier: Apache-2.0
# whole: tools.denied if="'fibers' in ways" skip=77 labels=virtual -- {sennit} {programs} {with_tasks}
"""System calls that containers and old kernels deny: each command works without them, or ends with one
line that names what is missing. Nothing hangs. docs/soundness.md has the table.

Usage: denied_test.py SENNIT FOLDER-OF-PROGRAMS [MPI=PROGRAM-WITH-TASKS...]
SENNIT_TEST_EACH=1 denies the calls one by one, which takes long; otherwise all at once."""
import errno
import os
import sys
import tempfile

import harness
import seccomp

SENNIT, PROGRAMS = sys.argv[1:3]
WITH_TASKS = dict(word.split("=", 1) for word in sys.argv[3:])
OPENMP = os.path.join(PROGRAMS, "pool_works.gcc")
COMPUTE = [OPENMP, "sum", "20"]

# Each way works without any of them.
NEEDED_BY_NOBODY = [
    "close_range", "pidfd_open", "pidfd_send_signal", "pidfd_getfd", "membarrier", "rseq", "futex_waitv", "userfaultfd", "signalfd4", "memfd_create", "getrandom",
    "openat2", "statx", "faccessat2", "kcmp", "sched_getattr", "sched_setattr", "mbind", "get_mempolicy",
    "set_robust_list", "timerfd_create", "perf_event_open", "io_uring_setup", "copy_file_range",
    "setpriority", "sched_setscheduler", "timer_create", "sched_yield"]
COPIES = ["process_vm_readv", "process_vm_writev"]
# Jobs of bare MPI do not do without these. Open MPI does not start without fallocate, and its mpiexec does
# not end without clock_nanosleep; without copies between processes, MPICH (4.0.2) at times locks itself up
# in MPI_Finalize.
ALONE = ["fallocate", "clock_nanosleep", *COPIES]
OF_JOBS = {"mpich": [], "openmpi": COPIES}
# libc starts threads without it only if the system says that it does not know it.
IF_UNKNOWN = {errno.ENOSYS: ["clone3"], errno.EPERM: []}
ERRORS = (errno.ENOSYS, errno.EPERM)


def cases(names=()):
    """The calls that are denied together, and the error."""
    for error in ERRORS:
        all_of_them = [*NEEDED_BY_NOBODY, *IF_UNKNOWN[error], *names]
        for denied in [[name] for name in all_of_them] if os.environ.get("SENNIT_TEST_EACH") else [all_of_them]:
            yield denied, error


def run(words, denied, error, **environment):
    """Exit code, output, and the lines of the command's own."""
    return harness.run_to_end([SENNIT, *words], environment, lambda: seccomp.deny(denied, error))


def works(words, denied, error, **environment):
    code, out, said = run(words, denied, error, **environment)
    assert code == 0 and not said, (words, denied, errno.errorcode[error], code, out, said)
    return out


def refused(reason, words, denied, error, **environment):
    """Each process that is refused says the same; a job has a last line, of the rank with which it ended."""
    code, out, said = run(words, denied, error, **environment)
    reasons = [line for line in said if not line.endswith("before MPI_Init; the job has ended")]
    assert code == 2 and reasons and all(reason in line for line in reasons) and len(set(reasons)) == 1, \
        (words, denied, errno.errorcode[error], code, out, said)


def test_programs_without_mpi():
    with tempfile.TemporaryDirectory() as folder:
        for denied, error in cases(ALONE):
            assert " regions" in works(["exec", *COMPUTE], denied, error)
            trace = os.path.join(folder, errno.errorcode[error])
            works(["exec", f"--trace={trace}", *COMPUTE], denied, error)
            assert " tasks, " in works(["report", trace], denied, error)


def test_ranks():
    for mpi, program in WITH_TASKS.items():
        for way in ([], ["--virtual"], ["--virtual=fibers"]):
            for denied, error in cases(OF_JOBS[mpi]):
                works(["run", "-n", "2", "--threads", "2", *way, program], denied, error)


def test_what_ends_a_job():
    """Its exit code and its lines come through."""
    for mpi in WITH_TASKS:
        for denied, error in cases(OF_JOBS[mpi]):
            code, out, said = run(["run", "-n", "2", os.path.join(PROGRAMS, f"ranks.{mpi}"), "exit", "1", "3"],
                                  denied, error)
            assert code == 3 and not said, (mpi, denied, code, out, said)


def test_pools_and_programs_apart():
    with tempfile.TemporaryDirectory() as folder:
        board = {"SENNIT_BOARD": os.path.join(folder, "board")}
        for denied, error in cases(ALONE):
            works(["pool", "start", "p"], denied, error, **board)
            works(["exec", "--pool", "p", *COMPUTE], denied, error, **board)
            assert "p" in works(["pool", "ls"], denied, error, **board)
            works(["top", "--pool", "p", "--once"], denied, error, **board)
            works(["pool", "stop", "p"], denied, error, **board)
            two = ["run", "--apart", "-n", "1", *COMPUTE, ":", "-n", "1", *COMPUTE]
            assert works(two, denied, error, **board).count(" regions") == 2
        assert not os.listdir(folder), os.listdir(folder)


def test_looking():
    for program in WITH_TASKS.values():
        for denied, error in cases(ALONE):
            works(["doctor", program], denied, error)
    with tempfile.TemporaryDirectory() as folder:
        for denied, error in cases(ALONE):
            works(["top", "--once"], denied, error, SENNIT_BOARD=os.path.join(folder, "board"))


def test_what_is_needed_is_named():
    program = next(iter(WITH_TASKS.values()))
    for error in ERRORS:
        for name in ("rt_sigtimedwait", "rt_tgsigqueueinfo", "tgkill", "sigaltstack"):
            refused(name, ["run", "--virtual=fibers", "-n", "2", program], [name], error)
        refused("the program break", ["run", "--virtual", "-n", "2", program], ["prctl"], error)
        with tempfile.TemporaryDirectory() as folder:
            board = {"SENNIT_BOARD": os.path.join(folder, "board")}
            refused("cannot be locked", ["pool", "start", "p"], ["flock"], error, **board)
            works(["pool", "start", "p"], [], error, **board)
            refused("cannot run on the cores", ["exec", "--pool", "p", *COMPUTE], ["sched_setaffinity"], error,
                    **board)
            works(["pool", "stop", "p"], [], error, **board)


if __name__ == "__main__":
    if not seccomp.is_possible():
        print("skipped: the numbers of system calls are those of x86-64")
        sys.exit(77)
    harness.run_tests(sys.modules[__name__])
