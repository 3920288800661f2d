#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.exchanges.{mpi} mpi=all timeout=300 -- --sennit {sennit} --program {apps}/exchanges-{mpi}
"""Recorded exchanges between tasks, replayed: each message is there with both ends, nothing is called a
deadlock that was none, and tasks wait for what they waited for.

usage: exchanges_test.py --sennit PATH --program PATH"""

import argparse
import json
import os
import subprocess
import tempfile

# Messages in all; the longest chain of messages, each of which has to wait for the one before; what
# notes have to tell.
WAYS = {
    "sendrecv": (2, 1, []),
    "isend": (2, 1, []),
    "split": (2, 1, []),
    "probe": (6, 3, []),
    "mprobe": (4, 1, ["not modelled: MPI_Comm_"]),
    "waitany": (3, 3, []),
    "test": (2, 1, []),
    "improbe": (4, 1, []),
    "isendrecv": (2, 1, []),
    "tampi": (4, 2, []),
    "detach": (4, 2, []),
    "detach_other": (4, 2, []),
    "window": (2, 1, []),
}


# A simulated run that was recorded does not tell: a task that completes by what another begins may
# have ended before, and then the trace's wait stands before what it waits for.
NOT_AGAIN = ["detach_other"]


def run(*command):
    done = subprocess.run(command, env={k: v for k, v in os.environ.items() if k != "SENNIT_TRACE"},
                          text=True, capture_output=True, timeout=240, check=False)
    assert done.returncode == 0, (command, done)
    return done


def check(sennit, trace, messages, chain, notes, *options):
    """What `sennit simulate` makes of a trace, under every policy."""
    latency = 1e7
    done = run(sennit, "simulate", "trace", trace, "--quiet", "--policy", "all", "--json", "-",
               "--latency", str(latency), *options)
    told = done.stderr.splitlines()
    assert len(told) == len(notes) and all(note in line for note, line in zip(notes, told)), (trace, done.stderr)
    document = json.loads(done.stdout)
    assert document["options"]["recorded_messages"] == messages, (trace, document)
    for row in document["results"]:
        assert row["sends"] == row["receives"] == messages, (trace, row)
        # A long message asks, is allowed and comes: three times the latency.
        assert row["time_s"] > (3 * chain - 0.5) * latency * 1e-9, (trace, row)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for way, (messages, chain, notes) in WAYS.items():
            run(options.sennit, "run", "-n", "2", "--threads", "2", "--policy", "fifo", f"--trace={way}",
                options.program, way)
            for window in ["1", "2"] if way == "window" else ["32768"]:
                check(options.sennit, way, messages, chain, notes, "--window", window)
            if way in NOT_AGAIN:
                continue
            # Recorded in turn, the simulated run is replayed as what it was.
            again = f"{way}-again"
            run(options.sennit, "simulate", "trace", way, "--quiet", "--policy", "fifo", "--trace", again)
            check(options.sennit, again, messages, chain, [])


if __name__ == "__main__":
    main()
