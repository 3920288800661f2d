# SPDX-License-Identifier: Apache-2.0
# whole: tools.other_users_launcher skip=77 -- {sennit} {programs} {mpis[0]}
"""What another user of the machine can do to a job by the sockets of its launcher: nothing. It runs as root, who
starts the jobs, and attacks as a user without a name; as another user only the tests without an attacker run.

Usage: other_users_launcher_test.py SENNIT FOLDER-OF-PROGRAMS MPI"""
import contextlib
import glob
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

import harness
from harness import Running, eventually, own_lines

SENNIT, PROGRAMS, MPI = sys.argv[1:4]
RANKS = os.path.join(PROGRAMS, f"ranks.{MPI}")
STRANGER = 65101  # no user has this number
PYTHON = "/usr/bin/python3"

# Sends its messages to all sockets of the job that /proc/net/unix shows, by whatever name, and says how many took one.
# Its words: the launcher's process, the ranks' link to it, and what it needs.
SEND = r"""
import re, socket, struct, sys, time
launcher, link_of_ranks, *words = sys.argv[1:]
def targets():
    for line in open("/proc/net/unix"):
        if match := re.search(r"(@?\S*sennit-\S*)\s*$", line):
            name = match[1]
            if name == link_of_ranks or f"sennit-{launcher}-" in name:
                yield "\0" + name[1:] if name[0] == "@" else name
def send(message):
    taken = 0
    for name in targets():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
            try:
                link.sendto(message, socket.MSG_DONTWAIT, name)
                taken += 1
            except OSError:
                pass
    return taken
"""
# That rank 0 and 1 are this process, and hang; with a text that would set the terminal's title.
KILL = SEND + r"""
now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
taken = 0
for rank in (0, 1):
    taken += send(f"here\t{rank}\t{words[0]}".encode())
    taken += send(f"hang\t{rank}\t{words[0]}\t{now - 5 * 10**9}\t{now}\t{10**9}\t1\t0\n\n"
                  "sennit:   \033]0;OWNED\007\n".encode())
print(taken, flush=True)
sys.stdin.read()  # the last words of a process that has ended may be a rank's
"""
# That a rank has failed: as it was said once, and as it is said now.
FAIL = SEND + r"""
print(send(struct.pack("iiii", 0, 1, 0, 66)) + send(b"end\t0\t1\t1\t0\t66\t0"))
"""
# Without end, as fast as several can; says so when some thousands have been sent.
FLOOD = SEND + r"""
import ctypes, os, signal
is_first = True
for _ in range(3):
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        is_first = False
        break
links = [(name, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) for name in targets()]
number = os.getpid() * 10**6 % 2**31
for turn in range(10**9):
    if is_first and turn == 2:
        print("floods", flush=True)
    for name, link in links:
        for _ in range(1000):
            number += 1
            try:
                link.sendto(b"here\t%d\t%d" % (number, number), name)
            except OSError:
                break
"""


def become_stranger():
    os.setgroups([])
    os.setresgid(STRANGER, STRANGER, STRANGER)
    os.setresuid(STRANGER, STRANGER, STRANGER)


def attacker(code, job, *words):
    """The command, when the job's ranks have told where they are."""
    link = link_of(job.rank_pids(2)[0])
    return [PYTHON, "-c", code, str(job.process.pid), link, *map(str, words)]


