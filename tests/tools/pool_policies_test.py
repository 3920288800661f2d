# SPDX-License-Identifier: Apache-2.0
# script: tools.pool_policies timeout=600 processors=2 -- {sennit} {member} {pools}
"""Programs that compute, in pools of this machine's cores: whoever computes is served under each policy,
what a policy learns it learns from them, and teams are served by fewer or more cores than they have
threads. How good a policy is, tests/sim and tests/unit say.

Usage: pool_policies_test.py SENNIT POOL-MEMBER [PROGRAMS...]"""
import itertools
import sys

import harness
from harness import eventually
from pools import CORES, WORKERS, Member, Pools, Worker, nobody_is_left, owners

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
            assert eventually(lambda: {one.pid for one in both} <= set(owners(pools.top("night")))), policy
            used = [seen_of(pools, one)["used_s"] for one in both]
            assert eventually(lambda: all(seen_of(pools, one)["used_s"] > before + 0.1
                                          for one, before in zip(both, used))), (policy, used)
            end(pools, both)


def test_more_programs_than_cores_own_cores_in_turn():
    for policy in ("lend", "fair", "moldable"):
        with Pools() as pools:
            pools.well("pool", "start", "night", "--policy", policy, "--cores", ",".join(map(str, CORES[:2])))
            three = start(pools, 3, "sum")
            pids = {one.pid for one in three}
            assert eventually(lambda: {one["pid"] for one in pools.top("night")["processes"]} == pids)
            # None leaves: who owns a core now and did not then has had its turn.
            seen = [set(owners(pools.top("night")))]

            def all_have_owned():
                seen.append(set(owners(pools.top("night"))))
                return pids <= set().union(*seen)

            assert eventually(all_have_owned), (policy, seen, pools.top("night"))
            end(pools, three)


def test_how_programs_scale_is_learned_from_them():
    if len(CORES) < 2:
        return
    with Pools() as pools:
        pools.well("pool", "start", "night", "--policy", "moldable")
        both = start(pools, 2, "sum")
        assert eventually(lambda: all(seen_of(pools, one)["measured"] for one in both)), pools.top("night")
        end(pools, both)


def test_a_team_with_fewer_cores_than_threads_stays_as_it_is():
    """In each region all threads come, and are as many as ever, though one of them has a core at a time."""
    if len(CORES) < 2:
        return
    for options, least in (("--threads", "4"), 1), (("--threads", "2", "--split", "4"), 4):
        for program in WORKERS:
            with Pools() as pools:
                pools.well("pool", "start", "night", "--cores", ",".join(map(str, CORES[:2])))
                with Member(pools, "night", "other", 9) as other:
                    assert other.do("take") >= 0
                    one = Worker(pools, program, "team", 0, options=options)
                    for _ in range(3):
                        assert seen_of(pools, one)["uses"] <= 1, pools.top("night")
                    one.stop()
                    out, _ = one.process.communicate(timeout=harness.LIMIT)
                    assert one.process.returncode == 0, out
                    # Where a worker has several threads, it runs its own one after the other at least.
                    assert int(out.split()[0]) >= least, out


def test_helpers_run_threads_of_a_small_team():
    """Each thread is called once, whoever runs it, also while another program takes a core and gives it back."""
    if len(CORES) < 2:
        return
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night", "--cores", ",".join(map(str, CORES[:2])))
            one = Worker(pools, program, "split", 0, options=("--threads", "1", "--split", "4"))
            assert eventually(lambda: seen_of(pools, one)["uses"] == 2), pools.top("night")
            with Member(pools, "night", "other", 9) as other:
                for _ in range(20):
                    other.do("take")
                    other.do("give")
            one.stop()
            out, errors = one.process.communicate(timeout=harness.LIMIT)
            assert one.process.returncode == 0 and not errors, (out, errors)
            assert int(out.split()[0]) >= 2, out


def test_free_agents_use_cores_that_a_small_team_leaves():
    if len(CORES) < 2:
        return
    for program in WORKERS:
        with Pools() as pools:
            pools.well("pool", "start", "night", "--cores", ",".join(map(str, CORES[:2])))
            one = Worker(pools, program, "agents", 0, options=("--threads", "1"))
            assert eventually(lambda: seen_of(pools, one)["uses"] == 2), pools.top("night")
            end(pools, [one])


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
