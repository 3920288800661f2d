# SPDX-License-Identifier: Apache-2.0
"""What is measured: runtimes, modes, groups of rows, and how one cell of a table is run.

A cell is (row, runtime, mode): a fresh process of a benchmark program, built by the runtime's
compiler. The environment of a run holds nothing of the caller's OpenMP, MPI or loader settings.
"""

import dataclasses
import os
import pathlib
import signal
import subprocess
import tempfile

FOREIGN_SETTINGS = ("OMP_", "KMP_", "GOMP_", "LIBOMP", "SENNIT_", "LD_", "MPI", "OMPI_", "PMI", "HYDRA_")
EXIT_UNAVAILABLE = 77  # harness.h: the runtime cannot run this row
KILL_GRACE_S = 3


class BenchError(Exception):
    """Something that the person who called has to know, as one line."""


@dataclasses.dataclass(frozen=True)
class Runtime:
    name: str
    compiler: str  # whose binaries run: gcc or clang
    library_folder: pathlib.Path | None = None  # in front of the loader's search; None = stock
    is_sennit: bool = False
    is_before: bool = False  # another build of Sennit, which this one is compared with; no peer

    @property
    def label(self):
        return f"{self.name} ({self.compiler})"

    def environment(self):
        return {"LD_LIBRARY_PATH": str(self.library_folder)} if self.library_folder else {}


@dataclasses.dataclass(frozen=True)
class Mode:
    title: str
    threads: int
    bound: bool

    def environment(self):
        binding = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"} if self.bound else {"OMP_PROC_BIND": "false"}
        return {"OMP_NUM_THREADS": str(self.threads), **binding}


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    unit: str
    summary: str
    # Rows of the peers that a Sennit row is compared with; itself unless it has no counterpart.
    rivals: tuple
    goal: float | None  # largest ratio to the best peer that the project wants
    environment: tuple = ()


@dataclasses.dataclass(frozen=True)
class Group:
    title: str
    program: str
    modes: tuple
    rows: tuple
    mpi: str | None = None

    def binary(self, build, compiler):
        folder = f"{compiler}-{self.mpi}" if self.mpi else compiler
        return build / "bench" / folder / self.program


GOALS = {
    # nqueens-if is not here: nearly all of its tasks are undeferred, calls in any runtime.
    **dict.fromkeys(("fib", "fib-untied", "nqueens"), 0.4),
    **dict.fromkeys(("dep-chain", "dep-64-chains", "dep-wavefront", "dep-stencil"), 0.35),
    **dict.fromkeys(("taskwait", "taskgroup", "taskloop-1024"), 0.6),
    **dict.fromkeys(("parallel-nested", "nested-one"), 0.3),
    # The bare MPI's calls, and 2% for the look whether the caller is a task.
    **dict.fromkeys(("outside", "outside-8B", "outside-64K", "outside-1", "outside-100", "outside-10000",
                     "lock-outside", "flush-outside"), 1.02),
    **dict.fromkeys(("lock-chain", "flush-chain", "flush-tasks"), 1.5),
    # Peers run the tasks of these in place, and cannot suspend them.
    **dict.fromkeys(("inside-8B", "window-8B"), 1.2),
    # Against the bare MPI outside of tasks.
    **dict.fromkeys(("latency-blocking", "latency-iwait", "latency-detach"), 2.0),
}
GOAL_OTHER = 1.0
RIVALS = {
    "suspend-pingpong": ("yield-pingpong", "detach-pingpong"),
    "suspend-ring": ("yield-ring",),
    # Against the loop of MPI_Test and taskyield, and against the bare MPI outside of tasks.
    **{f"latency-{way}": ("latency-yield", "outside") for way in ("blocking", "iwait", "detach")},
    **{f"rate-{way}": ("rate-yield",) for way in ("blocking", "iwait", "detach")},
    # MPI itself takes longer the more receives it has.
    **{f"pending-{count}": (f"outside-{count}",) for count in (1, 100, 10000)},
    "contention-tasks": ("contention-threads", "contention-tasks"),
    "lock-chain": ("lock-outside",),
    **{f"flush-{where}": ("flush-outside",) for where in ("chain", "tasks")},
}
# Rows that no runtime without suspension gets through: a quick run does not wait long for them.
QUICK_LIMITS_S = {"yield-ring": 3}
ROW_ENVIRONMENT = {"task-priority": (("OMP_MAX_TASK_PRIORITY", "7"),),
                   "dep-creation-looked-up": (("SENNIT_REPLAY", "off"),)}


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN_SETTINGS)}


