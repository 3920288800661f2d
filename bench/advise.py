#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Advice against what came of it: runs are recorded, `sennit advise` says what changes would gain, and the best of these are
tried. Most kernels are emulated, and all networks are injected, so that two cores are enough. Prints a page.

usage: advise.py SENNIT APPS [--rounds 5] [--changes 7] [--cases 0,1...] [--quick] [--real-time] [--traces FOLDER]
           | tables.py docs/results/advise.json"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import machine

NEAR = 0.10 # of the unchanged run's time: the gain is as it was predicted
TIE = 0.015 # two gains that may come in either order
TOO_LATE = 0.025 # of the threads' time: kernels that ended late; such a run is done again, up to twice


@dataclasses.dataclass(frozen=True)
class Change:
    """Of a run: what is not given is as it was."""
    policy: str = ""
    order: str = ""
    threads: float = 1 # times
    network: int = 1 # times as fast
    words: tuple = () # after the program's own


@dataclasses.dataclass(frozen=True)
class Case:
    program: str
    words: tuple
    ranks: int
    threads: int
    latency: int # us
    bandwidth: int # MB/s
    policy: str
    nonblocking: tuple # words of the program whose last calls are bound
    eager: int = 0 # bytes; 0: no message waits for its receive
    emulated: bool = True
    larger: tuple = () # words of the program whose tasks are four times as large

    def changes(self):
        """What `sennit advise` calls it."""
        table = {f"policy {policy}": Change(policy=policy) for policy in ("steal", "fifo", "lifo", "fa")}
        table["receivers say which messages are urgent"] = Change(policy="global")
        table["of equal tasks the one that was made first"] = Change(order="creation")
        table["of equal tasks the one that became ready first"] = Change(order="ready")
        table["a network twice as fast"] = Change(network=2)
        table["no thread waits in the last call of a task"] = Change(words=self.nonblocking)
        if self.threads > 1:
            table["half of the threads, so half of the cores are free"] = Change(threads=0.5)
        if self.emulated: # else there is no core for more threads
            table["policy sa"] = Change(policy="sa", words=("--priorities", "sends"))
            table["twice as many threads a rank, each with a core"] = Change(threads=2)
        if self.larger:
            table["tasks 4 times as large"] = Change(words=self.larger)
        if "--buffers" in self.words:
            table["a second buffer where tasks receive"] = Change(words=("--buffers", "2"))
        return table


# A tile of gemm takes 8.4 ms, one of a sweep 5.1 ms.
EMULATED = ("--n", "1024", "--block", "64", "--emulate", "--rates", ".0625,.0625,.0625,.0625,.004", "--no-check", "--json", "-")
NONBLOCKING = ("--variant", "interop-nonblocking")


def emulated(program, grid, threads, latency, bandwidth, policy, *words, **more):
    rows, columns = map(int, grid.split("x"))
    return Case(program, (*EMULATED, "--grid", grid, *words), rows * columns, threads, latency, bandwidth, policy, NONBLOCKING, **more)


CASES = (
    emulated("cholesky", "1x2", 4, 500, 6, "fifo"),
    emulated("cholesky", "2x2", 2, 500, 6, "fifo"),
    emulated("cholesky", "1x2", 4, 2500, 2, "steal"),
    emulated("cholesky", "2x2", 2, 500, 2, "fifo", "--buffers", "1"),
    emulated("cholesky", "2x2", 4, 500, 10, "lifo", eager=4096),
    emulated("cholesky", "2x2", 2, 1000, 10, "fa", "--buffers", "1"),
    emulated("wavefront", "2x2", 2, 5000, 10, "fifo", "--sweeps", "6"),
    emulated("wavefront", "1x2", 4, 10000, 1, "steal", "--sweeps", "6"),
    Case("gauss-seidel", ("--size", "1024x1024", "--block", "128x128", "--iterations", "100"), 2, 1, 2000, 50, "fifo",
         ("--version", "interop-nonblk"), emulated=False),
    Case("gauss-seidel", ("--size", "1024x1024", "--block", "32x32", "--iterations", "60"), 1, 2, 1, 1000, "fifo",
         ("--version", "interop-nonblk"), emulated=False, larger=("--block", "32x128")),
    Case("gauss-seidel", ("--size", "1024x1024", "--block", "16x16", "--iterations", "60"), 1, 2, 1, 1000, "fifo",
         ("--version", "interop-nonblk"), emulated=False, larger=("--block", "16x64")),
    Case("ifsker", ("--grid", "256x128", "--fields", "8", "--steps", "60"), 2, 1, 500, 50, "fifo",
         ("--version", "interop-nonblk"), emulated=False),
)


def once(options, case, change, trace):
    """Its seconds, and how late its kernels were, of the threads' time."""
    threads = int(case.threads * change.threads)
    network = f"latency:{case.latency // change.network},bandwidth:{case.bandwidth * change.network}"
    network += f",eager:{case.eager}" if case.eager else ""
    network += ",payload:64" if case.emulated else ""
    environment = {**machine.plain_environment(), "SENNIT_NETWORK": network, "OMP_WAIT_POLICY": "passive", "OPENBLAS_NUM_THREADS": "1",
                   **({"SENNIT_ORDER": change.order} if change.order else {})}
    line = [options.sennit, "run", "-n", str(case.ranks), "--threads", str(threads), "--policy", change.policy or case.policy,
            *([f"--trace={trace}"] if trace else []), str(options.apps / f"{case.program}-{options.compiler}-{options.mpi}"),
            *case.words, *change.words]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300, check=False,
                          preexec_fn=machine.start_of_runs(options))
    if case.emulated and (found := [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]):
        return found[-1]["seconds"], found[-1]["late"] / (found[-1]["seconds"] * case.ranks * threads)
    if not case.emulated and (found := re.search(r": ([\d.]+) s, ", done.stdout)):
        return float(found[1]), 0
    raise SystemExit(f"{' '.join(line)}: {done.stdout}{done.stderr}")


