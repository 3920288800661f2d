# SPDX-License-Identifier: Apache-2.0
"""The compiler plug-in: programs with it and without, compiled here, by clang. What is compared is run in each
round, in an order of its own; tables have the median of the rounds, and their least and greatest."""

import glob
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile

import machine
import report

MPIS = {"mpich": "MPICH_CC", "openmpi": "OMPI_CC"}
TITLES = {"mpich": "MPICH", "openmpi": "Open MPI"}
CALLS = 16  # in a row
LATENCY_US = 200
# Messages wait for their receives, so that a blocking send takes latencies of its own.
NETWORK = f"latency:{LATENCY_US},bandwidth:10000,eager:1024"
CHOLESKY = ["--n", "4096", "--block", "256", "--emulate", "--rates", "2,3.5,3.8,4.2", "--no-check"]
# Rows of 2 KiB: every MPI sends them at once, else two ranks that both send first would wait for each other.
HALO = ["3000", "200"]
HALO_NETWORK = "latency:1000,bandwidth:10000,eager:65536"
INSTRUCTIONS = {"refused": ("refused", "a call in a loop that cannot be batched"),  # the mode, its function
                "nobody": ("send_all", "a call to MPI_PROC_NULL in a loop that is batched")}
LENT = {"triangular": "4000", "balanced": "400"}  # iterations; i takes ~ i, or all the same
CHUNKS = (1, 4, 16, 64)


class Programs:
    """Each is compiled plainly and through `sennit cc`."""

    def __init__(self, build, folder):
        self.sennit, self.folder = str(build / "bin/sennit"), pathlib.Path(folder)
        self.root = pathlib.Path(__file__).resolve().parent.parent

    def flags(self):
        return ["-O2", "-std=c11", "-D_GNU_SOURCE", "-fopenmp", "-w", f"-I{self.root / 'apps/suite'}"]

    def cholesky_files(self):
        return sorted(path for room in ("suite", "cholesky") for path in glob.glob(str(self.root / "apps" / room / "*.c")))

    def compiler(self, mpi, transformed, *options):
        return ([self.sennit, "cc"] if transformed else []) + [f"mpicc.{mpi}", *options]

    def environment(self, mpi, **more):
        return {**machine.plain_environment(), MPIS[mpi]: "clang-19", "CCACHE_DISABLE": "1", "OPENBLAS_NUM_THREADS": "1",
                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **more}

    def build(self, name, mpi, transformed, *options):
        """`options`: of `sennit cc`."""
        path = self.folder / "".join([f"{name}-{mpi}-{'transformed' if transformed else 'plain'}", *options])
        if not path.exists():
            files = self.cholesky_files() if name == "cholesky" else [str(self.root / "bench" / f"{name}.c")]
            subprocess.run([*self.compiler(mpi, transformed, *options), *self.flags(), *files, "-o", str(path), "-lopenblas", "-lm"],
                           env=self.environment(mpi), check=True)
        return str(path)

    def run(self, mpi, program, *arguments, threads=1, timeout=60, **environment):
        done = subprocess.run([self.sennit, "run", "--mpi", mpi, "-n", "2", "--threads", str(threads), program, *arguments],
                              capture_output=True, text=True, env=self.environment(mpi, **environment), timeout=timeout,
                              check=True)
        return done.stdout

    def run_threads(self, program, *arguments, threads, **environment):
        done = subprocess.run([self.sennit, "run", "--threads", str(threads), program, *arguments], capture_output=True,
                              text=True, env=self.environment("mpich", **environment), timeout=60, check=True)
        return done.stdout


def interleaved(rounds, seed, ways, measure, progress, what):
    """{way: values}"""
    order, found = random.Random(seed), {way: [] for way in ways}
    for number in range(rounds):
        for way in order.sample(list(ways), len(ways)):
            found[way].append(measure(way))
        progress(f"{what}: round {number + 1} of {rounds}")
    return found


