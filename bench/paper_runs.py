# SPDX-License-Identifier: Apache-2.0
"""The measurements of paper_figures.py: our applications at sizes that fit two cores. Every round has all cases once, in a
random order. None means that this build has not got the program."""

import dataclasses
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import cells
import plugin
import simulated
import timelines
import versions

NETWORK = "latency:200,bandwidth:1000,eager:65536"
# Who runs a program: the compiler of the binary, and whether Sennit is its runtime.
RUNTIMES = {"libgomp": ("gcc", False), "libomp": ("clang", False), "Sennit": ("gcc", True)}
SEIDEL = ("pure", "nbuffer", "forkjoin", "sentinel", "interop-blk")  # the paper's versions of Gauss-Seidel
CALLS = 20  # of a row that is counted


@dataclasses.dataclass
class Run:
    """What all measurements of one call of papers.py share."""
    build: pathlib.Path
    results: pathlib.Path
    mpi: str
    rounds: int
    quick: bool
    imb: pathlib.Path | None = None  # IMB-MPI1, linked with that MPI
    npb: pathlib.Path | None = None  # the folder of NPB's OpenMP programs
    seed: int = 20210914
    origins: set = dataclasses.field(default_factory=set)  # of a figure's values that are recorded: (file, commit)

    def simulate(self, *words):
        return simulated.simulate(str(self.build / "bin/sennit"), *words, key="policy", show=False)

    def program(self, name, compiler="gcc"):
        """None if the build has left it out"""
        path = self.build / f"apps/{name}-{compiler}-{self.mpi}"
        return path if path.exists() else None


def seconds_in(out):
    """Of a program that ends with `: SECONDS s, ... checksum SUM`."""
    found = versions.RESULT.search(out)
    return {"": float(found[1])} if found else {}


def calculation_in(out):
    """Of apps/cholesky with --json: seconds; a thread's in kernels and outside of them, its mean; the same of all threads."""
    if not (found := re.search(r"^\{.*\}$", out, re.MULTILINE)):
        return {}
    one = json.loads(found[0])
    threads = one["ranks"] * one["threads"]
    calc = one["bound_work"] + one["late"] / threads  # emulated kernels last as long as asked for, and until their thread wakes
    return {"": one["seconds"], " calc": calc, " noncalc": one["seconds"] - calc, " calc, all": calc * threads,
            " noncalc, all": (one["seconds"] - calc) * threads}


def numbers_of(argv, environment, read):
    argv = [str(word) for word in argv]
    state, out, complaint = cells.execute(argv, environment, versions.LIMIT_S)
    found = read(out)
    if state != "ok" or not found:
        raise cells.BenchError(f"{' '.join(argv)}: {complaint or 'no time in what it printed'}")
    return found


def measured(run, cases):
    """cases: {name: (argv, environment, what reads the numbers, by what follows the name, from the output)}"""
    shuffle, found = random.Random(run.seed), {name: {} for name in cases}
    for _round in range(run.rounds):
        for name in shuffle.sample(list(cases), len(cases)):
            for what, value in numbers_of(*cases[name]).items():
                found[name].setdefault(what, []).append(value)
    return {f"{name}{what}": values for name, took in found.items() for what, values in took.items()}


def case(run, binary, ranks, threads, words, sennit=True, network="", more=(), read=seconds_in):
    start, environment = versions.start(run, ranks, threads, sennit, more)
    if not sennit:
        environment["OMP_WAIT_POLICY"] = "passive"  # or the peers' threads would spin on cores that others need
    if network:
        environment["SENNIT_NETWORK"] = network
    return [*start, binary, *words], environment, read


def by_version(run, name, wanted, words, network=NETWORK):
    """wanted: {version: (ranks, threads)}, all under Sennit"""
    if not (binary := run.program(name)):
        return None
    return measured(run, {version: case(run, binary, *shape, ["--version", version, *words], network=network)
                          for version, shape in wanted.items()})


def gauss_seidel(run):
    size, block, iterations = (128, 32, 4) if run.quick else (2048, 256, 50)
    return by_version(run, "gauss-seidel", {name: (2, 1) for name in SEIDEL},
                      ["--size", size, "--block", block, "--iterations", iterations])


