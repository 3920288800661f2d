#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Advice against what came of it: the Cholesky suite is recorded, `sennit advise` says what changes would gain, and each
change is tried. Kernels are emulated, and the network is injected, so that two cores are enough. Prints a page.

usage: advise.py SENNIT CHOLESKY [--rounds 3] [--quick] | tables.py docs/results/advise.json"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import machine

PROGRAM = ["--n", "4096", "--block", "256", "--emulate", "--rates", "2,2,2,2,2", "--no-check", "--json", "-"]
GRIDS = {2: "1x2", 4: "2x2"}
# ranks, threads, latency (us), bandwidth (MB/s), policy, more arguments
RUNS = [
    (2, 4, 1000, 50, "fifo", []),
    (4, 2, 1000, 50, "fifo", []),
    (2, 4, 5000, 20, "steal", []),
    (4, 2, 1000, 20, "fifo", ["--buffers", "1"]),
]
# What `sennit advise` calls it: (policy, arguments, threads x, network x)
CHANGES = {
    "policy steal": ("steal", [], 1, 1),
    "policy fifo": ("fifo", [], 1, 1),
    "policy lifo": ("lifo", [], 1, 1),
    "policy fa": ("fa", [], 1, 1),
    "policy sa": ("sa", ["--priorities", "sends"], 1, 1),
    "no thread waits in the last call of a task (2 functions)": (None, ["--variant", "interop-nonblocking"], 1, 1),
    "a second buffer where tasks receive": (None, ["--buffers", "2"], 1, 1),
    "a network twice as fast": (None, [], 1, 2),
    "twice as many threads a rank, each with a core": (None, [], 2, 1),
}
NEAR = 0.10 # of the unchanged run's time: the gain is as it was predicted
TIE = 0.015 # two gains that may come in either order


def seconds(options, run, change=(None, [], 1, 1), trace=None):
    ranks, threads, latency, bandwidth, policy, arguments = run
    other_policy, more, times_threads, times_network = change
    environment = dict(os.environ, SENNIT_NETWORK=f"latency:{latency // times_network},"
                                                  f"bandwidth:{bandwidth * times_network},payload:64")
    line = [options.sennit, "run", "-n", str(ranks), "--threads", str(threads * times_threads), "--policy",
            other_policy or policy, *([f"--trace={trace}"] if trace else []), options.cholesky, *PROGRAM,
            "--grid", GRIDS[ranks], *arguments, *more]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300, check=False)
    results = [text for text in done.stdout.splitlines() if text.startswith("{")]
    if not results:
        raise SystemExit(f"{' '.join(line)}: {done.stdout}{done.stderr}")
    return json.loads(results[-1])["seconds"]


def predicted(options, run, folder):
    """The trace's advice: the gain of each change that is tried here."""
    _, _, latency, bandwidth, _, _ = run
    seconds(options, run, trace=folder)
    said = subprocess.run([options.sennit, "advise", folder, "--json", "-", "--ranks-per-card", "1", "--latency",
                           str(latency * 1000), "--bandwidth", str(bandwidth / 1000), "--receive-queue", "0", "--eager",
                           "1e12"], capture_output=True, text=True, check=True)
    document = json.loads(said.stdout)
    return {change["what"]: change for change in document["changes"] if change["what"] in CHANGES}, document


def compare(options, run):
    with tempfile.TemporaryDirectory() as folder:
        expected, document = predicted(options, run, os.path.join(folder, "trace"))
    times = {what: [] for what in ["unchanged", *expected]}
    for _ in range(options.rounds): # interleaved
        for what, found in times.items():
            found.append(seconds(options, run, CHANGES.get(what, (None, [], 1, 1))))
    unchanged = statistics.median(times["unchanged"])
    rows = []
    for what, change in expected.items():
        gains = [1 - time / unchanged for time in times[what]]
        rows.append({"run": list(run), "change": what, "predicted": change["gain"], "measured": statistics.median(gains),
                     "least": min(gains), "most": max(gains), "confidence": change["confidence"]})
    rows.sort(key=lambda row: -row["predicted"])
    return rows, document["replayed_s"] / document["recorded_s"] - 1


def in_order(rows):
    """Pairs of the three that were said to be best: which are in the order that was measured?"""
    best = rows[:3]
    pairs = [(a, b) for i, a in enumerate(best) for b in best[i + 1:]]
    return sum(a["measured"] > b["measured"] - TIE for a, b in pairs), len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sennit")
    parser.add_argument("cholesky")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="the first run, once")
    options = parser.parse_args()
    if options.quick:
        options.rounds = 1
    facts = machine.describe(machine.distinct_cores(os.cpu_count()), os.path.dirname(__file__) or ".", set())
    everything, right, pairs, lines = [], 0, 0, []
    for run in RUNS[:1] if options.quick else RUNS:
        rows, off = compare(options, run)
        everything += rows
        good, of = in_order(rows)
        right, pairs = right + good, pairs + of
        ranks, threads, latency, bandwidth, policy, arguments = run
        name = f"{ranks} x {threads} | {latency / 1000:g} ms, {bandwidth} MB/s | {' '.join([policy, *arguments])}"
        print(f"{name}: {len(rows)} changes were tried", file=sys.stderr, flush=True)
        for row in rows:
            near = abs(row["predicted"] - row["measured"]) <= NEAR
            lines.append(f"| {name} | {row['change']} | {row['predicted']:+.1%} | {row['measured']:+.1%} | {row['least']:+.1%} "
                         f"to {row['most']:+.1%} | {'' if near else 'off'} |")
        lines.append(f"| {name} | the replay of the unchanged run | {off:+.1%} | | | |")
    near = sum(abs(row["predicted"] - row["measured"]) <= NEAR for row in everything)
    print(f"# Advice that was tried\n\nCholesky, n = 4096, tiles of 256, emulated at 2 GFLOP/s a core; medians of "
          f"{options.rounds} rounds, interleaved.\n{near} of {len(everything)} gains are within {NEAR:.0%} of the time; of the "
          f"pairs of the first three {right} of {pairs} are in the measured order.\n")
    for name, fact in facts:
        print(f"- {name}: {fact}")
    print("\n| ranks x threads | network | policy | change | predicted | measured | least to most | |")
    print("| --- | --- | --- | --- | ---: | ---: | --- | --- |")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
