#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Virtual ranks and rank fibers beside processes: hops, messages, whole programs, start and memory. Prints
what docs/results/virtual.json keeps. Each way of a row runs in each round, in an order of its own: what is compared was
measured within the same seconds."""

import argparse
import contextlib
import ctypes
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import machine
import report

MPIS = {"mpich": "MPICH", "openmpi": "Open MPI"}
WAYS = {"bare": None, "processes": (), "--virtual": ("--virtual",), "--virtual=fibers": ("--virtual=fibers",)}
FIBER = ("--fiber",)  # of the stub
SENNIT = [way for way in WAYS if way != "bare"]
# Processes, each on a core of its own choice: rank r on this one of two.
BOUND = {"in turns on 2 cores": "% 2", "best assignment": "/ 4 % 2"}
FIBER_RANKS = (2, 16, 64)
HOP_RANKS = (4, 16, 64)
LIMIT = 120  # seconds
WATCHER = "sennit"  # each rank of `sennit run` has one
VIRTUAL = ("sennit-loader", "sennit-stub", WATCHER)
SMALL = "/usr/bin/sleep"  # a small program, position-independent as all of the distribution's


def cores(count):
    chosen = sorted(os.sched_getaffinity(0))[:count]
    return lambda: os.sched_setaffinity(0, chosen)


class Runs:
    """Values of rows and ways, of all rounds."""

    def __init__(self, rows, ways):
        self.cells = {row: {way: [] for way in ways} for row in rows}

    def measure(self, rounds, run):
        """`run(row, way)` returns a value, or None: it took too long."""
        order = random.Random(1)
        for _ in range(rounds):
            for row in order.sample(list(self.cells), len(self.cells)):
                for way in order.sample(list(self.cells[row]), len(self.cells[row])):
                    value = run(row, way)
                    if value is not None:
                        self.cells[row][way].append(value)
        return self

    def table(self, head, form="{:.0f}", name=str):
        lines = [[name(row), *(report.median_text(values, form) for values in ways.values())]
                 for row, ways in self.cells.items()]
        return report.markdown([head, *next(iter(self.cells.values()))], lines)


class Bench:
    def __init__(self, build, rounds, small):
        self.build = build
        self.rounds = rounds
        self.small = small

    def launch(self, mpi, way, ranks, program, *words):
        """The command for a program of bench/."""
        path = self.build / f"bench/gcc-{mpi}/{program}"
        if way != "bare":
            return [self.build / "bin/sennit", "run", *WAYS[way], "--mpi", mpi, "-n", str(ranks), "--threads", "1", path, *words]
        options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if mpi == "openmpi" else []
        return [f"mpiexec.{mpi}", *options, "-n", str(ranks), path, *words]

    def run(self, mpi, way, ranks, program, *words, prepare=cores(2), limit=LIMIT):
        """Its output in words, or None: it took too long."""
        return self.complete(self.launch(mpi, way, ranks, program, *words), f"{program} {' '.join(words)}, {mpi}, {way}", prepare, limit)

    @staticmethod
    def complete(command, name, prepare=cores(2), limit=LIMIT):
        environment = machine.plain_environment()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, preexec_fn=prepare) as job:
            try:
                out, _ = job.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                job.terminate()
                job.communicate()
                return None
        if job.returncode:
            raise RuntimeError(f"{name}: {job.returncode}")
        return out.split()

    # ---- rank fibers alone ----------------------------------------------------------------------------

    def switches(self):
        done = subprocess.run([self.build / "bench/rank-hop", "bare"], capture_output=True, text=True, check=True, timeout=LIMIT,
                              preexec_fn=cores(1))
        return [float(word) for word in done.stdout.split()]

    def stub(self, folder, options, mappings, *program):
        """Each rank is started as a launcher would start its stub."""
        return [self.build / "lib/sennit-stub", *options, os.path.join(folder, "user", "job"), str(mappings), *program]

    def fiber_hop(self, way, ranks):
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "table")
            with open(table, "wb") as file:
                file.truncate(1 << 20)
            os.mkdir(os.path.join(folder, "user"), 0o700)
            stub = self.stub(folder, FIBER, 40, self.build / "bench/rank-hop", "rank-hop", way)
            started = [subprocess.Popen([*stub, str(index), str(ranks), table], stdout=subprocess.PIPE, text=True,
                                        preexec_fn=cores(1)) for index in range(ranks)]
            texts = [one.communicate(timeout=LIMIT)[0] for one in started]
            if any(one.returncode for one in started):
                raise RuntimeError(f"{way} of {ranks} ranks has failed")
            return float(texts[0])

    def print_switches(self):
        switches = [self.switches() for _ in range(self.rounds)]
        hops = {way: {ranks: [self.fiber_hop(way, ranks) for _ in range(self.rounds)] for ranks in FIBER_RANKS}
                for way in ("yield", "ring", "yield-counted", "ring-counted")}
        print("\n## From one rank to the next\n\nNanoseconds, on one processor, without MPI. *A switch*: registers, the control of "
              "floating point and, ours, the thread\npointer. *yield*: a rank gives way to the next one that can go on. *ring*: "
              "it changes a word that another one waits on,\nrings for that one, and waits itself. Both are a switch to the worker "
              "and one to the next fiber, and its choice.\n"
              "*counted*: between sennit_object_begin and sennit_object_end, where a rank's processor time is counted.\n")
        lines = [["a switch, Boost.Context", report.median_text([one[0] for one in switches], "{:.1f}")],
                 ["a switch, ours", report.median_text([one[1] for one in switches], "{:.1f}")]]
        lines += [[f"{way}, {ranks} ranks", report.median_text(values, "{:.0f}")]
                  for way, cells in hops.items() for ranks, values in cells.items()]
        print(report.markdown(["", "ns"], lines))

    # ---- with MPI ----------------------------------------------------------------------------------------

    def hop(self, row, way):
        """Bare MPICH spins for milliseconds a hop."""
        mpi, ranks = row
        spins = (mpi, way) == ("mpich", "bare")
        out = self.run(mpi, way, ranks, "crowd", "hop", str(ranks if spins or self.small else 1024), limit=60)
        return int(out[0]) / 1000 if out else None

    def print_hops(self):
        print("\n## A token that goes from rank to rank\n\nMicroseconds a hop, on two cores. *bare*: MPICH spins, Open MPI yields.\n")
        rows = [(mpi, ranks) for mpi in MPIS for ranks in (HOP_RANKS[:1] if self.small else HOP_RANKS)]
        print(Runs(rows, WAYS).measure(self.rounds, self.hop)
              .table("", "{:.2f}", lambda row: f"{MPIS[row[0]]}, {row[1]} ranks"))

    def ping_pong(self, row, way):
        mpi, count = row
        trips = 20 if (mpi, way, count) == ("mpich", "bare", 1) else 1000
        out = self.run(mpi, way, 2, "copies", "8", str(trips), prepare=cores(count))
        return int(out[1]) / 1000 if out else None

    def print_ping_pong(self):
        print("\n## Eight bytes between two ranks\n\nMicroseconds of one way of a ping-pong, the ranks on two cores or on one.\n")
        rows = [(mpi, count) for mpi in MPIS for count in (2, 1)]
        print(Runs(rows, WAYS).measure(self.rounds, self.ping_pong)
              .table("", "{:.2f}", lambda row: f"{MPIS[row[0]]}, {row[1]} core{'s' * (row[1] > 1)}"))

    def sizes(self, mpi, way):
        """Of each size: of a message and of a copy, microseconds."""
        out = self.run(mpi, way, 2, "copies", "all")
        return {int(out[i]): (int(out[i + 1]) / 1000, int(out[i + 2]) / 1000) for i in range(0, len(out), 3)} if out else None

    def print_sizes(self):
        print("\n## Messages by size\n\nMicroseconds of one way of a ping-pong of two ranks on two cores, at the sizes of the IMB "
              "ping-pong, beside a memcpy of as many\nbytes by one of them. Long ones between processes are copied by the kernel "
              "(process_vm_readv); between virtual ranks it is a\nmemcpy. This is Figure 4 of the paper (IMB-MPI1 ping-pong, "
              "\"packed\"; an EPYC 7413, MPC 4.1.0 beside Open MPI 4.1.5 and MPICH 4.1).\nIts text gives no numbers, but says: MPC is "
              "slower than Open MPI where messages are short, for its locks, and faster where they\nare long, for its memcpy. Here "
              "short messages are those of the MPI library itself.")
        for mpi, title in MPIS.items():
            runs = Runs([mpi], WAYS).measure(self.rounds, self.sizes).cells[mpi]
            lines = []
            for size in sorted({size for values in runs.values() for one in values for size in one}):
                cells = {way: [one[size][0] for one in values] for way, values in runs.items()}
                copies = [one[size][1] for values in runs.values() for one in values]
                fibers = cells["--virtual=fibers"]
                ratio = f"{min(fibers) / min(copies):.1f}" if size >= 65536 and fibers else ""
                lines.append([size, *map(report.median_text, cells.values()),
                              report.median_text(copies), ratio])
            print(f"\n{title}:\n")
            print(report.markdown(["bytes", *WAYS, "memcpy", "fibers by memcpy, bests"], lines))

    def kernel(self, mpi, way, ranks, row, size="512", steps="50"):
        if self.small:
            size, steps = "32", "4"
        out = self.run(mpi, way, ranks, "kernels", row, size, steps)
        return float(out[0]) if out else None

    def print_kernels(self):
        print("\n## Whole programs\n\nThe same work (a grid of 512 x 512 points) on 8 ranks, on two cores, as multiples of the time of 2 "
              "bare ranks. *cg*: in each step\ntwo rows and two sums; *halo*: two rows, a sum every tenth step.\n")

        def run(row, way):
            if (row[0], way) == ("mpich", "bare"):
                return None  # its ranks spin in each other's way
            two = self.kernel(row[0], "bare", 2, row[1])
            took = self.kernel(row[0], way, 8, row[1])
            return took / two if took and two else None

        rows = [(mpi, row) for mpi in MPIS for row in ("cg", "halo")]
        print(Runs(rows, WAYS).measure(self.rounds, run).table("", "{:.2f}", lambda row: f"{MPIS[row[0]]}, {row[1]}"))
        most = 8 if self.small else 64
        print(f"\n{most} ranks of *halo*, microseconds a step. Open MPI's take more mappings than an address space may have by default: "
              "two or\nthree are made.\n")
        print(Runs(list(MPIS), WAYS).measure(
            self.rounds, lambda mpi, way: None if (mpi, way) == ("mpich", "bare") else self.kernel(mpi, way, most, "halo", steps="20"))
              .table("", "{:.0f}", MPIS.get))

    # ---- uneven ranks -------------------------------------------------------------------------------------

    def phases(self, mpi, way, ranks, row, weight, steps, bound=None):
        """Microseconds of steps in which ranks have `row` work, in units of so many microseconds."""
        command = self.launch(mpi, way, ranks, "phases", row, str(weight), str(steps), "1")
        if bound:
            first = command.index(self.build / f"bench/gcc-{mpi}/phases")
            two = sorted(os.sched_getaffinity(0))[:2]
            choice = "two=(" + " ".join(map(str, two)) + "); rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; "
            command[first:first] = ["bash", "-c", choice + f'exec taskset -c "${{two[rank {bound}]}}" "$@"', "bash"]
        out = self.complete(command, f"phases {row}, {mpi}, {way}")
        return int(out[0]) if out else None

    def uneven(self, row, way):
        mpi, work, weight = row
        steps = 2 if self.small else max(8, 100000 // weight)
        ideal = self.phases(mpi, "processes", 2, "even", 4 * weight, steps, "% 2")  # as much work, a rank for each core
        took = self.phases(mpi, "processes" if way in BOUND else way, 8, work, weight, steps, BOUND.get(way))
        return took / ideal if took and ideal else None

    def print_uneven(self):
        print("\n## Ranks with different amounts of work\n\n8 ranks on two cores. In each step every other rank has three times as much "
              "work as the rest, always the same ranks\n(*uneven*) or by turns; then all wait for each other. Times as multiples of the "
              "ideal: the same work, evenly on two ranks with a core\neach. *In turns on 2 cores*: processes, each bound to a core, by "
              "its number, so that one core has 3/4 of the work. *Best assignment*:\nprocesses bound so that each core has half of the "
              "work, which is what a strategy finds that knows all loads.\n")
        rows = [(mpi, work, weight) for mpi in MPIS for work in ("uneven", "turns") for weight in (100, 1000)]
        print(Runs(rows, (*BOUND, *SENNIT)).measure(self.rounds, self.uneven)
              .table("", "{:.2f}", lambda row: f"{MPIS[row[0]]}, {row[1]}, {row[2]} us : {3 * row[2]} us"))

    # ---- start and memory -----------------------------------------------------------------------------

    def start(self, count, way):
        """Milliseconds until `count` programs that do nothing have ended, all started at once by one shell, and the processor's
        milliseconds for all of that: the shell, the programs, stubs and their host."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "user"), 0o700)
            program = ["/usr/bin/true"] if way == "fork, exec" else \
                self.stub(folder, () if way == "--virtual" else FIBER, 40, "/usr/bin/true", "true")
            words = " ".join(map(str, program))
            before, begin = machine.processor_seconds(), time.monotonic()
            subprocess.run(["bash", "-c", f"for ((i = 0; i < {count}; ++i)); do {words} & done; wait"], check=True, timeout=LIMIT,
                           preexec_fn=cores(2))
            took = time.monotonic() - begin
            wait_for_hosts()
            return took * 1000, (machine.processor_seconds() - before) * 1000

    def print_start(self):
        print("\n## Start\n\nN programs that do nothing, started by one shell. A virtual rank is a process of its stub's, which is started "
              "as well, and the\nfirst one starts the host. Milliseconds until all have ended, and of processor time, which tells more on a "
              "machine with other work.\n")
        adopt_hosts()
        cells = Runs((1, 16, 64), ("fork, exec", "--virtual", "--virtual=fibers")).measure(self.rounds, self.start).cells
        for part, head in enumerate(("until the end, ms", "processor time, ms")):
            lines = [[count, *(report.median_text([one[part] for one in values], "{:.0f}") for values in ways.values())]
                     for count, ways in cells.items()]
            print(report.markdown([f"{head}; N", *cells[1]], lines) + "\n")

    def start_of_mpi(self, row, way):
        """Milliseconds of a job whose ranks do nothing but MPI_Init and MPI_Finalize, and of the processors for all of it."""
        before, begin = machine.processor_seconds(), time.monotonic()
        self.run(row[0], way, row[1], "crowd", "wait", "1")
        took = time.monotonic() - begin
        wait_for_hosts()
        return took * 1000, (machine.processor_seconds() - before) * 1000

    def print_start_of_mpi(self):
        print("\n## Start of MPI\n\nA job whose ranks do nothing but MPI_Init, a message and MPI_Finalize, on two cores. Milliseconds until "
              "it has ended, and of\nprocessor time.\n")
        adopt_hosts()
        rows = [(mpi, 8 if self.small else 64) for mpi in MPIS]
        cells = Runs(rows, WAYS).measure(self.rounds, self.start_of_mpi).cells
        for part, head in enumerate(("until the end, ms", "processor time, ms")):
            lines = [[f"{MPIS[mpi]}, {ranks} ranks", *(report.median_text([one[part] for one in values], "{:.0f}") for values in ways.values())]
                     for (mpi, ranks), ways in cells.items()]
            print(report.markdown([head, *WAYS], lines) + "\n")

    def memory(self, mpi, way, ranks):
        """MiB a rank, and KiB of page tables a rank: the greatest of some looks while the ranks wait in MPI."""
        command = self.launch(mpi, way, ranks, "crowd", "wait", str(4000 + 100 * ranks))
        most = (0, 0)
        with tempfile.TemporaryDirectory() as folder, \
                subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=cores(2),
                                 env={**machine.plain_environment(), "TMPDIR": folder}) as job:
            deadline = time.monotonic() + LIMIT
            while job.poll() is None and time.monotonic() < deadline:
                most = max(most, memory_of(job.pid, folder, VIRTUAL if way.startswith("--") else ["crowd", WATCHER]))
                time.sleep(0.3)
            if job.poll() is None:
                job.terminate()
            job.wait()
        return most[0] / 1024 / ranks, most[1] / ranks

    def print_memory(self):
        print("\n## Memory\n\nSmall MPI ranks that wait in MPI: MiB a rank (PSS: what several processes share counts in part for "
              "each; stubs and\nthe parents that `sennit run` gives to ranks are counted, too), and KiB of page tables a rank.\n")
        rows = [(mpi, ranks) for mpi in MPIS for ranks in ((8,) if self.small else (8, 64))]
        runs = Runs(rows, WAYS).measure(self.rounds, lambda row, way: self.memory(row[0], way, row[1]))
        for part, unit, form in ((0, "MiB", "{:.2f}"), (1, "KiB of page tables", "{:.0f}")):
            lines = [[f"{MPIS[mpi]}, {ranks} ranks", *(report.median_text([one[part] for one in values], form) for values in ways.values())]
                     for (mpi, ranks), ways in runs.cells.items()]
            print(report.markdown([unit, *WAYS], lines) + "\n")

    def many(self, count, way):
        """Of `count` small programs at once: seconds until all are there, MiB and KiB of page tables for each."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "user"), 0o700)
            virtual = way.startswith("--")
            program = self.stub(folder, (), 30, SMALL, "sleep", "600") if virtual else [SMALL, "600"]
            words = " ".join(map(str, program))
            begin = time.monotonic()
            with subprocess.Popen(["bash", "-c", f"for ((i = 0; i < {count}; ++i)); do {words} & done; wait"]) as shell:
                try:
                    while len(list(sleepers(shell.pid, folder))) < count:
                        if time.monotonic() - begin > LIMIT:
                            return None
                        time.sleep(0.2)
                    took = time.monotonic() - begin
                    pss, tables = memory_of(shell.pid, folder, VIRTUAL if virtual else ["sleep"])
                finally:
                    for process in children_of().get(shell.pid, []):
                        os.kill(process, 15)
                shell.wait()
            return took, pss / 1024 / count, tables / count

    def print_many(self):
        count = 20 if self.small else 1000
        values = {way: [one for one in (self.many(count, way) for _ in range(min(self.rounds, 3))) if one]
                  for way in ("processes", "--virtual")}
        print(f"\n{count} small programs (`sleep`) at once, virtual ones in one address space: seconds until all are there, MiB and "
              "KiB of page\ntables for each.\n")
        print(report.markdown(["", "seconds", "MiB", "KiB of page tables"],
                              [[way, *(report.median_text([one[i] for one in some], form)
                                       for i, form in enumerate(("{:.1f}", "{:.2f}", "{:.0f}")))]
                               for way, some in values.items()]))


def adopt_hosts():
    """Hosts leave their parents; from here on they are children of this process."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def wait_for_hosts():
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


