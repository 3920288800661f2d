# SPDX-License-Identifier: Apache-2.0
# script: tools.pool timeout=600
#     user='stays|no_pool|taken_once|long_path|named_from|of_others|killed|own_its_cores|runs_on_its_cores|full_pool' --
#     {sennit} {member} {pools} # with SENNIT_TEST_SECONDS=60
"""Pools: made, shared, moved, watched, stopped; and what goes wrong with them.

Usage: pool_test.py SENNIT POOL-MEMBER [PROGRAMS...]"""
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import termios

import harness
import seccomp
from harness import eventually
from pools import (CORES, MEMBER, PROGRAMS, SENNIT, WORKERS, Member, Pools, Worker, nobody_is_left, owners,
                   users)

POOL_PROGRAMS = [one for one in PROGRAMS if "pool_calls" in one]


def test_a_pool_stays_until_it_is_stopped():
    with Pools() as pools:
        assert pools.well("pool", "ls") == ""
        told = pools.well("pool", "start", "night", "--policy", "static")
        assert "night" in told and "policy static" in told, told
        assert "night: cores" in pools.well("pool", "ls")
        with open(f"/proc/{pools.keeper()}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        assert fields[4] == "0", f"it has a terminal: {fields}"  # tty_nr
        assert "has ended" in pools.well("pool", "stop", "night")
        assert not harness.processes_with(pools.token)
        assert os.listdir(pools.folder.name) == []
        pools.refused("no pool 'night'", "pool", "stop", "night")


def test_who_starts_a_pool_need_have_no_input_and_no_output():
    for closed in ("<&-", "<&- >&-", "<&- >&- 2>&-"):
        with Pools() as pools:
            done = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", SENNIT, "pool", "start", "night"],
                                  env=pools.environment, capture_output=True, text=True, check=False)
            assert "keeper" not in done.stderr, (closed, done)
            assert "night: cores" in pools.well("pool", "ls"), closed
            pools.well("pool", "stop", "night")


def test_what_is_no_pool_is_refused():
    with Pools() as pools:
        for name in ("a/b", "../up", "", "x" * 40, ".x"):
            pools.refused("is no name for a pool", "pool", "start", name)
        pools.refused("unknown: use one of", "pool", "start", "p", "--policy", "best")
        for cores in ("0-", "x", "3-1", "1,,2", "99999", "-1"):
            pools.refused("--cores", "pool", "start", "p", f"--cores={cores}")
        pools.refused("not there, or not for this shell", "pool", "start", "p", "--cores=0,1000")
        for words in (["pool", "move", "p", "app", "+1"], ["pool", "stop", "p"],
                      ["top", "--pool", "p", "--once"], ["run", "--pool", "p", "true"],
                      ["exec", "--pool", "p", MEMBER]):
            pools.refused("no pool 'p'" if words[0] in ("pool", "top") else "", *words)
        # A rank of a job says on which node.
        for launcher in ({"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALNRANKS": "2", "MPI_LOCALRANKID": "1"},
                         {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}):
            pools.refused(f"no pool 'p': sennit pool start p, on {socket.gethostname()}: ", "exec", "--pool", "p",
                          sys.executable, **launcher)
        assert os.listdir(pools.folder.name) == []


