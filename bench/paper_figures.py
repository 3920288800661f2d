# SPDX-License-Identifier: Apache-2.0
"""The figures and tables of the five papers as data: what each shows, the numbers that the paper's text gives, and what of
ours answers. A figure's numbers come from a measurement (paper_runs.py), or from the results that a bench of its own
wrote to docs/results. Used by papers.py."""

import dataclasses
import json
import re
import typing

import coscheduling
import message_sizes
import paper_runs
import priorities
from paper_verdicts import Claim

AWARE = "Communication-aware scheduling"
TAMPI = "Task-aware MPI"
DETACH = "MPI detach"
CHARM = "OpenMP in Charm"
VIRTUAL = "Process virtualization"
PAPERS = (AWARE, TAMPI, DETACH, CHARM, VIRTUAL)


@dataclasses.dataclass(frozen=True)
class Figure:
    key: str  # for --only
    paper: str
    name: str
    shows: str
    command: str
    claims: tuple
    # Takes a paper_runs.Run; {name: numbers of the rounds}, or None if this machine or build cannot.
    values: typing.Callable
    recorded: bool = False  # the values are of the results of another bench
    timed: bool = False  # times of this machine, of which a quick run says nothing
    # By hand: takes a paper_runs.Run; was it given what this figure needs? Else the last numbers stay.
    by_hand: typing.Callable | None = None


class Tables:
    """The tables of one file of docs/results: row(heading, first, at) has the row with this first cell by columns. With a
    run, this notes the file and the commits of what is looked up."""

    def __init__(self, folder, name, run=None):
        self.name, self.run = name, run
        self.tables = json.loads((folder / f"{name}.json").read_text())

    def row(self, heading, first, at=0):
        table = [one for one in self.tables if one.get("heading") == heading and "rows" in one][at]
        if self.run:
            self.run.origins.add((f"docs/results/{self.name}.json", table.get("commit", "not known")))
        row = next(row for row in table["rows"] if row[0] == first)
        return dict(zip(table["columns"], row))


def number(text, at=0):
    """The number at a place of a cell: `33.11 (9.2)` has two."""
    return float(re.findall(r"[-+]?\d+(?:\.\d+)?", text)[at])


def quotient(above, below):
    """Within a round."""
    return lambda values: [a / b for a, b in zip(values[above], values[below])]


def plain(name):
    return lambda values: values[name]


def beside_calls(name):
    return lambda values: [whole - calls for whole, calls in zip(values[name], values["calls"])]


def greatest(*quotients):
    """Of several quotients, in each round."""
    return lambda values: [max(row) for row in zip(*(one(values) for one in quotients))]


def idle_of_small_graph(run):
    rows = run.simulate("cholesky", "--n", 2048, "--ranks", 2, "--threads", 2, "--policy", "fifo,sa,fa", "--no-path", "--quiet")
    found = {f"{row['policy']} {what}": [row[f"{what}_s"]] for row in rows["results"] for what in ("idle", "time")}
    for row in rows["results"]:
        found[f"{row['policy']} process 0"] = [100 * row["idle_of_rank_s"][0] / row["time_s"] / 2]
    return found


HEAD_4 = "Paper 1, Figure 4: 16 nodes, ranks x threads"
# Total and idle time, of which the paper's text gives no others.
FIGURE_4 = {"32-24": {"fifo": (33.2, 8.0), "fa": (28.4, 4.4)}}
SPLITS = ("16-48", "32-24", "64-12", "128-6")
MESSAGES = (388624, 640632, 892640, 1372880)


def spreads_of_cores(run):
    tables, values = Tables(run.results, "simulation", run), {}
    for split in SPLITS:
        row = tables.row(HEAD_4, split)
        values[f"{split} messages"] = [number(row["communication tasks"])]
        for policy in ("fifo", "ma1", "ma2", "sa", "fa"):
            for at, what in enumerate(("", " idle", " overhead")):
                values[f"{split} {policy}{what}"] = [number(row[policy], at)]
    return values


HEAD_5 = "Paper 1, Table 3 and Figure 5: weak scaling"
TABLE_3 = {"fifo": (22.28, 24.05, 25.82, 26.46, 31.02, 33.36), "sa": (22.67, 24.46, 24.58, 24.91, 25.96, 27.01),
           "fa": (22.63, 24.48, 25.05, 25.38, 26.27, 27.89)}
# bench/simulation.py fits the machine to these three, so they are no result.
FITTED = (("fifo", "1"), ("fifo", "2"), ("fifo", "32"))
RANKS = ("1", "2", "4", "8", "16", "32")


def weak_scaling(run):
    tables = Tables(run.results, "simulation", run)
    return {f"{policy} {ranks}": [number(tables.row(HEAD_5, f"{policy}, simulated")[ranks])]
            for policy in ("fifo", "ma1", "ma2", "sa", "fa") for ranks in RANKS}


