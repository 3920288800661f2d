# SPDX-License-Identifier: Apache-2.0
# whole: tools.pool_fibers if="loader and x86" processors=2 labels=virtual user=all
#     -- {sennit} {member} {ranks} {with_agents} {programs}/pool_works.gcc
"""Rank fibers in pools: as many workers run as the program has cores, and a program moves to other cores
as its fibers move.

Usage: pool_fibers_test.py SENNIT POOL-MEMBER PROGRAM [PROGRAM] AGENTS WORKS
The programs are ranks.<mpi>, each of another MPI. AGENTS is free_agents of tests/mpi/programs, WORKS is pool_works."""
import os
import signal
import sys
import time

import harness
from harness import eventually
from pools import CORES, PROGRAMS, SENNIT, WORKERS, Member, Pools, nobody_is_left

RANKS = [one for one in PROGRAMS if "ranks." in one]
AGENTS = [one for one in PROGRAMS if "free_agents" in one]
TWO = ",".join(map(str, CORES[:2]))


class Fibers(harness.Running):
    """Programs in the pool `night`, four rank fibers each, that compute."""

    def __init__(self, pools, *programs):
        self.pools = pools
        words = []
        for program in programs:
            words += [*([":"] if words else []), "-n", "4", "--threads", "1", program, "compute"]
        apart = ["--apart"] if len(programs) > 1 else []
        super().__init__([SENNIT, "run", *apart, "--virtual=fibers", "--pool", "night", *words],
                         environment={**pools.environment, "TMPDIR": pools.folder.name})
        self.pids = []  # of all ranks
        self.first = []  # of rank 0 of each program
        while len(self.pids) < 4 * len(programs):
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            if " pid " not in line:
                continue
            self.pids.append(int(line.split()[-1]))
            if line.startswith("rank 0 "):
                self.first.append(self.pids[-1])

    def hosts(self):
        """What the pool says of the host, once for each program: it takes the cores, not the ranks."""
        return [one for one in self.pools.top("night")["processes"]
                if one["pid"] not in self.pids and one["program"].startswith("ranks")]

    def end(self):
        for pid in self.first:
            os.kill(pid, signal.SIGUSR1)
        code, out, errors = self.finish()
        assert code == 0 and not errors, (code, out, errors)
        assert eventually(lambda: nobody_is_left(self.pools)), self.pools.top("night")


def processor_time(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        ticks = file.read().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def test_as_many_workers_run_as_the_program_has_cores():
    if len(CORES) < 2:
        return
    with Pools() as pools:
        pools.well("pool", "start", "night", "--policy", "static", "--cores", TWO)
        with Fibers(pools, RANKS[0]) as job:
            assert eventually(lambda: [one["uses"] for one in job.hosts()] == [2]), pools.top("night")
            assert job.hosts()[0]["owns"] == 2
            with Member(pools, "night", "other", 9) as other:
                assert eventually(lambda: [one["uses"] for one in job.hosts()] == [1]), pools.top("night")
                assert other.do("take") >= 0
                host = job.hosts()[0]["pid"]
                began, used = time.monotonic(), processor_time(host)
                time.sleep(1)
                for _ in range(5):
                    seen = job.hosts()[0]
                    assert (seen["owns"], seen["uses"], seen["without"]) == (1, 1, 0), seen
                used, passed = processor_time(host) - used, time.monotonic() - began
                assert used < 1.3 * passed + 0.1, (used, passed)
            # The other one has ended, and left its core.
            assert eventually(lambda: [one["uses"] for one in job.hosts()] == [2]), pools.top("night")
            job.end()


def test_programs_of_one_address_space_have_cores_of_their_own():
    if len(CORES) < 2:
        return
    with Pools() as pools:
        pools.well("pool", "start", "night", "--policy", "lend", "--cores", TWO)
        with Fibers(pools, RANKS[0], RANKS[-1]) as job:
            assert eventually(lambda: [one["owns"] for one in job.hosts()] == [1, 1]), pools.top("night")
            first, second = job.hosts()
            assert first["pid"] == second["pid"] and first["job"] != second["job"]
            before = {one["job"]: one["used_s"] for one in job.hosts()}
            assert eventually(lambda: all(one["used_s"] > before[one["job"]] + 0.1 for one in job.hosts()))
            job.end()


def test_the_team_of_a_busy_program_has_the_cores_of_an_idle_one():
    if len(CORES) < 2:
        return
    with Pools() as pools:
        pools.well("pool", "start", "night", "--policy", "lend", "--cores", TWO)
        with Member(pools, "night", "idle", 9), harness.Running(
                [SENNIT, "run", "--virtual=fibers", "--pool", "night", WORKERS[0], "sum", "0"],
                environment={**pools.environment, "TMPDIR": pools.folder.name}) as job:
            assert job.process.stdout.readline() == "begins\n", job.process.stderr.read()

            def seen():
                return [one for one in pools.top("night")["processes"] if one["program"].startswith("pool_works")]

            assert eventually(lambda: (1, 2) in [(one["owns"], one["uses"]) for one in seen()]), seen()
            for one in seen():
                if one["owns"] == 0:  # the rank; the host has the cores
                    os.kill(one["pid"], signal.SIGTERM)
            code, out, errors = job.finish()
            assert code == 0 and not errors and int(out.split()[0]) > 0, (code, out, errors)


def test_free_agents_of_a_busy_program_run_beside_an_idle_one():
    if len(CORES) < 2:
        return
    with Pools() as pools:
        pools.well("pool", "start", "night", "--policy", "lend", "--cores", TWO)
        with Member(pools, "night", "idle", 9):
            for program in AGENTS:  # it fails if no agent has run a task
                pools.well("run", "--virtual=fibers", "--pool", "night", "-n", "2", "--threads", "1", program,
                           SENNIT_FREE_AGENTS="2")


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
