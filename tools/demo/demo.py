#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The main job: a hybrid Cholesky on 2 ranks under stock OpenMP and under Sennit.

Prints a table and writes timelines: of a run, and of two policies side by side. Run by `./dev demo`; standard library only.
"""

import argparse
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RUNTIME = {"gcc": "libgomp", "clang": "libomp"}
RANKS = 2


def stock_command(mpi, program):
    command = [f"mpiexec.{mpi}", "-n", str(RANKS)]
    if mpi == "openmpi":
        command += ["--oversubscribe", "--bind-to", "none"]
        if os.geteuid() == 0:
            command.append("--allow-run-as-root")
    return command + program


def run(command, environment, limit):
    """(exit code, or None when it was stopped; output)"""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            # mpiexec forwards a polite signal to its ranks; what is left gets the other one.
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, number)
                    process.wait(3)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    pass
        output.seek(0)
        return code, output.read()


def clean_environment(threads):
    dropped = ("LD_PRELOAD", "LD_LIBRARY_PATH", "OMP_", "KMP_", "GOMP_", "SENNIT_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    environment["OMP_NUM_THREADS"] = str(threads)
    return environment


def read_statistics(prefix):
    numbers = []
    for path in glob.glob(glob.escape(prefix) + ".*.json"):
        with open(path, encoding="utf-8") as file:
            numbers.append(json.load(file))
        os.unlink(path)
    # mpiexec and helpers that load no OpenMP write none.
    return max((n["suspended_peak"] for n in numbers), default=None)


def limit_of(who, options):
    return options.limit if who == "stock" else 6 * options.limit


def measure(options, who, compiler, mpi, threads, trace=None):
    program = os.path.join(options.build_dir, "apps", f"cholesky-{compiler}-{mpi}")
    environment = clean_environment(threads)
    with tempfile.TemporaryDirectory() as scratch:
        result = os.path.join(scratch, "result.json")
        work = [program, "--n", str(options.n), "--block", str(options.block), "--json", result]
        if who == "stock":
            command = stock_command(mpi, work)
        else:
            environment["SENNIT_STATS"] = os.path.join(scratch, "stats")
            command = [os.path.join(options.build_dir, "bin", "sennit"), "run", "-n", str(RANKS),
                       "--threads", str(threads)]
            if trace:
                command += ["--trace", trace]
            command += work
        limit = limit_of(who, options)
        code, output = run(command, environment, limit)
        row = {"runtime": "Sennit" if who == "sennit" else RUNTIME[compiler], "compiler": compiler,
               "mpi": mpi, "threads": threads, "code": code, "output": output, "peak": None,
               "limit": limit}
        if who == "sennit":
            row["peak"] = read_statistics(os.path.join(scratch, "stats"))
        if os.path.exists(result):
            with open(result, encoding="utf-8") as file:
                row.update(json.load(file))
        return row


def cells(row):
    if row["code"] is None:
        verdict = f"hangs (stopped after {row['limit']} s)"
    elif row["code"] != 0:
        verdict = f"fails (exit code {row['code']})"
    else:
        verdict = "done"
    finished = row["code"] == 0 and "seconds" in row
    tasks = sum(row[k] for k in ("potrf", "trsm", "syrk", "gemm", "send", "receive")) \
        if finished else None
    return [row["runtime"], row["compiler"], row["mpi"], f"{RANKS} x {row['threads']}",
            f"{row['seconds']:.3f} s" if finished else "-", str(tasks) if finished else "-",
            "-" if row["peak"] is None else str(row["peak"]),
            f"{row['residual']:.1e}" if finished else "-", verdict]


HEADINGS = ["runtime", "compiler", "MPI", "ranks x threads", "time", "tasks", "suspended at peak",
            "residual", "verdict"]


def print_table(rows):
    widths = [max(len(row[i]) for row in rows + [HEADINGS]) for i in range(len(HEADINGS))]
    line = "| " + " | ".join("{:<%d}" % width for width in widths) + " |"
    print(line.format(*HEADINGS))
    print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for row in rows:
        print(line.format(*row))


def compare_policies(options, folder):
    """The same factorization in the order of creation (fifo) and with what other ranks wait for
    first (fa), side by side on one page; what changed, as lines, or None.

    Emulated: kernels hold their thread without using a core, on a slow network, so that 16 threads on
    8 ranks run as they would on a cluster."""
    sennit = os.path.join(options.build_dir, "bin", "sennit")
    program = os.path.join(options.build_dir, "apps", "cholesky-gcc-openmpi")
    for policy in ("fifo", "fa"):
        environment = clean_environment(2) | {
            "SENNIT_NETWORK": "latency:1000,bandwidth:500,payload:64", "OMP_WAIT_POLICY": "passive"}
        code, output = run([sennit, "run", "-n", "8", "--threads", "2", "--policy", policy,
                            f"--trace={os.path.join(folder, policy)}", program, "--n", "12288", "--block",
                            "512", "--emulate", "--buffers", "1"], environment, 6 * options.limit)
        if code != 0:
            sys.stderr.write(output)
            return None
    page = os.path.abspath(os.path.join(options.output, "policies.html"))
    done = subprocess.run([sennit, "report", "fifo", "fa", "--html", page], check=False, cwd=folder,
                          stdout=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines()
    title = "What changed from fifo to fa"
    return lines[lines.index(title) + 1:-1] if done.returncode == 0 and title in lines else None


def write_timeline(options, folder):
    """What `sennit report` makes of the trace, which is kept beside it; False when it cannot."""
    out = options.output
    kept = os.path.join(out, "trace")
    shutil.rmtree(kept, ignore_errors=True)
    if os.path.isdir(folder):
        shutil.copytree(folder, kept)
    sennit = os.path.join(options.build_dir, "bin", "sennit")
    done = subprocess.run([sennit, "report", folder, "--html", os.path.join(out, "timeline.html"),
                           "--perfetto", os.path.join(out, "timeline.json")], check=False,
                          stdout=subprocess.PIPE, text=True)
    if done.returncode == 0:
        print("\n" + done.stdout)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", default="build/release")
    parser.add_argument("--output", default="build/demo", help="folder of the timeline")
    parser.add_argument("--n", type=int, default=4096)
    parser.add_argument("--block", type=int, default=128)
    parser.add_argument("--limit", type=int, default=10,
                        help="seconds before a stock run counts as hung; one under Sennit, which "
                             "other work on the machine may slow, has six times as many")
    options = parser.parse_args()
    options.build_dir = os.path.abspath(options.build_dir)

    print(f"Blocked Cholesky of a {options.n} x {options.n} covariance matrix, blocks of "
          f"{options.block}, on {RANKS} ranks: blocking MPI_Send and MPI_Recv inside OpenMP tasks.")
    print("Stock runtimes give a thread to each blocked task; with as many blocked receives as "
          f"threads nothing moves. Such a run is stopped after {options.limit} s.\n")
    begun = time.monotonic()
    rows, good = [], True
    trace = tempfile.mkdtemp(prefix="sennit-trace-")
    try:
        for mpi in ("mpich", "openmpi"):
            for threads in (1, 2):
                for compiler in ("gcc", "clang"):
                    for who in ("stock", "sennit"):
                        row = measure(options, who, compiler, mpi, threads)
                        rows.append(cells(row))
                        print(".", end="", flush=True)
                        if who == "sennit" and row["code"] != 0:
                            good = False
                            sys.stderr.write(row["output"])
        print("\n")
        print_table(rows)
        measure(options, "sennit", "gcc", "mpich", 2, os.path.join(trace, "one"))
        os.makedirs(options.output, exist_ok=True)
        written = write_timeline(options, os.path.join(trace, "one"))
        changes = compare_policies(options, trace)
    finally:
        shutil.rmtree(trace)
    if written:
        print(f"Timeline of a Sennit run: {options.output}/timeline.html, and "
              f"{options.output}/timeline.json for Perfetto.")
    else:
        print("\nNo timeline was recorded.", file=sys.stderr)
        good = False
    if changes:
        print("\nWhich task runs first matters to other ranks. The same work on 8 ranks of 2 threads (emulated), "
              "in the order of\ncreation (fifo) and with what others wait for first (fa):\n")
        print("\n".join(changes).rstrip())
        print(f"\nBoth timelines, side by side: {options.output}/policies.html")
    else:
        print("\nThe policies were not compared.", file=sys.stderr)
        good = False
    print(f"({time.monotonic() - begun:.0f} s)")
    if written:
        print(f"\nTo look closer at the first run: {os.path.relpath(options.build_dir)}/bin/sennit report {options.output}/trace "
              "--threads")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
