#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a policy costs a program without MPI: instructions a task, by callgrind, one thread.

usage: policy_cost.py [--build build/release]

A stream of tasks with two dependences each. Nothing set (`auto`) has to cost what `steal` does: such a program
has nobody to send to, so no policy that looks for send-tasks is taken. Exit code 1: it costs more."""

import argparse
import pathlib
import sys
import tempfile

import trace_overhead

POLICIES = ("steal", "fifo", "ma3", "sa", "fa", "global")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        nothing = trace_overhead.instructions_a_task(build, scratch)
        cost = {policy: trace_overhead.instructions_a_task(build, scratch, SENNIT_POLICY=policy) for policy in POLICIES}
    print("| policy | instructions a task | more than `steal` |\n| --- | ---: | ---: |")
    for name, count in (("nothing set", nothing), *((f"`{policy}`", count) for policy, count in cost.items())):
        print(f"| {name} | {count:,.0f} | {count - cost['steal']:+,.0f} |")
    met = nothing - cost["steal"] < 1
    print(f"\nGoal: a program without MPI pays nothing for policies: {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
