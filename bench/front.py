#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit bench front: balance between ranks and within them, measured.

Runs apps/front with emulated kernels: a cell holds its thread for as long as it would take, without
using a core. So 64 threads run for real, with the real runtime, the real MPI and the real balancer, on
a small machine. Ranks play the nodes of the paper openmp-in-charm, threads its PEs. All ways of a shape
take turns, in another order in each round; ratios are taken within a round. One more run of each way
is traced: what `sennit report` finds stands beside what the program says. Writes front.md into --output.
"""

import argparse
import dataclasses
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import front_bound
import machine
import results

HERE = pathlib.Path(__file__).resolve().parent
TOO_LATE = 0.05  # of the threads' time; a run with more is done again, up to twice
PAPER_LAMBDA = {"none": ("47.8", "227.6"), "greedy 50": ("16.5", "110.4"), "greedy 50, loops": ("13.7", "42.6")}


@dataclasses.dataclass(frozen=True)
class Shape:
    ranks: int
    threads: int
    side: int  # domains: 256 to 288 for each rank (the nodes of the paper have 256)
    cells: int = 8
    count_from: int = 50  # the first call of the balancer is behind all ways then, but for greedy 100

    @property
    def title(self):
        return f"{self.ranks} x {self.threads}"


@dataclasses.dataclass(frozen=True)
class Way:
    label: str
    strategy: str = "none"
    period: int = 0
    loops: str = "serial"
    domains: str = "threads"

    def launch(self):
        return ["--split", "inner"] if self.loops == "parallel" else []

    def words(self):
        return ["--strategy", self.strategy, "--period", str(self.period), "--loops", self.loops, "--domains", self.domains]


SHARED = {"loops": "taskloop", "domains": "tasks"}
NONE, GREEDY, ALONE = Way("none"), Way("greedy 50", "greedy", 50), Way("all shared", **SHARED)
BOTH, SPREAD = Way("greedy 50, all shared", "greedy", 50, **SHARED), Way("spread 50, all shared", "spread", 50, **SHARED)
FOLLOW = Way("follow 50, all shared", "follow", 50, **SHARED)
WAYS = (NONE, Way("greedy 20", "greedy", 20), GREEDY, Way("greedy 100", "greedy", 100),
        Way("follow 20", "follow", 20), Way("follow 50", "follow", 50), Way("follow 100", "follow", 100), Way("loops", loops="taskloop"),
        Way("greedy 50, loops", "greedy", 50, "taskloop"), ALONE, BOTH, SPREAD, FOLLOW,
        Way("regions", loops="parallel"), Way("greedy 50, regions", "greedy", 50, "parallel"),
        Way("all shared, regions", loops="parallel", domains="tasks"),
        Way("follow 50, all shared, regions", "follow", 50, "parallel", "tasks"))
BOUNDED = (20, 50, 100)  # periods
SHAPES = (Shape(4, 4, 32), Shape(8, 4, 48), Shape(16, 4, 64))
QUICK = Shape(4, 4, 16)

INTRODUCTION = """\
# Balance between ranks and within them, measured

`sennit bench front` printed this. It runs `apps/front`: a wave front passes over a mesh of domains, which are objects of
`sennit_balance.h`; loops over the cells of a band around the front make such cells 27 times as expensive as others. Kernels are
*emulated*: threads are held, no core is used. Runtime, MPI, balancer and what moves are real; domains are small, so moving them is
cheap. Ranks play the paper's nodes, threads its PEs. `bench/balance_simulation.py` is the paper's own size, 1024 cores, by
simulation with the same strategies: its Tables 1 and 2 and its Figure 3 beside ours.

- *none*: each thread has its own domains, and no loop is shared. *greedy 20*: `sennit_balance()` every 20 steps by GreedyLB; within
  a rank, domains are dealt to threads in the same way.
- *spread*: neighbours go to different ranks. *follow* looks ahead: domains that the front will reach at the same time go to different ranks.
- *bound for 50*: what one assignment of domains to ranks for 50 steps can reach if all their loads are known beforehand, as they were
  measured in the run *none*. It is found by a search, so the true bound may be lower.
- *loops*: threads have their own domains, and take pieces of others' loops when they have nothing to do: the loops are taskloops. *all
  shared*: domains are tasks, too. *regions*: the loops are `parallel for`, as in the paper, under `--split inner`.
- λ: the work of the thread (PE) or rank (node) that had most in a step, summed over the steps, more than the mean, by the program's
  own count. So steps weigh by their work; the simulation has the mean over the steps. *report*: what `sennit report` finds by intervals
  of the clock in the trace of one more run, of all its steps: λ of the threads of a rank in the region of a step, which knows
  nothing of other ranks; and λ of ranks' work in the whole run, where what is early in one is late in another.
