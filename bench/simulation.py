#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paper 1 by simulation, and what lies beyond it: a page of Markdown.

Every table is what the commands above it printed, ours beside the paper's.

    bench/simulation.py SENNIT [--large | --only PART,PART] | bench/tables.py docs/results/simulation.json
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

# Three numbers of the paper's machine are fitted, each to one number of the paper:
ALONE = 43.22     # GFLOP/s of a core  <- FIFO on 1 rank, 22.28 s (Table 3)
SHARED = 40.93    # the same, both sockets of a node at work  <- FIFO on 2 ranks, 24.05 s
CARD = 2.71       # GB/s of a card, neighbouring ranks on different nodes  <- FIFO on 32 ranks, 33.36 s
# The same, if neighbouring ranks share a node; what is asked beyond the paper is asked of this one.
BANDWIDTH = 5.95

PAPER_3 = {"fifo": [22.28, 24.05, 25.82, 26.46, 31.02, 33.36],
           "sa": [22.67, 24.46, 24.58, 24.91, 25.96, 27.01],
           "fa": [22.63, 24.48, 25.05, 25.38, 26.27, 27.89]}
MACHINE = ["--threads", "24", "--ranks-per-card", "2", "--bandwidth", str(BANDWIDTH), "--tied", "0"]
CLUSTER = ["--bandwidth", str(CARD), "--round-robin", "1", "--tied", "0"]
NEIGHBOURS = ["--bandwidth", str(BANDWIDTH), "--tied", "0"]
MPI_CALL_S = 500e-9  # --overhead, which is in the time in tasks
PAPER_CASE = ["--n", "131072", "--gflops", str(SHARED), *MACHINE]
SMALLER = ["--n", "65536", "--ranks", "16", "--gflops", str(SHARED), *MACHINE]


def simulate(sennit, *options, workload="cholesky"):
    command = ["simulate", workload, *map(str, options), "--no-path"]
    print("    sennit " + " ".join(command) + "\n", flush=True)
    done = subprocess.run([sennit, *command, "--quiet", "--json", "-"], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)["results"]