# ---- processes --------------------------------------------------------------------------------------------

def children_of():
    """Numbers by that of their parent."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                found.setdefault(int(file.read().rpartition(")")[2].split()[1]), []).append(int(name))
        except OSError:
            pass
    return found


def name_of(process):
    try:
        return os.path.basename(os.readlink(f"/proc/{process}/exe"))
    except OSError:
        return ""


def hosts_in(folder):
    """Hosts of virtual ranks that meet below this folder; they have left their parents. A rank, a child of a host, has
    its host's command line."""
    def is_one(process):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            return False
        return words[1:2] == [b"--host"] and words[2].startswith(os.fsencode(folder) + b"/")

    children = children_of()
    found = {one for some in children.values() for one in some if is_one(one)}
    return {one for parent, some in children.items() if parent not in found for one in some if one in found}


def ours(root, folder):
    """The descendants of `root`, and the hosts in `folder`; of a host's ranks none, for its memory is theirs."""
    children = children_of()
    left = [root]
    hosts = found = hosts_in(folder)
    while left:
        one = left.pop()
        found = found | {one}
        left += children.get(one, []) if one not in hosts else []
    return found


def sleepers(root, folder):
    """Programs of `many` that run by now: children of a host or of the shell's."""
    hosts = hosts_in(folder)
    for parent, some in children_of().items():
        if parent in hosts:
            yield from some
        elif parent == root:
            yield from (one for one in some if name_of(one) == "sleep")