TABLE_4 = {"computation": (88560, 176851, 357760, 708561, 1414910, 2829056),
           "communication": (0, 10100, 32512, 102082, 243616, 640632)}


def tasks_of_weak_scaling(run):
    tables = Tables(run.results, "simulation", run)
    return {f"{kind} {ranks}": [number(tables.row(HEAD_5, f"{kind} tasks")[ranks])] for kind in TABLE_4 for ranks in RANKS}


HEAD_DETACH = ("Paper 3, Figure 1: one node", "Paper 3, Figure 2: strong scaling")
VARIANTS = ("detach", "interop-blocking", "blocking")


def detached(run):
    """{"variant 4 x 12": seconds} and "... outside": seconds of a thread outside of kernels; of both tables"""
    tables, values = Tables(run.results, "simulation", run), {}
    for heading in HEAD_DETACH:
        for variant in VARIANTS:
            for shape, cell in list(tables.row(heading, variant).items())[1:]:
                for at, what in enumerate(("", " outside")):
                    values[f"{heading}: {variant} {shape}{what}"] = [number(cell, at)]
    return values


def outside(heading, variant, least=2, most=128):
    """A thread's seconds outside of kernels, by ranks."""
    def ours(values):
        found = {}
        for name, took in values.items():
            if name.startswith(f"{heading}: {variant} ") and name.endswith(" outside"):
                ranks = int(name.split()[-4])
                if least <= ranks <= most:
                    found[ranks] = took[0]
        return found
    return ours


def worst(heading, other):
    """detach against another variant, where that is least ahead; of one rank alone there is no message"""
    def ours(values):
        one, against = outside(heading, "detach")(values), outside(heading, other)(values)
        return [max(one[ranks] / against[ranks] for ranks in one)]
    return ours


def spread_of_overhead(values):
    found = outside(HEAD_DETACH[1], "detach", 4, 32)(values).values()
    return [max(found) / min(found)]


HEAD_9, HEAD_11 = "Paper 2, Figure 9: Gauss-Seidel, strong scaling", "Paper 2, Figure 11: Gauss-Seidel, weak scaling"


SEIDEL = ("Pure MPI", "N-Buffer MPI", "Fork-Join", "Sentinel", "Interop(blk)", "Interop(non-blk)")


def nodes_of_gauss_seidel(heading):
    """{"version 4": efficiency on so many nodes}, {"version 4, s": seconds}"""
    def values(run):
        tables, found = Tables(run.results, "simulation", run), {}
        for version in SEIDEL:
            row = tables.row(heading, f"{version}, s")
            for node in [column for column, cell in row.items() if column != "nodes" and cell != "–"]:
                share = 1 if heading == HEAD_11 else int(node)  # weak scaling: a node's work stays
                found[f"{version} {node}"] = [number(row["1"]) / (number(row[node]) * share)]
                found[f"{version} {node}, s"] = [number(row[node])]
        return found
    return values


def in_order(*versions):
    """Each of them before the next, on four nodes."""
    return [Claim(f"on four nodes {one} is faster than {other}", quotient(f"{one} 4, s", f"{other} 4, s"), "order",
                  because="both keep all cores at work, if every cell takes the same time. N-Buffer's calls of MPI_Wait cost nothing "
                          "here; at 0.2 us each they would be 0.2%. With noise it falls behind: see Figure 9, with noise"
                  if other == "N-Buffer MPI" else "")
            for one, other in zip(versions, versions[1:])]


NOISES = (0.1, 0.3)


def noisy_nodes(run):
    """{"version 0.1": seconds of four nodes}, a block's time being by so much longer or shorter at most"""
    shapes = {"Interop(blk)": ("interop-blk", 4, 48, 1), "N-Buffer MPI": ("nbuffer", 192, 1, 48)}
    found = {}
    for name, (version, ranks, threads, card) in shapes.items():
        rows = run.simulate("gauss-seidel", "--version", version, "--cells", 65536, "--iterations", 8 if run.quick else 100, "--ranks",
                            ranks, "--threads", threads, "--ranks-per-card", card, "--bandwidth", 12, "--policy", "fifo", "--sweep",
                            "noise=" + ",".join(map(str, NOISES)), "--no-path", "--quiet")["results"]
        found |= {f"{name} {row['sweep']['noise']:g}": [row["time_s"]] for row in rows}
    return found


HEAD_12 = "Paper 2, Figure 12: Gauss-Seidel, strong scaling with smaller blocks"
HEAD_13 = "Paper 2, Figure 13: Gauss-Seidel, weak scaling with smaller blocks"
SEIDEL_BLOCKS = (256, 512, 1024)


