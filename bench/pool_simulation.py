#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several programs on the 48 cores of a node, by simulation: writes docs/results/core-policies.md.

    bench/pool_simulation.py SENNIT > docs/results/core-policies.md
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

The paper runs bt.A, lu.C, ft.C and mg.C of the NAS benchmarks on 48 cores (2 x AMD EPYC 7413). Its Figure 3 is a picture; the
text gives no numbers. So these programs are a model. The work is what NPB 3 counts for the class (168, 2039, 396 and 156
thousand million operations), at 4, 4, 3 and 5 thousand million a second. How they scale is a guess that does what the text
says: "the smaller kernels exhaust their parallelism more quickly than the larger ones". Seconds by number of cores:
""")
    found = simulate("--policy", "static")
    counts = [1, 2, 4, 8, 12, 16, 24, 32, 40, 48]
    table(["cores", *counts],
          [[one["name"], *(f"{one['time_s'][count - 1]:.1f}" for count in counts)]
           for one in found["programs"]])


def splits():
    print("""## Figure 3b: all four at once

The paper tries static splits of the cores. The time of the set has sweet spots; it hopes that programs can be reshaped while
they run. Here are all 16,215 splits (bt.A/lu.C/ft.C/mg.C): for some numbers of cores of lu.C the fastest; then the policies,
which know nothing of the programs and begin with 12 cores each.
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
- To hit it one must know beforehand how long each program takes and how it scales. Without that, every policy of a pool is near
  it, since cores of programs that have ended go to those that are left: `lend`
  {100 * (by['lend']['makespan_s'] / best - 1):.0f}% above, `moldable` {100 * (by['moldable']['makespan_s'] / best - 1):.0f}% above.
""")


def long_programs():
    print("""## Programs that run long enough to be measured

mg.C gets hardly faster beyond 16 cores, bt.A gets slower beyond 25. Both have more work here, so that it matters for longer.
`moldable` finds that, and gives their cores to lu.C, or leaves them idle.
""")
    for programs in (("mg.C:work=300", "lu.C:work=1500"), ("bt.A:work=600", "lu.C:work=1500"),
                     ("bt.A:work=1000",)):
        makespans(simulate(programs=programs), "they")


def imbalance():
    print("""## Two programs whose ranks wait for each other

Ranks have work unlike (the slowest 1.5 to 1.7 times the mean), and wait in MPI. In turn: one program after the other on all
cores, as today. Halves: 24 cores each, for good.
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

The first pair under `lend`, if threads come to scheduling points less often, and if a core's move costs more:
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

2 to 8 ranks, cores for all of a rank's threads or for half of them, 0.5 to 5 s of work an iteration, imbalance 0.2 to 0.9, waits
up to a fifth, alike in time within 30%. The time under each policy against `static` in the same pool (which divides anew when a
program ends), against halves for good, and against one after the other:
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

`bench/pool_simulation.py` printed this. Every table stands below the command that it comes from. The policies are the runtime's own
code (`src/node/policy`); the node and the programs are simulated ([user/simulate.md](../user/simulate.md#several-programs-on-one-node)).
Nothing was run on 48 cores. What the policies do: [user/core-policies.md](../user/core-policies.md).

ideal: all work / all cores, if everything scaled perfectly. / in turn: against one program after the other.
""")
scaling()
splits()
long_programs()
imbalance()
sensitivity()
random_pairs()
