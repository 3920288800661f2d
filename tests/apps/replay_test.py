#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.replay.{mpi} mpi=all timeout=300 virtual=1 -- --sennit {sennit} --program {apps}/cholesky-gcc-{mpi}
"""A recorded run of the Cholesky, replayed by `sennit simulate trace`: the same tasks and messages, about
the same time, where the machine was not busy; what is not replayed is told. A simulated run that was
recorded is replayed in the same time wherever the test runs.

usage: replay_test.py --sennit PATH --program PATH"""

import argparse
import json
import os
import subprocess
import tempfile

TILES = 8
THREADS = 2 * 2  # of both ranks
LATE = 0.05  # of the threads' time: held longer than that, they say nothing about times
TASKS = TILES + TILES * (TILES - 1) + TILES * (TILES - 1) * (TILES - 2) // 6  # potrf, trsm and syrk, gemm


def run(*command):
    done = subprocess.run(command, env={k: v for k, v in os.environ.items() if k != "SENNIT_TRACE"},
                          text=True, capture_output=True, timeout=240, check=False)
    assert done.returncode == 0, (command, done)
    return done


def record(sennit, program, folder, *more):
    run(sennit, "run", "-n", "2", "--threads", "2", "--policy", "fifo", f"--trace={folder}", program,
        "--n", str(TILES * 128), "--block", "128", *more, "--json", "numbers.json")
    with open("numbers.json", encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    differences, disturbed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        # Kernels that sleep: they tell how much later than they should the machine woke them.
        for attempt in range(5):
            trace = f"trace-{attempt}"
            numbers = record(options.sennit, options.program, trace, "--emulate", "--rates", "2,2,2,2,2",
                             "--no-check")
            assert sum(numbers[kind] for kind in ("potrf", "trsm", "syrk", "gemm")) == TASKS
            done = run(options.sennit, "simulate", "trace", trace, "--quiet", "--policy", "fifo,fa",
                       "--json", "-")
            document = json.loads(done.stdout)
            recorded = document["options"]
            assert recorded["recorded_tasks"] == TASKS + numbers["send"] + numbers["receive"], document
            assert recorded["recorded_messages"] == numbers["receive"], document
            assert document["machine"]["ranks"] == 2 and document["machine"]["threads"] == 2
            for row in document["results"]:
                assert row["sends"] == row["receives"] == numbers["receive"], row
                # A task that sends is replayed as the call, and what it does around it if that is long.
                assert TASKS <= row["compute"] <= TASKS + 2 * (numbers["send"] + numbers["receive"]), row
            notes = done.stderr.splitlines()
            assert len(notes) == 1 and "MPI_Barrier" in notes[0] and "(0 of them in tasks)" in notes[0], notes
            simulated = document["results"][0]["time_s"]
            differences.append(simulated / recorded["recorded_s"] - 1)
            disturbed += numbers["late"] > LATE * THREADS * numbers["seconds"]
            if abs(differences[-1]) < 0.25:
                break
        else:
            assert disturbed, f"simulated times differ by {differences} from the recorded ones"
            print("a busy machine: recorded times were not compared")

        # Recorded in turn, the simulated run is replayed as what it was.
        run(options.sennit, "simulate", "trace", trace, "--quiet", "--policy", "fifo", "--trace", "again")
        done = run(options.sennit, "simulate", "trace", "again", "--quiet", "--policy", "fifo", "--json", "-")
        assert done.stderr == "", done.stderr
        document = json.loads(done.stdout)
        assert document["options"]["recorded_messages"] == numbers["receive"], document
        assert abs(document["options"]["recorded_s"] / simulated - 1) < 0.01, (document, simulated)
        # Tasks that are ready at the same time may run in another order.
        assert abs(document["results"][0]["time_s"] / simulated - 1) < 0.25, (document, simulated)

        # One rank calls nobody.
        run(options.sennit, "run", "-n", "1", "--threads", "2", "--trace=alone", options.program,
            "--n", "256", "--block", "64", "--variant", "interop-blocking", "--no-check")
        done = run(options.sennit, "simulate", "trace", "alone", "--quiet", "--policy", "fifo")
        assert "sennit: note: " in done.stderr, done
    print("differences from the recorded time:", ", ".join(f"{100 * d:+.1f}%" for d in differences))


if __name__ == "__main__":
    main()
