# SPDX-License-Identifier: Apache-2.0
# ways: tools.apart.{mpi}.{way} -- {sennit} {pair} {programs} {option}
"""sennit run --apart: several programs by one command, each a job of its own with its own world.

Usage: apart_test.py SENNIT FIRST-MPI SECOND-MPI FOLDER-OF-PROGRAMS [--virtual[=fibers]]
The MPIs are those of the first and of the second program; a third one has none."""
import os
import signal
import sys
import tempfile
import time

import harness
from harness import Running, eventually, own_lines

SENNIT, FIRST, SECOND, PROGRAMS = sys.argv[1:5]
VIRTUAL = sys.argv[5:]
RANKS = [os.path.join(PROGRAMS, f"ranks.{mpi}") for mpi in (FIRST, SECOND)]
OPENMP = os.path.join(PROGRAMS, "pool_works.gcc")


class Apart(Running):
    """With a folder of its own for pools."""

    def __init__(self, *words, options=(), **how):
        self.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        environment = {"SENNIT_BOARD": os.path.join(self.folder.name, "board")}
        super().__init__([SENNIT, "run", "--apart", *VIRTUAL, *options, *words], environment=environment,
                         **how)

    def __exit__(self, *_):
        super().__exit__()
        self.folder.cleanup()

    def pids(self, count):
        """Of the ranks, whatever their worlds."""
        found = []
        while len(found) < count:
            line = self.process.stdout.readline()
            assert line, f"they have ended early: {self.seen}{self.process.stderr.read()}"
            self.seen += line
            if " pid " in line:
                found.append(int(line.split()[-1]))
        return found

    def check(self, code):
        got, out, errors = self.finish()
        assert got == code, f"exit code {got}, wanted {code}; output {out!r}, errors {errors}"
        assert not self.left_behind(), "processes were left behind"
        assert not os.listdir(self.folder.name), f"left behind: {os.listdir(self.folder.name)}"
        return out, errors


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[1]


def is_running(pid):
    return os.path.exists(f"/proc/{pid}") and harness.state_of(pid) != "Z"


def waiting(*options):
    """Two programs that wait for SIGUSR1, of two ranks and of one."""
    return Apart("-n", "2", RANKS[0], "wait", ":", "-n", "1", RANKS[1], "wait", options=options)


def test_each_program_has_its_own_world_variables_and_options():
    names = ["A", "SENNIT_SHARE", "OMP_NUM_THREADS", "SENNIT_POOL"]
    with Apart("-n", "2", "--threads", "1", "A=1", RANKS[0], "print", *names, ":",
               "-n", "1", "--threads", "3", "--share", "1/4", RANKS[1], "print", *names, ":",
               "-n", "1", OPENMP, "50") as job:
        out, _ = job.check(0)
    lines = out.splitlines()
    assert out.count(" of 2 pid ") == 2 and out.count(" of 1 pid ") == 1, out
    pools = {line.partition("=")[2] for line in lines if "SENNIT_POOL=" in line}
    assert len(pools) == 1 and pools.pop().startswith("run-"), out
    for line in ("0 A=1", "1 A=1", "0 A=(unset)", "0 SENNIT_SHARE=(unset)", "0 SENNIT_SHARE=1/4",
                 "0 OMP_NUM_THREADS=1", "0 OMP_NUM_THREADS=3"):
        assert line in lines, (line, out)
    assert " regions" in out, out


def test_virtual_ranks_of_all_programs_are_in_one_address_space():
    with waiting() as job:
        parents = {parent_of(pid) for pid in job.pids(3)}
        assert (len(parents) == 1) == bool(VIRTUAL), parents
        job.process.send_signal(signal.SIGUSR1)
        job.check(0)


def test_programs_that_join_a_pool_later_are_in_the_same_address_space():
    with tempfile.TemporaryDirectory() as folder:
        environment = {"SENNIT_BOARD": os.path.join(folder, "board")}

        def sennit(*words):
            return Running([SENNIT, *words], environment=environment)

        def waiting_rank(mpi, *options):
            return sennit("run", *VIRTUAL, *options, "--pool", "later", "-n", "1", RANKS[mpi], "wait")

        with sennit("pool", "start", "later") as pool:
            assert pool.finish()[0] == 0
            try:
                with waiting_rank(0) as first, waiting_rank(1) as second, waiting_rank(0, "--apart") as third:
                    jobs = (first, second, third)
                    hosts = {parent_of(job.rank_pids(1)[0]) for job in jobs}
                    assert (len(hosts) == 1) == bool(VIRTUAL), hosts
                    for job in jobs:
                        job.process.send_signal(signal.SIGUSR1)
                        code, _, errors = job.finish()
                        assert code == 0, (code, errors)
            finally:
                with sennit("pool", "stop", "--now", "later") as stop:
                    assert stop.finish()[0] == 0


def wait_until_told(job, text):
    line = job.process.stderr.readline()
    while text not in line:
        assert line, f"not told: {text}"
        line = job.process.stderr.readline()
    return line


