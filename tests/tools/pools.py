# SPDX-License-Identifier: Apache-2.0
"""Pools for tests: a folder of boards, processes that take part step by step, programs that compute.

The arguments of the test: SENNIT POOL-MEMBER [PROGRAMS...]"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import harness

SENNIT, MEMBER, *PROGRAMS = sys.argv[1:]
WORKERS = [one for one in PROGRAMS if "pool_works" in one]
CORES = sorted(os.sched_getaffinity(0))


class Pools:
    """A folder for boards of its own; every keeper and member in it ends with the `with` block."""

    def __init__(self):
        self.token = f"SENNIT_TEST_POOL_{os.getpid()}_{time.monotonic_ns()}"
        self.folder = tempfile.TemporaryDirectory()
        board = os.path.join(self.folder.name, "board")
        self.environment = {**os.environ, "SENNIT_BOARD": board, self.token: "1"}
        for name in ("SENNIT_POOL", "SENNIT_SHARE", "SENNIT_PRIORITY", "OMP_NUM_THREADS"):
            self.environment.pop(name, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in harness.processes_with(self.token):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.folder.cleanup()

    def file(self, name):
        return os.path.join(self.folder.name, f"board-pool-{name}")

    def run(self, *words, **more):
        return subprocess.run([SENNIT, *words], env={**self.environment, **more}, text=True,
                              capture_output=True, timeout=harness.LIMIT, stdin=subprocess.DEVNULL)

    def well(self, *words, **more):
        done = self.run(*words, **more)
        assert done.returncode == 0 and not done.stderr, (words, done)
        return done.stdout

    def refused(self, reason, *words, **more):
        done = self.run(*words, **more)
        lines = done.stderr.splitlines()
        assert done.returncode == 2 and len(lines) == 1, (words, done)
        assert lines[0].startswith("sennit: ") and reason in lines[0], (words, done)

    def keeper(self):
        pids = harness.processes_with(self.token)
        assert len(pids) == 1, pids
        return pids[0]

    def top(self, name):
        return json.loads(self.well("top", "--pool", name, "--json"))


class Member:
    def __init__(self, pools, pool, program="app", job=1, rank=0, **environment):
        self.process = subprocess.Popen(
            [MEMBER, program, str(job), str(rank)], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**pools.environment, "SENNIT_POOL": pool, **environment})
        assert self.process.stdout.readline() == "joined\n"
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def do(self, word):
        """The core that it has after this step, -1 for none."""
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        assert answer[0] == word.split()[0], answer
        return int(answer[1])

    def become(self):
        """It goes on as a program that takes no part."""
        self.process.stdin.write("become\n")
        self.process.stdin.flush()

    def leave(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def owners(seen):
    """The pid that owns each core, or None."""
    pids = {one["slot"]: one["pid"] for one in seen["processes"]}
    return [pids.get(core["owner"]) for core in seen["cores"]]


def users(seen):
    pids = {one["slot"]: one["pid"] for one in seen["processes"]}
    return [pids.get(core["user"]) for core in seen["cores"]]


class Worker:
    """A run of pool_works in the pool `night`."""

    def __init__(self, pools, *words, prefix=(), options=(), **environment):
        self.process = subprocess.Popen(
            [*prefix, SENNIT, "exec", "--pool", "night", *options, *map(str, words)], text=True,
            env={**pools.environment, **environment}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        assert self.process.stdout.readline() == "begins\n", self.process.communicate()
        self.pid = self.process.pid

    def stop(self):
        """It computes until then if it was told to do so for 0 ms."""
        os.kill(self.pid, signal.SIGTERM)

    def regions(self, said=""):
        out, err = self.process.communicate(timeout=harness.LIMIT)
        assert self.process.returncode == 0 and err == said, (self.process.returncode, out, err)
        return int(out.split()[-2])


def nobody_is_left(pools):
    seen = pools.top("night")
    return not seen["processes"] and set(owners(seen)) == set(users(seen)) == {None}
