#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rank fibers without MPI, and long messages between virtual ranks. Prints docs/results/virtual.md."""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

import machine
import report

RANKS = (2, 16, 64)
SIZES = (64 << 10, 256 << 10, 1 << 20, 4 << 20)
WAYS = {"processes": (), "--virtual": ("--virtual",), "--virtual=fibers": ("--virtual=fibers",)}
LIMIT = 120  # seconds


def of(values, form="{:.0f}"):
    return (form + " [" + form + " to " + form + "]").format(statistics.median(values), min(values), max(values))


def first_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def bare(build):
    done = subprocess.run([build / "bench/rank-hop", "bare"], capture_output=True, text=True, check=True, timeout=LIMIT,
                          preexec_fn=first_processor)
    return [float(word) for word in done.stdout.split()]


def hop(build, way, ranks):
    """Each rank is started as a launcher would start its stub."""
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "table")
        with open(table, "wb") as file:
            file.truncate(1 << 20)
        stub = [build / "lib/sennit-loader", "--fiber-stub", os.path.join(folder, "user", "job"), "40",
                build / "bench/rank-hop", "rank-hop", way]
        os.mkdir(os.path.join(folder, "user"), 0o700)
        started = [subprocess.Popen([*stub, str(index), str(ranks), table], stdout=subprocess.PIPE, text=True,
                                    preexec_fn=first_processor) for index in range(ranks)]
        texts = [one.communicate(timeout=LIMIT)[0] for one in started]
        if any(one.returncode for one in started):
            raise RuntimeError(f"{way} of {ranks} ranks has failed")
        return float(texts[0])


def message(build, mpi, way, size):
    line = [build / "bin/sennit", "run", *WAYS[way], "--mpi", mpi, "-n", "2", "--threads", "1",
            build / f"bench/gcc-{mpi}/copies", str(size)]
    done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=LIMIT)
    return [float(word) / 1000 for word in done.stdout.split()]


def print_hops(build, rounds):
    switches = [bare(build) for _ in range(rounds)]
    hops = {way: {ranks: [hop(build, way, ranks) for _ in range(rounds)] for ranks in RANKS} for way in ("yield", "ring")}
    print("\n## From one rank to the next\n\nNanoseconds, on one processor, without MPI. *A switch*: registers, the control of "
          "floating point and, ours, the thread\npointer. *yield*: a rank gives way to the next one that can go on. *ring*: "
          "it changes a word that another one waits on,\nrings for that one, and waits itself. Both are a switch to the worker "
          "and one to the next fiber, and its choice.\n")
    lines = [["a switch, Boost.Context", of([one[0] for one in switches], "{:.1f}")],
             ["a switch, ours", of([one[1] for one in switches], "{:.1f}")]]
    lines += [[f"{way}, {ranks} ranks", of(values)] for way, cells in hops.items() for ranks, values in cells.items()]
    print(report.markdown(["", "ns"], lines))


def print_messages(build, rounds):
    print("\n## Long messages\n\nMicroseconds of one way of a ping-pong of two ranks, beside a memcpy of as many bytes by one of "
          "them. As processes, these MPI\nlibraries have the kernel copy (process_vm_readv); between virtual ranks it is a memcpy.\n")
    lines = []
    for mpi in ("mpich", "openmpi"):
        for size in SIZES:
            cells = {way: [] for way in WAYS}
            for _ in range(rounds):
                for way, values in cells.items():
                    values.append(message(build, mpi, way, size))
            copies = [value[1] for values in cells.values() for value in values]
            lines.append([f"{mpi}, {size >> 10} KiB", *(of([one[0] for one in values]) for values in cells.values()),
                          of(copies), f"{min(one[0] for one in cells['--virtual=fibers']) / min(copies):.1f}"])
    print(report.markdown(["", *WAYS, "memcpy", "fibers by memcpy, bests"], lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    build = options.build.resolve()
    print("# Virtual ranks: what a hop and a long message take\n")
    print("`bench/virtual.py` printed this. A run takes the best of some samples; the tables have the median of the runs, their "
          "least and\ngreatest. [user/virtual.md](../user/virtual.md) says what rank fibers are.\n")
    machine.print_facts({"mpich", "openmpi"})
    if os.getloadavg()[0] > 0.5:
        print("\n**Other work was running here: compare only what is in one table.**")
    print_hops(build, options.rounds)
    print_messages(build, options.rounds)


main()
