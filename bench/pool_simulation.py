#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several programs on the 48 cores of a node, by simulation: a page of Markdown.

    bench/pool_simulation.py SENNIT | bench/tables.py docs/results/core-policies.json
"""
import random
import sys

import simulated
from simulated import table

SENNIT = sys.argv[1]
POLICIES = ["static", "lend", "fair", "moldable"]
IMBALANCED = {
    "4 and 4 ranks": ("a:ranks=4,threads=24,iterations=100,work=4,wait=.005,imbalance=.5",
                      "b:ranks=4,threads=24,iterations=80,work=5,wait=.01,imbalance=.5"),
    "8 and 8 ranks, the slow one changes":
        ("a:ranks=8,threads=12,iterations=100,work=4,wait=.002,imbalance=.6,rotates=1",
         "b:ranks=8,threads=12,iterations=100,work=4,wait=.002,imbalance=.6,rotates=1"),
    "2 and 6 ranks": ("a:ranks=2,threads=48,iterations=60,work=6,wait=.01,imbalance=.5",
                      "b:ranks=6,threads=16,iterations=90,work=4,wait=.01,imbalance=.7,rotates=1"),
}


def simulate(*options, programs=(), show=True):
    described = [word for program in programs for word in ("--program", program)]
    return simulated.simulate(SENNIT, "pool", *described, *options, key="policy", show=show)


def rows_of(found):
    alone = found["one_after_the_other_s"]
    yield "one after the other", f"{alone:.2f}", f"{alone / found['ideal_s']:.2f}", "1.00", "", ""
    for row in found["results"]:
        span = row["makespan_s"]
        yield (row["policy"], f"{span:.2f}", f"{span / found['ideal_s']:.2f}", f"{span / alone:.2f}",
               f"{row['used']:.1f}", ", ".join(f"{end:.1f}" for end in row["end_s"]))


def makespans(found, names):
    head = ["", "makespan s", "/ ideal", "/ in turn", "cores used", f"{names} end at"]
    table(head, rows_of(found))


def scaling():
    print("""## Figure 3a: how the four programs scale

The paper runs bt.A, lu.C, ft.C and mg.C of the NAS benchmarks on 48 cores (2 x AMD EPYC 7413). Its Figure 3 is a picture, and its
text gives no numbers. So the programs here are a model. The work is the number of operations that NPB 3 counts for the class
(168, 2039, 396 and 156 thousand million), at 4, 4, 3 and 5 thousand million a second. How the programs scale is a guess. It
agrees with the text: "the smaller kernels exhaust their parallelism more quickly than the larger ones". Seconds by number of
cores:
""")
    found = simulate("--policy", "static")
    counts = [1, 2, 4, 8, 12, 16, 24, 32, 40, 48]
    table(["cores", *counts],
          [[one["name"], *(f"{one['time_s'][count - 1]:.1f}" for count in counts)]
           for one in found["programs"]])


def splits():
    print("""## Figure 3b: all four at once

The paper tries static splits of the cores. It finds sweet spots in the time of the whole set, and hopes that programs can be
reshaped while they run. Here all 16,215 splits (bt.A/lu.C/ft.C/mg.C) were tried. The table has the fastest one for some numbers
of cores of lu.C. Below them are the policies. They know nothing of the programs, and begin with 12 cores each.
""")
    found = simulate("--splits", 1, "--split", "12/12/12/12")
    is_shown = lambda name: not name.startswith("split") or name == "split 12/12/12/12" or (
        int(name.split("/")[1]) % 4 == 0)
    found["results"] = [row for row in found["results"] if is_shown(row["policy"])]
    makespans(found, "they")
    best = min(row["makespan_s"] for row in found["results"] if "split" in row["policy"])
    by = found["by"]
    print(f"""- There is a sweet spot: {best:.1f} s, against {by['split 12/12/12/12']['makespan_s']:.1f} s with equal parts
  and {found['one_after_the_other_s']:.1f} s one after the other.
- To find it, one must know beforehand how long each program takes and how it scales. A policy does not know this, and yet every
  policy of a pool comes near it, since the cores of programs that have ended go to those that are left: `lend` is
  {100 * (by['lend']['makespan_s'] / best - 1):.0f}% above it, `moldable` {100 * (by['moldable']['makespan_s'] / best - 1):.0f}% above it.
""")


def long_programs():
    print("""## Programs that run long enough to be measured