def latencies(programs, rounds, seed, progress):
    ways = {"plain": (False, "latency"), "transformed": (True, "latency"), "non-blocking, by hand": (False, "by-hand")}
    rows = []
    for mpi in MPIS:
        def measure(case, mpi=mpi):
            (transformed, kind), count = ways[case[0]], case[1]
            out = programs.run(mpi, programs.build("batched-calls", mpi, transformed), kind, str(count), SENNIT_NETWORK=NETWORK)
            return min(int(line) for line in out.split()) / 1000
        found = interleaved(rounds, seed, [(way, count) for way in ways for count in (1, CALLS)], measure, progress,
                            f"latencies, {mpi}")
        one = statistics.median(found["plain", 1])
        rows += [[TITLES[mpi], way, *(report.median_text(found[way, count], "{:.0f}") for count in (1, CALLS)),
                  f"{statistics.median(found[way, CALLS]) / one:.2f}"] for way in ways]
    return (f"## {CALLS} messages in a row\n\nA loop of MPI_Send on one rank, one of MPI_Recv on the other, 8 KiB each, with "
            f"`SENNIT_NETWORK={NETWORK}`: each message asks first, and is answered. Microseconds, the best of 30. Goal: "
            f"together at most 1.2 times as long as one. By hand: MPI_Isend, MPI_Irecv and one MPI_Waitall on each side.\n\n"
            + report.markdown(["MPI", "program", "one", f"{CALLS} in a row", "by one, plain"], rows))


def cholesky(programs, rounds, seed, progress):
    ways = {"detach, by hand": (False, "detach"),
            "blocking in tasks, transformed": (True, "interop-blocking"),
            "blocking in tasks, plain": (False, "interop-blocking"),
            "blocking between tasks, `-sennit-detach`": (True, "blocking", "-sennit-detach"),
            "blocking between tasks, transformed": (True, "blocking"),
            "blocking between tasks, plain": (False, "blocking")}
    rows = []
    for mpi in MPIS:
        suspended = {}

        def measure(way, mpi=mpi, suspended=suspended):
            transformed, variant, *options = ways[way]
            with tempfile.TemporaryDirectory() as folder:
                out = programs.run(mpi, programs.build("cholesky", mpi, transformed, *options), *CHOLESKY, "--variant", variant,
                                   threads=4, SENNIT_STATS=os.path.join(folder, "rank"), SENNIT_NETWORK=NETWORK)
                count, paths = 0, glob.glob(os.path.join(folder, "rank.*"))
                assert len(paths) == 2, paths
                for path in paths:
                    with open(path, encoding="utf-8") as file:
                        count += json.load(file)["tasks_suspended"]
            suspended.setdefault(way, []).append(count)
            return float(re.search(r": ([0-9.]+) s,", out)[1])
        found = interleaved(rounds, seed, ways, measure, progress, f"Cholesky, {mpi}")
        reference = statistics.median(found["detach, by hand"])
        rows += [[TITLES[mpi], way, report.median_text(found[way], "{:.4f}"),
                  f"{statistics.median(found[way]) / reference:.3f}",
                  report.median_text(suspended[way], "{:.0f}")] for way in ways]
    return ("## Cholesky of the mpi-detach paper\n\n`apps/cholesky " + " ".join(CHOLESKY) + "`, two ranks of 4 threads: kernels "
            "hold their thread, but no core. Blocking calls, transformed and not, and the version by hand: non-blocking calls, "
            "MPIX_Detach, detached tasks. In tasks: each message is a task of its own. Between tasks: the thread that creates the "
            "tasks makes the calls (`--variant blocking`, as in the paper): there the version by hand gains most. Seconds. Goal: "
            "at most 1.02 times as long, with `-sennit-detach` 1.05; no task is suspended.\n\n"
            + report.markdown(["MPI", "program", "seconds", "by the hand-written", "tasks suspended"], rows))


def halo(programs, rounds, seed, progress):
    ways = {"no exchange": (False, "silent"), "blocking, plain": (False, "blocking"), "non-blocking, by hand": (False, "by-hand"),
            "blocking, transformed": (True, "blocking")}
    rows = []
    for mpi in MPIS:
        def measure(way, mpi=mpi):
            transformed, kind = ways[way]
            return int(programs.run(mpi, programs.build("halo", mpi, transformed), kind, *HALO,
                                    SENNIT_NETWORK=HALO_NETWORK).split()[0]) / 1000
        found = interleaved(rounds, seed, ways, measure, progress, f"halo, {mpi}")
        best = {way: min(values) for way, values in found.items()}
        gain = best["blocking, plain"] - best["non-blocking, by hand"]
        rows += [[TITLES[mpi], way, report.median_text(found[way], "{:.0f}"),
                  f"{100 * (best['blocking, plain'] - best[way]) / gain:.0f}%" if gain > 0 and transformed else ""]
                 for way, (transformed, _) in ways.items()]
    return ("## A halo exchange that could overlap\n\n`bench/halo.c`, two ranks: each step sends a row, receives one, and computes "
            f"{HALO[0]} rows, all but one of which do not need it. `SENNIT_NETWORK={HALO_NETWORK}`. Microseconds a step. The gain "
            "is what the best run gains over the best plain one, of what the version by hand gains. Goal: 90%.\n\n"
            + report.markdown(["MPI", "program", "a step", "gain"], rows))


