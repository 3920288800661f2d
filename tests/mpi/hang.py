#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# hang: mpi.hang.hung.{mpi} run='{python} {path} hung' processors=1 # they wait
# hang: mpi.hang.slow.{mpi} run='{python} {path} slow' processors=2
# hang: mpi.hang.plain.{mpi} run='{python} {path} plain' processors=1
"""`sennit run` explains a job that hangs and, with SENNIT_HANG=abort, ends it; a job in which one
rank is only slow is left alone. The grace time is the shortest there is, and no test expects
anything within a time. Jobs that hang are five at a time, for they mostly wait; those that are slow
are each alone.

usage: hang.py hung|slow|plain --sennit COMMAND --victim PROGRAM --plain PROGRAM [--spawns] [--mpi-4]

plain: with the program that has no OpenMP, jobs that hang and one that is slow.
"""

import argparse
import concurrent.futures
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

LIMIT = 500  # seconds until a test counts as failed, on a busy machine
# Reports are of calls that block, wherever there are fewer cores than ranks and threads.
SETTINGS = {"SENNIT_HANG": "abort", "SENNIT_HANG_GRACE": "1", "SENNIT_DOORBELLS": "off"}
CROWD = {"SENNIT_DOORBELLS": "on"}
TOGETHER = CROWD | {"SENNIT_NODE_COLLECTIVES": "on"}
GOES_ON = "sennit: the job goes on\n"
failures = []
several = concurrent.futures.ThreadPoolExecutor(5)
begun = [] # what `several` runs


def beside_others(case):
    @functools.wraps(case)
    def begin(*arguments, **settings):
        begun.append(several.submit(case, *arguments, **settings))
    return begin


def wait_for_all():
    for case in begun:
        case.result()


def own_board():
    """A job beside others lends them no cores and is short of none because of them."""
    return {"SENNIT_BOARD": f"{SETTINGS['SENNIT_BOARD']}-{threading.get_ident()}"}


def run(options, case, settings=None):
    environment = os.environ | SETTINGS | own_board() | (settings or {})
    return subprocess.run([options.sennit, "run", "-n", "2", "--threads", "2", options.victim, case],
                          capture_output=True, text=True, timeout=LIMIT, check=False,
                          env={name: value for name, value in environment.items() if value is not None})


def check(condition, what, done):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}\n{done}", file=sys.stderr)


@beside_others
def explained(options, case, *patterns, settings=None):
    done = run(options, case, settings)
    check(done.returncode != 0, f"{case}: ended", done)
    for pattern in (r"sennit: the job hangs: none of its 2 ranks has moved for \d+ s\n", *patterns):
        check(re.search(pattern, done.stderr), f"{case}: the report has '{pattern}'", done.stderr)
    check("the job goes on" not in done.stderr, f"{case}: it does not go on", done.stderr)


def make(file):
    with open(file, "w", encoding="utf-8"):
        pass


def read_until(stream, wanted):
    """Lines until each of the patterns has come, in that order; those that have are taken out."""
    seen = ""
    for line in stream:
        seen += line
        if re.search(wanted[0], line):
            del wanted[0]
        if not wanted:
            break
    return seen


@beside_others
def reported(options, case, *patterns):
    """The lines come in that order. Nobody ends the job: something in it waits for what may come
    from outside."""
    with subprocess.Popen([options.sennit, "run", "-n", "2", "--threads", "2", options.victim, case],
                          stderr=subprocess.PIPE, text=True,
                          env=os.environ | SETTINGS | own_board()) as job:
        wanted = [r"none of its 2 ranks has moved for \d+ s; something waits for an event from outside",
                  *patterns]
        seen = read_until(job.stderr, wanted)
        job.terminate()
        check(not wanted, f"{case}: the report has '{wanted and wanted[0]}'", seen)