@contextlib.contextmanager
def attack(code, job, *words, as_stranger=True):
    """How many messages were taken; the attacker may live as long as the block."""
    with subprocess.Popen(attacker(code, job, *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          cwd="/", preexec_fn=become_stranger if as_stranger else None) as process:
        yield int(process.stdout.readline())
        process.stdin.close()
    assert process.returncode == 0


def waiting_job(**settings):
    return Running([SENNIT, "run", "-n", "2", RANKS, "wait"], environment={"SENNIT_HANG": "abort", **settings})


def finish(job, code=0):
    job.process.send_signal(signal.SIGUSR1)
    got, out, errors = job.finish()
    assert got == code, f"exit code {got}, wanted {code}; output {out!r}, errors {errors}"
    assert not own_lines(errors) and "OWNED" not in " ".join(errors), errors
    assert not job.left_behind(), "processes were left behind"


def link_of(pid):
    with open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as file:
        return next(text.partition("=")[2] for text in file.read().split("\0") if text.startswith("SENNIT_HANG_LINK="))


def test_nobody_makes_it_signal_a_process():
    """Not another user; nor a process of this user that is none of the job's."""
    for as_stranger in (True, False):
        if as_stranger and os.geteuid() != 0:
            continue
        with waiting_job() as job, subprocess.Popen(["sleep", "600"]) as bystander:
            try:
                with attack(KILL, job, bystander.pid, as_stranger=as_stranger) as taken:
                    assert (taken == 0) == as_stranger, f"{taken} messages were taken, of another user: {as_stranger}"
                    finish(job)
                assert bystander.poll() is None, "a process that is none of the job's was ended"
            finally:
                bystander.kill()


def test_another_user_makes_no_exit_code():
    if os.geteuid() == 0:
        with waiting_job() as job:
            with attack(FAIL, job) as taken:
                assert taken == 0, "a message of another user was taken"
                finish(job)


def test_a_flood_of_messages_keeps_no_signal_away():
    for as_stranger in (True, False):
        if as_stranger and os.geteuid() != 0:
            continue
        with waiting_job() as job:
            with subprocess.Popen(attacker(FLOOD, job), stdout=subprocess.PIPE, cwd="/",
                                  preexec_fn=become_stranger if as_stranger else None) as flood:
                flood.stdout.readline()
                job.process.send_signal(signal.SIGINT)
                code, _, errors = job.finish()
                assert code == 128 + signal.SIGINT, f"exit code {code}: {errors}"
                assert flood.poll() is None, "the flood was to last longer than the job"
                flood.kill()
            assert not job.left_behind(), "processes were left behind"


def folder_of_job(**settings):
    with waiting_job(**settings) as job:
        folder = os.path.dirname(link_of(job.rank_pids(2)[0]))
        facts = os.lstat(folder)
        assert stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and facts.st_mode & 0o77 == 0, facts
        finish(job)
    assert not os.path.lexists(folder), "its folder was left behind"
    return os.path.dirname(folder)


def test_the_socket_lies_where_nobody_else_comes_in():
    with tempfile.TemporaryDirectory() as place:
        private, open_to_all, link = (os.path.join(place, name) for name in ("private", "open", "link"))
        os.mkdir(private, 0o700)
        os.mkdir(open_to_all)
        os.chmod(open_to_all, 0o777)
        os.symlink(private, link)
        assert folder_of_job(XDG_RUNTIME_DIR=private) == private
        elsewhere = {"/tmp", "/dev/shm"}
        for bad in (open_to_all, link, os.path.join(place, "absent")):
            assert folder_of_job(XDG_RUNTIME_DIR=bad, TMPDIR=open_to_all) in elsewhere, bad
        if os.geteuid() == 0:
            os.chown(private, STRANGER, STRANGER)
            assert folder_of_job(XDG_RUNTIME_DIR=private, TMPDIR=private) in elsewhere
            os.chown(private, 0, 0)
        deep = os.path.join(private, "d" * 100)  # too long for an address
        os.mkdir(deep, 0o700)
        assert folder_of_job(XDG_RUNTIME_DIR=deep, TMPDIR=deep) in elsewhere


def test_what_a_killed_launcher_leaves_is_removed_by_the_next():
    with tempfile.TemporaryDirectory() as place:
        with waiting_job(XDG_RUNTIME_DIR=place) as job:
            job.rank_pids(2)
            job.process.kill()
            job.process.wait()
            assert eventually(lambda: not harness.processes_with(job.token)), "processes survived"
        left, = glob.glob(place + "/*")
        assert os.listdir(left) == ["ranks"]
        folder_of_job(XDG_RUNTIME_DIR=place)
        assert os.listdir(place), "one that is so young may be about to begin"
        os.utime(left + "/ranks", times=(time.time() - 3600,) * 2)
        folder_of_job(XDG_RUNTIME_DIR=place)
        assert not os.listdir(place), os.listdir(place)


def test_a_background_job_of_a_script_takes_sigint():
    """A shell lets it ignore SIGINT; both MPIs' mpiexec take it all the same."""
    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    with Running([SENNIT, "run", "-n", "2", RANKS, "wait"], prepare=ignore) as job:
        job.rank_pids(2)
        job.process.send_signal(signal.SIGINT)
        code, _, errors = job.finish()
        assert code == 128 + signal.SIGINT, f"exit code {code}: {errors}"
        assert not job.left_behind(), "processes were left behind"


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("only root can be another user, too: tested without an attacker")
    harness.run_tests({name: test for name, test in globals().items() if name.startswith("test_")}, at_once=2)
