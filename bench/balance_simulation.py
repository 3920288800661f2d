#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The paper openmp-in-charm's study on 1024 cores, by simulation: a page of Markdown.

    bench/balance_simulation.py SENNIT | bench/tables.py docs/results/balance.json
"""
import sys

import simulated
from simulated import table

SENNIT = sys.argv[1]
PAPER_IMBALANCE = {"none": (47.77, 227.60), "greedy:50": (16.51, 110.43), "greedy:50+loops": (13.73, 42.59)}
PAPER_TIMES = {"none": (100, 0, 100), "greedy:20": (70, 19, 89), "greedy:50": (69, 8, 77), "greedy:100": (72, 5, 77)}
NAMES = {
    "none": "no balancing", "greedy:20": "GreedyLB, period 20", "greedy:50": "GreedyLB, period 50",
    "greedy:100": "GreedyLB, period 100", "none+loops": "loops are shared", "none+objects": "objects and loops are shared",
    "greedy:50+loops": "GreedyLB 50, loops are shared", "greedy:50+objects": "GreedyLB 50, objects and loops are shared",
    "spread:50+loops": "spread 50, loops are shared", "spread:50+objects": "spread 50, objects and loops are shared",
    "none+tasks": "domains and loops are tasks", "greedy:50+tasks": "GreedyLB 50, domains and loops are tasks",
    "spread:50+tasks": "spread 50, domains and loops are tasks",
    "follow:20": "follow, period 20", "follow:50": "follow, period 50", "follow:100": "follow, period 100",
    "follow:50+loops": "follow 50, loops are shared", "follow:50+objects": "follow 50, objects and loops are shared",
    "follow:50+tasks": "follow 50, domains and loops are tasks",
}


def simulate(*words, show=True):
    return simulated.simulate(SENNIT, "front", *words, key="way", show=show)


def percent(share):
    return f"{100 * share:.1f}"


def imbalance_rows(by):
    for way, row in by.items():
        node, pe = PAPER_IMBALANCE.get(way, ("", ""))
        yield NAMES[way], percent(row["node_imbalance"]), node, percent(row["pe_imbalance"]), pe


def time_rows(by):
    for way, row in by.items():
        paper = PAPER_TIMES.get(way, ("", "", ""))
        yield (NAMES[way], f"{row['steps_s']:.1f}", paper[0], f"{row['balance_s']:.1f}", paper[1],
               f"{row['total_s']:.1f}", paper[2], f"{by['none']['total_s'] / row['total_s']:.2f}")


def ratio(by, a, b):
    return f"{100 * (by[a]['total_s'] / by[b]['total_s'] - 1):.0f}%"


def scaling():
    print("""## Figure 3: strong scaling