def runtimes(build, peers, crossed_folder, before=None):
    """Every runtime that may be measured; the caller drops those that are absent.

    `before` is the lib/omp of another build of Sennit.
    """
    sennit = build / "lib" / "omp"
    table = [
        Runtime("libgomp", "gcc"),
        Runtime("Sennit", "gcc", sennit, True),
        Runtime("libomp", "clang"),
        Runtime("libiomp5", "clang", peers / "intel-openmp"),
        Runtime("Sennit", "clang", sennit, True),
    ]
    if crossed_folder:
        table.insert(1, Runtime("libomp", "gcc", crossed_folder))
    if before:
        table += [Runtime("Sennit before", compiler, before, True, True) for compiler in ("gcc", "clang")]
    return table


def make_crossed_folder(build):
    """A folder in which libgomp.so.1 is LLVM's library: gcc binaries on libomp."""
    info = program_info(build / "bench/clang/omp-micro", {})
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-crossed-"))
    (folder / "libgomp.so.1").symlink_to(pathlib.Path(info["runtime"]).resolve())
    return folder


def program_info(binary, environment):
    """What `--info` says: which runtime the loader took, and the compiler of the binary."""
    done = subprocess.run([binary, "--info"], env={**clean_environment(), **environment},
                          capture_output=True, text=True, timeout=30)
    if done.returncode != 0:
        raise BenchError(f"{binary} --info: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def check_identity(build, runtime):
    """The info of the runtime that really is loaded; an error when it is another one."""
    info = program_info(build / f"bench/{runtime.compiler}/omp-micro", runtime.environment())
    loaded = pathlib.Path(info["runtime"]).resolve()
    right = bool(info["sennit"]) if runtime.is_sennit else loaded.name.startswith(runtime.name)
    if not right or (info["sennit"] and not runtime.is_sennit):
        raise BenchError(f"{runtime.label}: the loader took {loaded} instead")
    return info


def read_rows(binary, only):
    listing = subprocess.run([binary, "--list"], env=clean_environment(), capture_output=True,
                             text=True, timeout=30, check=True).stdout
    rows = []
    for line in listing.splitlines():
        name, unit, _size, summary = line.split("\t")
        if not only or name in only:
            rows.append(Row(name, unit, summary, RIVALS.get(name, (name,)),
                            GOALS.get(name, GOAL_OTHER), ROW_ENVIRONMENT.get(name, ())))
    return tuple(rows)


def mpi_launcher(mpi, mode):
    if mpi == "mpich":
        return ["mpiexec.mpich", "-n", "2", "-bind-to", "core" if mode.bound else "none"]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpiexec.openmpi", *root, "--oversubscribe", "--bind-to", "core" if mode.bound else "none",
            "-n", "2"]


def command(build, group, row, runtime, mode, arguments):
    """argv and environment of one run."""
    settings = {**runtime.environment(), **mode.environment(), **dict(row.environment)}
    argv = [str(group.binary(build, runtime.compiler)), row.name, *arguments]
    if not group.mpi:
        return argv, {**clean_environment(), **settings}
    if runtime.is_sennit:
        settings["LD_PRELOAD"] = str(build / "lib" / f"libsennit-{group.mpi}.so")
    assignments = [f"{key}={value}" for key, value in settings.items()]
    # Through `env`, so that the settings reach the ranks alone and not mpiexec itself.
    return [*mpi_launcher(group.mpi, mode), "env", *assignments, *argv], clean_environment()


def execute(argv, environment, timeout_s, folder=None):
    """(state, stdout, complaint); state is ok, hang, unavailable or error."""
    with subprocess.Popen(argv, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            # First a signal that lets mpiexec take its ranks along.
            for number in (signal.SIGTERM, signal.SIGKILL):
                os.killpg(process.pid, number)
                try:
                    process.communicate(timeout=KILL_GRACE_S)
                    break
                except subprocess.TimeoutExpired:
                    continue
            return "hang", "", f"no result after {timeout_s:g} s"
    if process.returncode == 0:
        return "ok", out, ""
    if process.returncode == EXIT_UNAVAILABLE:
        return "unavailable", "", ""
    lines = [line for line in err.splitlines() if line.strip()]
    return "error", "", f"exit status {process.returncode}: {lines[0] if lines else 'no message'}"
