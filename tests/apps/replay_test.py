#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recorded run of the Cholesky, replayed by `sennit simulate trace`: the same tasks and messages, about
the same time; what is not replayed is told.

usage: replay_test.py --sennit PATH --program PATH"""

import argparse
import json
import os
import subprocess
import tempfile

TILES = 8
TASKS = TILES + TILES * (TILES - 1) + TILES * (TILES - 1) * (TILES - 2) // 6  # potrf, trsm and syrk, gemm


def run(*command):
    done = subprocess.run(command, env={k: v for k, v in os.environ.items() if k != "SENNIT_TRACE"},
                          text=True, capture_output=True, timeout=120, check=False)
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
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        # Kernels that sleep, so that a busy machine is no other machine; still, it may have been busy
        # once.
        for attempt in range(3):
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
            differences.append(document["results"][0]["time_s"] / recorded["recorded_s"] - 1)
            if abs(differences[-1]) < 0.25:
                break
        else:
            raise AssertionError(f"simulated times differ by {differences} from the recorded ones")

        # Recorded in turn, the simulated run is replayed as what it was.
        run(options.sennit, "simulate", "trace", trace, "--quiet", "--policy", "fifo", "--trace", "again")
        done = run(options.sennit, "simulate", "trace", "again", "--quiet", "--policy", "fifo", "--json", "-")
        assert done.stderr == "", done.stderr
        assert json.loads(done.stdout)["options"]["recorded_messages"] == numbers["receive"], done.stdout

        # One rank calls nobody.
        run(options.sennit, "run", "-n", "1", "--threads", "2", "--trace=alone", options.program,
            "--n", "256", "--block", "64", "--variant", "interop-blocking", "--no-check")
        done = run(options.sennit, "simulate", "trace", "alone", "--quiet", "--policy", "fifo")
        assert "sennit: note: " in done.stderr, done
    print("differences from the recorded time:", ", ".join(f"{100 * d:+.1f}%" for d in differences))


if __name__ == "__main__":
    main()