The same mesh and work on fewer nodes. Seconds (the paper's figure has no numbers):
""")
    ways = ["none", "greedy:50", "none+loops", "greedy:50+loops", "spread:50+objects", "spread:50+tasks", "follow:50+tasks"]
    rows = []
    for nodes in (16, 32, 64):
        words = [word for way in ways for word in ("--way", way)]
        by = simulate("--nodes", nodes, *words, show=False)["by"]
        rows.append([16 * nodes, *(f"{by[way]['total_s']:.1f}" for way in ways)])
    print("    sennit simulate front --nodes 16 ...\n")
    table(["cores", *(NAMES[way] for way in ways)], rows)


def sensitivity():
    print("""## If the front is slower, or wider

Speed: domain widths in a step. Seconds, and the percent imbalance of the PEs:
""")
    ways = ["none", "greedy:50", "greedy:50+loops", "hierarchical:50+objects", "spread:50+objects", "spread:50+tasks", "follow:50+tasks"]
    rows = []
    for speed, band in ((.02, .31), (.05, .31), (.17, .1), (.17, 1)):
        words = [word for way in ways for word in ("--way", way)]
        by = simulate("--speed", speed, "--band", band, *words, show=False)["by"]
        rows.append([f"speed {speed}, width {band}",
                     *(f"{by[way]['total_s']:.1f} ({percent(by[way]['pe_imbalance'])})" for way in ways)])
    print("    sennit simulate front --speed .02 --band .31 ...\n")
    table(["", *ways], rows)


print("""# Balance between nodes and within them: by simulation

`bench/balance_simulation.py` printed this. The strategies, and the rule of how much of a loop is offered to others, are the code
of `src/decide/objects`; nodes and program are simulated (docs/user/simulate.md). Nothing was run on 1024 cores.
`sennit bench front` asks the same question of real threads: 16 to 64 threads with emulated kernels.

The paper (openmp-in-charm, section 5) runs Lassen on 64 nodes of 16 cores, with 16 domains for each core. It does not say how wide
and how fast the front is, how long steps and messages take, or how large a domain is. These numbers were chosen so that the rows
*no balancing* and *GreedyLB* come near to the paper's: front, work and messages by its Tables 1 and 2, bytes by what its balancing
costs. So these rows are no result. What is one: all rows below them. Halo messages cost the same wherever the
neighbours are, in all rows alike.
""")
BY = simulate()["by"]
print("""## Table 1: percent imbalance

Mean over the steps of max / mean - 1 (the paper's equation 1).
""")
table(["", "nodes %", "paper", "PEs %", "paper"], imbalance_rows(BY))
print("""## Table 2: time

Seconds. Speed-up: against no balancing.
""")
table(["", "steps", "paper", "balancing", "paper", "total", "paper", "speed-up"], time_rows(BY))


def of(strategy, what):
    return ", ".join(percent(BY[f"{strategy}:{period}"][what]) for period in (20, 50, 100))


SPREAD = BY["spread:50+objects"]
TASKS, SPREAD_TASKS = BY["greedy:50+tasks"], BY["spread:50+tasks"]
print(f"""- GreedyLB and shared loops: {ratio(BY, 'none', 'greedy:50+loops')} faster than no balancing (paper: 50%), {ratio(BY, 'greedy:50', 'greedy:50+loops')} faster than GreedyLB
  alone (paper: 10%). Shared loops alone: {ratio(BY, 'none', 'none+loops')} faster (paper: 21%).
- The front leaves a domain after a few steps. So loads of the past do not say where it will be, and GreedyLB is not much better than dealing
  domains at random; it moves nearly all of them each time. `spread` puts neighbours on different nodes once; then hardly anything moves. With objects and loops shared it is {ratio(BY, 'none', 'spread:50+objects')}
  faster than no balancing, {ratio(BY, 'greedy:50', 'spread:50+objects')} faster than GreedyLB alone. Imbalance of the PEs: {percent(SPREAD['pe_imbalance'])}%, of the nodes:
  {percent(SPREAD['node_imbalance'])}%; balancing takes {percent(SPREAD['balance_s'] / SPREAD['total_s'])}% of the time.
- `follow` looks ahead (docs/user/objects.md): it puts domains that the front will reach at the same time on
  different nodes, and moves few others. Without any sharing, with periods of 20, 50 and 100 steps, it has {of('follow', 'node_imbalance')}% of imbalance of the nodes
  (GreedyLB: {of('greedy', 'node_imbalance')}%) and {of('follow', 'pe_imbalance')}% of the PEs (GreedyLB: {of('greedy', 'pe_imbalance')}%). The first calls are those of `spread`, until a front is
  seen. Balancing takes {percent(BY['follow:50+tasks']['balance_s'] / BY['follow:50+tasks']['total_s'])}% of the time.
- The paper cuts a loop when it begins, by who is idle then. A loop that begins late while all are busy is not cut, and all wait for it.
  A `taskloop` always is: *domains and loops are tasks*. The PEs' imbalance is {percent(TASKS['pe_imbalance'])}% with GreedyLB then, and
  {percent(SPREAD_TASKS['pe_imbalance'])}% with `spread`. Each piece of each loop costs 0.5 us here, whoever takes it.

What we want to reach:

""")
WAYS = ("greedy:50+tasks", "spread:50+tasks", "follow:50+tasks")
table(["", "goal", "GreedyLB 50", "spread 50", "follow 50"],
      [["imbalance of PEs, balanced and shared", "≤ 25%", *(f"{percent(BY[way]['pe_imbalance'])}%" for way in WAYS)],
       ["imbalance of nodes", "≤ 13.7%", *(f"{percent(BY[way]['node_imbalance'])}%" for way in WAYS)],
       ["both, faster than no balancing", "≥ 50%", *(ratio(BY, 'none', way) for way in WAYS)],
       ["both, faster than GreedyLB alone", "≥ 10%", *(ratio(BY, 'greedy:50', way) for way in WAYS)],
       ["sharing alone, faster than no balancing", "≥ 21%", *(ratio(BY, 'none', 'none+tasks') for way in WAYS)],
       ["balancing, of the time", "≤ 3%", *(f"{percent(BY[way]['balance_s'] / BY[way]['total_s'])}%" for way in WAYS)]])
print("""GreedyLB misses two of them in all rows: it follows loads of the past, and moves nearly all domains each time.
""")
scaling()
sensitivity()
