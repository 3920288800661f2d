#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Advice against what came of it: runs are recorded, `sennit advise` says what changes would gain, and the best of these are
tried. Most kernels are emulated, and all networks are injected, so that two cores are enough. Changes that advice leaves out, for
it cannot simulate them, are tried, too. Prints a page. With --cases, --keep takes the rows of the other runs from an earlier page.

usage: advise.py SENNIT APPS [--rounds 5] [--changes 7] [--cases 0,1...] [--keep docs/results/advise.json] [--quick] [--real-time]
           [--traces FOLDER] > page; tables.py docs/results/advise.json < page"""
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
    options: tuple = () # of sennit run
    settings: tuple = () # (variable, value)


@dataclasses.dataclass(frozen=True)
class Case:
    program: str
    words: tuple
    ranks: int
    threads: int
    latency: int # us; 0: no network is injected
    bandwidth: int # MB/s
    policy: str
    nonblocking: tuple = () # words of the program whose last calls are bound
    eager: int = 0 # bytes; 0: no message waits for its receive
    emulated: bool = True
    larger: tuple = () # words of the program whose tasks are four times as large
    settings: tuple = ()
    equal: Change | None = None # gives all ranks the same work
    left_out: tuple = () # (name, Change): what advice cannot simulate

    def changes(self):
        """What `sennit advise` calls it."""
        table = {f"policy {policy}": Change(policy=policy) for policy in ("steal", "fifo", "lifo", "fa")}
        table["receivers say which messages are urgent"] = Change(policy="global")
        table["of equal tasks the one that was made first"] = Change(order="creation")
        table["of equal tasks the one that became ready first"] = Change(order="ready")
        if self.latency:
            table["a network twice as fast"] = Change(network=2)
        table["more unfinished tasks"] = Change(settings=(("SENNIT_WINDOW", "131072"),))
        if self.equal:
            table["the same work for each rank"] = self.equal
        if self.nonblocking:
            table["no thread waits in the last call of a task"] = Change(words=self.nonblocking)
        if self.threads > 1:
            table["half of the threads, so half of the cores are free"] = Change(threads=0.5)
        if self.emulated: # else there is no core for more threads
            if self.program != "front":
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
VIRTUAL = (("--virtual", Change(options=("--virtual",))), ("--virtual=fibers", Change(options=("--virtual=fibers",))))
# Two cores are lent to the rank that has work, so each rank has two threads.
LENDING = ("SENNIT_LENDING, two threads a rank", Change(threads=2, settings=(("SENNIT_LENDING", "on"),)))
UNBALANCED, BALANCED = (("SENNIT_BALANCE", "none"),), Change(settings=(("SENNIT_BALANCE", "greedy"),))
SPLIT = ("--split inner", Change(options=("--split", "inner")))


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
         ("--version", "interop-nonblk"), emulated=False, left_out=VIRTUAL),
    Case("gauss-seidel", ("--size", "1024x1024", "--block", "32x32", "--iterations", "60"), 1, 2, 1, 1000, "fifo",
         ("--version", "interop-nonblk"), emulated=False, larger=("--block", "32x128")),
    Case("gauss-seidel", ("--size", "1024x1024", "--block", "16x16", "--iterations", "60"), 1, 2, 1, 1000, "fifo",
         ("--version", "interop-nonblk"), emulated=False, larger=("--block", "16x64")),
    Case("ifsker", ("--grid", "256x128", "--fields", "8", "--steps", "60"), 2, 1, 500, 50, "fifo",
         ("--version", "interop-nonblk"), emulated=False, left_out=VIRTUAL),
    Case("front", ("--side", "8", "--cells", "32", "--steps", "48", "--period", "8", "--emulate", "1000", "--ratio", "40"),
         4, 1, 0, 0, "steal", settings=UNBALANCED, equal=BALANCED),
    Case("front", ("--side", "12", "--cells", "60", "--steps", "60", "--period", "10"), 2, 1, 0, 0, "steal", emulated=False,
         settings=UNBALANCED, equal=BALANCED, left_out=(LENDING, SPLIT, *VIRTUAL)),
)


def once(options, case, change, trace):
    """Its seconds, and how late its kernels were, of the threads' time."""
    threads = int(case.threads * change.threads)
    environment = {**machine.plain_environment(), "OMP_WAIT_POLICY": "passive", "OPENBLAS_NUM_THREADS": "1", **dict(case.settings),
                   **dict(change.settings), **({"SENNIT_ORDER": change.order} if change.order else {})}
    if case.latency:
        network = f"latency:{case.latency // change.network},bandwidth:{case.bandwidth * change.network}"
        network += f",eager:{case.eager}" if case.eager else ""
        environment["SENNIT_NETWORK"] = network + (",payload:64" if case.emulated else "")
    line = [options.sennit, "run", "-n", str(case.ranks), "--threads", str(threads), "--policy", change.policy or case.policy,
            *change.options, *([f"--trace={trace}"] if trace else []),
            str(options.apps / f"{case.program}-{options.compiler}-{options.mpi}"), *case.words, *change.words]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300, check=False,
                          preexec_fn=machine.start_of_runs(options))
    if case.program == "front" and (found := re.search(r"^seconds ([\d.]+) .*^steps: .* late ([\d.]+)$", done.stdout, re.M | re.S)):
        return float(found[1]), float(found[2])
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
    network = ["--ranks-per-card", "1", "--latency", str(case.latency * 1000), "--bandwidth", str(case.bandwidth / 1000),
               "--receive-queue", "0", "--eager", str(case.eager or 1e12)]
    said = subprocess.run([options.sennit, "advise", folder, "--json", "-", *(network if case.latency else [])],
                          capture_output=True, text=True, check=True)
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
    changes = {**case.changes(), **dict(case.left_out)}
    times = {name: [] for name in ["unchanged", *expected, *dict(case.left_out)]}
    for _ in range(options.rounds): # interleaved
        for name, found in times.items():
            found.append(seconds(options, case, changes.get(name, Change())))
    unchanged = statistics.median(times["unchanged"])
    rows = []
    for name in times:
        gains = [1 - time / unchanged for time in times[name]]
        measured = [f"{statistics.median(gains):+.1%}", f"{min(gains):+.1%} to {max(gains):+.1%}"]
        if name in expected:
            off = abs(expected[name]["gain"] - statistics.median(gains)) > NEAR
            rows.append([name, f"{expected[name]['gain']:+.1%}", *measured, expected[name]["confidence"] + (", off" if off else "")])
        elif name != "unchanged":
            rows.append([name, "", *measured, "left out"])
    rows.append(["the replay of the unchanged run", f"{document['replayed_s'] / document['recorded_s'] - 1:+.1%}", "", "", ""])
    return rows