def memory_of(root, folder, programs):
    """KiB of PSS and of page tables of all processes of these programs."""
    pss = tables = 0
    for process in ours(root, folder):
        if name_of(process) not in programs:
            continue
        try:
            with open(f"/proc/{process}/smaps_rollup", encoding="utf-8") as file:
                pss += sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
            with open(f"/proc/{process}/status", encoding="utf-8") as file:
                tables += sum(int(line.split()[1]) for line in file if line.startswith("VmPTE:"))
        except OSError:
            pass  # it has ended
    return pss, tables


PARTS = {"switches": Bench.print_switches, "hops": Bench.print_hops, "ping-pong": Bench.print_ping_pong,
         "sizes": Bench.print_sizes, "kernels": Bench.print_kernels, "uneven": Bench.print_uneven, "start": Bench.print_start,
         "start-of-mpi": Bench.print_start_of_mpi,
         "memory": Bench.print_memory, "many": Bench.print_many}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help=f"some of {', '.join(PARTS)}", default=",".join(PARTS))
    parser.add_argument("--small", action="store_true", help="few ranks, little work: to see that it runs, not for numbers")
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # a run that is broken off has printed what it knew
    bench = Bench(options.build.resolve(), options.rounds, options.small)
    if options.small:
        print("**This was a trial run (--small): its numbers mean nothing.**\n")
    print("# Virtual ranks: hops, messages, programs, start and memory\n")
    print("`bench/virtual.py` printed this. A run takes the best of some samples; the tables have the median of the rounds, their "
          "least and\ngreatest. docs/user/virtual.md says what virtual ranks and rank fibers are.\n")
    machine.print_facts({"mpich", "openmpi"})
    if os.getloadavg()[0] > 0.5:
        print("\n**Other work was running here: compare only what is in one table.**")
    for part in options.only.split(","):
        PARTS[part](bench)


main()
