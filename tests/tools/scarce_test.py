# SPDX-License-Identifier: Apache-2.0
# whole: tools.scarce if="'fibers' in ways" skip=77 labels=virtual -- {sennit} {programs} {with_tasks}
"""Where a resource is scarce, each command works, or ends with a line that names it. A program never
dies of what Sennit writes beside it, its output is never lost, and nothing hangs.

Usage: scarce_test.py SENNIT FOLDER-OF-PROGRAMS [MPI=PROGRAM-WITH-TASKS...]"""
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import harness

SENNIT = os.path.abspath(sys.argv[1])
PROGRAMS = os.path.abspath(sys.argv[2])
MPIS = [word.split("=", 1)[0] for word in sys.argv[3:]]
COMPUTE = [os.path.join(PROGRAMS, "pool_works.gcc"), "sum", "50"]
WAYS = ([], ["--virtual"], ["--virtual=fibers"])
JOBS = [*(([], mpi) for mpi in MPIS), (["--virtual"], MPIS[0]), (["--virtual=fibers"], MPIS[-1])]


def ranks(mpi, *words):
    return ["-n", "2", os.path.join(PROGRAMS, f"ranks.{mpi}"), *words]


@contextlib.contextmanager
def new_folder():
    with tempfile.TemporaryDirectory(prefix="sennit-scarce-") as folder:
        yield folder


def finish(words, prefix=(), prepare=None, **environment):
    """Exit code, output, and the lines of Sennit's own."""
    return harness.run_to_end([*prefix, SENNIT, *words], environment, prepare)


def run_job(way, mpi, prints=True, **how):
    """Two ranks print, and one ends with code 3. Open MPI 5.0.7's mpiexec now and then loses what such ranks have
    printed, bare, too: then once more."""
    for _ in range(4 if prints and mpi == "openmpi" else 1):
        code, out, said = finish(["run", *way, *ranks(mpi, "exit", "1", "3")], **how)
        if out:
            break
    return code, out, said


def limit(which, most):
    return lambda: resource.setrlimit(which, (most, most))


def computes(words, said=None, **how):
    """The program ends well; Sennit says nothing, or one line with that in it."""
    code, out, lines = finish(words, **how)
    assert code == 0 and " regions" in out, (words, code, out, lines)
    assert (len(lines) == 1 and said in lines[0]) if said else not lines, (words, lines)


def refused(words, reason, **how):
    code, out, lines = finish(words, **how)
    assert code == 2 and len(lines) == 1 and reason in lines[0], (words, code, out, lines)


def is_possible_to_mount():
    if os.geteuid() == 0 and shutil.which("unshare") and \
            subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], check=False,
                           capture_output=True).returncode == 0:
        return True
    print("skipped: nothing can be mounted here, only root can in most places")
    return False


def with_mount(folder, options):
    """The command's prefix: with a file system of its own there."""
    return ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o "$0" none "$1" && shift && exec "$@"', options, folder]


def test_a_file_that_gets_too_long():
    with new_folder() as folder:
        for most in (0, 4096, 100_000):
            too_long = limit(resource.RLIMIT_FSIZE, most)
            trace = os.path.join(folder, f"trace-{most}")
            computes(["exec", "--threads", "4", f"--trace={trace}", *COMPUTE], "SENNIT_TRACE", prepare=too_long)
        none = limit(resource.RLIMIT_FSIZE, 0)
        computes(["exec", *COMPUTE], "SENNIT_STATS", prepare=none, SENNIT_STATS=os.path.join(folder, "stats"))
        board = {"SENNIT_BOARD": os.path.join(folder, "board")}
        refused(["pool", "start", "p"], "File too large", prepare=none, **board)
        refused(["run", "--apart", "-n", "1", *COMPUTE, ":", "-n", "1", *COMPUTE], "File too large", prepare=none,
                **board)
        computes(["exec", *COMPUTE], prepare=none)
        assert finish(["exec", f"--trace={folder}/whole", *COMPUTE])[0] == 0
        for option in ("html", "perfetto", "paraver"):
            refused(["report", f"{folder}/whole", f"--{option}={folder}/page"], "File too large", prepare=none)
        left = [name for name in os.listdir(folder) if not name.startswith(("trace-", "whole"))]
        assert not left, left