def traces(run, wanted=SEIDEL):
    """Timelines of Gauss-Seidel: {"version, rank 0": ms at which it begins and ends to compute, in turn}, of the last round; and of
    each round its time and what timelines.py tells."""
    if not (binary := run.program("gauss-seidel")):
        return None
    size, block, iterations = (256, 32, 4) if run.quick else (2048, 256, 10)
    shuffle, found = random.Random(run.seed), {}
    for _round in range(run.rounds):
        for version in shuffle.sample(wanted, len(wanted)):
            with tempfile.TemporaryDirectory() as scratch:
                drawn = case(
                    run, binary, 2, 1, ["--version", version, "--size", size, "--block", block, "--iterations", iterations],
                    network=NETWORK, more=[f"--trace={scratch}/trace"])
                took = numbers_of(*drawn)[""]
                told = timelines.read(str(run.build / "bin/sennit"), scratch)
            for name, value in (("s", took), ("last rank, ms", told.last_rank_starts() / 1e6),
                                ("first pause, ms", told.first_rank_pauses() / 1e6), ("together", told.together())):
                found.setdefault(f"{version}, {name}", []).append(value)
            for rank in (0, 1):
                found[f"{version}, rank {rank}"] = [round(at / 1e6, 3) for span in told.spans(rank) for at in span]
    return found


def small_blocks(run):
    size, block, iterations = (128, 16, 4) if run.quick else (2048, 64, 50)
    return by_version(run, "gauss-seidel", {"interop-blk": (2, 1), "interop-nonblk": (2, 1)},
                      ["--size", size, "--block", block, "--iterations", iterations], network="")


BLOCKS = (256, 512, 1024)


def block_sizes(run):
    """Both Interop versions at the block sizes of Figures 12 and 13: {"version, block": seconds}"""
    if not (binary := run.program("gauss-seidel")):
        return None
    size, iterations = (128, 2) if run.quick else (2048, 50)
    scale = 16 if run.quick else 1
    return measured(run, {f"{version}, {block}": case(
        run, binary, 2, 1, ["--version", version, "--size", size, "--block", block // scale, "--iterations", iterations])
        for version in ("interop-blk", "interop-nonblk") for block in BLOCKS})


def ifsker(run):
    grid, steps = ("16x4", 2) if run.quick else ("640x256", 30)
    return by_version(run, "ifsker", {name: (2, 1) for name in ("pure", "interop-blk", "interop-nonblk")},
                      ["--grid", grid, "--steps", steps])


def by_runtime(run, name, everywhere, sennit, words):
    """Without an injected network: versions that run under every runtime, and those that need Sennit; two ranks of a thread."""
    if not all(run.program(name, compiler) for compiler in ("gcc", "clang")):
        return None
    wanted = [(version, runtime) for version in everywhere for runtime in RUNTIMES] + [(version, "Sennit") for version in sennit]
    return measured(run, {f"{version}, {runtime}": case(
        run, run.program(name, RUNTIMES[runtime][0]), 2, 1, ["--version", version, *words], RUNTIMES[runtime][1])
        for version, runtime in wanted})


def gauss_seidel_runtimes(run):
    size, block, iterations = (128, 32, 4) if run.quick else (2048, 256, 50)
    return by_runtime(run, "gauss-seidel", ("pure", "nbuffer", "forkjoin", "sentinel"), ("interop-blk", "interop-nonblk", "detach"),
                      ["--size", size, "--block", block, "--iterations", iterations])


def ifsker_runtimes(run):
    grid, steps = ("16x4", 2) if run.quick else ("640x256", 30)
    return by_runtime(run, "ifsker", ("pure",), ("interop-blk", "interop-nonblk"), ["--grid", grid, "--steps", steps])


# Who completes the messages of `detach`, and what MPIX_DETACH says of it.
PROGRESS = {"detach": "polling", "detach by a thread": "progress"}


def automatic(run, folder):
    """apps/cholesky with blocking calls, as `sennit cc -sennit-detach` compiles it; None without its sources or a clang"""
    programs = plugin.Programs(run.build, folder)
    if not programs.cholesky_files() or not shutil.which("clang-19"):
        return None
    return programs.build("cholesky", run.mpi, True, "-sennit-detach")


def cholesky(run):
    """Without an injected network, which only Sennit has. The stock runtimes do not get through `taskyield`: there the tasks
    that test hold all threads."""
    if not all(run.program("cholesky", compiler) for compiler in ("gcc", "clang")):
        return None
    n, block = (512, 128) if run.quick else (4096, 128)

    def words(variant):
        return ["--n", n, "--block", block, "--variant", variant, "--emulate", "--no-check", "--json", "-"]

    cases = {f"{variant}, {runtime}": case(run, run.program("cholesky", compiler), 2, 2, words(variant), sennit, read=calculation_in)
             for variant in ("blocking", "singlecom") for runtime, (compiler, sennit) in RUNTIMES.items()}
    for variant in ("interop-blocking", "taskyield"):
        cases[f"{variant}, Sennit"] = case(run, run.program("cholesky"), 2, 2, words(variant), read=calculation_in)
    for name, progress in PROGRESS.items():
        cases[f"{name}, Sennit"] = case(run, run.program("cholesky"), 2, 2, words("detach"), read=calculation_in)
        cases[f"{name}, Sennit"][1]["MPIX_DETACH"] = progress
    with tempfile.TemporaryDirectory() as scratch:
        if program := automatic(run, scratch):
            cases["automatic, Sennit"] = case(run, program, 2, 2, words("blocking"), read=calculation_in)
        return measured(run, cases)


def stencil(run):
    if not all(run.program("stencil", compiler) for compiler in ("gcc", "clang")):
        return None
    size, strips, steps = (40, 4, 3) if run.quick else (4096, 16, 30)
    wanted = [("openmp", "libgomp"), ("openmp", "libomp"), ("openmp", "Sennit"), ("objects", "Sennit"), ("shared", "Sennit")]
    return measured(run, {f"{version}, {runtime}": case(
        run, run.program("stencil", RUNTIMES[runtime][0]), 1, 2,
        ["--version", version, "--size", size, "--strips", strips, "--steps", steps], sennit=RUNTIMES[runtime][1],
        more=("--split", "auto") if version == "shared" else ()) for version, runtime in wanted})


def instructions_of(run, program, row, calls, size, policy="steal"):
    """of one run of a row under callgrind, one thread"""
    environment = {**cells.clean_environment(), "LD_LIBRARY_PATH": str(run.build / "lib/omp"), "OMP_NUM_THREADS": "1",
                   "SENNIT_POLICY": policy}
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "callgrind.out"
        argv = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", run.build / "bench/gcc" / program, row, "--calls",
                calls, "--size", size]
        done = subprocess.run([str(word) for word in argv], env=environment, capture_output=True, text=True, timeout=120,
                              check=False)
        if done.returncode:
            raise cells.BenchError(f"{program} under callgrind: exit code {done.returncode}\n{done.stderr[-500:]}")
        return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)[1])