def table(head, rows):
    print("| " + " | ".join(map(str, head)) + " |")
    print("|" + " ---: |" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(flush=True)


def seconds(row):
    return f"{row['time_s']:.2f}"


def idle(row):
    return 100 * row["idle_s"] / (row["idle_s"] + row["in_task_s"] + row["overhead_s"])


def bound(row):
    """No order of tasks is faster: the busiest rank's work, the busiest card's messages."""
    return f"{max(row['busiest_rank_s'], row['busiest_card_s']):.2f}"


def gain(row, base):
    return f"{100 * (row['time_s'] / base['time_s'] - 1):+.1f}%"


def by_sweep(rows, name):
    groups = {}
    for row in rows:
        groups.setdefault(row["sweep"][name], {})[row["policy"]] = row
    return groups


def sensitivity(sennit, title, name, values, *options, text="", policies="fifo,sa,fa"):
    print(f"### {title}\n")
    if text:
        print(text + "\n")
    groups = by_sweep(simulate(sennit, *options, "--policy", policies, "--sweep",
                               f"{name}={','.join(map(str, values))}"), name)
    names = policies.split(",")
    rows = []
    for value, of in groups.items():
        base = of[names[0]]
        cells = [f"{value:g}", seconds(base)]
        cells += [f"{seconds(of[p])} ({gain(of[p], base)})" for p in names[1:]]
        rows.append(cells + [bound(base)])
    table([name, *names, "bound"], rows)


def table_3(sennit, title, cluster):
    print(f"{title}\n")
    ours = {}
    for ranks, gflops in ((1, ALONE), (None, SHARED)):
        extra = ["--ranks", 1] if ranks else ["--sweep", "ranks=2,4,8,16,32"]
        for row in simulate(sennit, "--n", 131072, "--weak", 32, "--gflops", gflops, "--threads", 24,
                            "--ranks-per-card", 2, *cluster, *extra, "--policy", "fifo,ma1,ma2,sa,fa"):
            ours.setdefault(row["policy"], []).append(row)
    rows = []
    for policy in ("fifo", "ma1", "ma2", "sa", "fa"):
        rows.append([f"{policy}, simulated"] + [seconds(row) for row in ours[policy]])
        if policy in PAPER_3:
            rows.append([f"{policy}, paper"] + [f"{value:.2f}" for value in PAPER_3[policy]])
            rows.append(["difference"] + [f"{100 * (row['time_s'] / value - 1):+.1f}%"
                                          for row, value in zip(ours[policy], PAPER_3[policy])])
    rows.append(["bound"] + [bound(row) for row in ours["fifo"]])
    rows.append(["sa gains, simulated"] + [gain(a, b) for a, b in zip(ours["sa"], ours["fifo"])])
    rows.append(["sa gains, paper"] + [f"{100 * (a / b - 1):+.1f}%"
                                       for a, b in zip(PAPER_3["sa"], PAPER_3["fifo"])])
    rows.append(["communication tasks"] + [row["sends"] + row["receives"] for row in ours["fifo"]])
    rows.append(["computation tasks"] + [row["compute"] for row in ours["fifo"]])
    table(["ranks", 1, 2, 4, 8, 16, 32], rows)


def figure_4(sennit):
    print("## Paper 1, Figure 4: 16 nodes, ranks x threads\n")
    print("Times of the paper that its text gives: 32-24 FIFO 33.2 s (idle 8.0 s), FA 28.4 s (4.4 s); 32-24 is the "
          "best split; FA is up to 8% behind SA, in 128-6. In parentheses: idle, overhead, a thread's mean, seconds.\n")
    splits = ((16, 48, 1), (32, 24, 2), (64, 12, 4), (128, 6, 8))

    def run(split, policies, cluster):
        ranks, threads, card = split
        rows = simulate(sennit, "--n", 131072, "--gflops", SHARED, "--ranks", ranks, "--threads", threads,
                        "--ranks-per-card", card, *cluster, "--policy", policies)
        return ({row["policy"]: row for row in rows},
                {row["policy"]: f"{seconds(row)} ({row['idle_s'] / ranks / threads:.1f}, "
                                f"{row['overhead_s'] / ranks / threads:.2f})" for row in rows})

    rows = []
    for split in splits:
        of, cells = run(split, "fifo,ma1,ma2,sa,fa", CLUSTER)
        rows.append([f"{split[0]}-{split[1]}", *cells.values(), gain(of["sa"], of["fifo"]),
                     gain(of["fa"], of["sa"]), of["fifo"]["sends"] + of["fifo"]["receives"]])
    table(["ranks-threads", "fifo", "ma1", "ma2", "sa", "fa", "sa gains", "fa to sa", "communication tasks"], rows)
    print("### Where the ranks are\n")
    print("The same, but for neighbouring ranks on one node (`--round-robin 0`, the card's bandwidth fitted anew). A "
          "step's panel is one row of the grid of ranks: here 4, 4, 2 and 2 cards send all of it.\n")
    rows = []
    for split in splits:
        of, cells = run(split, "fifo,sa", NEIGHBOURS)
        rows.append([f"{split[0]}-{split[1]}", *cells.values(), gain(of["sa"], of["fifo"])])
    table(["ranks-threads", "fifo", "sa", "sa gains"], rows)


# Of the paper on task-aware MPI: title, `--version`, threads of a rank (a node has 48), and up to how many nodes, in strong and
# in weak scaling: beyond, there are more calls than it is worth.
SEIDEL = (("Pure MPI", "pure", 1, 64, 64), ("N-Buffer MPI", "nbuffer", 1, 4, 4), ("Fork-Join", "forkjoin", 48, 16, 4),
          ("Sentinel", "sentinel", 48, 16, 4), ("Interop(blk)", "interop-blk", 48, 64, 64),
          ("Interop(non-blk)", "detach", 48, 64, 4))


def seidel_seconds(sennit, version, nodes, cells, iterations, block=1024):
    """Of one of SEIDEL; `cells`: in a row, for each number of nodes."""
    _, name, threads, *_ = version
    return [simulate(sennit, "--version", name, "--cells", side, "--block", block, "--iterations", iterations, "--ranks",
                     48 // threads * count, "--threads", threads, "--ranks-per-card", 48 // threads, "--bandwidth", 12,
                     "--policy", "fifo", workload="gauss-seidel")[0]["time_s"] for count, side in zip(nodes, cells)]


def seidel_scaling(sennit, nodes, cells, grows):
    """Seconds, and efficiency: a node's share of the work of one node's run is less if that does not grow."""
    rows = []
    for version in SEIDEL:
        some = [count for count in nodes if count <= version[4 if grows else 3]]
        took = seidel_seconds(sennit, version, some, cells, 1000)
        shares = [took[0] / time / (1 if grows else count) for time, count in zip(took, some)]
        blank = ["–"] * (len(nodes) - len(some))
        rows += [[f"{version[0]}, s", *(f"{time:.3f}" for time in took), *blank],
                 [f"{version[0]}: efficiency", *(f"{share:.2f}" for share in shares), *blank]]
    table(["nodes", *nodes], rows)


def gauss_seidel(sennit):
    print("## Paper 2, Figure 9: Gauss-Seidel, strong scaling\n")
    print("65,536 x 65,536 cells, 1,000 iterations, blocks of 1,024 x 1,024; without tasks a rank on each core, else one of 48 "
          "threads on each node. Efficiency is that against the version's own run on one node. Nothing is fitted: the paper "
          "gives no time, so a cell takes 1 ns in any version. The paper's text is all that we have of its figures. "
          "Interop(non-blk) is `detach`.\n")
    nodes = (1, 2, 4, 16, 64)
    seidel_scaling(sennit, nodes, [65536] * len(nodes), False)
    print("The paper: Interop(blk) has about the same efficiency from 1 to 16 nodes, scales to 32, is flat at 64; Fork-Join stops "
          "scaling at two nodes and Sentinel at four; Pure and N-Buffer fall steadily from 1 to 0.1 at 64.\n")


def gauss_seidel_weak(sennit):
    print("## Paper 2, Figure 11: Gauss-Seidel, weak scaling\n")
    print("32,768 x 32,768 cells a node; all else as in Figure 9.\n")
    nodes = (1, 4, 16, 64)
    seidel_scaling(sennit, nodes, [32768 * int(count ** 0.5) for count in nodes], True)
    print("The paper: Interop(blk) scales linearly to 64 nodes; on four, Fork-Join has an efficiency of 0.4 and Sentinel of 0.2; "
          "Pure and N-Buffer fall steadily to 0.3 at 64.\n")


def gauss_seidel_blocks(sennit):
    def rows_of(nodes, cells, iterations):
        rows = []
        for version in SEIDEL[-2:]:
            for block in (256, 512, 1024):
                took = seidel_seconds(sennit, version, nodes, cells, iterations, block)
                rows.append([f"{version[0]}-{block}bs", *(f"{time:.5f}" for time in took)])
        table(["nodes", *nodes], rows)

    print("## Paper 2, Figure 12: Gauss-Seidel, strong scaling with smaller blocks\n")
    print("65,536 x 65,536 cells, 100 iterations (the paper: 2,000). Seconds.\n")
    rows_of((1, 64), [65536] * 2, 100)
    print("## Paper 2, Figure 13: Gauss-Seidel, weak scaling with smaller blocks\n")
    print("32,768 x 32,768 cells a node, 50 iterations (the paper: 1,000). Seconds.\n")
    rows_of((1, 16), [32768, 131072], 50)


VARIANTS = ("detach", "interop-blocking", "blocking")
ABOUT_VARIANTS = ("Blocks of 256 x 256; seconds, in parentheses a thread's mean outside of kernels. Nothing is fitted: the paper gives no "
                  "numbers. interop-blocking: blocking calls in tasks, which Sennit suspends. blocking: the thread that creates the "
                  "tasks waits in MPI. The paper's singlecom is not simulated.")


def detach(sennit):
    def table_of(title, text, n, shapes, *options):
        print(f"## {title}\n\n{text} {ABOUT_VARIANTS}\n")
        rows = []
        for variant in VARIANTS:
            cells = [variant]
            for ranks, threads, card in shapes:
                row = simulate(sennit, "--n", n, "--block", 256, "--gflops", 35, "--bandwidth", 12, "--ranks", ranks, "--threads",
                               threads, "--ranks-per-card", card, "--variant", variant, "--policy", "fifo", *options)[0]
                kernels = row["in_task_s"] - (row["sends"] + row["receives"]) * MPI_CALL_S
                cells.append(f"{row['time_s']:.3f} ({row['time_s'] - kernels / ranks / threads:.3f})")
            rows.append(cells)
        table(["variant", *(f"{ranks} x {threads}" for ranks, threads, _ in shapes)], rows)

    table_of("Paper 3, Figure 1: one node", "The 48 cores of a node, n = 32,768.", 32768, [(ranks, 48 // ranks, ranks) for ranks in (1, 2, 4, 8, 16)])
    table_of("Paper 3, Figure 2: strong scaling", "12 threads a rank, 4 ranks a node, n = 65,536.", 65536,
             [(ranks, 12, 4) for ranks in (4, 8, 16, 32, 64, 128)])


def large(sennit):
    print("## Beyond the paper: weak scaling to 10,000 ranks\n")
    for share, n, ranks in (("An eighth", 65536, "32,512"), ("A 64th", 32768, "32,512,4096")):
        print(f"{share} of the paper's work for each rank, window 2,048.\n")
        machine = ["--n", n, *PAPER_CASE[2:], "--weak", 32, "--window", 2048, "--policy", "fifo,sa,fa"]
        groups = by_sweep(simulate(sennit, *machine, "--sweep", f"ranks={ranks}"), "ranks")
        if "4096" in ranks: # no power of two has a square as near to it
            groups.update(by_sweep(simulate(sennit, *machine, "--grid-rows", 100, "--sweep", "ranks=10000"),
                                   "ranks"))
        table(["ranks", "tasks", "fifo", "sa", "fa", "fifo idle", "sa idle", "bound"],
              [[f"{ranks:g}", of["fifo"]["tasks"], seconds(of["fifo"])] +
               [f"{seconds(of[p])} ({gain(of[p], of['fifo'])})" for p in ("sa", "fa")] +
               [f"{idle(of['fifo']):.0f}%", f"{idle(of['sa']):.0f}%",
                bound(of["fifo"])] for ranks, of in groups.items()])


def speed(sennit, rounds=5):
    """Processor time of the whole command, start and graph included, and its most memory."""
    policies = ("fifo", "ma1", "sa", "fa", "steal", "lifo")
    command = ["simulate", "cholesky", *PAPER_CASE, "--ranks", "32", "--no-path"]
    print("## Speed\n")
    print("    sennit " + " ".join(command) + " --policy NAME\n")
    runs = {policy: [] for policy in policies}
    for _ in range(rounds):
        for policy in policies:
            child = subprocess.Popen([sennit, *command, "--quiet", "--policy", policy, "--json", "-"],
                                     stdout=subprocess.PIPE, text=True)
            tasks = json.loads(child.stdout.read())["results"][0]["tasks"]
            _, status, used = os.wait4(child.pid, 0)
            if status != 0:
                raise SystemExit(f"{policy}: sennit ended with {status}")
            runs[policy].append((used.ru_utime + used.ru_stime, used.ru_maxrss, tasks))
    tasks = runs["fifo"][0][2]
    print(f"The paper's case, {tasks:,} tasks; {rounds} interleaved runs of each policy on one core, load of the machine's "
          f"{os.cpu_count()} cores afterwards: {os.getloadavg()[0]:.1f}. Goals: 2 million tasks a second of processor time, "
          "30 s, 4 GiB.\n")
    rows = []
    for policy, of in runs.items():
        rates = sorted(tasks / run[0] * 1e-6 for run in of)
        rows.append([policy, f"{statistics.median(rates):.2f} [{rates[0]:.2f} - {rates[-1]:.2f}]",
                     f"{max(run[0] for run in of):.1f}", f"{max(run[1] for run in of) / 1e6:.2f}"])
    table(["policy", "million tasks/s: median [least - most]", "most seconds", "GB"], rows)


INTRO = f"""# Paper 1 by simulation, and beyond it

`bench/simulation.py` printed this. Every table stands below the command that it comes from. Nothing was run on a cluster: these are
simulated times. `bench/simulation_check.py` compares them with times measured on this machine.

The workload is the paper's: the numbers of computation and communication tasks agree with its Tables 2 and 4 to the digit
(`tests/sim/workload_test.cpp`). There is one set of constants. Three of them are fitted, each to one number of the paper:

| constant | fitted to |
| --- | --- |
| {ALONE} GFLOP/s a core on one rank | FIFO, 1 rank: 22.28 s |
| {SHARED} GFLOP/s a core when both sockets of a node work | FIFO, 2 ranks: 24.05 s |
| {CARD} GB/s of a network card, two ranks each, neighbours on different nodes | FIFO, 32 ranks: 33.36 s |

All else is a prediction. Not fitted: the other kernels' speed (trsm 0.85, syrk 0.92, potrf 0.5 of dgemm), latency
1.5 us, memory 5 GB/s between ranks of a node, the runtime's own costs (near our benchmarks).
Suspended tasks go on on any thread, as in MPC (`--tied 0`).
"""


PARTS = ("intro", "table3", "figure4", "detach", "gauss-seidel", "gauss-seidel-weak", "gauss-seidel-blocks", "sensitivity", "large", "speed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sennit")
    parser.add_argument("--large", action="store_true", help="512, 4,096 and 10,000 ranks: an hour, 5 GB")
    parser.add_argument("--only", help=f"comma-separated: {', '.join(PARTS)}")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",") if arguments.only else (
        [part for part in PARTS if part != "large" or arguments.large])
    unknown = set(wanted) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    write(arguments.sennit, wanted)
    return 0


def write(sennit, wanted):
    if "intro" in wanted:
        print(INTRO, flush=True)
    if "table3" in wanted:
        table_3(sennit, "## Paper 1, Table 3 and Figure 5: weak scaling", CLUSTER)
        table_3(sennit, "### The same, neighbouring ranks on one node", NEIGHBOURS)
    if "figure4" in wanted:
        figure_4(sennit)
    if "detach" in wanted:
        detach(sennit)
    if "gauss-seidel" in wanted:
        gauss_seidel(sennit)
    if "gauss-seidel-weak" in wanted:
        gauss_seidel_weak(sennit)
    if "gauss-seidel-blocks" in wanted:
        gauss_seidel_blocks(sennit)
    if "sensitivity" in wanted:
        print("## Sensitivity\n")
        print("16 ranks of 24 threads, n = 65536. Percent: against the first policy in the row. "
              "Bound: the busiest rank's work or the busiest card's messages, whichever is longer.\n")
        sensitivity(sennit, "Network card", "bandwidth", (2, 4, 6, 8, 12, 25), *SMALLER,
                    policies="fifo,steal,ma1,sa,fa,path")
        sensitivity(sennit, "Latency, ns", "latency", (500, 1500, 10000, 100000, 1000000), *SMALLER)
        sensitivity(sennit, "Creation of a task, ns", "create", (100, 250, 1000, 5000, 20000), *SMALLER)
        sensitivity(sennit, "Tile", "block", (256, 512, 1024), *SMALLER)
        sensitivity(sennit, "Size: the price of learning", "n", (8192, 16384, 32768, 65536), *SMALLER,
                    text="A small matrix ends before much is learned.", policies="sa,fa,fifo")
        sensitivity(sennit, "Price of matching, ns", "match", (0, 5, 50, 500, 5000, 50000), *SMALLER,
                    text="FA finds each task's profile when it is created and notes its outcome when it ends, at this "
                         "price each time; Sennit's own: 5 ns.", policies="sa,fa")
        sensitivity(sennit, "Window: unfinished tasks of a rank before its creator helps", "window",
                    (96, 384, 1024, 2048, 4096, 8192, 32768), *SMALLER)
        sensitivity(sennit, "Noise in the tasks' times", "noise", (0, 0.1, 0.3), *SMALLER)
        sensitivity(sennit, "Tied: where a suspended task goes on", "tied", (0, 1), *SMALLER,
                    text="1: on its thread, as in Sennit; 0: on any, as in MPC.",
                    policies="fifo,steal,sa,fa")
        sensitivity(sennit, "What global can gain", "urgent-first", (0, 1), *SMALLER,
                    text="1: of the messages that wait for a card the one goes first whose receive is the most urgent at "
                         "its rank; that the receivers tell costs nothing.", policies="sa,fa")
        print("### A receive buffer for each tile\n")
        rows = []
        for options in ([], ["--own-buffers"]):
            of = {row["policy"]: row for row in simulate(sennit, *SMALLER, *options,
                                                         "--policy", "fifo,sa,fa")}
            rows.append([options[0] if options else "used again every step"] +
                        [f"{seconds(row)} ({gain(row, of['fifo'])})" for row in of.values()])
        table(["buffers", "fifo", "sa", "fa"], rows)
    if "large" in wanted:
        large(sennit)
    if "speed" in wanted:
        speed(sennit)


if __name__ == "__main__":
    sys.exit(main())
