#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.simulated_seidel if="mpi == mpis[0]" mpi=all timeout=300 -- --sennit {sennit} --program {apps}/gauss-seidel-{paired}-{mpi}
"""apps/gauss-seidel and its simulation, where next to nothing but messages takes time: each version waits for as many messages, one
after the other, as `sennit simulate gauss-seidel` says.

usage: simulated_seidel_test.py --sennit PATH --program PATH"""

import argparse
import json
import os
import re
import subprocess

RANKS, LATENCY_MS = 4, 50
SIZE = ("--block", "16", "--iterations", "3")
# A chain of messages takes no less than their latencies. It takes more if threads get no core at once, and for the barrier at its end.
LEAST, MOST, TRIES = 0.98, 2, 5


def run(*command, **environment):
    done = subprocess.run(command, env=os.environ | environment, text=True, capture_output=True, timeout=100, check=False)
    assert done.returncode == 0, (command, done)
    return done.stdout


def simulated(sennit, version):
    network = ("--latency", str(LATENCY_MS * 1e6), "--bandwidth", "1", "--receive-queue", "0")
    out = run(sennit, "simulate", "gauss-seidel", "--version", version, "--cells", "64", *SIZE, "--ranks", str(RANKS), "--threads", "1",
              *network, "--policy", "fifo", "--no-path", "--quiet", "--json", "-")
    return json.loads(out)["results"][0]["time_s"]


def measured(sennit, program, version):
    out = run(sennit, "run", "-n", str(RANKS), "--threads", "1", program, "--version", version, "--size", "64", *SIZE,
              SENNIT_NETWORK=f"latency:{LATENCY_MS * 1000},bandwidth:1000")
    return float(re.search(r" threads: ([\d.]+) s", out)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    told = {version: simulated(options.sennit, version) for version in ("pure", "nbuffer", "forkjoin", "interop-blk")}
    # A block of columns of nbuffer asks for its first messages only when the one before is computed.
    assert told["nbuffer"] > 1.5 * told["pure"], told
    for version, expected in told.items():
        for left in reversed(range(TRIES)):
            took = measured(options.sennit, options.program, version)
            assert took >= LEAST * expected, f"{version}: {took} s, simulated {expected} s"
            if took <= MOST * expected:
                break
            assert left, f"{version}: {took} s at last, simulated {expected} s"


main()