def test_a_program_that_fails_leaves_the_others_alone():
    with waiting() as job:
        pids = job.pids(3)
        os.kill(pids[0], signal.SIGKILL)
        line = wait_until_told(job, "has ended with code")
        assert "code 137; the others go on" in line, line
        left = 1 if "program 1 of 2" in line else 2
        assert eventually(lambda: sum(map(is_running, pids)) == left), "its ranks are left"
        time.sleep(1)
        assert sum(map(is_running, pids)) == left, "another program has not gone on"
        job.process.send_signal(signal.SIGUSR1)
        job.check(137)


def test_the_exit_code_is_that_of_the_first_failure():
    with Apart("-n", "1", RANKS[0], "wait", ":", "-n", "2", RANKS[1], "exit", "1", "7") as job:
        job.pids(3)
        wait_until_told(job, "has ended with code 7")
        job.process.send_signal(signal.SIGUSR1)
        job.check(7)


def test_a_signal_to_sennit_ends_all():
    for number in (signal.SIGINT, signal.SIGTERM):
        with waiting() as job:
            job.pids(3)
            job.process.send_signal(number)
            job.check(128 + number)


def test_ctrl_c_at_a_terminal_ends_all():
    with tempfile.TemporaryDirectory() as folder:
        harness.check_ctrl_c([SENNIT, "run", "--apart", *VIRTUAL, "-n", "1", RANKS[0], "wait", ":",
                              "-n", "1", RANKS[1], "wait"],
                             {"SENNIT_BOARD": os.path.join(folder, "board")})


def test_stop_and_continue_reach_all():
    with waiting() as job:
        ranks = job.pids(3)
        job.process.send_signal(signal.SIGTSTP)
        assert eventually(lambda: all(harness.state_of(pid) == "T" for pid in ranks)), "not stopped"
        assert eventually(lambda: harness.state_of(job.process.pid) == "T"), "sennit not stopped"
        job.process.send_signal(signal.SIGCONT)
        assert eventually(lambda: all(harness.state_of(pid) != "T" for pid in ranks)), "not resumed"
        job.process.send_signal(signal.SIGUSR1)
        job.check(0)


def test_nothing_survives_when_sennit_is_killed():
    with waiting() as job:
        job.pids(3)
        job.process.kill()
        job.process.wait()
        assert eventually(lambda: not harness.processes_with(job.token)), "processes survived"
        assert not os.listdir(job.folder.name), "its pool is left"


def test_input_reaches_the_first_program_alone():
    with Apart("-n", "1", RANKS[0], "cat", ":", "-n", "1", RANKS[1], "cat", stdin=harness.subprocess.PIPE) as job:
        code, out, errors = job.finish("strands of a rope\n")
    assert code == 0 and out.count("strands of a rope\n") == 1, (out, errors)


def test_what_cannot_be_is_refused_before_anything_starts():
    first = ("-n", "1", RANKS[0], "exit", "0", "5", ":", "-n")
    for words, reason in ((("1", "./no-such-program"), "no-such-program"),
                          (("x", RANKS[1]), "is not a number from 1"), (("1",), "no program behind"),
                          (("1", "--pool", "p", RANKS[1]), "--pool behind ':' is for all programs"),
                          (("1", "--share", "x", RANKS[1]), "is no share"),
                          (("2", OPENMP), "name it for 2 ranks")):
        with Apart(*first, *words) as job:
            code, out, errors = job.finish()
        assert code == 2 and not out and len(errors) == 1, (words, out, errors)
        assert errors[0].startswith("sennit: ") and reason in errors[0], (words, errors)


def test_one_world_is_said_or_not_said():
    for options in ((), ("--one-world",)):
        with Running([SENNIT, "run", *VIRTUAL, *options, "-n", "1", RANKS[0], "print", ":", "-n", "1", RANKS[0],
                      "print"]) as job:
            code, out, errors = job.finish()
        assert code == 0 and out.count(" of 2 pid ") == 2, (code, out, errors)
    with Apart("-n", "1", RANKS[0], ":", "-n", "1", RANKS[1], options=("--one-world",)) as job:
        code, out, errors = job.finish()
    assert code == 2 and not out and "say the opposite" in errors[0] and len(errors) == 1, (out, errors)


def test_two_mpis_in_one_world_are_told_of_it():
    if FIRST == SECOND:
        return
    with Running([SENNIT, "run", "-n", "1", RANKS[0], ":", "-n", "1", RANKS[1]]) as job:
        code, _, errors = job.finish()
    assert code == 2 and "--apart" in errors[0] and len(own_lines(errors)) == 1, errors


def test_dry_run_shows_each_job():
    with Apart("-n", "2", RANKS[0], ":", "-n", "1", RANKS[1], options=("--dry-run",)) as job:
        out, _ = job.check(0)
    assert "# program 1 of 2" in out and "# program 2 of 2" in out and out.count("mpiexec") >= 2, out


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__], at_once=4)
