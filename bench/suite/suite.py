#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit bench cholesky: communication-aware scheduling, measured.

Runs apps/cholesky and apps/wavefront under every policy and exchange variant on an injected network
and prints the tables of docs/results/cholesky-suite.json, with a plot. Most of it is emulated: kernels
hold their thread for as long as they would take on a core, without using one, so that 64 threads run
for real, with the real runtime and the real MPI, on a small machine. All runs of a group are
interleaved: a round goes through them in a seeded random order; ratios are taken within a round. What
was measured is written after each run, so that --resume can go on some other time.
"""

import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import machine
import results

HERE = pathlib.Path(__file__).resolve().parent
PRIORITIES = {"ma1": "sends", "ma2": "path", "ma3": "depth", "sa": "sends"}
REPEATS = 5  # with real kernels, whose times vary
TOO_LATE = 0.025  # of the threads' time; some 1% where the machine has nothing else to do, 2% with the shortest kernels
VARIANTS = ("blocking", "singlecom", "taskyield", "detach", "interop-blocking", "interop-nonblocking")


@dataclasses.dataclass(frozen=True)
class Case:
    """Where something runs: a column of tables."""
    ranks: int
    threads: int
    blocks: int  # in a row
    latency: int  # us
    bandwidth: int  # MB/s; 0: any
    program: str = "cholesky"
    window: int = 0  # live tasks per thread; 0: the runtime's choice
    buffers: int = 1
    size: int = 512  # of a block
    real: bool = False  # true kernels; not so: emulated
    eager: int = 65536  # bytes; longer messages wait for their receives; -1: none does

    @property
    def network(self):
        latency = f"{self.latency / 1000:g} ms" if self.latency >= 1000 else f"{self.latency} us"
        return latency + (f", {self.bandwidth / 1000:g} GB/s" if self.bandwidth else "")

    @property
    def title(self):
        blocks = f"{self.blocks} blocks" + (f" of {self.size}" if self.size != 512 else "")
        parts = [f"{self.ranks} x {self.threads}", blocks, self.network]
        if self.program != "cholesky":
            parts.insert(0, self.program)
        if self.window:
            parts.append(f"window {self.window}")
        if self.real:
            parts.append(f"real kernels, the best of {REPEATS}")
        if self.eager < 0:
            parts.append("sent unasked")
        return ", ".join(parts)


@dataclasses.dataclass(frozen=True)
class Way:
    """How it runs: a row of tables."""
    policy: str
    order: str = "auto"
    variant: str = "interop-blocking"

    @property
    def label(self):
        order = {"creation": " (creation order)", "ready": " (ready order)"}.get(self.order, "")
        variant = "" if self.variant == "interop-blocking" else f", {self.variant}"
        return self.policy + order + variant


class Watch:
    """Whether processes were stopped for a while, as by somebody who suspends the machine: what was
    measured meanwhile is worth nothing. Who goes on is sent SIGCONT."""

    def __init__(self):
        self.continued = 0
        signal.signal(signal.SIGCONT, self.note)

    def note(self, *_):
        self.continued += 1


def run(options, case, way):
    """One run: what the program printed as JSON, with the policy's time; None: it failed. Again, up to
    twice, if processes were stopped meanwhile, or kernels ended so late that the machine was busy."""
    outcome = None, ""
    for _ in range(3):
        before = options.watch.continued
        outcome = run_once(options, case, way)
        if options.watch.continued != before:
            outcome = None, "stopped three times"
        elif not outcome[0] or results.late_share(outcome[0]) <= TOO_LATE:
            break
    return outcome


def run_once(options, case, way):
    binary = options.home / "apps" / f"{case.program}-{options.compiler}-{options.mpi}"
    size = case.size
    command = [str(options.home / "bin/sennit"), "run", "-n", str(case.ranks), "--threads", str(case.threads),
               "--mpi", options.mpi, str(binary), "--n", str(size * case.blocks), "--block", str(size),
               "--variant", way.variant, "--priorities", PRIORITIES.get(way.policy, "none"),
               "--link", f"{case.latency},{case.bandwidth}" + (f",{case.eager}" if case.eager >= 0 else ""), "--json", "-"]
    if case.program == "cholesky":
        command += ["--buffers", str(case.buffers)]
    else:
        command += ["--sweeps", str(options.sweeps)]
    network = f"latency:{case.latency}" + (f",bandwidth:{case.bandwidth}" if case.bandwidth else "")
    if case.eager >= 0:
        network += f",eager:{case.eager}"
    if case.real:
        command += ["--repeat", str(REPEATS)]
    else:
        command += ["--emulate", "--rates", options.rates]
        network += ",payload:64"
    environment = {**machine.plain_environment(), "SENNIT_NETWORK": network, "SENNIT_POLICY": way.policy,
                   "SENNIT_ORDER": way.order, "OMP_WAIT_POLICY": "passive", "OPENBLAS_NUM_THREADS": "1"}
    if case.window:
        environment["SENNIT_WINDOW"] = str(case.window * case.threads)
    with tempfile.TemporaryDirectory() as folder:
        environment["SENNIT_STATS"] = f"{folder}/s"
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True,
                                  timeout=options.timeout, stdin=subprocess.DEVNULL, preexec_fn=machine.run_promptly)
        except subprocess.TimeoutExpired:
            return None, f"no result within {options.timeout:g} s"
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or not lines:
            return None, (done.stderr.strip().splitlines() or ["no output"])[-1]
        sample = json.loads(lines[-1])
        spent = [json.loads(path.read_text()).get("policy_ns", 0) for path in pathlib.Path(folder).iterdir()]
        sample["policy"] = sum(spent) * 1e-9 / (REPEATS if case.real else 1)
        return sample, ""


LIFO = Way("lifo", "creation")
POLICIES = (Way("fifo", "creation"), Way("fifo", "ready"), LIFO, Way("lifo", "ready"), Way("steal"), Way("ma1"), Way("ma2"),
            Way("ma3"), Way("sa"), Way("fa"), Way("global"))
FEW = (Way("fifo", "creation"), Way("steal"), Way("sa"), Way("fa"), Way("global"))
SOME = (*FEW, Way("fifo", "ready"), LIFO, Way("lifo", "ready"))
JUDGED = (Way("fifo", "creation"), Way("sa"), Way("fa"))
# The three cases of the goals.
SMALL = Case(4, 4, 32, 1000, 6000)
SQUARE = Case(8, 8, 64, 0, 1000)
LARGE = Case(16, 4, 64, 0, 1000)


def groups(options):
    """[(name, title, cases, ways)]"""
    if options.quick:
        small = dataclasses.replace(SMALL, blocks=16)
        return [("policies", "Policies", [small], POLICIES),
                ("variants", "Exchange variants", [dataclasses.replace(small, latency=200)],
                 [Way("steal", variant=v) for v in VARIANTS]),
                ("wavefront", "Another graph", [Case(4, 4, 16, 200, 1000, program="wavefront")], FEW)]
    window = [dataclasses.replace(case, window=16) for case in (SMALL, SQUARE, LARGE)]
    latencies = [dataclasses.replace(SMALL, latency=us) for us in (0, 50, 200)]
    splits = [Case(ranks, 16 // ranks, 32, 200, 1000) for ranks in (2, 4, 8, 16)]
    waves = [Case(4, 4, 32, us, 1000, program="wavefront") for us in (50, 1000)]
    slow = [dataclasses.replace(LARGE, blocks=32, bandwidth=500), dataclasses.replace(SQUARE, blocks=32, bandwidth=300)]
    own = [dataclasses.replace(case, buffers=0) for case in (LARGE,)]
    unasked = [dataclasses.replace(case, eager=-1) for case in (SQUARE, LARGE)]
    wide = [dataclasses.replace(case, bandwidth=10000) for case in (SQUARE, LARGE)]
    two = [Case(2, 1, 16, 5000, 0, size=256, real=real) for real in (False, True)]
    if options.goals:
        return [
            ("policies", "Policies", [SMALL], (*JUDGED, LIFO)),
            ("large", "Policies at 64 threads", [SQUARE, LARGE], (*JUDGED, LIFO)),
            ("window", "The same with 16 live tasks a thread", [window[0], window[2]], JUDGED),
            ("wide", "The same on a network of 10 GB/s", wide[1:], [Way("sa")]),
            ("wavefront", "Another graph: wavefronts over a grid", waves, JUDGED),
            ("two", "Two ranks of one thread: emulated and with real kernels", two, JUDGED),
        ]
    return [
        ("policies", "Policies", [SMALL], POLICIES),
        ("large", "Policies at 64 threads", [SQUARE, LARGE], SOME),
        ("window", "The same with 16 live tasks a thread", window, FEW),
        ("wide", "The same on a network of 10 GB/s", wide, JUDGED),
        ("unasked", "The same on a network that takes long messages before their receives are called", unasked, SOME),
        ("slow", "Networks that are the bottleneck", slow, FEW),
        ("latency", "By latency", latencies, (*FEW, LIFO)),
        ("splits", "By ranks x threads, 16 cores in all", splits, FEW),
        ("buffers", "A receive buffer for each block instead of one a row", own, FEW),
        ("variants", "Exchange variants", [Case(4, 4, 32, us, 1000) for us in (0, 1000)],
         [Way("steal", variant=variant) for variant in VARIANTS] +
         [Way("fa", variant=variant) for variant in VARIANTS[2:]]),
        ("wavefront", "Another graph: wavefronts over a grid", waves, (*FEW, LIFO)),
        ("two", "Two ranks of one thread: emulated and with real kernels", two, (*FEW, LIFO)),
    ]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="sennit bench cholesky", description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=pathlib.Path, default=HERE.parent.parent, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="small cases, 3 rounds: two minutes")
    parser.add_argument("--goals", action="store_true", help="only what the goals need: two minutes a round")
    parser.add_argument("--rounds", type=int, help="default 10; 3 with --quick; with --resume: in all")
    parser.add_argument("--minutes", type=float, help="begin no run after so long")
    parser.add_argument("--resume", action="store_true", help="go on from --output's cholesky-suite.json, if it is there")
    parser.add_argument("--only", help="groups, comma separated")
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="openmpi")
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc")
    parser.add_argument("--rates", default="20,35,38,42,0.5", help="GFLOP/s of the emulated core: potrf,trsm,syrk,gemm,sweep")
    parser.add_argument("--sweeps", type=int, default=20, help="of the wavefront (default 20)")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds until a run counts as hang")
    parser.add_argument("--seed", type=int, default=20240901, help="of the order of the runs")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder of cholesky-suite.{md,json,svg}")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (3 if options.quick else 10)
    options.watch = Watch()
    return options


def main(arguments):
    options = parse(arguments)
    chosen = groups(options)
    if options.only:
        names = options.only.split(",")
        unknown = set(names) - {name for name, *_ in chosen}
        if unknown:
            sys.exit(f"sennit bench: no such group: {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(name for name, *_ in chosen)}")
        chosen = [group for group in chosen if group[0] in names]
    options.output.mkdir(parents=True, exist_ok=True)
    facts = machine.describe(machine.distinct_cores(os.cpu_count()), HERE, {options.mpi})
    facts += [("emulated core", f"potrf,trsm,syrk,gemm,sweep at {options.rates} GFLOP/s, blocks of 512 unless said"),
              ("programs", f"{options.compiler}, {options.mpi}; OMP_WAIT_POLICY=passive")]
    book = Book(options.output, facts)
    if options.resume:
        book.read()
    measure(options, chosen, book)
    print(book.write(chosen))
    return 0


class Book:
    """All samples, in memory and in files. A cell's samples are in the order of its rounds."""

    def __init__(self, folder, facts):
        self.folder, self.facts = folder, facts
        self.samples, self.complaints = {}, {}

    def read(self):
        path = self.folder / "cholesky-suite.json"
        try:
            before = json.loads(path.read_text())
        except FileNotFoundError:
            return  # the first part
        except OSError as error:
            sys.exit(f"sennit bench: --resume: {path}: {error.strerror}")
        for cell in before["cells"]:
            case = Case(**{field.name: cell[field.name] for field in dataclasses.fields(Case)})
            way = Way(**{field.name: cell[field.name] for field in dataclasses.fields(Way)})
            self.samples[cell["group"], case, way] = cell["samples"]
        self.facts += [fact for fact in map(tuple, before["facts"]) if fact not in self.facts]

    def rounds(self, name, case, way):
        return len(self.samples.get((name, case, way), []))

    def add(self, name, case, way, sample, complaint):
        self.samples.setdefault((name, case, way), []).append(sample)
        if complaint:
            self.complaints[(case.title, way.label)] = complaint

    def save(self):
        raw = [{"group": g, **dataclasses.asdict(c), **dataclasses.asdict(w), "samples": s}
               for (g, c, w), s in self.samples.items()]
        (self.folder / "cholesky-suite.json").write_text(json.dumps({"facts": self.facts, "cells": raw}, indent=1))

    def write(self, chosen):
        text = results.render(chosen, self.samples, self.complaints, self.facts)
        (self.folder / "cholesky-suite.md").write_text(text)
        (self.folder / "cholesky-suite.svg").write_text(results.plot(chosen, self.samples))
        return text


def measure(options, chosen, book):
    shuffle = random.Random(options.seed)
    begun = time.monotonic()
    for number in range(options.rounds):
        for name, _, cases, ways in chosen:
            cells = list(itertools.product(cases, ways))
            shuffle.shuffle(cells)
            for case, way in cells:
                slow = way == LIFO and options.goals and number >= 2  # it takes long, and is far from others
                if slow or book.rounds(name, case, way) > number:
                    continue
                if options.minutes and time.monotonic() - begun > options.minutes * 60:
                    return
                sample, complaint = run(options, case, way)
                book.add(name, case, way, sample, complaint)
                book.save()
                seconds = f"{sample['seconds']:.3f} s" if sample else complaint
                print(f"round {number + 1}, {name}: {case.title}, {way.label}: {seconds}", file=sys.stderr)
        book.write(chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
