# SPDX-License-Identifier: Apache-2.0
"""Policies with programs that compute, in pools of this machine's cores: whoever computes is served, and
what a policy learns it learns from them. How good a policy is, tests/sim and tests/unit say.

Usage: pool_policies_test.py SENNIT POOL-MEMBER [PROGRAMS...]"""
import itertools
import sys

import harness
from harness import eventually
from pools import CORES, WORKERS, Pools, Worker, nobody_is_left, owners

WAIT = 30  # seconds until what is to come has to be there
POLICIES = ("static", "lend", "fair", "moldable")


def seen_of(pools, worker):
    return next(one for one in pools.top("night")["processes"] if one["pid"] == worker.pid)


def end(pools, workers):
    for one in workers:
        one.stop()
    assert all(one.regions() > 0 for one in workers)
    assert eventually(lambda: nobody_is_left(pools)), pools.top("night")


def start(pools, count, what):
    """Programs of both OpenMP runtimes, one of each after the other."""
    return [Worker(pools, program, what, 0) for program in itertools.islice(itertools.cycle(WORKERS), count)]


def test_two_programs_compute_under_each_policy():
    if len(CORES) < 2:
        return
    for policy in POLICIES:
        with Pools() as pools:
            pools.well("pool", "start", "night", "--policy", policy)
            both = start(pools, 2, "sum")
            assert eventually(lambda: {one.pid for one in both} <= set(owners(pools.top("night"))), WAIT), policy
            used = [seen_of(pools, one)["used_s"] for one in both]
            assert eventually(lambda: all(seen_of(pools, one)["used_s"] > before + 0.1
                                          for one, before in zip(both, used)), WAIT), (policy, used)
            end(pools, both)


def test_more_programs_than_cores_own_cores_in_turn():
    for policy in ("lend", "fair", "moldable"):
        with Pools() as pools:
            pools.well("pool", "start", "night", "--policy", policy, "--cores", ",".join(map(str, CORES[:2])))
            three = start(pools, 3, "sum")
            pids = {one.pid for one in three}
            assert eventually(lambda: {one["pid"] for one in pools.top("night")["processes"]} == pids, WAIT)
            # None leaves: who owns a core now and did not then has had its turn.
            seen = [set(owners(pools.top("night")))]

            def all_have_owned():
                seen.append(set(owners(pools.top("night"))))
                return pids <= set().union(*seen)

            assert eventually(all_have_owned, WAIT), (policy, seen, pools.top("night"))
            end(pools, three)


def test_how_programs_scale_is_learned_from_them():
    if len(CORES) < 2:
        return
    with Pools() as pools:
        pools.well("pool", "start", "night", "--policy", "moldable")
        both = start(pools, 2, "sum")
        assert eventually(lambda: all(seen_of(pools, one)["measured"] for one in both), WAIT), pools.top("night")
        end(pools, both)


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