def blocks_of_gauss_seidel(heading):
    """{"blk 256, 64": seconds with blocks of 256 on 64 nodes}; non-blk, too"""
    def values(run):
        tables, found = Tables(run.results, "simulation", run), {}
        for version in ("blk", "non-blk"):
            for block in SEIDEL_BLOCKS:
                row = tables.row(heading, f"Interop({version})-{block}bs")
                found |= {f"{version} {block}, {nodes}": [number(cell)] for nodes, cell in row.items() if nodes != "nodes"}
        return found
    return values


def no_slower(nodes):
    return greatest(*(quotient(f"non-blk {block}, {count}", f"blk {block}, {count}") for block in SEIDEL_BLOCKS for count in nodes))


def imbalance(run):
    tables, values = Tables(run.results, "balance", run), {}
    for name in ("no balancing", "GreedyLB, period 50", "GreedyLB 50, loops are shared"):
        row = tables.row("Table 1: percent imbalance", name)
        values[f"{name}: nodes"], values[f"{name}: PEs"] = [number(row["nodes %"])], [number(row["PEs %"])]
    return values


LASSEN = ("no balancing", "GreedyLB, period 50", "loops are shared", "GreedyLB 50, loops are shared")


def lassen(run):
    tables = Tables(run.results, "balance", run)
    return {name: [number(tables.row("Table 2: time", name)["total"])] for name in LASSEN}


def splits(run):
    tables = Tables(run.results, "core-policies", run)
    names = {"turns": "one after the other", "best": "fastest split 3/34/9/2", "equal": "split 12/12/12/12",
             "moldable": "moldable"}
    return {short: [number(tables.row("Figure 3b: all four at once", name)["makespan s"])] for short, name in names.items()}


def messages(run):
    tables, values = Tables(run.results, "virtual", run), {}
    for mpi, title in (("mpich", "MPICH"), ("openmpi", "Open MPI")):
        for way in ("processes", "--virtual"):
            for size in (64, 256, 1024, 4096):
                values[f"{mpi} {size} {way}"] = [number(tables.row("Long messages", f"{mpi}, {size} KiB")[way])]
        for way in ("bare", "--virtual"):
            values[f"{mpi} 8 B {way}"] = [number(tables.row("Eight bytes between two ranks", f"{title}, 2 cores", 1)[way])]
    return values


def larger_ones(mpi):
    return greatest(*(quotient(f"{mpi} {size} --virtual", f"{mpi} {size} processes") for size in (64, 256, 1024, 4096)))


# Why ours is another, where that concerns several sentences.
PART_OF_A_GRAPH = "the paper's percentages are of a part of the graph that it does not give, ours of the whole graph"
OLD_LOADS = "the simulated front leaves a domain after a few steps, and GreedyLB follows loads of the past"
OBJECTS = "it is the objects: without shared loops they take 8 to 11% longer, too, and the rounds differ by more. Why they do: not examined"
CELLS = ("a simulated cell takes 1 ns in any version. What the paper's cores and memory did with whole rows of cells, which leave "
         "the caches, is not modelled")
SUSPENSION = "to suspend a task and to go on with it takes 0.4 us of a simulated thread, as in Sennit, and a block of 256 x 256 cells 66 us"
ONE_THREAD = ("with one thread a rank Sentinel loses nothing: simulated in this shape it takes 0.4% more. The paper's drop comes with "
              "four nodes of 48 threads")
SUSPENDED = ("a suspended task holds no thread either. What is left is the order of the messages: detach has 28% more with 8 ranks and "
             "15% with 16, 6% less with 4. Why: not examined")
SEIDEL_HERE = {"pure": "Pure MPI", "nbuffer": "N-Buffer MPI", "forkjoin": "Fork-Join", "sentinel": "Sentinel"}
NOISE = "the rounds differ by more than the two versions do"

def together(because=""):
    return (Claim("there are sweet spots: the best split is faster than one after the other",
                  coscheduling.by("best split", "in turn"), "order", because=because),
            Claim("shaping jobs dynamically could improve performance: `lend` takes no longer than the best split",
                  coscheduling.by("lend", "best split"), "less", 1.0),
            Claim("`moldable` takes no longer than the best split", coscheduling.by("moldable", "best split"), "less", 1.0))


def of_all_sizes(mpi):
    def large(size):
        return size >= message_sizes.LARGE

    return (Claim(f"{mpi}: rank fibers have lower latencies from 64 KiB on, at every size",
                  message_sizes.greatest(mpi, "--virtual=fibers", "packed", large), "order"),
            Claim(f"{mpi}: so have virtual ranks", message_sizes.greatest(mpi, "--virtual", "packed", large), "order"),
            Claim(f"{mpi}: up to 64 bytes virtual ranks pay for locks, in the mean",
                  message_sizes.mean(mpi, "--virtual", "packed", lambda size: size <= message_sizes.SMALL), "drawback"))