- Nodes have 256 to 288 domains, as the paper's have, but 4 threads instead of 16. With `--quick` they have 64. Then 4 to 10 are in the
  band at a time, and one more or less is much of a node's work. So λ of nodes is larger there: a strategy that follows loads does not know which come next.
- All is counted from step 50 on, behind the first call of the balancer.
- *balancing*: time in `sennit_balance()`, of the run. *late*: how late the machine woke the threads of emulated kernels, of the
  threads' time. It falls on all rows. A run with more than 5% is done again, up to twice, and the least late is taken.
"""


def ways_of(options):
    return (NONE, GREEDY, ALONE, BOTH, SPREAD, FOLLOW) if options.tiny or options.goals else WAYS


def run_once(options, shape, way, traced):
    """One run: its numbers by name, and those of `sennit report`."""
    binary = options.home / "apps" / f"front-{options.compiler}-{options.mpi}"
    sennit = str(options.home / "bin/sennit")
    environment = {**machine.plain_environment(), "OMP_WAIT_POLICY": "passive", "SENNIT_NODE_RANKS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sennit, "run", *([f"--trace={folder}/trace"] if traced else []), "-n", str(shape.ranks), "--threads",
                   str(shape.threads), "--mpi", options.mpi, *way.launch(), str(binary), "--side", str(shape.side), "--cells", str(shape.cells),
                   "--emulate", str(options.cell), "--count-from", str(shape.count_from), "--loads", f"{folder}/loads", *(["--steps", str(options.steps)] if options.steps else []), *way.words()]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=options.timeout,
                              stdin=subprocess.DEVNULL, preexec_fn=machine.start_of_runs(options))
        if done.returncode or ": right" not in done.stdout:
            sys.exit(f"sennit bench: {shape.title}, {way.label}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        found = {name: float(value) for name, value in re.findall(r"(\w+) (-?[\d.]+)(?=\s)", done.stdout)}
        loads = front_bound.read(f"{folder}/loads", shape.side ** 2)
        found["bounds"] = {period: front_bound.imbalance(loads, shape.ranks, period, shape.count_from) for period in BOUNDED if way == NONE}
        return found | (reported(sennit, folder) if traced else {})


def reported(sennit, folder):
    """Of the region that ran once a step, and of ranks."""
    text = subprocess.run([sennit, "report", f"{folder}/trace"], check=True, capture_output=True, text=True).stdout
    regions = re.findall(r"^  work_on_domains.*?\s(\d+)\s+\d+\s+([\d.]+)%", text, re.MULTILINE)
    return {"report_threads": float(max(regions, key=lambda region: int(region[0]))[1]),
            "report_ranks": float(re.search(r"^  ranks\s+\d+\s+([\d.]+)%", text, re.MULTILINE)[1])}


def run(options, shape, way, traced=False):
    tries = []
    for _ in range(options.tries):
        tries.append(run_once(options, shape, way, traced))
        if tries[-1]["late"] <= TOO_LATE:
            break
    return min(tries, key=lambda one: one["late"])


def middle(samples, name):
    return statistics.median(sample[name] for sample in samples)


def faster(cells, shape, way, than):
    """In percent: median over the rounds, each against its own."""
    return statistics.median(100 * (b["seconds"] / a["seconds"] - 1)
                             for a, b in zip(cells[shape, way], cells[shape, than]))


def table_of(shape, ways, cells, traces):
    lines = []
    for way in ways:
        samples, trace = cells[shape, way], traces.get((shape, way), {})
        threads, ranks = (f"{trace[name]:.1f}" if trace else "" for name in ("report_threads", "report_ranks"))
        node, pe = PAPER_LAMBDA.get(way.label, ("", ""))
        lines.append([way.label, f"{100 * middle(samples, 'thread_lambda'):.1f}", pe, threads,
                      f"{100 * middle(samples, 'rank_lambda'):.1f}", node, ranks,
                      f"{middle(samples, 'seconds'):.2f}",
                      f"{100 * statistics.median(s['balance'] / s['seconds'] for s in samples):.1f}",
                      f"{faster(cells, shape, way, NONE):+.0f}", f"{middle(samples, 'moved'):.0f}", f"{100 * middle(samples, 'late'):.1f}"])
    for period, bound in cells[shape, NONE][0]["bounds"].items():
        lines.append([f"*bound for {period}*", "", "", "", f"{bound:.1f}", *[""] * 7])
    return results.markdown(["", "λ PEs %", "paper", "report", "λ nodes %", "paper", "report", "seconds", "balancing %",
                             "faster than none %", "moved", "late %"], lines)


def goals_of(shapes, cells):
    def lines(shape, way):
        samples = cells[shape, way]
        shared = faster(cells, shape, ALONE, NONE)
        return ((100 * middle(samples, "thread_lambda"), 25, False), (100 * middle(samples, "rank_lambda"), 13.7, False),
                (faster(cells, shape, way, NONE), 50, True), (faster(cells, shape, way, GREEDY), 10, True), (shared, 21, True),
                (100 * statistics.median(s["balance"] / s["seconds"] for s in samples), 3, False))
    names = ("λ of PEs ≤ 25%", "λ of nodes ≤ 13.7%", "both faster than none by ≥ 50%", "both faster than greedy 50 by ≥ 10%",
             "sharing alone faster than none by ≥ 21%", "balancing ≤ 3% of the run")
    columns = [(shape, way) for shape in shapes for way in (BOTH, SPREAD, FOLLOW)]
    found = [lines(*column) for column in columns]
    rows = []
    for i, name in enumerate(names):
        cells_of_row = []
        for column in found:
            value, goal, at_least = column[i]
            met = value >= goal if at_least else value <= goal
            cells_of_row.append(f"{value:.1f}% {'met' if met else '**missed**'}")
        rows.append([name, *cells_of_row])
    return results.markdown(["goal", *(f"{shape.title}, {way.label.split(',')[0]}" for shape, way in columns)], rows)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="sennit bench front", description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=pathlib.Path, default=HERE.parent.parent, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="4 x 4 only, one round, short kernels: two minutes")
    parser.add_argument("--goals", action="store_true", help="only the ways that the goals need")
    parser.add_argument("--no-report", action="store_true", help="no traced runs")
    parser.add_argument("--tries", type=int, help="of a run that is too late (default 3; 1 with --quick)")
    parser.add_argument("--rounds", type=int, help="default 3; 1 with --quick")
    parser.add_argument("--shapes", help="ranks x threads, comma separated: 4x4,8x4,16x4 (default: all)")
    parser.add_argument("--tiny", action="store_true", help="2 x 2 and a small mesh, to see that it works")
    parser.add_argument("--cell", type=int, help="ns that a cell outside of the band takes (default 10000; 4000 with --quick)")
    parser.add_argument("--real-time", action="store_true",
                        help="run before everything else on the machine (SCHED_RR), if others keep it busy")
    parser.add_argument("--steps", type=int, help="default: until the front has passed")
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="openmpi")
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds until a run counts as hang")
    parser.add_argument("--seed", type=int, default=20171112, help="of the order of the runs")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder of front.md")
    options = parser.parse_args(arguments)
    options.quick = options.quick or options.tiny
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.tries = options.tries or (1 if options.quick else 3)
    options.cell = options.cell or (4000 if options.quick else 10000)
    shapes = (Shape(2, 2, 4, count_from=10),) if options.tiny else (QUICK,) if options.quick else SHAPES
    if options.shapes:
        wanted = options.shapes.split(",")
        shapes = tuple(shape for shape in SHAPES if f"{shape.ranks}x{shape.threads}" in wanted)
        if len(shapes) != len(wanted):
            parser.error("shapes are 4x4, 8x4, 16x4")
    return options, shapes


def main(arguments):
    options, shapes = parse(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    facts = machine.describe(machine.distinct_cores(os.cpu_count()), HERE, {options.mpi})
    cells, traces, ways = {}, {}, ways_of(options)
    shuffle = random.Random(options.seed)
    for shape in shapes:
        for number in range(options.rounds):
            for way in shuffle.sample(ways, len(ways)):
                sample = run(options, shape, way)
                cells.setdefault((shape, way), []).append(sample)
                print(f"{shape.title}, round {number + 1}, {way.label}: {sample['seconds']:.2f} s, late "
                      f"{100 * sample['late']:.1f}%", file=sys.stderr)
        for way in ways if not options.no_report else ():
            traces[shape, way] = run(options, shape, way, traced=True)
    facts += [("load average after", ", ".join(f"{load:.2f}" for load in os.getloadavg())),
              ("emulated cell", f"{options.cell / 1000:g} us outside of the band, 27 times that in it; {options.rounds} rounds"),
              ("programs", f"{options.compiler}, {options.mpi}; OMP_WAIT_POLICY=passive" + ("; SCHED_RR" if options.real_time else ""))]
    parts = [INTRODUCTION, "\n".join(f"- {name}: {text}" for name, text in facts), "\n## Goals\n", goals_of(shapes, cells)]
    for shape in shapes:
        parts += [f"\n## {shape.title}: {shape.side} x {shape.side} domains\n", table_of(shape, ways, cells, traces)]
    text = "\n".join(parts) + "\n"
    (options.output / "front.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