def test_a_full_disk():
    if not is_possible_to_mount():
        return
    with new_folder() as folder:
        for size in ("4k", "100k", "400k"):
            computes(["exec", "--threads", "4", f"--trace={folder}/trace", *COMPUTE], "SENNIT_TRACE",
                     prefix=with_mount(folder, f"size={size}"))
        # A file's entry takes none of a tmpfs's room.
        full = ["unshare", "-m", "sh", "-c",
                'mount -t tmpfs -o size=4k none "$0" && echo full > "$0/file" && exec "$@"', folder]
        computes(["exec", *COMPUTE], "SENNIT_STATS", prefix=full, SENNIT_STATS=f"{folder}/stats")
        refused(["pool", "start", "p"], "No space left", prefix=full, SENNIT_BOARD=f"{folder}/board")
        for mpi in MPIS:
            code, out, said = run_job([], mpi, prefix=full, SENNIT_BOARD=f"{folder}/board")
            assert code == 3 and out.count(" pid ") == 2 and len(said) <= 1, (mpi, code, out, said)


def test_folders_that_cannot_be_written():
    if not is_possible_to_mount():
        return
    with new_folder() as folder:
        for place in ("/tmp", "/dev/shm"):
            if not os.path.realpath(SENNIT).startswith(f"{place}/"):  # it would be hidden itself
                computes(["exec", *COMPUTE], prefix=with_mount(place, "ro"))
        only_read = with_mount(folder, "ro")
        refused(["exec", f"--trace={folder}/trace", *COMPUTE], "Read-only", prefix=only_read)
        computes(["exec", *COMPUTE], "SENNIT_STATS", prefix=only_read, SENNIT_STATS=f"{folder}/stats")
        refused(["pool", "start", "p"], "Read-only", prefix=only_read, SENNIT_BOARD=f"{folder}/board")
        for way in ("--virtual", "--virtual=fibers"):
            refused(["exec", way, os.path.join(PROGRAMS, f"ranks.{MPIS[0]}"), "exit", "0", "0"], "Read-only",
                    prefix=only_read, TMPDIR=folder)


def test_places_where_nothing_may_be_started():
    """/tmp and /dev/shm mounted with noexec, as a careful administrator has them; and a home that is only read."""
    if not is_possible_to_mount():
        return
    with new_folder() as home:
        for place, options, more in (("/tmp", "noexec", {"SENNIT_BOARD": "/tmp/board"}),  # the mount hides any other
                                     ("/dev/shm", "noexec", {"SENNIT_BOARD": "/dev/shm/board"}),
                                     (home, "ro", {"HOME": home})):
            if os.path.realpath(SENNIT).startswith(f"{place}/"):
                continue
            for way, mpi in JOBS:
                code, out, said = run_job(way, mpi, prefix=with_mount(place, options), **more)
                assert code == 3 and out.count(" pid ") == 2 and not said, (place, mpi, way, code, out, said)


def test_without_proc():
    if not is_possible_to_mount():
        return
    with new_folder() as folder:
        nothing = with_mount("/proc", "ro")
        for words in (["exec", *COMPUTE], ["run", *ranks(MPIS[0], "exit", "0", "0")], ["doctor", COMPUTE[0]]):
            refused(words, "is /proc mounted?", prefix=nothing)
        board = {"SENNIT_BOARD": os.path.join(folder, "board")}
        for words in (["pool", "start", "p"], ["pool", "ls"], ["top", "--pool", "p", "--once"], ["pool", "stop", "p"]):
            code, _, said = finish(words, prefix=nothing, **board)
            assert code == 0 and not said, (words, code, said)


def test_few_open_files():
    with new_folder() as folder:
        board = {"SENNIT_BOARD": os.path.join(folder, "board")}
        for most in (16, 32, 64):
            few = limit(resource.RLIMIT_NOFILE, most)
            computes(["exec", f"--trace={folder}/{most}", *COMPUTE], prepare=few)
            for words in (["pool", "start", "p"], ["exec", "--pool", "p", *COMPUTE], ["top", "--pool", "p", "--once"],
                          ["pool", "stop", "p"], ["doctor", COMPUTE[0]], ["report", f"{folder}/{most}"]):
                code, _, said = finish(words, prepare=few, **board)
                assert code == 0 and not said, (most, words, code, said)
            for way in WAYS:  # below 32 the launchers of MPI fail themselves
                code, out, said = finish(["run", *way, *ranks(MPIS[0], "exit", "1", "3")], prepare=few)
                well = code == 3 and out.count(" pid ") == 2 and not said
                assert well if most == 64 else code != 0, (most, way, code, out, said)
                assert code != 2 or said, (most, way)


def test_no_more_processes():
    """Root has as many as it likes, so as a user that nobody is."""
    nobody = 61_234
    if os.geteuid() != 0 or subprocess.run(["test", "-x", SENNIT, "-a", "-x", COMPUTE[0]], check=False,
                                           user=nobody).returncode != 0:
        print("skipped: only root can become another user, who has to see the build folder")
        return

    def alone():
        os.setgroups([])
        os.setgid(nobody)
        os.setuid(nobody)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    with new_folder() as folder:
        os.chown(folder, nobody, nobody)
        board = {"SENNIT_BOARD": os.path.join(folder, "board")}
        computes(["exec", "--threads", "8", *COMPUTE], "cannot make another thread", prepare=alone)
        refused(["pool", "start", "p"], "cannot start", prepare=alone, **board)
        refused(["run", "--apart", "-n", "1", *COMPUTE, ":", "-n", "1", *COMPUTE], "no process", prepare=alone,
                **board)
        for way in WAYS:
            refused(["run", *way, *ranks(MPIS[0], "exit", "0", "0")], "mpiexec", prepare=alone, **board)