def name_of(case):
    """The first cells of its rows."""
    shown = ("--buffers",) if case.emulated else ("--block",)
    run = " ".join([case.policy, *(f"{a} {b}" for a, b in zip(case.words, case.words[1:]) if a in shown),
                    *(["eager"] if case.eager else [])])
    network = f"{case.latency / 1000:g} ms, {case.bandwidth} MB/s" if case.latency else "memory"
    return f"{case.program} {case.ranks} x {case.threads}", network, run


def kept(file):
    """{first cells: the others of each row} of an earlier page"""
    rows = {}
    for table in json.loads(pathlib.Path(file).read_text()) if file else []:
        for row in table.get("rows", []):
            rows.setdefault(tuple(row[:3]), []).append(row[3:])
    return rows


def predicted_rows(rows):
    """What was predicted and measured, as parts of the time, the best prediction first."""
    found = [[float(cell.rstrip("%")) / 100 for cell in row[1:3]] for row in rows if row[1] and row[2]]
    return [{"predicted": one, "measured": other} for one, other in found]


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
    parser.add_argument("--keep", metavar="FILE", help="results of which the rows of the other cases stay")
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
    rows = kept(options.keep)
    for case in wanted:
        rows[name_of(case)] = compare(options, case)
        print(f"{' | '.join(name_of(case))}: {len(rows[name_of(case)]) - 1} changes were tried", file=sys.stderr, flush=True)
    near, tried, firsts, right, pairs, lines = 0, 0, [], 0, 0, []
    for name, own in rows.items():
        judged = predicted_rows(own)
        first, good, of = in_order(judged)
        firsts.append(first)
        right, pairs, tried = right + good, pairs + of, tried + len(judged)
        near += len(judged) - sum(row[4].endswith(", off") for row in own)
        lines += [f"| {' | '.join([*name, *row])} |" for row in own]
    print(f"# Advice that was tried\n\nCholesky, wavefront and front on 4 ranks are emulated; medians of {options.rounds} rounds, "
          f"interleaved{', SCHED_RR' if options.real_time else ''}. Of each run the {options.changes} changes that were said to gain "
          "most, and those that advice leaves out.\n"
          f"{near} of {tried} gains are within {NEAR:.0%} of the time; of the pairs of the first three {right} of {pairs} are "
          f"in the measured order; the first one is the best of the three, or as good, in {sum(firsts)} of {len(firsts)} runs.\n")
    if len(rows) > len(wanted):
        print(f"{len(wanted)} of the {len(rows)} runs were measured at the commit below, the others before.\n")
    for name, fact in facts:
        print(f"- {name}: {fact}")
    print("\n| program, ranks x threads | network | policy | change | predicted | measured | least to most | confidence |")
    print("| --- | --- | --- | --- | ---: | ---: | --- | --- |")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