SIMULATED = "bench/simulation.py build/release/bin/sennit"
FIGURES = (
    Figure("aware-1-2", AWARE, "Figures 1, 2", "a 4 x 4 factorization on two ranks: FIFO, and sends before all else",
           "sennit simulate cholesky --n 2048 --ranks 2 --threads 2 --policy fifo,sa,fa", (
               Claim("prioritizing what goes to other processes reduces idle time", quotient("sa idle", "fifo idle"), "order"),
               Claim("the same, fully automatic", quotient("fa idle", "fifo idle"), "order"),
               Claim("and the time", quotient("sa time", "fifo time"), "order"),
               Claim("process 0 is less idle", quotient("sa process 0", "fifo process 0"), "order"),
               Claim("FIFO leaves process 0 idle for 61% of the time (of the part of the graph that the paper shows)",
                     plain("fifo process 0"), "same", 61, because=PART_OF_A_GRAPH),
               Claim("then it is 36%", plain("sa process 0"), "less", 36, because=PART_OF_A_GRAPH)),
           idle_of_small_graph),
    Figure("aware-3", AWARE, "Figure 3", "the priorities of the 32 tasks of that graph in apps/cholesky, read from traces: how many "
           "are other than the paper says", "sennit bench papers --only aware-3", tuple(
               Claim(says, plain(policy), "same", 0) for policy, says in (
                   ("ma1", "MA-1: send-tasks have 1, all others 0"),
                   ("ma2", "MA-2: send-tasks and all their predecessors have 1, recursively"),
                   ("ma3", "MA-3: Algorithm 1, computed by the user"),
                   ("sa", "SA: Algorithm 1, computed from marks on the send-tasks"),
                   ("fa", "FA: similar to MA-3 with no hints, from the second iteration on"))), priorities.figure_3),
    Figure("aware-table-1", AWARE, "Table 1, who marks tasks", "who marks tasks, the user (0) or the runtime (1): of these tasks of apps/cholesky, the share "
           "that has a priority where the user marks none of them", "sennit bench papers --only aware-table-1", tuple(
               Claim(f"{name}: {says}", plain(f"{policy}: {what}"), "same", int(says.endswith("runtime")))
               for name, policy, sends, path in (
                   ("MA-1", "ma1", "user", "not applicable"), ("MA-2", "ma2", "user", "user"), ("MA-3", "ma3", "user", "user"),
                   ("SA", "sa", "user", "runtime"), ("FA", "fa", "runtime", "runtime"))
               for what, says in (("sends", f"send-tasks, {sends}"), ("path", f"their path, {path}"))), priorities.table_1),
    Figure("aware-contexts", AWARE, "Section 4.1", "instructions that contexts add to a task, by callgrind: differences of programs with and "
           "without them; suspensions with the way back through the queue, but without the two calls",
           "sennit bench papers --only aware-contexts", (
               Claim("contexts add ~200 instructions on launch: of a task that could suspend, if both wait in a queue", plain("launch"),
                     "less", 200),
               Claim("the same under `steal` with one thread", plain("launch, steal"), "less", 200,
                     because="it is no context: a creator that is alone calls a task that cannot suspend at once, and queues one that "
                             "can, since that one may wait for its creator"),
               Claim("~2000 instructions on the first suspension", beside_calls("first"), "less", 2000),
               Claim("~200 instructions each time a task suspends", beside_calls("later"), "less", 200,
                     because="ours has the way of the resumed task through the queue in it; whether the paper's has is not said")),
           paper_runs.suspensions),
    Figure("aware-4", AWARE, "Figure 4", "16 nodes, several numbers of ranks a node, simulated; FIFO with 32-24 is fitted; "
           "suspended tasks go on on any thread, as in MPC: on their own, as in Sennit, SA and FA take 2% more", SIMULATED, (
        Claim("32-24: 28.4 s for FA", plain("32-24 fa"), "less", FIGURE_4["32-24"]["fa"][0]),
        Claim("32-24: FA's idle time is 4.4 s of FIFO's 8.0 s", quotient("32-24 fa idle", "32-24 fifo idle"), "less", 4.4 / 8),
        Claim("MA-1 and MA-2 do not improve performance: no time below FIFO's",
              lambda v: [min(v[f"{s} {p}"][0] / v[f"{s} fifo"][0] for s in SPLITS for p in ("ma1", "ma2"))], "same", 1),
        Claim("FA is up to 8% behind SA", greatest(*(quotient(f"{s} fa", f"{s} sa") for s in SPLITS)), "less", 1.08),
        Claim("32-24 is the best split under SA",
              greatest(*(quotient("32-24 sa", f"{s} sa") for s in SPLITS if s != "32-24")), "order")),
           spreads_of_cores, True),
    Figure("aware-table-2", AWARE, "Table 2", "communication tasks of these runs", SIMULATED, tuple(
        Claim(f"{split}: {count:,}", plain(f"{split} messages"), "same", count, 0)
        for split, count in zip(SPLITS, MESSAGES)), spreads_of_cores, True),
    Figure("aware-5", AWARE, "Table 3, Figure 5", "weak scaling from 1 to 32 ranks, simulated; FIFO on 1, 2 and 32 ranks is fitted; "
           "suspended tasks go on on any thread", SIMULATED, (
        *(Claim(f"{policy.upper()} on {ranks} ranks: {time} s", plain(f"{policy} {ranks}"), "same", time)
          for policy, times in TABLE_3.items() for ranks, time in zip(RANKS, times) if (policy, ranks) not in FITTED),
        Claim("SA takes 19% off FIFO's time on 32 ranks", quotient("sa 32", "fifo 32"), "less", .81,
              because="the paper does not say how ranks were dealt to nodes: with neighbours on one node ours is 0.81 "
                      "(docs/results/simulation.json), here they are on different nodes")),
           weak_scaling, True),
    Figure("aware-table-4", AWARE, "Table 4", "tasks of these runs", SIMULATED, tuple(
        Claim(f"{kind} tasks on {ranks} ranks: {count:,}", plain(f"{kind} {ranks}"), "same", count, 0)
        for kind, counts in TABLE_4.items() for ranks, count in zip(RANKS, counts)), tasks_of_weak_scaling, True),
    Figure("tampi-9", TAMPI, "Figure 9", "Gauss-Seidel, strong scaling to 64 nodes, simulated", SIMULATED, (
        Claim("on one node all hybrid versions are faster than Pure MPI", greatest(*(
            quotient(f"{version} 1, s", "Pure MPI 1, s") for version in SEIDEL[2:])), "order"),
        *in_order("Interop(blk)", "N-Buffer MPI", "Pure MPI", "Sentinel", "Fork-Join"),
        Claim("Interop(blk) keeps its efficiency up to 16 nodes", plain("Interop(blk) 16"), "more", 1.0),
        Claim("Fork-Join stops scaling: a big drop at two nodes", quotient("Fork-Join 2", "Interop(blk) 2"), "order"),
        Claim("Sentinel stops scaling: a big drop at four nodes", quotient("Sentinel 4", "Interop(blk) 4"), "order"),
        Claim("with 64 nodes the problem is too small: below 0.5", lambda v: [v["Interop(blk) 64"][0] / .5], "order"),
        Claim("the efficiency of Pure MPI falls to 0.1 at 64 nodes", plain("Pure MPI 64"), "same", .1, .25, because=CELLS)),
           nodes_of_gauss_seidel(HEAD_9), True),
    Figure("tampi-9-noise", TAMPI, "Figure 9, with noise", "four nodes, simulated, where cells do not all take the same time: a block's "
           "varies by a share at most, evenly; 100 iterations", "sennit bench papers --only tampi-9-noise", tuple(
               Claim(f"on four nodes Interop(blk) is faster than N-Buffer MPI (noise of {noise:.0%})",
                     quotient(f"Interop(blk) {noise:g}", f"N-Buffer MPI {noise:g}"), "order") for noise in NOISES), noisy_nodes),
    Figure("tampi-11", TAMPI, "Figure 11", "Gauss-Seidel, weak scaling to 64 nodes, simulated", SIMULATED, (
        Claim("Interop(blk) scales linearly up to 64 nodes", plain("Interop(blk) 64"), "more", 1.0,
              because="0.5 s of the 1.5 s more are the first wave, which passes 512 diagonals of blocks of 1 ms; the rest is not examined"),
        Claim("Sentinel has an efficiency of 0.2 with four nodes", plain("Sentinel 4"), "same", .2, .25),
        Claim("Fork-Join has one of 0.4", plain("Fork-Join 4"), "same", .4, .25),
        Claim("the efficiency of Pure MPI falls to 0.3 at 64 nodes", plain("Pure MPI 64"), "same", .3, .25, because=CELLS)),
           nodes_of_gauss_seidel(HEAD_11), True),
    Figure("tampi-12-simulated", TAMPI, "Figure 12", "Gauss-Seidel, strong scaling with smaller blocks, simulated", SIMULATED, (
        Claim("on 64 nodes Interop(blk) is slower with blocks of 512 than of 1024",
              quotient("blk 512, 64", "blk 1024, 64"), "drawback", because=SUSPENSION),
        Claim("and with blocks of 256", quotient("blk 256, 64", "blk 1024, 64"), "drawback", because=SUSPENSION),
        Claim("Interop(non-blk) is significantly faster with blocks of 512", quotient("non-blk 512, 64", "non-blk 1024, 64"), "order"),
        Claim("its best are blocks of 512, before 256", quotient("non-blk 512, 64", "non-blk 256, 64"), "order",
              because="a task takes less than 1 us of a simulated thread, and a block of 256 x 256 cells 66 us; the paper's scheduler took more"),
        Claim("Interop(non-blk) takes the most from the resources: no longer than Interop(blk), with any blocks",
              no_slower((1, 64)), "less", 1.0, .01)), blocks_of_gauss_seidel(HEAD_12), True),
    Figure("tampi-13-simulated", TAMPI, "Figure 13", "Gauss-Seidel, weak scaling with smaller blocks, simulated", SIMULATED, (
        Claim("on 16 nodes Interop(blk) is significantly slower than Interop(non-blk) with blocks of 256",
              quotient("blk 256, 16", "non-blk 256, 16"), "drawback", because=SUSPENSION),
        *(Claim(f"there is no difference with blocks of {block}", quotient(f"blk {block}, 16", f"non-blk {block}, 16"), "same", 1.0)
          for block in (512, 1024)),
        Claim("Interop(non-blk) takes no longer than Interop(blk), with any blocks", no_slower((1, 16)), "less", 1.0, .01)),
           blocks_of_gauss_seidel(HEAD_13), True),
    Figure("tampi-9-here", TAMPI, "Figure 9, two ranks", "Gauss-Seidel over an injected network",
           "sennit bench papers --only tampi-9-here", (
               Claim("Interop(blk) is faster than Pure MPI", quotient("interop-blk", "pure"), "order"),
               Claim("than N-Buffer MPI", quotient("interop-blk", "nbuffer"), "order",
                     because="both send a block as soon as it is there (the paper's Figure 8), and with one thread a rank no other "
                             "thread could run more; the rounds differ by more"),
               Claim("than Fork-Join", quotient("interop-blk", "forkjoin"), "order"),
               Claim("than Sentinel", quotient("interop-blk", "sentinel"), "order",
                     because=ONE_THREAD)), paper_runs.gauss_seidel, timed=True),
    Figure("tampi-10", TAMPI, "Figure 10, two ranks", "when the ranks of Gauss-Seidel compute over an injected network, by traces; the last round is drawn",
           "sennit bench papers --only tampi-10", (
               Claim("Pure MPI: the last rank cannot start until the others have completed the first iteration",
                     quotient("pure, last rank, ms", "pure, first pause, ms"), "same", 1.0, .1),
               Claim("the same effect in Fork-Join", quotient("forkjoin, last rank, ms", "forkjoin, first pause, ms"), "same", 1.0, .1),
               Claim("N-Buffer MPI does not show the delay at the first iteration seen in Pure MPI",
                     quotient("nbuffer, last rank, ms", "pure, last rank, ms"), "order"),
               Claim("Sentinel overlaps an iteration partially: a rank starts sooner than in Fork-Join",
                     quotient("sentinel, last rank, ms", "forkjoin, last rank, ms"), "order"),
               Claim("Interop(blk) overlaps iterations almost fully: both ranks compute for a longer part of the time than with N-Buffer MPI",
                     quotient("nbuffer, together", "interop-blk, together"), "order"),
               Claim("than with Sentinel", quotient("sentinel, together", "interop-blk, together"), "order", because=ONE_THREAD)),
           paper_runs.traces, timed=True),
    Figure("tampi-9-runtimes", TAMPI, "Figure 9, two ranks, by runtime", "Gauss-Seidel in memory: Interop(blk) under Sennit against the "
           "versions under the stock runtimes", "sennit bench papers --only tampi-9-runtimes", tuple(
               Claim(f"Interop(blk) is faster than {name}, {runtime}", quotient("interop-blk, Sennit", f"{version}, {runtime}"), "order")
               for version, name in SEIDEL_HERE.items() for runtime in ("libgomp", "libomp")), paper_runs.gauss_seidel_runtimes,
           timed=True),
    Figure("tampi-12", TAMPI, "Figures 12, 13, two ranks", "Gauss-Seidel with small blocks: suspension or external events",
           "sennit bench papers --only tampi-12", (
               Claim("Interop(blk) is slower than Interop(non-blk) if blocks are small",
                     quotient("interop-blk", "interop-nonblk"), "drawback",
                     because="a suspension takes 340 instructions here, and a block of 64 x 64 cells many thousands"),),
           paper_runs.small_blocks, timed=True),
    Figure("tampi-blocks", TAMPI, "Figures 12, 13, two ranks, larger blocks",
           "Gauss-Seidel with blocks of 256, 512 and 1024: the speed of suspension against external events; from 0.97 on there is no difference",
           "sennit bench papers --only tampi-blocks", tuple(
               Claim(says, quotient(f"interop-nonblk, {block}", f"interop-blk, {block}"), "more", 1.0, .03, because=NOISE)
               for block, says in (
                   (256, "Interop(blk) is significantly slower with blocks of 256; the goal here: no difference"),
                   (512, "there is no difference with blocks of 512"), (1024, "nor with blocks of 1024"))),
           paper_runs.block_sizes, timed=True),
    Figure("tampi-14", TAMPI, "Figure 14, two ranks", "IFSKer: transpositions with and without tasks",
           "sennit bench papers --only tampi-14", (
               Claim("both Interop versions are faster than Pure MPI",
                     greatest(quotient("interop-blk", "pure"), quotient("interop-nonblk", "pure")), "order",
                     because=f"{NOISE}; and two ranks have one partner each, those of a node of the paper have 47"),),
           paper_runs.ifsker, timed=True),
    Figure("tampi-14-runtimes", TAMPI, "Figure 14, two ranks, by runtime", "IFSKer in memory: Interop under Sennit against Pure MPI with "
           "the stock runtimes", "sennit bench papers --only tampi-14-runtimes", tuple(
               Claim(f"{name} is faster than Pure MPI, {runtime}", quotient(f"{version}, Sennit", f"pure, {runtime}"), "order")
               for version, name in (("interop-blk", "Interop(blk)"), ("interop-nonblk", "Interop(non-blk)"))
               for runtime in ("libgomp", "libomp")), paper_runs.ifsker_runtimes, timed=True),
    Figure("detach-1-2-simulated", DETACH, "Figures 1, 2, simulated",
           "Cholesky on one node, and on 1 to 32 nodes, n = 65,536: seconds of a thread outside of kernels", SIMULATED, (
               Claim("one node: detach has the lowest overhead across all configurations, against blocking",
                     worst(HEAD_DETACH[0], "blocking"), "order"),
               Claim("1 to 32 nodes: detach outperforms blocking", worst(HEAD_DETACH[1], "blocking"), "order"),
               *(Claim(f"{where}: it outperforms blocking calls that Sennit suspends, too, at every number of ranks",
                       worst(heading, "interop-blocking"), "order", because=SUSPENDED)
                 for where, heading in zip(("one node", "1 to 32 nodes"), HEAD_DETACH)),
               Claim("its overhead per thread is constant from 4 to 32 processes: the greatest by the least", spread_of_overhead,
                     "same", 1.0, because="what grows is the time for messages: 0.45 to 0.59 s if they take none (1.3). The card of 12 GB/s "
                                          "is a guess, for the paper tells nothing of the network")),
           detached, True),
    Figure("detach-1-2", DETACH, "Figures 1, 2, two ranks", "Cholesky with emulated kernels",
           "sennit bench papers --only detach-1-2", (
               Claim("detach has the lowest overhead: faster than blocking under libgomp",
                     quotient("detach, Sennit", "blocking, libgomp"), "order"),
               Claim("than blocking under libomp", quotient("detach, Sennit", "blocking, libomp"), "order"),
               Claim("than singlecom under libgomp", quotient("detach, Sennit", "singlecom, libgomp"), "order"),
               Claim("than singlecom under libomp", quotient("detach, Sennit", "singlecom, libomp"), "order"),
               Claim("detach outperforms the other codes where Sennit runs all three",
                     greatest(quotient("detach, Sennit", "blocking, Sennit"), quotient("detach, Sennit", "singlecom, Sennit")),
                     "order", because="under Sennit the calls of singlecom suspend their task, so it takes as long"),
               Claim("than blocking calls that Sennit suspends", quotient("detach, Sennit", "interop-blocking, Sennit"), "order"),
               Claim("than taskyield", quotient("detach, Sennit", "taskyield, Sennit"), "order"),
               Claim("the automatic code runs; it is behind the code by hand", quotient("automatic, Sennit", "detach, Sennit"),
                     "drawback"),
               Claim("a thread is in kernels for the same time with detach as with blocking calls under libgomp",
                     quotient("detach, Sennit calc", "blocking, libgomp calc"), "same", 1.0),
               Claim("outside of kernels it is for the least time with detach", greatest(*(
                   quotient("detach, Sennit noncalc", f"{other} noncalc") for other in (
                       *(f"{variant}, {runtime}" for variant in ("blocking", "singlecom") for runtime in paper_runs.RUNTIMES),
                       "interop-blocking, Sennit", "taskyield, Sennit", "automatic, Sennit"))), "order")),
           paper_runs.cholesky, timed=True),
    Figure("charm-2", CHARM, "Figure 2", "a balanced stencil: what shared loops cost", "sennit bench papers --only charm-2", (
        Claim("objects and shared loops take no longer than objects alone", quotient("shared, Sennit", "objects, Sennit"),
              "less", 1.0, .02),
        Claim("than OpenMP under libgomp", quotient("shared, Sennit", "openmp, libgomp"), "less", 1.0, .02, because=OBJECTS),
        Claim("than OpenMP under libomp", quotient("shared, Sennit", "openmp, libomp"), "less", 1.0, .02, because=OBJECTS)),
           paper_runs.stencil, timed=True),
    Figure("charm-table-1", CHARM, "Table 1", "percent imbalance on 64 nodes, simulated, for Lassen's source is not to be had; rows "
           "without OpenMP are fitted",
           "bench/balance_simulation.py build/release/bin/sennit", (
               Claim("GreedyLB and OpenMP: nodes 13.73%", plain("GreedyLB 50, loops are shared: nodes"), "less", 13.73,
                     because=OLD_LOADS),
               Claim("GreedyLB and OpenMP: PEs 42.59%", plain("GreedyLB 50, loops are shared: PEs"), "less", 42.59,
                     because=OLD_LOADS),
               Claim("the PEs' imbalance is less than with GreedyLB alone",
                     quotient("GreedyLB 50, loops are shared: PEs", "GreedyLB, period 50: PEs"), "order")), imbalance, True),
    Figure("charm-table-2", CHARM, "Table 2, Figure 3", "time on 64 nodes, simulated, for Lassen's source is not to be had; rows without "
           "OpenMP are fitted",
           "bench/balance_simulation.py build/release/bin/sennit", (
               Claim("OpenMP alone makes it about 21% faster", quotient("no balancing", "loops are shared"), "more", 1.21),
               Claim("both make it 50% faster", quotient("no balancing", "GreedyLB 50, loops are shared"), "more", 1.5),
               Claim("both are 10% faster than GreedyLB alone",
                     quotient("GreedyLB, period 50", "GreedyLB 50, loops are shared"), "more", 1.1)), lassen, True),
    Figure("virtual-3", VIRTUAL, "Figure 3", "four programs on one node: splits of 48 cores, simulated",
           "bench/pool_simulation.py build/release/bin/sennit", (
               Claim("there are sweet spots: the best split is faster than one after the other", quotient("best", "turns"), "order"),
               Claim("and than equal parts", quotient("best", "equal"), "order"),
               Claim("shaping jobs dynamically could improve performance: `moldable` is faster than equal parts",
                     quotient("moldable", "equal"), "order")), splits, True),
    Figure("virtual-4", VIRTUAL, "Figure 4", "ping-pong of two ranks in one address space, and of two processes; small messages against bare ones",
           "bench/virtual.py", (
               Claim("larger messages have lower latencies in one address space, MPICH", larger_ones("mpich"), "order"),
               Claim("the same, Open MPI", larger_ones("openmpi"), "order"),
               Claim("small messages pay for locks, MPICH", quotient("mpich 8 B --virtual", "mpich 8 B bare"), "drawback"),
               Claim("the same, Open MPI", quotient("openmpi 8 B --virtual", "openmpi 8 B bare"), "drawback")), messages, True),
    Figure("virtual-3-here", VIRTUAL, "Figure 3, here", "programs that compute as four NAS benchmarks do, on the cores of this machine: "
           "makespans, split, in turn and under the policies of a pool", "sennit bench papers --only virtual-3-here", together(),
           coscheduling.values, timed=True),
    Figure("virtual-3-npb", VIRTUAL, "Figure 3, NPB by hand", "the paper's programs themselves, alone on the cores of this machine; "
           "together they are simulated", "sennit bench papers --only virtual-3-npb --npb FOLDER",
           together("two cores have one split, one and one, and these programs' times alone differ by up to 20 times"),
           coscheduling.npb_values, timed=True, by_hand=lambda run: run.npb),
    Figure("virtual-4-sizes", VIRTUAL, "Figure 4, all sizes",
           "ping-pong from 0 bytes to 4 MiB, two neighbouring cores: virtual ranks by bare processes",
           "sennit bench papers --only virtual-4-sizes", tuple(
               claim for mpi in message_sizes.MPIS.values() for claim in of_all_sizes(mpi)), message_sizes.values, timed=True),
    *(Figure(f"virtual-4-imb-{word}", VIRTUAL, f"Figure 4, IMB-MPI1 PingPong by hand, {mpi}",
             "the same, by the benchmark that the paper used",
             f"sennit bench papers --only virtual-4-imb-{word} --imb IMB-MPI1 --mpi {word}", of_all_sizes(mpi),
             message_sizes.imb_values, timed=True, by_hand=lambda run, word=word: run.imb and run.mpi == word)
      for word, mpi in message_sizes.MPIS.items()),
)