def test_little_address_space():
    """As much as the programs need without Sennit."""
    for mpi in MPIS:
        code, out, said = finish(["run", "--threads", "2", *ranks(mpi, "exit", "1", "3")],
                                 prepare=limit(resource.RLIMIT_AS, 400_000 << 10))
        assert code == 3 and out.count(" pid ") == 2 and not said, (mpi, code, out, said)
    computes(["exec", "--threads", "2", *COMPUTE], prepare=limit(resource.RLIMIT_AS, 400_000 << 10))
    # libc's malloc reserves 64 MB for each of eight threads, and 128 for a moment: a stack may find no room.
    code, out, lines = finish(["exec", "--threads", "8", *COMPUTE], prepare=limit(resource.RLIMIT_AS, 400_000 << 10))
    assert code == 0 and " regions" in out, (code, out, lines)
    assert all("no memory for another task stack" in line for line in lines) and len(lines) <= 1, lines


def closing(numbers):
    def close_them():
        for number in numbers:
            os.close(number)
    return close_them


def test_closed_standard_streams():
    """No file of Sennit's takes their numbers: what a program prints would be written into it."""
    with new_folder() as folder:
        board = {"SENNIT_BOARD": os.path.join(folder, "board")}
        for numbers in ((0,), (1,), (2,), (0, 1, 2)):
            prints = 1 not in numbers
            closed = closing(numbers)
            code, _, said = finish(["pool", "start", "p"], prepare=closed, **board)
            assert code == (0 if prints else 2), (numbers, code, said)
            for words in (["exec", "--pool", "p", *COMPUTE], ["exec", f"--trace={folder}/{len(numbers)}", *COMPUTE]):
                code, out, said = finish(words, prepare=closed, **board)
                assert code == 0 and not said and (" regions" in out) == prints, (numbers, words, code, out, said)
            assert json.loads(finish(["top", "--pool", "p", "--json"], **board)[1])["cores"], numbers
            code, _, said = finish(["pool", "stop", "p"], **board)
            assert code == 0 and not said, (numbers, said)
            for way, mpi in JOBS:
                code, out, said = run_job(way, mpi, prints, prepare=closed, **board)
                assert code == 3 and not said and (out.count(" pid ") == 2) == prints, \
                    (numbers, mpi, way, code, out, said)


def test_nobody_reads_what_sennit_says():
    """Nor does the program die of it."""
    def no_reader():
        read, write = os.pipe()
        os.close(read)
        os.dup2(write, 2)
        os.close(write)
    code, out, _ = finish(["exec", *COMPUTE], prepare=no_reader, SENNIT_CHUNK="nonsense", OMP_SCHEDULE="nonsense")
    assert code == 0 and " regions" in out, (code, out)


def test_the_working_folder_is_gone():
    def leave():
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        os.rmdir(folder)
    computes(["exec", *COMPUTE], prepare=leave)
    for way in WAYS:
        refused(["run", *way, *ranks(MPIS[0], "exit", "0", "0")], "working folder", prepare=leave)


def fails_bare(mpi, prefix):
    """Does this MPI not start in such an environment, without Sennit?"""
    done = subprocess.run([*prefix, f"mpiexec.{mpi}", "-n", "1", "true"], capture_output=True, text=True, check=False,
                          env={**os.environ, **harness.BARE_OPENMPI})
    if done.returncode != 0:
        print(f"mpiexec.{mpi} fails bare, too: not tested ({done.stderr.splitlines()[:1]})")
    return done.returncode != 0


def test_much_and_little_environment():
    large = {f"LARGE_{number}": "x" * 100_000 for number in range(12)}
    without = ["env", "-u", "HOME", "-u", "USER", "-u", "TMPDIR"]
    for more, prefix in ((large, ()), ({}, without)):
        computes(["exec", *COMPUTE], prefix=prefix, **more)
        for way, mpi in JOBS:
            code, out, said = run_job(way, mpi, prefix=prefix, **more)
            if code == 1 and not out and prefix and fails_bare(mpi, prefix):  # Open MPI 5.0.7 of Debian 13 wants HOME
                continue
            assert code == 3 and out.count(" pid ") == 2 and not said, (mpi, way, code, out, said)


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
