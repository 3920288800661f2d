# SPDX-License-Identifier: Apache-2.0
# whole: tools.neighbours.{mpi} mpi=all -- {sennit} {mpi} {mpiexec} {programs} {build}/tests/mpi/hang_plain-{mpi}
"""Ranks of `sennit exec` that another launcher has started find each other: a hang of their job is told, the rank whose
end was a failure is named, and jobs of one user at a time are not mixed up.

Usage: neighbours_test.py SENNIT mpich|openmpi MPIEXEC FOLDER-OF-PROGRAMS PROGRAM-THAT-HANGS"""
import contextlib
import glob
import os
import signal
import sys
import tempfile

import harness
from harness import BARE_OPENMPI, Running, eventually, own_lines

SENNIT, MPI, MPIEXEC, PROGRAMS, HANGS = sys.argv[1:6]
RANKS = os.path.join(PROGRAMS, f"ranks.{MPI}")
# Ranks that wait leave the processors to others.
SETTINGS = {"SENNIT_HANG": "abort", "SENNIT_HANG_GRACE": "1", "SENNIT_DOORBELLS": "on", "XDG_RUNTIME_DIR": ""}


@contextlib.contextmanager
def place():
    """For the folders of jobs: none is there afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield {"TMPDIR": folder, "SENNIT_BOARD": os.path.join(folder, "board")}
        assert eventually(lambda: not glob.glob(f"{folder}/sennit-*")), f"left behind: {os.listdir(folder)}"


def job(where, *words, beside=(), by=()):
    """Two ranks; `beside`: the second one, where it is another command; `by`: what starts each."""
    first = [*by, SENNIT, "exec", *words]
    line = [*first, ":", "-n", "1", *beside] if beside else first
    bare = BARE_OPENMPI if MPI == "openmpi" else {}
    return Running([MPIEXEC, "-n", "1" if beside else "2", *line], environment={**bare, **SETTINGS, **where})


def end(running, code=None):
    got, out, errors = running.finish()
    assert code is None or got == code, f"exit code {got}, wanted {code}; output {out!r}, errors {errors}"
    assert not running.left_behind(), "processes were left behind"
    return got, own_lines(errors)


def judges(running):
    """The processes that hear its ranks."""
    found = []
    for pid in harness.processes_with(running.token):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            if file.read() == "sennit-judge\n":
                found.append(pid)
    return found


def test_two_jobs_that_hang_are_told_and_ended():
    with place() as where, job(where, HANGS, "both_receive") as one, job(where, HANGS, "both_receive") as other:
        for running in (one, other):
            code, lines = end(running)
            assert code != 0, lines
            text = "\n".join(lines)
            assert text.count("the job hangs: none of its 2 ranks has moved for ") == 1, text
            assert "a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n" in text, text
            for rank in "01":
                assert text.count(f"sennit: rank {rank} (process ") >= 1, text


def test_a_rank_that_is_killed_is_named_also_by_a_second_judge():
    for kills_judge in (False, True):
        with place() as where, job(where, RANKS, "wait") as running:
            rank = running.rank_pids(2)[1]
            first = judges(running)
            assert len(first) == 1, f"judges: {first}"
            if kills_judge:
                os.kill(first[0], signal.SIGKILL)
                assert eventually(lambda: judges(running) not in ([], first)), "there is no other judge"
            os.kill(rank, signal.SIGKILL)
            code, lines = end(running)
            assert code != 0 and [line for line in lines if "rank" in line] == [
                f"sennit: rank 1 (process {rank}) was ended by signal 9 (SIGKILL): somebody killed it, or the kernel for "
                "want of memory"], (code, lines)


def test_a_rank_that_ends_before_mpi_init_is_named():
    with place() as where, job(where, RANKS, "early", "1", "7", "300000") as running:
        code, lines = end(running)
        assert code != 0, lines
        if MPI == "mpich":  # Open MPI's mpiexec names it itself
            assert len(lines) == 1 and "rank 1 " in lines[0] and "with code 7 before MPI_Init" in lines[0], lines


def test_a_rank_without_sennit_is_left_out():
    """And a signal comes once."""
    with place() as where, job({**where, "SENNIT_DOORBELLS": "off"}, RANKS, "wait", beside=(RANKS, "wait")) as running:
        running.rank_pids(2)
        running.process.send_signal(signal.SIGUSR1)
        _, lines = end(running, 0)
        assert not lines, lines


def test_who_looks_for_no_hangs_is_the_program_itself():
    with place() as where, job({**where, "SENNIT_HANG": "off"}, RANKS, "wait") as running:
        running.rank_pids(2)
        assert not judges(running)
        running.process.send_signal(signal.SIGUSR1)
        end(running, 0)


def test_a_script_that_starts_programs_is_the_rank():
    """Its programs are not: their ends are not the rank's, and it sends them signals."""
    script = """"$1" exec true; "$@" & trap 'kill -USR1 $!' USR1; wait $! || wait $!"""
    with place() as where, job(where, RANKS, "wait", by=("sh", "-c", script, "sh")) as running:
        for pid in running.rank_pids(2).values():
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                os.kill(int(file.read().rpartition(")")[2].split()[1]), signal.SIGUSR1)
        assert not judges(running)
        end(running, 0)


def test_ends_of_programs_are_seen_where_children_are_ignored():
    with place() as where, job(where, RANKS, "wait", by=("sh", "-c", "trap '' CHLD; exec \"$@\"", "sh")) as running:
        running.rank_pids(2)
        assert len(judges(running)) == 1
        running.process.send_signal(signal.SIGUSR1)
        end(running, 0)


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__], at_once=3)