def stopped(options, settings=None):
    """A rank that is stopped is named, and the one that waits for it; then it is let go on."""
    with tempfile.TemporaryDirectory() as folder, \
            subprocess.Popen([options.sennit, "run", "-n", "2", "--threads", "2", options.victim, "stopped_sender"],
                             stderr=subprocess.PIPE, text=True,
                             env=os.environ | SETTINGS | {"HANG_VICTIM_END": f"{folder}/end"} | (settings or {})) as job:
        over = threading.Timer(LIMIT, job.kill)
        over.start()
        seen = ""
        named = waits = None
        for line in job.stderr:
            seen += line
            named = named or re.fullmatch(r"sennit: rank 1 \(process (\d+)\) is stopped, by a signal or a debugger\n",
                                          line)
            waits = waits or re.search(r"MPI_Recv from rank 1, tag 1, (count 1, )?on MPI_COMM_WORLD", line)
            if named and waits:
                os.kill(int(named[1]), signal.SIGCONT)
                break
        seen += read_until(job.stderr, [GOES_ON])
        make(f"{folder}/end")
        seen += job.stderr.read()
        code = job.wait()
        over.cancel()
    check(code == 0 and named, "a rank that is stopped is named, and goes on", seen)
    check("sennit: perhaps others wait for it: no other rank has moved for " in seen and "the job hangs" not in seen,
          "the job waits for it", seen)
    check(GOES_ON in seen, "it is said that the job goes on", seen)


def short_of_cores(options):
    """A rank computes, the other one waits for it, and a program keeps the cores of both: that is no
    deadlock, and the report says who it is."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        return
    if os.path.basename(options.sennit) == "sennit-fibers":  # tests/manifest.cmake
        return  # a fiber that computes is taken from its worker: nobody keeps a core
    with tempfile.TemporaryDirectory() as folder:
        files = {name: os.path.join(folder, name) for name in ("keeper", "job", "end")}
        settings = os.environ | SETTINGS | {"SENNIT_DOORBELLS": "auto"}

        def start(name, *words, **pipes):
            return subprocess.Popen([options.sennit, "run", "--pool", "hang", *words], text=True, **pipes,
                                    env=settings | {"HANG_VICTIM_GO_ON": files[name], "HANG_VICTIM_END": files["end"]})

        def pool(*words):
            subprocess.run([options.sennit, "pool", *words], check=True, env=settings, timeout=LIMIT, stdout=subprocess.DEVNULL)

        pool("start", "hang", "--cores", ",".join(map(str, cores)))
        keeper = start("keeper", "-n", "1", "--priority", "leftover", options.victim, "keeps_cores",
                       stdout=subprocess.PIPE)
        over = threading.Timer(LIMIT, keeper.kill)
        over.start()
        keeper.stdout.readline()
        job = start("job", "-n", "2", options.victim, "told_sender", stderr=subprocess.PIPE)
        too_late = threading.Timer(LIMIT, job.kill)
        too_late.start()
        keeps = r"process \d+ \(hang_victim-\w+, rank 0 of another job\)"
        wanted = [r"sennit: no deadlock: all ranks that have moved in the last \d+ s wait for a core\n",
                  rf"sennit: core \d+, owned by rank 1 \(process \d+\), is used by {keeps}, which computes; "
                  r"wanted back for \d+ s\n",
                  rf"sennit: rank 1 \(process \d+\) waits for core \d+, for no message: {keeps} comes to no "
                  r"scheduling point .*: give it one, end it, or lend no cores ",
                  r"MPI_Recv from rank 1, tag 1, (count 1, )?on MPI_COMM_WORLD"]
        seen = read_until(job.stderr, wanted)
        make(files["job"])
        seen += read_until(job.stderr, [GOES_ON])
        make(files["end"])
        seen += job.stderr.read()
        make(files["keeper"])
        check(job.wait() == 0 and keeper.wait() == 0 and not wanted, f"cores are kept: '{wanted and wanted[0]}'", seen)
        check("the job hangs" not in seen and GOES_ON in seen, "it is no hang", seen)
        for timer in (over, too_late):
            timer.cancel()
        job.stderr.close()
        keeper.stdout.close()
        pool("stop", "hang")


def said_nothing(done):
    """Sennit has not; Open MPI 5 may say that it has no network."""
    return "sennit" not in done.stderr


def silent(options, case, settings=None):
    done = run(options, case, settings)
    check(done.returncode == 0 and said_nothing(done), f"{case}: runs to its end without a word", done)


def not_ended(options, case, settings=None):
    done = run(options, case, settings)
    check(done.returncode == 0, f"{case}: runs to its end", done)


def goes_on(options, case, pattern, settings=None):
    """A report that has the pattern, of a job that waits until it is told to go on; then it runs to its end."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "go on")
        environment = os.environ | SETTINGS | {"HANG_VICTIM_GO_ON": file} | (settings or {})
        with subprocess.Popen([options.sennit, "run", "-n", "2", "--threads", "2", options.victim, case],
                              stderr=subprocess.PIPE, text=True,
                              env={name: value for name, value in environment.items() if value is not None}) as job:
            over = threading.Timer(LIMIT, job.kill)
            over.start()
            wanted = [pattern]
            seen = read_until(job.stderr, wanted)
            make(file)
            seen += job.stderr.read()
            code = job.wait()
            over.cancel()
    check(not wanted, f"{case}: the report has '{pattern}'", seen)
    check(code == 0, f"{case}: runs to its end", seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("hung", "slow", "plain"))
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--victim", required=True)
    parser.add_argument("--plain", required=True)
    parser.add_argument("--spawns", action="store_true", help="the MPI can make processes")
    parser.add_argument("--mpi-4", action="store_true", help="the MPI has MPI 4.0's calls")
    options = parser.parse_args()
    # Another version of Sennit may be in use on this machine: then there would be a word about it.
    with tempfile.TemporaryDirectory() as folder:
        SETTINGS["SENNIT_BOARD"] = f"{folder}/board"
        if options.kind == "hung":
            hung_cases(options)
            wait_for_all()
        elif options.kind == "plain":
            options.victim = options.plain
            plain_cases(options)
            wait_for_all()
        else:
            slow_cases(options)
    return 1 if failures else 0