def lent_loops(programs, rounds, seed, progress):
    program = programs.build("lent", "mpich", True)
    parts = []
    for shape, iterations in LENT.items():
        ways = {"static": ("static", {}), "static, lent": ("static", {"SENNIT_SPLIT": "loops"}),
                **{f"dynamic, {chunk}": ("runtime", {"OMP_SCHEDULE": f"dynamic,{chunk}"}) for chunk in CHUNKS}}

        def measure(way, ways=ways, shape=shape, iterations=iterations):
            kind, environment = ways[way]
            return float(programs.run_threads(program, kind, shape, iterations, "200", threads=2, **environment))
        found = interleaved(rounds, seed, ways, measure, progress, f"lent loops, {shape}")
        best = min(statistics.median(found[way]) for way in ways if way.startswith("dynamic"))
        parts.append([[shape, way, report.median_text(found[way], "{:.0f}"), f"{statistics.median(found[way]) / best:.3f}"]
                      for way in ways])
    return ("## Static loops that are lent\n\n`bench/lent.c`, 2 threads: a static loop with a reduction, compiled with the plug-in, "
            "and the same with the schedule that is named. Triangular: iteration i takes time ~ i. Microseconds, the best of 200 "
            "runs. Goal: lent within 3% of the best dynamic one.\n\n"
            + report.markdown(["loop", "schedule", "microseconds", "by the best dynamic one"],
                              [row for rows in parts for row in rows]))


def instructions(programs, _rounds, _seed, progress):
    rows = []
    for mode, (function, text) in INSTRUCTIONS.items():
        found = []
        for transformed in (False, True):
            counts = []
            for count in (1000, 21000):
                progress(f"instructions: {mode}")
                done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                       # Starting MPI takes more or fewer each time.
                                       f"--toggle-collect={function}",
                                       programs.build("batched-calls", "mpich", transformed), mode, str(count)],
                                      capture_output=True, text=True, env=programs.environment("mpich"), timeout=300,
                                      check=True)
                counts.append(int(re.search(r"Collected : (\d+)", done.stderr)[1]))
            found.append((counts[1] - counts[0]) / 20000)
        rows.append([text, f"{found[0]:.1f}", f"{found[1]:.1f}", f"{100 * (found[1] / found[0] - 1):+.1f}%"])
    return ("## Instructions\n\nPer call, by callgrind, in the function that calls, MPICH without Sennit. Goal: at most 1% more where "
            "nothing can be done.\n\n" + report.markdown(["what", "plain", "transformed", ""], rows))


def compile_time(programs, rounds, seed, progress):
    def measure(transformed):
        before = machine.processor_seconds()
        for path in programs.cholesky_files():
            subprocess.run([*programs.compiler("mpich", transformed), *programs.flags(), "-c", path, "-o",
                            str(programs.folder / "object.o")], env=programs.environment("mpich"), check=True)
        return machine.processor_seconds() - before
    found = interleaved(rounds, seed, (False, True), measure, progress, "compile time")
    least = {way: min(values) for way, values in found.items()}
    return (f"## Compile time\n\nThe {len(programs.cholesky_files())} files of the Cholesky, `-O2`: seconds of processors. Goal: "
            "at most 5% more.\n\n"
            + report.markdown(["compiler", "seconds", "least by least"],
                              [["clang-19", report.median_text(found[False]), ""],
                               ["with the plug-in, by `sennit cc`", report.median_text(found[True]),
                                f"{100 * (least[True] / least[False] - 1):+.1f}%"]]))


# The parts of the page, and of the option --rows.
PARTS = {"latencies": latencies, "cholesky": cholesky, "halo": halo, "lent": lent_loops, "instructions": instructions,
         "compile": compile_time}


def page(build, facts, notes, rounds, seed, progress, names=()):
    """All parts, or those that are named: under a title of their own, for what it says of the machine holds for them only."""
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(build.resolve(), folder)
        parts = ["# The compiler plug-in" + (": " + ", ".join(names) if names else ""),
                 "\n".join(f"- {name}: {text}" for name, text in facts),
                 "\n".join(f"**{note}**" for note in notes), " ".join(__doc__.split())]
        parts += [PARTS[name](programs, rounds, seed, progress) for name in names or PARTS]
    return "\n\n".join(part for part in parts if part) + "\n"
