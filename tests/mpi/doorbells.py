#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: mpi.doorbells.{mpi} mpi=all timeout=1200 processors=2 -- --sennit {sennit} --program {bin}/doorbells-{mpi}
#     --mpi {mpi}
"""Where ranks outnumber cores, those that wait leave their cores to others: every kind of call still
works, a rank that waits takes next to no processor time, and what is shared is gone afterwards.

usage: doorbells.py --sennit COMMAND --program PROGRAM --mpi mpich|openmpi
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 600  # seconds until a test counts as failed, on a busy machine
WAIT = 2  # seconds that ranks wait for a message
# Of a core, while they wait: a millisecond of yields, then naps. It is processor time, so another
# program on the machine does not add to it. A rank that spins asks for all of a core, and takes what
# it gets.
IDLE, SPINS = 0.10, 0.50
TRIPS, FEW_TRIPS = 5000, 1000
BESIDE = 0.03  # of a core; with a time slice for each message it is 0.01

failures = []


class Job:
    def __init__(self, options, ranks, *arguments, doorbells=None, board=None, cores=None, together=False,
                 elsewhere=None, pool=None):
        """`elsewhere`: the board of as many ranks more, which are on another node, as far as they know."""
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("SENNIT_DOORBELLS", "SENNIT_BOARD", "OMP_NUM_THREADS")}
        if doorbells:
            environment["SENNIT_DOORBELLS"] = doorbells
        if board:
            environment["SENNIT_BOARD"] = str(board)
        environment["SENNIT_NODE_COLLECTIVES"] = "on" if together else "off"
        line = [options.sennit, "run", "--mpi", options.mpi, "-n", str(ranks), "--threads", "1", options.program,
                *arguments]
        if pool:
            line[2:2] = ["--pool", pool]
        if elsewhere:
            line += [":", "-n", str(ranks), f"SENNIT_BOARD={elsewhere}", options.program, *arguments]
        if cores is not None:
            line = ["taskset", "-c", cores, *line]
        self.process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def end(self):
        self.output, self.errors = self.process.communicate(timeout=LIMIT)
        self.code = self.process.returncode
        return self


def check(condition, what, job):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}\n{job.code}\n{job.output}\n{job.errors}", file=sys.stderr)


def shares(job):
    """Of a core, for each rank that has waited."""
    return [float(share) for share in re.findall(r"([\d.]+) of a core", job.output)]


def requests(job):
    """The same, with the time in which it stood in line for a core."""
    return [float(share) for share in re.findall(r"asked for ([\d.]+)", job.output)]


def first_core():
    return str(min(os.sched_getaffinity(0)))


# Two jobs at a time on one board, on too few cores by any count; several threads at once.
def every_call(options, board):
    jobs = [Job(options, 6, "all", board=board, doorbells="on") for _ in range(2)]
    for job in jobs:
        job.end()
        check(job.code == 0 and job.errors == "", "every call, two jobs at once", job)
    check(not board.exists(), "the last one removes the board", jobs[1])

    for together in (False, True):
        job = Job(options, 3, "threads", board=board, doorbells="on", together=together).end()
        check(job.code == 0 and job.errors == "", f"calls of several threads at once, {together=}", job)


# One core for all: `auto` finds it out, and the launcher's guess does not matter.
def waits(options, board):
    job = Job(options, 4, "all", board=board, cores=first_core()).end()
    check(job.code == 0 and job.errors == "", "every call, on one core", job)
    job = Job(options, 3, "wait", str(WAIT), board=board, cores=first_core()).end()
    check(job.code == 0 and len(shares(job)) == 2 and max(shares(job)) < IDLE,
          f"ranks that wait take less than {IDLE} of a core", job)

    job = Job(options, 3, "fence", str(WAIT), board=board, cores=first_core()).end()
    check(job.code == 0 and len(shares(job)) == 2 and max(shares(job)) < IDLE,
          f"ranks that wait inside of MPI take less than {IDLE} of a core", job)

    # Who waits for a rank that computes for long holds up neither that one nor the others.
    job = Job(options, 4, "long", "1", board=board, cores=first_core()).end()
    rounds = [int(count) for count in re.findall(r"(\d+) rounds", job.output)]
    check(job.code == 0 and job.errors == "" and len(rounds) == 3 and min(rounds) >= 10,
          "ranks that wait for each other go on beside one that computes", job)


# Of two ranks that send each other a message one can always go on: it has the core or stands in line for it. It
# never sleeps on what MPI has found already. A program that tests by itself soon leaves the core to the other.
def trips(options, board):
    for case in ("trips", "spins"):
        job = Job(options, 2, case, str(TRIPS), board=board, cores=first_core()).end()
        check(job.code == 0 and len(requests(job)) == 2 and sum(requests(job)) > 0.9,
              f"{case}: one of two ranks can always go on, after few tests in vain", job)

    # What a rank gets from another one's window, that one has to send, which sleeps in a barrier. It is rung for that.
    for together in (False, True):
        job = Job(options, 2, "get", str(FEW_TRIPS), board=board, cores=first_core(), together=together).end()
        check(job.code == 0 and len(requests(job)) == 2 and sum(requests(job)) > 0.9,
              f"get: one of two ranks can always go on, {together=}", job)

    # Beside a program that computes each yield takes a time slice. They find that out, and sleep instead.
    busy = subprocess.Popen(["taskset", "-c", first_core(), sys.executable, "-c", "while True: pass"])
    try:
        job = Job(options, 2, "trips", str(FEW_TRIPS), board=board, cores=first_core()).end()
    finally:
        busy.kill()
        busy.wait()
    check(job.code == 0 and len(shares(job)) == 2 and sum(shares(job)) > BESIDE,
          f"two ranks beside a program that computes get more than {BESIDE} of the core", job)


# Two nodes: each rank knows the half of them, and no bell of the others.
def two_nodes(options, board):
    other = board.parent / "other"
    job = Job(options, 2, "all", board=board, elsewhere=other, doorbells="on").end()
    check(job.code == 0 and job.errors == "", "every call, on two nodes", job)
    job = Job(options, 2, "wait", str(WAIT), board=board, elsewhere=other, cores=first_core())
    met = set()
    while job.process.poll() is None and len(met) < 2:
        met |= {path for path in (board, other) if path.exists()}
        time.sleep(0.05)
    job.end()
    check(job.code == 0 and len(met) == 2 and len(shares(job)) == 3 and max(shares(job)) < IDLE,
          f"ranks that wait for another node take less than {IDLE} of a core", job)
    check(not board.exists() and not other.exists(), "both boards are removed", job)


# Each node has a pool of that name, with a keeper of its own. The ranks of a job share the cores of
# their node with each other, and know no core of the other node.
def one_pool_on_two_nodes(options, board):
    boards = (board, board.parent / "other")

    def sennit(board, *words):
        return subprocess.run([options.sennit, *words], env=os.environ | {"SENNIT_BOARD": str(board)}, check=True,
                              timeout=LIMIT, capture_output=True, text=True).stdout

    for board in boards:
        sennit(board, "pool", "start", "night")
    try:
        # Each rank looks at both, in the midst of the job.
        look = "; ".join(f"SENNIT_BOARD={board} {options.sennit} top --pool night --json > {board}.seen-$$"
                         for board in boards)
        job = Job(options, 2, "start", look, board=boards[0], elsewhere=boards[1], pool="night").end()
        check(job.code == 0 and job.errors == "" and "it ended with 0" in job.output, "a job in two pools", job)
        seen = [(node, file) for node, board in enumerate(boards) for file in board.parent.glob(f"{board.name}.seen-*")]
        check(len(seen) == 8, f"four ranks have looked at two boards: {seen}", job)
        for node, file in seen:
            told = json.loads(file.read_text(encoding="utf-8"))
            slots = {one["slot"] for one in told["processes"]}
            check(sorted(one["rank"] for one in told["processes"]) == [2 * node, 2 * node + 1] and
                  {core["owner"] for core in told["cores"]} <= slots, f"the ranks of node {node} own its cores: {told}", job)
        job = Job(options, 2, "all", board=boards[0], elsewhere=boards[1], pool="night").end()
        check(job.code == 0 and job.errors == "", "every call, in two pools", job)
    finally:
        left = [json.loads(sennit(board, "top", "--pool", "night", "--json"))["processes"] for board in boards]
        stopped = [sennit(board, "pool", "stop", "night", "--now") for board in boards]
    check(left == [[], []] and all("has ended" in told for told in stopped), f"nobody is left: {left}, {stopped}", job)


# Two jobs again, and a rank that waits, with small collectives in shared memory.
def in_shared_memory(options, board):
    jobs = [Job(options, 6, "all", board=board, doorbells="on", together=True) for _ in range(2)]
    for job in jobs:
        job.end()
        check(job.code == 0 and job.errors == "", "every call, two jobs at once, in shared memory", job)
    job = Job(options, 3, "meet", str(WAIT), board=board, cores=first_core(), together=True).end()
    check(job.code == 0 and len(shares(job)) == 2 and max(shares(job)) < IDLE,
          f"ranks that wait for a barrier take less than {IDLE} of a core", job)


# Without bells, by timers alone; and without either.
def without_bells(options, board):
    missing = board.parent / "missing" / "board"
    job = Job(options, 4, "all", board=missing, doorbells="on").end()
    check(job.code == 0 and re.fullmatch(
        r"sennit: no doorbells: \S+/missing/board cannot be opened \(No such file or directory\); "
        r"ranks that wait look for messages by a timer\n", job.errors), "a board that cannot be had", job)
    board.touch()
    board.chmod(0o666)
    job = Job(options, 4, "all", board=board, doorbells="on").end()
    check(job.code == 0 and "is open to others: remove it" in job.errors, "a board that others may write", job)
    board.unlink()

    # Where cores suffice, or nobody asks for it, ranks spin as ever.
    job = Job(options, 2, "wait", str(WAIT), board=board, doorbells="off").end()
    check(job.code == 0 and min(requests(job)) > SPINS, "off: ranks spin", job)
    check(not board.exists(), "off: no board", job)


# One that is stopped is named, and goes on.
def stopped(options, board):
    job = Job(options, 3, "stop", board=board, doorbells="on", together=True)
    line = job.process.stderr.readline()
    named = re.fullmatch(r"sennit: rank [12] waits in MPI_Barrier on MPI_COMM_WORLD for rank 0 "
                         r"\(process (\d+)\), which is stopped, by a signal or a debugger\n", line)
    if named:
        os.kill(int(named[1]), signal.SIGCONT)
    else:
        job.process.kill()
    job.end()
    check(named and job.code == 0, f"a rank that is stopped is named: {line}", job)


# `sennit run` in a rank: a part of the job's rank is refused, a job of its own has the same board.
def jobs_of_ranks(options, board):
    inner = f"{options.sennit} run --mpi {options.mpi} -n 4 --threads 1 {options.program} all"
    job = Job(options, 2, "start", inner, board=board, doorbells="on", together=True).end()
    check(job.code == 0 and "it ended with 2" in job.output and job.errors.count(
        "sennit: already inside a job of 2 ranks") == 2, "`sennit run -n` in a rank is refused", job)
    kept = " ".join(f"{name}='{os.environ[name]}'" for name in ("PATH", "HOME", "TMPDIR") if name in os.environ)
    job = Job(options, 2, "start", f"env -i {kept} SENNIT_BOARD={board} SENNIT_DOORBELLS=on {inner}", board=board,
              doorbells="on", together=True).end()
    check(job.code == 0 and "it ended with 0" in job.output, "a job that a rank of another one starts", job)
    check(not board.exists(), "nothing is left of the two", job)


# A rank that is killed leaves nothing behind.
def killed(options, board):
    job = Job(options, 3, "kill", board=board, doorbells="on").end()
    check(job.code != 0, "a job whose rank is killed fails", job)
    check(not board.exists(), "nothing is left of it", job)
    for case in ("kill", "leave"):
        job = Job(options, 3, case, board=board, doorbells="on", together=True).end()
        # MPICH's launcher ends the others, and may call that success if the first one's code is 0.
        check("through" not in job.output and (job.code != 0 or case == "leave"),
              f"nobody passes a barrier to which a rank does not come: {case}", job)
        check(not board.exists(), f"nothing is left of it: {case}", job)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpi", required=True)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        for case in (every_call, waits, trips, two_nodes, one_pool_on_two_nodes, in_shared_memory, without_bells, stopped,
                     jobs_of_ranks, killed):
            case(options, pathlib.Path(folder) / "board")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