def hung_cases(options):
    line = r", hang_victim\.[ch]:\d+" if shutil.which("addr2line") else ""
    explained(options, "both_receive",
              rf"thread \d+: MPI_Recv from rank 1, tag 7, on MPI_COMM_WORLD, in .* \[[^]]*\+0x[0-9a-f]+{line}\]\n",
              r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    explained(options, "both_send",
              r"task '.*': MPI_Ssend to rank 0, tag 8, count 1, on MPI_COMM_WORLD",
              r"rank 0 waits for rank 1 to receive a message with tag 8: nothing like it is under "
              r"way in rank 1, which is in MPI_Ssend\n",
              r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    explained(options, "never_sent",
              r"task '.*': MPI_Recv from rank 1, tag 5, count 1, on MPI_COMM_WORLD, in ",
              r"rank 0 waits for rank 1 to send a message with tag 5: nothing like it is under way "
              r"in rank 1, which is in MPI_Finalize\n")
    for case, waits in (("locked_receive", "task '.*': waits"),
                        ("locked_threads", "the implicit task of thread 1 of 2: thread sleeps")):
        explained(options, case,
                  r"#(\d+) .*: MPI_Recv from rank 1, tag 23, (count 1, )?on MPI_COMM_WORLD, in ",
                  rf"{waits} for the pthread mutex 0x\w+, held by #\d, in send_locked ",
                  r"rank 1 waits for rank 0 to send a message with tag 22: nothing like it is under "
                  r"way in rank 0, which is in MPI_Recv\n",
                  r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    reported(options, "asleep_threads",
             r"the implicit task of thread 1 of 2: thread sleeps for the futex 0x\w+, in send_woken ",
             r"sennit: a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    explained(options, "missing_barrier",
              r"MPI_Barrier on MPI_COMM_WORLD: not called by rank 1\n")
    explained(options, "mixed_up",
              r"collective calls on pair do not match: its 2nd one is MPI_Barrier in rank 1, "
              r"MPI_Bcast in rank 0; all its ranks must make the same ones in the same order\n")
    explained(options, "inside_and_outside",
              r"MPI_Allreduce on MPI_COMM_WORLD, its 1st collective call, is made in a task in rank 0, "
              r"outside of tasks in rank 1: these do not meet; make it in a task on all ranks or on "
              r"none, or set SENNIT_COLLECTIVES=nonblocking for the whole job\n")
    explained(options, "two_roots",
              r"MPI_Bcast on MPI_COMM_WORLD, its 1st collective call: the root is 0 in rank 1, 1 in "
              r"rank 0; all its ranks must name the same one\n")
    explained(options, "nobody_sends",
              r"rank 0 waits for any rank to send a message with tag 19: no other rank can send it, "
              r"rank 1 is in MPI_Finalize; there are more receives than sends")
    explained(options, "both_wait",
              r": MPI_Wait, 1 request, in .*\n"
              r"sennit: +for MPI_Irecv from rank 1, tag 21, on halo\n",
              r"rank 0 waits for rank 1 to send a message with tag 21: nothing like it is under way "
              r"in rank 1, which is in MPI_Wait\n",
              r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    # MPICH can be asked about requests that a thread waits for.
    some = "" if options.mpi_4 else "perhaps "
    explained(options, "wrong_tag",
              r": MPI_Waitall, " + ("2 of 4 requests not complete" if options.mpi_4 else "4 requests"),
              (r"" if options.mpi_4 else r"for MPI_Irecv from rank 1, tag 30, on MPI_COMM_WORLD\n") +
              rf"sennit: +{some}for MPI_Irecv from rank 1, tag 32, on MPI_COMM_WORLD\n"
              rf"sennit: +{some}for MPI_Issend to rank 1, tag 31, on MPI_COMM_WORLD\n",
              rf"rank 0 {some}waits for rank 1 to send a message with tag 32: nothing like it",
              rf"sennit: {some}a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    explained(options, "wrong_tag_in_task",
              r"task '.*': MPI_Waitall, 2 of 4 requests not complete, in .*\n"
              r"sennit: +for MPI_Irecv from rank 1, tag 32, on MPI_COMM_WORLD\n"
              r"sennit: +for MPI_Issend to rank 1, tag 31, on MPI_COMM_WORLD\n",
              r"rank 0 waits for rank 1 to send a message with tag 32: nothing like it",
              r"rank 0 waits for rank 1 to receive a message with tag 31: nothing like it",
              r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    explained(options, "half_exchange",
              r"MPI_Sendrecv from rank 1, tag 13, on MPI_COMM_WORLD, in ",
              r"rank 1 waits for rank 0 to send a message with tag 14: nothing like it",
              r"(?s)\A(?!.*sennit: rank 0 waits for )")
    if options.mpi_4:
        explained(options, "started_exchange",
                  r"sennit: +for MPI_Isendrecv from rank 1, tag 15, on MPI_COMM_WORLD\n",
                  r"rank 0 perhaps waits for rank 1 to send a message with tag 15: nothing like it")
        explained(options, "not_ready",
                  r"sennit: +for MPI_Precv_init from rank 1, tag 17, on MPI_COMM_WORLD\n",
                  r"sennit: +for MPI_Psend_init to rank 0, tag 17, 1 part not ready, on MPI_COMM_WORLD\n",
                  r"(?s)\A(?!.*(nothing like it|deadlock))")
    explained(options, "begun_in_vain",
              r"MPI_Recv from rank 1, tag 58, .*\n",
              r"sennit:   not waited for: MPI_Issend to rank 1, tag 57, on MPI_COMM_WORLD\n",
              r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    explained(options, "all_is_over",
              r"rank 0 waits for rank 1 to send a message with tag 59: nothing like it",
              r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n",
              r"(?s)\A(?!.*not waited for:)")
    explained(options, "bound_task", r"has ended but for TAMPI_Iwait, 1 request\n"
              r"sennit: +for MPI_Irecv from rank 1, tag 3, on MPI_COMM_WORLD\n",
              r"has not begun, waits for 1 task that it depends on")
    explained(options, "stuck_callbacks",
              r"(the initial task|thread \d+): MPI_Recv from rank 1, tag 9, on MPI_COMM_WORLD, in ",
              r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    for case in ("left_callbacks", "ticked_callbacks"):
        explained(options, case, r"MPI_Recv from rank 1, tag 10, count 1, on MPI_COMM_WORLD, in ",
                  r"the initial task: MPI_Finalize, in |thread \d+: MPI_Finalize, in ",
                  r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n")
    # Where ranks outnumber cores: the same is said of calls that do not block in MPI.
    explained(options, "both_receive", r"MPI_Recv from rank 1, tag 7, (count 1, )?on MPI_COMM_WORLD, in ",
              r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n", settings=CROWD)
    explained(options, "never_sent",
              r"rank 0 waits for rank 1 to send a message with tag 5: nothing like it is under way "
              r"in rank 1, which is in MPI_Finalize\n", settings=CROWD)
    explained(options, "missing_barrier",
              r"MPI_Barrier on MPI_COMM_WORLD: not called by rank 1\n", settings=CROWD)
    explained(options, "missing_barrier",
              r"MPI_Barrier on MPI_COMM_WORLD: not called by rank 1\n", settings=TOGETHER)
    # The board is looked at, be it a file or a launcher's memory.
    for board in ({}, {"SENNIT_BOARD": f"/proc/{os.getpid()}/fd/{os.memfd_create('sennit-board')}"}):
        explained(options, "both_receive", r"sennit: no rank waits for a core\n",
                  settings=CROWD | {"SENNIT_LENDING": "on"} | board)


def plain_cases(options):
    deadlock = r"a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n"
    for settings in ({}, CROWD):
        explained(options, "both_receive", r"MPI_Recv from rank 1, tag 5, (count 1, )?on MPI_COMM_WORLD, in ",
                  r"rank 0 waits for rank 1 to send a message with tag 5: nothing like it is under way "
                  r"in rank 1, which is in MPI_Recv\n", deadlock, settings=settings)
        explained(options, "missing_barrier", r"MPI_Barrier on MPI_COMM_WORLD: not called by rank 1\n", settings=settings)
    explained(options, "both_wait", r"MPI_Wait, 1 request, in .*\n"
              r"sennit: +for MPI_Irecv from rank 1, tag 7, on MPI_COMM_WORLD\n", deadlock)
    # What the program calls a communicator is known only where MPI may be asked by another thread.
    for settings in ({}, CROWD):
        explained(options, "pair_receives",
                  r"MPI_Recv from rank 1, tag 6, (count 1, )?on communicator 1 of these 2 ranks, by MPI_Comm_dup, in ",
                  deadlock, settings=settings)
    explained(options, "copy_receives",
              r"MPI_Recv from rank 1, tag 10, (count 1, )?on communicator 2 of these 2 ranks, by MPI_Comm_idup, in ",
              deadlock)
    explained(options, "others_receive",
              r"MPI_Recv from rank 1, tag 9, (count 1, )?on intercommunicator 1 of these 2 ranks, by MPI_Intercomm_create, in ",
              deadlock)
    explained(options, "threads_allowed", r"MPI_Recv from rank 1, tag 6, on pair, in ", deadlock)
    for hang in ("abort", "off"): # MPI is not asked for more than the program asks for
        done = run(options, "slow_sender", {"SENNIT_HANG": hang})
        check(done.returncode == 0 and done.stdout == "done, thread level as asked\n" and said_nothing(done),
              f"slow_sender: runs to its end without a word, {hang}", done)


def slow_cases(options):
    silent(options, "long_collective", TOGETHER)
    silent(options, "long_message", CROWD)
    silent(options, "slow_sender", CROWD)
    silent(options, "openmp_first", {"SENNIT_HANG_GRACE": "8"})
    for case in ("long_message", "long_message_in_task", "long_exchange", "long_waits",
                 "long_collective", "late_wait", "late_wait_in_task", "late_receive"):
        silent(options, case)
    if options.mpi_4:
        silent(options, "long_partitions")
    silent(options, "slow_sender")
    silent(options, "slow_sender", {"SENNIT_LENDING": "on"} | CROWD)
    silent(options, "slow_task")
    for settings in ({}, CROWD):
        stopped(options, settings)
    short_of_cores(options)
    silent(options, "slow_callback")
    silent(options, "slow_handler")
    goes_on(options, "slow_thread", r"sennit: +for MPI_Grequest_start\n")
    goes_on(options, "slow_thread", r": MPI_Wait, 1 request \(with SENNIT_HANG=report you hear of "
            r"what\), in ", {"SENNIT_HANG": None})
    if options.spawns:
        not_ended(options, "slow_child")


if __name__ == "__main__":
    sys.exit(main())
