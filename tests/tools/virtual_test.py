# SPDX-License-Identifier: Apache-2.0
# ways: tools.virtual.{mpi}.{way} way=virtual|fibers -- {sennit} {mpi} {programs} {option}
"""Virtual ranks with MPI: what each finds of itself, memory at fixed addresses, windows, stacks.

Usage: virtual_test.py SENNIT MPI FOLDER-OF-PROGRAMS --virtual[=fibers]"""
import os
import resource
import sys

import harness
from harness import Running

SENNIT, MPI, PROGRAMS, VIRTUAL = sys.argv[1:]


def program(name):
    return os.path.join(PROGRAMS, f"{name}.{MPI}")


def run(*words, ranks="2", prepare=None, environment=None):
    with Running([SENNIT, "run", VIRTUAL, "-n", ranks, *words], prepare=prepare, environment=environment) as job:
        result = job.finish()
        assert not job.left_behind(), "processes were left behind"
    return result


def test_ranks_find_themselves_and_start_themselves_again():
    code, out, errors = run(program("oneself"), "all")
    assert code == 0, (code, out, errors)


def test_no_rank_replaces_anothers_memory():
    """Also after MPI has put its own functions in front of libc's."""
    code, _, errors = run(program("fixed_addresses"), "all", "0x123400000000", ranks="3")
    assert code == 0, (code, errors)
    told = [line for line in harness.own_lines(errors) if "mmap with MAP_FIXED" in line]
    assert [sum(f"rank {rank}: " in line and "0x123400000000" in line for line in told) for rank in range(3)] \
        == [0, 1, 1], errors


def test_windows_leave_no_files():
    """Of MPICH's: other jobs' come and go."""
    def files():
        return {name for name in os.listdir("/dev/shm") if name.startswith("mpich_shar_tmp")}
    before = files()
    code, out, errors = run(program("windows"), "8")
    assert code == 0 and out == "well\n", (code, out, errors)
    left = files() - before
    assert harness.eventually(lambda: not left & files()), sorted(left)


def test_an_unlimited_stack_is_one():
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        print("the stack's hard limit is not unlimited: nothing is tested")
        return
    with open("/proc/sys/vm/overcommit_memory", encoding="utf-8") as file:
        if file.read().strip() == "2":
            print("memory is not overcommitted: nothing is tested")
            return
    infinity = resource.RLIM_INFINITY
    code, out, errors = run(program("windows"), "1", "200",
                            prepare=lambda: resource.setrlimit(resource.RLIMIT_STACK, (infinity, infinity)))
    assert code == 0 and out == "well\n", (code, out, errors)


ONESELF = """
import os, subprocess, sys
exe = os.readlink("/proc/self/exe")
assert exe == os.path.realpath(sys.argv[1]), (exe, sys.argv)
with open("/proc/self/cmdline", "rb") as file:
    assert file.read().split(b"\\0")[1:3] == [b"-c", sys.orig_argv[2].encode()]
with open("/proc/self/environ", "rb") as file:
    assert b"ONESELF_GIVEN=1" in file.read().split(b"\\0")
with open("/proc/self/exe", "rb") as one, open(exe, "rb") as other:
    assert one.read(4096) == other.read(4096)
assert "SENNIT_PYTHON_PROGRAM" not in os.environ and "libsennit-rank" not in os.environ.get("LD_PRELOAD", "")
again = "import sys, os; sys.exit(6 if os.path.realpath('/proc/self/exe') == sys.argv[1] else 7)"
assert subprocess.run(["/proc/self/exe", "-c", again, exe]).returncode == 6
assert os.spawnv(os.P_WAIT, "/proc/self/exe", ["python3", "-c", again, exe]) == 6
if os.fork() == 0:
    os.execv("/proc/self/exe", ["python3", "-c", again, exe])
assert os.waitstatus_to_exitcode(os.wait()[1]) == 6
print("well")
"""


def test_python_finds_itself():
    for python in sorted({os.path.realpath(sys.executable), os.path.realpath("/usr/bin/python3")}):
        if not os.path.exists(python):
            continue
        words = ["exec", VIRTUAL, "--mpi", MPI, python, "-c", ONESELF, python]
        with Running([SENNIT, *words], environment={"ONESELF_GIVEN": "1"}) as one:
            code, out, errors = one.finish()
        if code == 2 and "its shared library" in " ".join(errors):
            print(f"{python} has no shared library: nothing is tested with it")
            continue
        assert code == 0 and out == "well\n", (python, code, out, errors)


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