def seconds(options, case, change=Change(), trace=None):
    tries = []
    for _ in range(3):
        tries.append(once(options, case, change, trace))
        if tries[-1][1] <= TOO_LATE or trace: # a trace cannot choose between runs
            break
    return min(tries, key=lambda one: one[1])[0]


def predicted(options, case, folder):
    """The trace's advice: of the changes that can be tried here the best."""
    seconds(options, case, trace=folder)
    said = subprocess.run([options.sennit, "advise", folder, "--json", "-", "--ranks-per-card", "1", "--latency",
                           str(case.latency * 1000), "--bandwidth", str(case.bandwidth / 1000), "--receive-queue", "0", "--eager",
                           str(case.eager or 1e12)], capture_output=True, text=True, check=True)
    document = json.loads(said.stdout)
    known = {}
    for change in document["changes"]:
        name = re.sub(r" \(\d+ functions\)$", "", change["what"])
        if name in case.changes():
            known[name] = change
    best = sorted(known, key=lambda name: -known[name]["gain"])[:options.changes]
    return {name: known[name] for name in best}, document


def compare(options, case):
    with tempfile.TemporaryDirectory() as scratch:
        expected, document = predicted(options, case, os.path.join(options.traces or scratch, f"trace-{CASES.index(case)}"))
    changes = case.changes()
    times = {name: [] for name in ["unchanged", *expected]}
    for _ in range(options.rounds): # interleaved
        for name, found in times.items():
            found.append(seconds(options, case, changes.get(name, Change())))
    unchanged = statistics.median(times["unchanged"])
    rows = []
    for name, change in expected.items():
        gains = [1 - time / unchanged for time in times[name]]
        rows.append({"change": name, "predicted": change["gain"], "measured": statistics.median(gains), "least": min(gains),
                     "most": max(gains), "confidence": change["confidence"]})
    return rows, document["replayed_s"] / document["recorded_s"] - 1


def in_order(rows):
    """Of the three that were said to be best: is the first one the best of them, and which pairs are as measured?"""
    best = rows[:3]
    pairs = [a["measured"] > b["measured"] - TIE for i, a in enumerate(best) for b in best[i + 1:]]
    return all(pairs[:len(best) - 1]), sum(pairs), len(pairs)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sennit")
    parser.add_argument("apps", type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--changes", type=int, default=7, help="the best ones of each run are tried")
    parser.add_argument("--cases", help=f"numbers below {len(CASES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="the first run, once")
    parser.add_argument("--real-time", action="store_true", help="run before everything else on the machine (SCHED_RR)")
    parser.add_argument("--traces", help="keep them in this folder")
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="openmpi")
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc")
    options = parser.parse_args()
    options.sennit = os.path.abspath(options.sennit)
    if options.quick:
        options.rounds, options.cases = 1, "0"
    return options


def main():
    options = parse()
    wanted = [CASES[int(number)] for number in options.cases.split(",")] if options.cases else CASES
    facts = machine.describe(machine.distinct_cores(os.cpu_count()), os.path.dirname(__file__) or ".", set())
    everything, firsts, right, pairs, lines = [], [], 0, 0, []
    for case in wanted:
        rows, off = compare(options, case)
        everything += rows
        first, good, of = in_order(rows)
        firsts.append(first)
        right, pairs = right + good, pairs + of
        shown = ("--buffers",) if case.emulated else ("--block",)
        run = " ".join([case.policy, *(f"{a} {b}" for a, b in zip(case.words, case.words[1:]) if a in shown),
                        *(["eager"] if case.eager else [])])
        name = f"{case.program} {case.ranks} x {case.threads} | {case.latency / 1000:g} ms, {case.bandwidth} MB/s | {run}"
        print(f"{name}: {len(rows)} changes were tried, {good} of {of} pairs are in order", file=sys.stderr, flush=True)
        for row in rows:
            near = abs(row["predicted"] - row["measured"]) <= NEAR
            lines.append(f"| {name} | {row['change']} | {row['predicted']:+.1%} | {row['measured']:+.1%} | {row['least']:+.1%} "
                         f"to {row['most']:+.1%} | {row['confidence']}{'' if near else ', off'} |")
        lines.append(f"| {name} | the replay of the unchanged run | {off:+.1%} | | | |")
    near = sum(abs(row["predicted"] - row["measured"]) <= NEAR for row in everything)
    print(f"# Advice that was tried\n\nCholesky and wavefront are emulated; medians of {options.rounds} rounds, interleaved"
          f"{', SCHED_RR' if options.real_time else ''}. Of each run the {options.changes} changes that were said to gain most.\n"
          f"{near} of {len(everything)} gains are within {NEAR:.0%} of the time; of the pairs of the first three {right} of {pairs} are "
          f"in the measured order; the first one is the best of the three, or as good, in {sum(firsts)} of {len(firsts)} runs.\n")
    for name, fact in facts:
        print(f"- {name}: {fact}")
    print("\n| program, ranks x threads | network | policy | change | predicted | measured | least to most | confidence |")
    print("| --- | --- | --- | --- | ---: | ---: | --- | --- |")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
