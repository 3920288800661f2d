# SPDX-License-Identifier: Apache-2.0
"""The ping-pong of Figure 4 of the paper on virtualization, at all sizes of IMB-MPI1 PingPong: bare processes, processes,
virtual ranks and rank fibers, on both MPIs. *packed*: two neighbouring cores; *one core*; *scattered*: two cores of
different NUMA nodes, where the machine has them. Runs bench/message-sizes.c; and IMB-MPI1 itself on two neighbouring cores,
if its path is given: its table has the same columns. Used by paper_figures.py."""

import os
import pathlib
import random
import re
import subprocess

import cells
import machine

MPIS = {"mpich": "MPICH", "openmpi": "Open MPI"}
WAYS = {"bare": None, "processes": (), "--virtual": ("--virtual",), "--virtual=fibers": ("--virtual=fibers",)}
QUICK_WAYS = ("processes",)  # a quick run is a test: others may want the cores that ranks of other ways spin on
VIRTUAL = tuple(way for way in WAYS if way.startswith("--"))
LIMIT_S = 120
IMB_ITERATIONS = 400  # of each size at most; IMB makes fewer of the long ones
SMALL, LARGE = 64, 64 << 10  # at most; at least
# #bytes #repetitions t[usec] Mbytes/sec
LINE = re.compile(r"^\s*(\d+)\s+(\d+)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s*$", re.MULTILINE)


def numa_nodes():
    """{node: its processors that this process may use}"""
    found, allowed = {}, os.sched_getaffinity(0)
    for folder in sorted(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*")):
        cpus = set()
        for part in (folder / "cpulist").read_text().strip().split(","):
            first, _, last = part.partition("-")
            cpus.update(range(int(first), int(last or first) + 1) if first else ())
        if cpus & allowed:
            found[folder.name] = sorted(cpus & allowed)
    return found


def places():
    """{name: processors of the two ranks}"""
    near = machine.distinct_cores(2)
    found = {"one core": near[:1]}
    if len(near) == 2:
        found = {"packed": near, **found}
    if len(nodes := list(numa_nodes().values())) > 1:
        found["scattered"] = [nodes[0][0], nodes[-1][0]]
    return found


def argv_of(run, mpi, way, words):
    if way != "bare":
        return [run.build / "bin/sennit", "run", *WAYS[way], "--mpi", mpi, "-n", 2, "--threads", 1, *words]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    more = [*root, "--oversubscribe", "--bind-to", "none"] if mpi == "openmpi" else []
    return [f"mpiexec.{mpi}", *more, "-n", 2, *words]


def sizes_of(out):
    """{bytes: microseconds} of the table that our program or IMB printed"""
    return {int(size): float(time) for size, _, time, _ in LINE.findall(out)}


def times(argv, cpus):
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(["taskset", "-c", ",".join(map(str, cpus)), *words], env=cells.clean_environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as late:
        raise cells.BenchError(f"{' '.join(words)}: no result after {LIMIT_S} s") from late
    found = sizes_of(done.stdout)
    if done.returncode or not found:
        raise cells.BenchError(f"{' '.join(words)}: exit code {done.returncode}, {len(found)} sizes\n{done.stderr[-500:]}")
    return found


def cases_of(run):
    """{name of a line: (argv, cpus)}; nothing if no MPI's program is there"""
    found = {}
    ways = WAYS if (run.build / "lib/sennit-stub").exists() else [way for way in WAYS if way not in VIRTUAL]
    for mpi in [run.mpi] if run.quick else MPIS:
        program = run.build / f"bench/gcc-{mpi}/message-sizes"
        if not program.exists():
            continue
        words = [program, *([1] if run.quick else [])]
        for place, cpus in list(places().items())[:1 if run.quick else None]:
            for way in QUICK_WAYS if run.quick else ways:
                # A rank of bare MPICH keeps the core for milliseconds while it waits.
                if way == "bare" and place == "one core":
                    continue
                found[f"{MPIS[mpi]}, {way}, {place}"] = (argv_of(run, mpi, way, words), cpus)
    return found


def values(run):
    return measured(run, cases_of(run))


def imb_values(run):
    """As values(), of IMB-MPI1, which is linked with one MPI."""
    place, cpus = next(iter(places().items()))
    words = [run.imb, "PingPong", "-iter", IMB_ITERATIONS]
    ways = WAYS if (run.build / "lib/sennit-stub").exists() else [way for way in WAYS if way not in VIRTUAL]
    return measured(run, {f"{MPIS[run.mpi]}, {way}, {place}": (argv_of(run, run.mpi, way, words), cpus) for way in ways})


def measured(run, cases):
    """{"line: bytes": microseconds of the rounds}"""
    shuffle, found = random.Random(run.seed), {}
    for _round in range(run.rounds):
        for name in shuffle.sample(list(cases), len(cases)):
            for size, took in times(*cases[name]).items():
                found.setdefault(f"{name}: {size}", []).append(took)
    order = list(cases)
    return {name: found[name] for name in sorted(found, key=lambda name: order.index(name.rpartition(": ")[0]))} or None


def lines_of(found):
    """{line: {bytes: microseconds of the rounds}}"""
    result = {}
    for name, took in found.items():
        line, _, size = name.rpartition(": ")
        result.setdefault(line, {})[int(size)] = took
    return result


def by_round(one, other, wanted):
    """Of each round, the times of the sizes that are wanted: the one's by the other's."""
    sizes = [size for size in one if size in other and wanted(size)]
    return [[one[size][at] / other[size][at] for size in sizes] for at in range(min((len(one[size]) for size in sizes), default=0))]


def greatest(mpi, way, place, wanted):
    """How much longer than bare processes a message takes at the size where that is most; of each round."""
    def ours(found):
        lines = lines_of(found)
        one, other = (lines.get(f"{mpi}, {name}, {place}", {}) for name in (way, "bare"))
        return [max(row) for row in by_round(one, other, wanted)]
    return ours


def mean(mpi, way, place, wanted):
    """The same, of the mean of the sizes."""
    def ours(found):
        lines = lines_of(found)
        one, other = (lines.get(f"{mpi}, {name}, {place}", {}) for name in (way, "bare"))
        return [sum(row) / len(row) for row in by_round(one, other, wanted)]
    return ours


def bandwidth(found_line):
    """{bytes: megabytes a second of the rounds}"""
    return {size: [size / one for one in took] for size, took in found_line.items() if size > 0}