mg.C gets hardly faster beyond 16 cores, and bt.A gets slower beyond 25. Here both have more work than above, so that this
matters for longer. `moldable` finds it out. It gives their cores to lu.C, or leaves the cores idle.
""")
    for programs in (("mg.C:work=300", "lu.C:work=1500"), ("bt.A:work=600", "lu.C:work=1500"),
                     ("bt.A:work=1000",)):
        makespans(simulate(programs=programs), "they")


def imbalance():
    print("""## Two programs whose ranks wait for each other

The ranks of a program have unequal work (the slowest 1.5 to 1.7 times the mean), and wait for each other in MPI. *in turn*: one
program after the other on all cores, as is usual today. *halves*: 24 cores for each program, for good.
""")
    rows = []
    for name, programs in IMBALANCED.items():
        found = simulate("--split", "24/24", programs=programs)
        by = found["by"]
        rows.append([name, f"{found['ideal_s']:.2f}", f"{found['one_after_the_other_s']:.2f}",
                     f"{by['split 24/24']['makespan_s']:.2f}",
                     *(f"{by[policy]['makespan_s']:.2f}" for policy in POLICIES),
                     f"{by['lend']['makespan_s'] / found['one_after_the_other_s']:.2f}",
                     f"{by['lend']['makespan_s'] / found['ideal_s']:.3f}"])
    table(["makespan s", "ideal", "in turn", "halves", *POLICIES, "lend / in turn", "lend / ideal"], rows)


def sensitivity():
    print("""### What moves cost

This is the first pair under `lend`, if threads reach scheduling points less often (columns), and if moving a core costs more
(rows):
""")
    programs = IMBALANCED["4 and 4 ranks"]
    print("    sennit simulate pool ... --policy lend --point US --move US\n")
    rows = []
    points = [100, 1000, 5000, 20000]
    for move in (0, 20, 200, 2000):
        spans = [simulate("--policy", "lend", "--point", point, "--move", move, programs=programs,
                          show=False)["by"]["lend"]["makespan_s"] for point in points]
        rows.append([f"move {move} us", *(f"{span:.2f}" for span in spans)])
    table(["makespan s", *(f"point {point} us" for point in points)], rows)


def random_pairs(count=100):
    print(f"""## {count} pairs of programs at random

A program has 2, 4 or 8 ranks. Together its ranks have as many threads as there are cores, or half as many. An iteration has 0.5
to 5 s of work, an imbalance of 0.2 to 0.9, and a wait of up to a fifth of the time that its work takes on 24 cores. The work of
the two programs differs by at most 30%. The table has the time under each policy relative to three others: `static` in the same
pool (which divides the cores anew when a program ends), halves for good, and one program after the other.
""")
    chance = random.Random(1)
    against = {policy: {"static": [], "halves": [], "in turn": []} for policy in POLICIES[1:]}
    for _ in range(count):
        texts, works = [], []
        for name in "ab":
            ranks = chance.choice([2, 4, 8])
            work = chance.uniform(.5, 5)
            total = chance.uniform(100, 300) if name == "a" else works[0] * chance.uniform(.7, 1.3)
            works.append(total)
            texts.append(f"{name}:ranks={ranks},threads={48 // ranks // chance.choice([1, 2])},"
                         f"iterations={max(1, round(total / work))},work={work:.3f},"
                         f"wait={chance.uniform(0, .2) * work / 24:.5f},"
                         f"imbalance={chance.uniform(.2, .9):.2f},rotates={chance.choice([0, 1])}")
        found = simulate("--split", "24/24", programs=texts, show=False)
        bases = {"static": found["by"]["static"]["makespan_s"],
                 "halves": found["by"]["split 24/24"]["makespan_s"],
                 "in turn": found["one_after_the_other_s"]}
        for policy, of in against.items():
            for base, values in of.items():
                values.append(found["by"][policy]["makespan_s"] / bases[base])
    table(["", *(f"/ {base}: {what}" for base in ("static", "halves", "in turn")
                 for what in ("least", "mean", "most"))],
          [[policy, *(f"{value:.3f}" for values in of.values()
                      for value in (min(values), sum(values) / len(values), max(values)))]
           for policy, of in against.items()])


print("""# Who gets which core of a node: by simulation

`bench/pool_simulation.py` printed this page. Every table stands below the command that made it. The policies are the runtime's
own code (`src/decide/cores`). The node and the programs are simulated
(docs/user/simulate.md): nothing was run on 48 cores. docs/user/node.md says what the policies do.

In the tables, *ideal* is the time if everything scaled perfectly: all work / all cores. */ in turn* is the time relative to one
program after the other.
""")
scaling()
splits()
long_programs()
imbalance()
sensitivity()
random_pairs()