def test_a_name_is_taken_once():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        pools.refused("is a pool 'night' already", "pool", "start", "night")
        racing = [subprocess.Popen([SENNIT, "pool", "start", "day"], env=pools.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                  for _ in range(6)]
        codes = sorted(one.wait() for one in racing)
        assert codes == [0, 2, 2, 2, 2, 2], codes
        assert len(harness.processes_with(pools.token)) == 2


def test_a_file_that_a_killed_keeper_has_left_is_in_nobodys_way():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        os.kill(pools.keeper(), signal.SIGKILL)
        assert eventually(lambda: not harness.processes_with(pools.token))
        assert os.path.exists(pools.file("night"))
        assert pools.well("pool", "ls") == ""
        assert not os.path.exists(pools.file("night"))
        pools.well("pool", "start", "night")


def test_a_board_with_a_long_path_is_one_for_each_pool():
    with Pools() as pools:
        folder = os.path.join(pools.folder.name, "a" * 120, "b" * 120)
        os.makedirs(folder)
        board = {"SENNIT_BOARD": os.path.join(folder, "board")}
        for name in ("night", "day"):
            pools.well("pool", "start", name, **board)
        assert sorted(os.listdir(folder)) == ["board-pool-day", "board-pool-night"]
        assert [line.split(":")[0] for line in pools.well("pool", "ls", **board).splitlines()] == ["day", "night"]
        for name in ("night", "day"):
            pools.well("pool", "stop", name, **board)
        for path in (os.path.join(folder, "c" * 300), "/tmp/" + "d/" * 3000 + "board"):
            pools.refused("File name too long", "pool", "start", "night", SENNIT_BOARD=path)


def test_a_board_may_be_named_from_the_folder_where_one_is():
    with Pools() as pools:
        def run(*words):
            return subprocess.run([SENNIT, "pool", *words], cwd=pools.folder.name, text=True, capture_output=True,
                                  env={**pools.environment, "SENNIT_BOARD": "here"}, check=True).stdout
        run("start", "night")
        assert os.listdir(pools.folder.name) == ["here-pool-night"], os.listdir(pools.folder.name)
        assert "night: cores" in run("ls")
        assert "has ended" in run("stop", "night")


def test_a_file_of_others_is_left_alone():
    with Pools() as pools:
        with open(pools.file("night"), "w", encoding="utf-8") as file:
            file.write("somebody's text, longer than sixteen characters")
        os.chmod(pools.file("night"), 0o600)
        pools.refused("is no board of Sennit's", "pool", "start", "night")
        os.remove(pools.file("night"))
        if os.geteuid() == 0:
            pools.well("pool", "start", "night")
            os.kill(pools.keeper(), signal.SIGKILL)
            assert eventually(lambda: not harness.processes_with(pools.token))
            os.chown(pools.file("night"), 12345, 12345)
            pools.refused("belongs to another user", "pool", "start", "night")
            pools.refused("belongs to another user", "top", "--pool", "night", "--once")


def test_programs_of_a_pool_own_its_cores():
    with Pools() as pools:
        pools.well("pool", "start", "night", "--policy", "lend")
        with Member(pools, "night") as first:
            assert owners(pools.top("night")) == [first.pid] * len(CORES)
            with Member(pools, "night", "other", 2) as second:
                seen = pools.top("night")
                assert seen["policy"] == "lend"
                assert [one["program"] for one in seen["processes"]] == ["app", "other"], seen
                if len(CORES) > 1:
                    assert set(owners(seen)) == {first.pid, second.pid}, seen
            # Who is killed gives them back, though nobody else looks.
            assert eventually(
                lambda: owners(pools.top("night")) == [first.pid] * len(CORES)), pools.top("night")


def test_a_killed_process_gives_its_cores_back():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        with Member(pools, "night") as first, Member(pools, "night", "other", 2) as second:
            assert second.do("take") >= 0
            assert second.pid in users(pools.top("night"))
            os.kill(second.pid, signal.SIGKILL)
            assert eventually(lambda: second.pid not in users(pools.top("night")))
            assert eventually(lambda: owners(pools.top("night")) == [first.pid] * len(CORES))


def test_a_process_that_goes_on_as_a_foreign_program_gives_its_cores_back():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        with Member(pools, "night") as first, Member(pools, "night", "other", 2) as second:
            assert second.do("take") >= 0
            second.become()
            assert eventually(lambda: second.pid not in users(pools.top("night")))
            assert [one["pid"] for one in pools.top("night")["processes"]] == [first.pid]
            assert eventually(lambda: owners(pools.top("night")) == [first.pid] * len(CORES))
            assert second.process.poll() is None, "it has ended"
        # The keeper finds out by itself.
        with Member(pools, "night") as last:
            assert "ends with the last" in pools.well("pool", "stop", "night")
            last.become()
            assert eventually(lambda: harness.processes_with(pools.token) == [last.pid])


def test_shares_and_priorities_are_seen():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        with Member(pools, "night", SENNIT_SHARE="3/4", SENNIT_PRIORITY="2"), \
                Member(pools, "night", "service", 2, SENNIT_PRIORITY="leftover") as service:
            seen = pools.top("night")
            app, other = seen["processes"]
            assert (app["share"], app["priority"], app["leftover"]) == (0.75, 2, False), app
            assert other["leftover"] and other["owns"] == 0, other
            assert service.pid not in owners(seen)
            pools.refused("only what others leave", "pool", "move", "night", "service", "1")


def test_cores_are_moved_by_hand():
    if len(CORES) < 2:
        return
    with Pools() as pools:
        pools.well("pool", "start", "night", "--policy", "static")
        with Member(pools, "night") as first, Member(pools, "night", "other", 2) as second:
            half = owners(pools.top("night")).count(first.pid)
            others = len(CORES) - half
            most = len(CORES) - 1
            pools.well("pool", "move", "night", "app", str(most))
            assert owners(pools.top("night")).count(first.pid) == most
            pools.well("pool", "move", "night", "other", str(most))
            now = owners(pools.top("night"))
            assert now.count(second.pid) == most and now.count(first.pid) == 1, now
            if len(CORES) > 2:
                pools.well("pool", "move", "night", "other", "-1")
                assert owners(pools.top("night")).count(second.pid) == most - 1
                pools.well("pool", "move", "night", "other", "+1")
            pools.refused("at most", "pool", "move", "night", "other", "+1")
            pools.refused("keeps one core", "pool", "move", "night", "app", "-1")
            pools.refused("no program 'absent'", "pool", "move", "night", "absent", "1")
            pools.refused("no number of cores", "pool", "move", "night", "app", "more")
            assert half + others == len(CORES)
            # It holds until one of the programs ends; then shares count.
            second.leave()
            assert eventually(lambda: owners(pools.top("night")) == [first.pid] * len(CORES))
            with Member(pools, "night", "other", 3):
                assert owners(pools.top("night")).count(first.pid) == half


def test_two_jobs_of_one_program_are_told_apart():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        with Member(pools, "night"), Member(pools, "night", "app", 2):
            pools.refused("is not one program", "pool", "move", "night", "app", "1")
            jobs = [one["job"] for one in pools.top("night")["processes"]]
            assert f"app:{jobs[1]} owns" in pools.well("pool", "move", "night",
                                                      f"app:{jobs[1]}", "1")


def test_a_policy_that_moves_cores_itself_is_left_alone():
    with Pools() as pools:
        if pools.run("pool", "start", "night", "--policy", "moldable").returncode != 0:
            return
        pools.refused("by itself", "pool", "move", "night", "app", "1")


def test_a_stopped_pool_ends_with_its_last_program():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        with Member(pools, "night") as member:
            assert "ends with the last" in pools.well("pool", "stop", "night")
            assert "stops" in pools.well("pool", "ls")
            pools.refused("about to stop", "exec", "--pool", "night", "--mpi=auto", sys.executable)
            member.leave()
        assert eventually(lambda: not harness.processes_with(pools.token))
        assert os.listdir(pools.folder.name) == []


def test_stop_now_ends_its_programs():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        with Member(pools, "night") as member:
            assert "1 processes" in pools.well("pool", "stop", "night", "--now")
            assert member.process.wait() == -signal.SIGTERM
        assert eventually(lambda: not harness.processes_with(pools.token))


def test_a_killed_keeper_is_replaced_while_programs_run():
    with Pools() as pools:
        pools.well("pool", "start", "night", "--policy", "static")
        keeper = pools.keeper()
        with Member(pools, "night") as member:
            os.kill(keeper, signal.SIGKILL)
            assert eventually(lambda: harness.processes_with(pools.token) == [member.pid])
            assert "without a keeper" in pools.well("pool", "ls")
            pools.refused("lost its keeper", "exec", "--pool", "night", sys.executable)
            pools.refused("leave --cores and --policy away", "pool", "start", "night", "--policy",
                          "lend")
            assert "policy static" in pools.well("pool", "start", "night")
            assert "without" not in pools.well("pool", "ls")
            assert owners(pools.top("night")) == [member.pid] * len(CORES)
        assert "has ended" in pools.well("pool", "stop", "night")


def test_a_program_of_the_pool_runs_on_its_cores():
    tell = "import os; print(*sorted(os.sched_getaffinity(0)), *(os.environ.get(n) for n in " \
           "('SENNIT_POOL', 'SENNIT_SHARE', 'SENNIT_PRIORITY', 'OMP_NUM_THREADS')))"
    with Pools() as pools:
        pools.well("pool", "start", "night", "--cores", str(CORES[-1]))
        for command in ("run", "exec"):
            told = pools.well(command, "--pool", "night", "--share", "3/4", "--priority",
                              "leftover", sys.executable, "-c", tell)
            assert told.split() == [str(CORES[-1]), "night", "3/4", "leftover", "1"], told
        told = pools.well("exec", "--threads", "3", sys.executable, "-c", tell, SENNIT_POOL="night")
        assert told.split() == [str(CORES[-1]), "night", "None", "None", "3"], told
        pools.refused("no share", "run", "--pool", "night", "--share", "much", sys.executable)
        pools.refused("whole number", "run", "--pool", "night", "--priority", "x", sys.executable)
        pools.refused("needs --pool", "run", "--share", "1/2", sys.executable)
        if len(CORES) > 1:
            os.sched_setaffinity(0, CORES[:1])
            try:
                pools.refused("has cores", "exec", "--pool", "night", sys.executable)
                pools.refused("not for this shell", "pool", "start", "p", f"--cores={CORES[-1]}")
            finally:
                os.sched_setaffinity(0, CORES)


def test_top_shows_a_table():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        assert "no process takes part" in pools.well("top", "--pool", "night", "--once")
        assert "no process takes part" in pools.well("top", "--once")
        with Member(pools, "night") as member:
            core = member.do("take")
            member.do("work")
            table = pools.well("top", "--pool", "night", "--once")
            assert "PROGRAM" in table and f" {member.pid} " in table, table
            one = pools.top("night")["processes"][0]
            assert (one["uses"], one["progress"], one["rank"]) == (1, 1000, 0), one
            assert one["used_s"] > 0 and one["cores_in_use"] > 0.9, one
            assert pools.top("night")["cores"][CORES.index(core)]["user"] == one["slot"]
        pools.refused("needs a terminal", "top", "--pool", "night")


def told(process):
    """What one line of pool_calls says."""
    words = process.stdout.readline().split()
    assert len(words) == 19, words
    return {name: int(value) for name, value in zip(words[1::2], words[2::2])}


def test_programs_ask_for_cores_and_see_how_they_are_used():
    for program in POOL_PROGRAMS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            with subprocess.Popen([SENNIT, "exec", "--pool", "night", program], text=True,
                                  env=pools.environment, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as process:
                alone = told(process)
                assert (alone["cores"], alone["owned"]) == (len(CORES), len(CORES)), alone
                assert alone["asked"] == alone["free"] == len(CORES) - alone["used"], alone
                with Member(pools, "night", "other", 2) as other:
                    process.stdin.write("\n")
                    process.stdin.flush()
                    beside = told(process)
                    assert beside["owned"] < len(CORES) or len(CORES) == 1, beside
                    assert beside["lent"] == 0, beside
                    if len(CORES) > 1:
                        # A core may rest with the first one for a moment more.
                        assert eventually(lambda: other.do("take") >= 0)
                        process.stdin.write("\n")
                        process.stdin.flush()
                        busy = told(process)
                        assert busy["free"] == beside["free"] - 1, (beside, busy)
                        assert busy["asked"] == busy["free"] + busy["lent"], busy
                process.stdin.close()
                assert process.wait() == 0
            # Without a pool there is nothing to share.
            done = subprocess.run([SENNIT, "exec", program], env=pools.environment, text=True,
                                  capture_output=True, timeout=harness.LIMIT,
                                  stdin=subprocess.DEVNULL)
            assert done.returncode == 0, done
            assert "cores 0 free 0 owned 0 used 0" in done.stdout, done
            assert done.stdout.endswith("asked 0\n"), done


def test_a_trace_shows_who_uses_which_core():
    for program in POOL_PROGRAMS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            trace, page = (os.path.join(pools.folder.name, name) for name in ("trace", "p.json"))
            pools.well("exec", "--pool", "night", program, SENNIT_TRACE=trace)
            said = pools.well("report", trace, "--perfetto", page)
            assert "How cores moved" in said, said
            with open(page, encoding="utf-8") as file:
                uses = [one for one in json.load(file)["traceEvents"] if one.get("cat") == "core"]
            assert uses and {one["tid"] for one in uses} <= set(CORES), uses
            assert all(one["name"] == "rank 0" for one in uses), uses  # its own, as it is alone
            pools.well("exec", program, SENNIT_TRACE=trace + "-alone")
            assert "How cores moved" not in pools.well("report", trace + "-alone")


def test_a_stopped_program_holds_up_nobody():
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            first = Worker(pools, program, 1000)
            os.kill(first.pid, signal.SIGSTOP)
            held = users(pools.top("night")).count(first.pid)
            # It has the cores that the other one owns now, and gives none back.
            assert Worker(pools, program, 300).regions() > 0, held
            assert first.pid in [one["pid"] for one in pools.top("night")["processes"]]
            os.kill(first.pid, signal.SIGCONT)
            second = Worker(pools, program, 300)
            assert first.regions() > 0 and second.regions() > 0
            assert nobody_is_left(pools), pools.top("night")


def test_who_sleeps_in_a_system_call_gives_its_cores_to_others():
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            with Member(pools, "night", "sleeper", 9) as sleeper:
                assert sleeper.do("take") >= 0
                first = Worker(pools, program, "sleep", 0)
                rest = len(CORES) - 1
                assert eventually(lambda: users(pools.top("night")).count(first.pid) >= rest)
                assert sleeper.pid in users(pools.top("night")), "it computes"
                sleeper.do("doze")
                second = Worker(pools, program, "slow", 0)
                asleep = {sleeper.pid, first.pid}
                assert eventually(lambda: not asleep & set(users(pools.top("night")))), \
                    pools.top("night")
                slept = [one["slept"] for one in pools.top("night")["processes"]
                         if one["pid"] in asleep]
                assert sum(slept) >= len(CORES), slept
                # Who was robbed goes on, and has nothing to give.
                sleeper.do("give")
                for one in (first, second):
                    one.stop()
                    assert one.regions() > 0
                sleeper.leave()
            assert eventually(lambda: nobody_is_left(pools)), pools.top("night")


def test_a_program_without_scheduling_points_holds_up_nobody():
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            first = Worker(pools, program, "spin", 0)
            assert eventually(lambda: users(pools.top("night")).count(first.pid) == len(CORES))
            second = Worker(pools, program, 300)
            assert second.regions() > 0
            kept, = [one["kept"] for one in pools.top("night")["processes"] if one["pid"] == first.pid]
            assert kept > 0, "the other one's core is counted while it is kept"
            first.stop()
            assert first.regions() == 1
            assert nobody_is_left(pools), pools.top("night")


def test_a_borrower_leaves_between_two_chunks_of_a_loop():
    if len(CORES) < 2:
        return
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            with Member(pools, "night", "other", 9) as other:
                first = Worker(pools, program, "loop", 0)
                assert eventually(lambda: users(pools.top("night")).count(first.pid) == len(CORES))
                other.do("take")  # it does not wait: without a core it runs beside the others
                assert eventually(lambda: users(pools.top("night")).count(first.pid) < len(CORES))
                other.do("give")
                first.stop()
                assert first.regions() == 1
            assert eventually(lambda: nobody_is_left(pools)), pools.top("night")


GETATTR, SETATTR = {"x86_64": (315, 314), "aarch64": (275, 274)}[os.uname().machine]


def scheduling(thread):
    """What sched_getattr tells."""
    attributes = ctypes.create_string_buffer(56)
    assert ctypes.CDLL(None).syscall(GETATTR, thread, attributes, len(attributes), 0) == 0
    return attributes


def time_slice(thread):
    """In nanoseconds; 0: the system has no slices of threads."""
    return struct.unpack_from("Q", scheduling(thread), 24)[0]


@contextlib.contextmanager
def own_time_slice(ns):
    """Whatever is started here has this one at first."""
    attributes = scheduling(0)
    struct.pack_into("Q", attributes, 24, ns)
    assert ctypes.CDLL(None).syscall(SETATTR, 0, attributes, 0) == 0
    try:
        yield
    finally:
        struct.pack_into("Q", attributes, 24, 0)
        assert ctypes.CDLL(None).syscall(SETATTR, 0, attributes, 0) == 0


def test_threads_that_use_cores_have_short_time_slices():
    """So a thread that comes back to its core runs soon beside who still uses it."""
    usual = time_slice(0)
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            one = Worker(pools, program, "loop", 0)
            threads = pathlib.Path(f"/proc/{one.pid}/task")
            assert usual == 0 or eventually(lambda: sum(
                time_slice(int(thread.name)) < usual for thread in threads.iterdir()) >= len(CORES))
            one.stop()
            assert one.regions() == 1


def test_children_have_the_time_slice_that_the_program_had():
    own = 2 * time_slice(0)
    if own == 0:
        return
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            with own_time_slice(own):
                one = Worker(pools, program, "child", 50)
            child = int(one.process.stdout.readline())
            assert time_slice(one.pid) < own, "it uses cores"
            assert time_slice(child) == own
            os.kill(child, signal.SIGTERM)
            assert one.regions() > 0


def test_a_hundred_moves_a_second_change_no_result():
    """SENNIT_TEST_SECONDS: how long, for each OpenMP runtime's program."""
    seconds = int(os.environ.get("SENNIT_TEST_SECONDS", "3"))
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night", "--policy", "static")
            # The mover owns cores, too, and lends them all.
            with Member(pools, "night", "mover", 9) as mover:
                both = [Worker(pools, program, "sum", 1000 * seconds) for _ in range(2)]
                mover.do(f"moves {100 * seconds}")
                assert all(one.regions() > 0 for one in both)
            assert eventually(lambda: nobody_is_left(pools)), pools.top("night")


def test_children_of_a_program_leave_its_cores_alone():
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            first, second = Worker(pools, program, "fork", 300), Worker(pools, program, 600)
            assert first.regions() > 0 and second.regions() > 0
            assert nobody_is_left(pools), pools.top("night")


def test_a_program_that_becomes_another_one_joins_anew():
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            one = Worker(pools, program, "exec", 500)
            assert one.process.stdout.readline() == "begins\n"
            seen = pools.top("night")
            assert [each["pid"] for each in seen["processes"]] == [one.pid], seen
            one.stop()
            assert one.regions() > 0
            assert nobody_is_left(pools), pools.top("night")


def test_programs_on_different_cores_meet_on_one_board():
    if len(CORES) < 2:
        return
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            os.sched_setaffinity(0, CORES[:1])
            try:
                one = Member(pools, "night")
                os.sched_setaffinity(0, CORES[-1:])
                other = Member(pools, "night", "other", 2)
            finally:
                os.sched_setaffinity(0, CORES)
            with one, other:
                seen = owners(pools.top("night"))
                assert seen[0] == one.pid and seen[-1] == other.pid, seen
                assert one.do("take") == CORES[0] and other.do("take") == CORES[-1]
                other.do("give")
                # What the first one may not use, a third one may.
                assert Worker(pools, program, 200).regions() > 0
                assert users(pools.top("night"))[0] == one.pid


def test_a_full_pool_is_said_once_and_the_program_runs():
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            with Member(pools, "night") as member:
                member.do("fill")
                worker = Worker(pools, program, 100)
                file = pools.file("night")
                assert worker.regions(said=f"sennit: not in the pool night: {file} has no room for "
                                           "another process\n") > 0


def test_programs_with_another_clock_share():
    """A container may have a clock of its own: nothing on the board is a time that others trust."""
    ahead = ["unshare", "--time", "--fork", "--kill-child", "--monotonic", "100000"]
    if subprocess.run([*ahead, "true"], capture_output=True, check=False).returncode != 0:
        print("time namespaces are not allowed here", end=" ")
        return
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            first = Worker(pools, program, 600, prefix=ahead)
            second = Worker(pools, program, 600)
            assert first.regions() > 0 and second.regions() > 0
            assert nobody_is_left(pools), pools.top("night")


def read_until(terminal, wanted):
    seen = ""
    while wanted not in seen:
        ready, _, _ = select.select([terminal], [], [], harness.LIMIT)
        assert ready, f"no {wanted!r} in {seen!r}"
        try:
            seen += os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            break
    return seen


def test_top_restores_the_terminal():
    with Pools() as pools:
        pools.well("pool", "start", "night")
        for end, denied in ((b"q", []), (b"\x03", []), (b"\x03", ["signalfd4"])):
            if denied and not seccomp.is_possible():
                continue
            leader, terminal = pty.openpty()
            before = termios.tcgetattr(terminal)

            def prepare():
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
                if denied:
                    seccomp.deny(denied, errno.ENOSYS)
            process = subprocess.Popen([SENNIT, "top", "--pool", "night"], env=pools.environment,
                                       stdin=terminal, stdout=terminal, stderr=terminal,
                                       start_new_session=True, preexec_fn=prepare)
            read_until(leader, "no process takes part")
            os.write(leader, end)
            assert "\x1b[?1049l" in read_until(leader, "\x1b[?1049l")
            assert process.wait(harness.LIMIT) == 0
            assert termios.tcgetattr(terminal) == before
            os.close(terminal)
            os.close(leader)


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
