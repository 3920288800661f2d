# SPDX-License-Identifier: Apache-2.0
# whole: tools.looking timeout=180 -- {sennit} {programs}
"""`sennit doctor ./app` and `sennit run --dry-run ./app` only look: nothing that the program brings along is run.
And what they and other commands print of names from outside moves no cursor.

Usage: looking_test.py SENNIT FOLDER-OF-PROGRAMS"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import harness

SENNIT, PROGRAMS = sys.argv[1:3]
STRANGER = 65101  # no user has this number
KINDS = {"mpich": ("libmpich.so.12", 'echo "HYDRA build details:"; echo "    Version:   4.0.2"'),
         "openmpi": ("libmpi.so.40", 'echo "mpiexec (OpenRTE) 4.1.4"')}
SILENT = 'exec "$(dirname "$0")"/../real "$@"'  # tells nobody whose it is


class Prefix:
    """An MPI of the program's own, with an mpiexec that leaves a file where it is run."""

    def __init__(self, mpi, says):
        self.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        root = self.folder.name
        library = KINDS[mpi][0]
        for name in ("lib", "bin"):
            os.mkdir(os.path.join(root, name))
        shutil.copy(os.path.join(PROGRAMS, library), os.path.join(root, "lib"))
        self.app = os.path.join(root, "app")
        source = os.path.join(root, "app.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int main(void) { return 0; }\n")
        subprocess.run(["cc", source, "-o", self.app, "-Wl,--no-as-needed", os.path.join(root, "lib", library),
                        "-Wl,-rpath,$ORIGIN/lib"], check=True)
        self.trace = os.path.join(root, "was-run")
        self.mpiexec = os.path.join(root, "bin", "mpiexec")
        with open(self.mpiexec, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ntouch {self.trace}\n{says}\n")
        os.chmod(self.mpiexec, 0o755)
        os.chmod(root, 0o755)

    def look(self, *words, **environment):
        done = subprocess.run([SENNIT, *words, self.app], env={**os.environ, **environment}, capture_output=True,
                              text=True, timeout=harness.LIMIT, check=False)
        assert not os.path.exists(self.trace), f"{words} ran the program's own mpiexec"
        return done


LOOKS = (["doctor"], ["run", "--dry-run", "-n", "2"])


def test_nothing_beside_the_program_is_run():
    for mpi, (_, says) in KINDS.items():
        for text in (says, SILENT):
            prefix = Prefix(mpi, text)
            for words in LOOKS:
                done = prefix.look(*words)
                assert done.returncode == 0 and f"{prefix.mpiexec} " in done.stdout, done


def test_a_job_of_several_looks_at_all_without_running_them():
    prefix = Prefix("mpich", KINDS["mpich"][1])
    prefix.look("run", "--dry-run", "-n", "1", prefix.app, ":", "-n", "1")
    prefix.look("run", "--dry-run", "--apart", "-n", "1", prefix.app, ":", "-n", "1")


def test_nothing_is_run_that_others_may_change():
    """Also not if its folder is in PATH."""
    for mpi, (_, says) in KINDS.items():
        prefix = Prefix(mpi, says)
        folder = os.path.dirname(prefix.mpiexec)
        path = f"{folder}:{os.environ['PATH']}"
        changes = [(0o777, None), (0o775, None)]
        if os.geteuid() == 0:
            changes.append((0o755, STRANGER))
        for mode, owner in changes:
            os.chmod(folder, mode)
            if owner:
                os.chown(folder, owner, owner)
            for words in LOOKS:
                done = prefix.look(*words, PATH=path)
                assert f"{prefix.mpiexec} " in done.stdout, done
            done = subprocess.run([SENNIT, "doctor"], env={**os.environ, "PATH": path}, capture_output=True, text=True,
                                  timeout=harness.LIMIT, check=False)
            assert not os.path.exists(prefix.trace), "doctor alone ran it"
        # A folder of this user's own in PATH, which nobody else may write, is asked as ever.
        os.chmod(folder, 0o755)
        if os.geteuid() == 0:
            os.chown(folder, 0, 0)
        version = subprocess.run([SENNIT, "doctor"], env={**os.environ, "PATH": path}, capture_output=True, text=True,
                                 timeout=harness.LIMIT, check=False).stdout
        assert os.path.exists(prefix.trace) and f"{prefix.mpiexec}, " in version, version


def test_a_failed_start_is_told_as_such():
    """And not as belonging to another MPI."""
    for text, reason in (("#!/absent/shell\n", "cannot be started: No such file"),
                         ("#!/bin/sh\necho no license left; exit 3\n", "ended with code 3: no license left"),
                         ("#!/bin/sh\nkill -9 $$\n", "was ended by signal 9")):
        with tempfile.TemporaryDirectory() as folder:
            launcher = os.path.join(folder, "mpiexec")
            with open(launcher, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(launcher, 0o755)
            ranks, = glob.glob(os.path.join(PROGRAMS, "ranks.*"))[:1]
            done = subprocess.run([SENNIT, "run", ranks], env={**os.environ, "PATH": f"{folder}:/bin-absent"},
                                  capture_output=True, text=True, timeout=harness.LIMIT, check=False)
            assert done.returncode == 2 and reason in done.stderr and "another MPI" not in done.stderr, done
            assert done.stderr.count("\n") == 1, done


def test_names_move_no_cursor():
    evil = "\033]0;OWNED\007\u202e\n"
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, f"app{evil}")
        shutil.copy(os.path.join(PROGRAMS, "openmp-by-runpath"), program)
        for words in (["run", "--dry-run", program], ["doctor", program], ["run", "--verbose", program],
                      ["run", f"{program}absent"], ["run", "--apart", "--dry-run", program, ":", program],
                      ["pool", "stop", evil], ["report", f"{folder}/{evil}"]):
            done = subprocess.run([SENNIT, *words], capture_output=True, timeout=harness.LIMIT, check=False)
            for text in (done.stdout, done.stderr):
                assert b"\033" not in text and b"\007" not in text and "\u202e".encode() not in text, (words, text)


if __name__ == "__main__":
    harness.run_tests({name: test for name, test in globals().items() if name.startswith("test_")}, at_once=2)