def suspensions(run):
    """Instructions that a task's own context adds, each the difference of two programs that do the same without it.

    launch: a task that could suspend and does not, against one of a program without suspension; both wait in a queue, as
    under any policy but steal. launch, steal: the same where the creator calls what cannot suspend at once. first: a task
    that is suspended once, against one that is not. later: each suspension more. calls: sennit_task_resume and _suspend of
    a task that goes on at once."""
    if not shutil.which("valgrind"):
        return None

    def slope(program, row, sizes, policy="steal"):
        """of a unit of size"""
        some, more = (instructions_of(run, program, row, CALLS, size, policy) for size in sizes)
        return (more - some) / (CALLS * (sizes[1] - sizes[0]))

    def launch(policy):
        sizes = (100, 200)
        return slope("suspend-roundtrip", "flat-may-suspend", sizes, policy) - slope("omp-micro", "task-flat", sizes, policy)

    def of_two_tasks(row):
        """created, run and ended, without the start of the program"""
        some, more = (instructions_of(run, "suspend-roundtrip", row, calls, 1) for calls in (CALLS, 2 * CALLS))
        return (more - some) / CALLS

    trip, resumed = (slope("suspend-roundtrip", row, (2, 12)) for row in ("suspend-pingpong", "suspend-resumed"))
    counts = {"launch": launch("fifo"), "launch, steal": launch("steal"),
              "first": (of_two_tasks("suspend-pingpong") - of_two_tasks("suspend-none")) / 2, "later": trip / 2, "calls": resumed / 2}
    return {name: [round(count)] for name, count in counts.items()}


def say(text):
    print(text, file=sys.stderr, flush=True)


def kept(path):
    """{figure: what was measured} of a results file that papers.py wrote; nothing of quick runs"""
    if not path.exists():
        return {}
    return {table["figure"]["key"]: table["figure"] for table in json.loads(path.read_text())
            if "figure" in table and not table["figure"]["quick"]}
