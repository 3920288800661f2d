#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures OpenMP runtimes beside each other and prints the tables of docs/results/.

All cells (row x runtime x mode) are run in rounds. A round goes through the rows in a seeded random
order and, within a row, through the runtimes in a seeded random order, each in a fresh process: what
is compared was measured within the same second. Runtimes that are not there are left out, by name.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import cells as bench_cells
import instructions
import machine
import memory
import node
import plugin
import report

MPIS = ("mpich", "openmpi")
BUSY_LOAD = 0.5  # load average before the run, above which its report warns


def parse_arguments():
    source = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=source / "build/release",
                        help="build folder with bench/ and lib/ (default: build/release)")
    parser.add_argument("--peers", type=pathlib.Path, default=source / "build/peers",
                        help="folder that get_peers.sh filled (default: build/peers)")
    parser.add_argument("--output", type=pathlib.Path, help="also write the report to this file")
    parser.add_argument("--json", type=pathlib.Path, help="write every sample to this file")
    parser.add_argument("--quick", action="store_true",
                        help="one short round, MPI with 1 thread a rank only: under 2 minutes")
    parser.add_argument("--rounds", type=int, help="rounds (default: 5; 1 with --quick)")
    parser.add_argument("--samples", type=int, help="samples of a run (default: 7; 3 with --quick)")
    parser.add_argument("--sample-ms", type=int, help="least length of a sample (default: 10; 2 with --quick)")
    parser.add_argument("--timeout", type=float,
                        help="seconds until a run counts as hang (default: 10; 8 with --quick)")
    parser.add_argument("--seed", type=int, default=20240901, help="of the order of the runs")
    parser.add_argument("--threads", type=int, default=2, help="threads, one a core, bound (default: 2)")
    parser.add_argument("--oversubscribed", type=int, default=8,
                        help="threads of the second mode, on the same cores, unbound; 0 = leave it out (default: 8)")
    parser.add_argument("--neighbour", action="store_true",
                        help="beside another program: one busy process a core; also with one thread more than cores")
    parser.add_argument("--before", type=pathlib.Path,
                        help="lib/omp of another build of Sennit, measured in turns with this one; groups omp and suspend")
    parser.add_argument("--rows", help="only these rows, comma separated; with --groups pass: of " + ", ".join(plugin.PARTS))
    parser.add_argument("--groups", default="omp,suspend,mpi",
                        help="of omp, suspend, mpi (default: all three); or node: more ranks than cores; or pass: the "
                             "compiler plug-in")
    parser.add_argument("--crossed", action="store_true", help="also gcc binaries on LLVM's libomp")
    parser.add_argument("--callgrind", action="store_true",
                        help="instead of times, count instructions per unit (valgrind, one thread, group omp)")
    parser.add_argument("--memory", action="store_true", help="instead of times, memory per task")
    arguments = parser.parse_args()
    defaults = (1, 3, 2, 8) if arguments.quick else (5, 7, 10, 10)
    for name, value in zip(("rounds", "samples", "sample_ms", "timeout"), defaults):
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
        if getattr(arguments, name) <= 0:
            parser.error(f"--{name.replace('_', '-')} must be positive")
    unknown = set() if arguments.groups in ("node", "pass") else set(arguments.groups.split(",")) - {"omp", "suspend", "mpi"}
    if arguments.groups == "pass" and set(arguments.rows.split(",") if arguments.rows else ()) - set(plugin.PARTS):
        parser.error(f"--rows: of {', '.join(plugin.PARTS)}")
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are omp, suspend, mpi, and node or pass alone")
    return arguments


def make_groups(arguments, threads):
    """The groups asked for, with the rows that their programs list."""
    modes = [bench_cells.Mode(f"{threads} threads on {threads} cores, bound", threads, True)]
    if arguments.oversubscribed:
        modes.append(bench_cells.Mode(f"{arguments.oversubscribed} threads on {threads} cores",
                                      arguments.oversubscribed, False))
    if arguments.neighbour:
        modes.append(bench_cells.Mode(f"{threads + 1} threads on {threads} cores", threads + 1, False))
    mpi_modes = [bench_cells.Mode("2 ranks, 1 thread each, bound", 1, True)]
    if arguments.oversubscribed and not arguments.quick:
        mpi_modes.append(bench_cells.Mode(f"2 ranks, 2 threads each, on {threads} cores", 2, False))
    wanted = arguments.groups.split(",")
    plans = []
    if "omp" in wanted:
        plans.append(("OpenMP constructs", "omp-micro", modes, None))
    if "suspend" in wanted:
        plans.append(("Waiting inside a task", "suspend-roundtrip", modes, None))
    if "mpi" in wanted:
        titles = {"mpich": "MPICH", "openmpi": "Open MPI"}
        plans += [(f"Blocking {titles[mpi]} calls", "mpi-pingpong", mpi_modes, mpi) for mpi in MPIS]
        plans += [(f"Ways to wait for {titles[mpi]} in tasks", "mpi-engine", mpi_modes, mpi) for mpi in MPIS]

    only = set(arguments.rows.split(",")) if arguments.rows else None
    groups, found = [], set()
    for title, program, group_modes, mpi in plans:
        group = bench_cells.Group(title, program, tuple(group_modes), (), mpi)
        binary = group.binary(arguments.build, "gcc")
        if not binary.exists():
            raise bench_cells.BenchError(f"{binary} is missing: build the target 'bench' first")
        rows = bench_cells.read_rows(binary, only)
        found |= {row.name for row in rows}
        if rows:
            groups.append(bench_cells.Group(title, program, tuple(group_modes), rows, mpi))
    if only and only - found:
        raise bench_cells.BenchError(f"no such row: {', '.join(sorted(only - found))}")
    return groups


def present_runtimes(arguments, crossed, before=None):
    """The runtimes at hand, their versions, and a note for each that is not."""
    present, facts, notes = [], [], []
    for runtime in bench_cells.runtimes(arguments.build, arguments.peers, crossed, before):
        library = "libgomp.so.1" if runtime.compiler == "gcc" else "libomp.so.5"
        if runtime.library_folder and not (runtime.library_folder / library).exists():
            remedy = "build it" if runtime.is_sennit else "bench/get_peers.sh fetches it"
            notes.append(f"{runtime.label} skipped: no {library} for it here ({remedy}).")
            continue
        info = bench_cells.check_identity(arguments.build, runtime)
        present.append(runtime)
        loaded = pathlib.Path(info["runtime"])
        version_file = loaded.parent / "VERSION"
        if runtime.is_sennit:
            version = info["sennit"]
        elif version_file.exists():
            version = version_file.read_text().strip()
        else:
            version = machine.package_version(loaded)
        compiler = re.sub(r"\s*\(.*\)", "", info["compiler"])
        name = compiler if "lang" in compiler else f"gcc {compiler}"
        facts.append((runtime.label, f"{version}; binaries by {name} -O2"))
    return present, facts, notes


def group_runtimes(build, group, present, notes):
    """Those of the runtimes that can run a group; Sennit needs its MPI library for the MPI ones."""
    if group.mpi:  # only this build's library for MPI is at hand
        present = [runtime for runtime in present if not runtime.is_before]
    if not group.mpi or (build / "lib" / f"libsennit-{group.mpi}.so").exists():
        return present
    if any(runtime.is_sennit for runtime in present):
        notes.append(f"Sennit skipped in '{group.title}': no libsennit-{group.mpi}.so here (build it).")
    return [runtime for runtime in present if not runtime.is_sennit]


def progress(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def measure(arguments, groups):
    """Runs all rounds; returns {(group, mode, row, runtime): Cell}."""
    options = ["--samples", str(arguments.samples), "--sample-ms", str(arguments.sample_ms),
               "--budget-ms", str(10 * arguments.samples * arguments.sample_ms)]
    strips = [(group, mode, row, runtimes) for group, runtimes in groups for mode in group.modes for row in group.rows]
    results = {}
    shuffle = random.Random(arguments.seed).shuffle
    for number in range(arguments.rounds):
        shuffle(strips)
        for index, (group, mode, row, runtimes) in enumerate(strips):
            progress(f"round {number + 1}/{arguments.rounds}, {index + 1}/{len(strips)}: {row.name}, {mode.title}")
            order = list(runtimes)
            shuffle(order)
            for runtime in order:
                cell = results.setdefault((group.title, mode.title, row.name, runtime), report.Cell())
                if cell.state != "ok":
                    continue  # it hung or failed before: once is enough
                argv, environment = bench_cells.command(arguments.build, group, row, runtime, mode, options)
                limit_s = bench_cells.QUICK_LIMITS_S.get(row.name, arguments.timeout) if arguments.quick \
                    else arguments.timeout
                state, out, complaint = bench_cells.execute(argv, environment, limit_s)
                line = re.search(r"^\S+ threads=\d+ .*\bns=(\S+)$", out, re.MULTILINE)
                if state == "ok" and line:
                    cell.rounds.append([float(sample) for sample in line.group(1).split(",")])
                else:
                    cell.state = state if state != "ok" else "error"
                    cell.complaint = complaint or ("" if state == "unavailable" else "printed no result")
    return results


@contextlib.contextmanager
def neighbours(cpus):
    """Another program that computes on each of these processors meanwhile."""
    busy = []
    try:
        for cpu in cpus:
            busy.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            os.sched_setaffinity(busy[-1].pid, {cpu})
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def write_samples(path, results):
    records = [{"group": group, "mode": mode, "row": row, "runtime": runtime.label, "state": cell.state,
                "rounds": cell.rounds} for (group, mode, row, runtime), cell in results.items()]
    path.write_text(json.dumps(records, indent=1) + "\n")


def busy_notes():
    load = os.getloadavg()[0]
    return [f"Other work was running here (load average {load:.1f}): compare the columns only."] if load > BUSY_LOAD else []


def measure_node(arguments, cpus, source):
    return node.page(arguments.build, machine.describe(cpus, source, MPIS), busy_notes(), arguments.rounds, arguments.seed,
                       4 * arguments.timeout, progress)


def finish(arguments, text):
    print(text, end="")
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(text)


def run(arguments, crossed):
    cpus = machine.distinct_cores(arguments.threads)
    if len(cpus) < arguments.threads:
        raise bench_cells.BenchError(f"--threads {arguments.threads}: only {len(cpus)} cores may be used here")
    os.sched_setaffinity(0, cpus)  # for every run: so both modes mean the same on a large machine
    source = pathlib.Path(__file__).resolve().parent.parent
    if arguments.callgrind:
        if not shutil.which("valgrind"):
            raise bench_cells.BenchError("valgrind is missing: install the package valgrind")
        arguments.groups = "omp"
    if arguments.groups == "node":
        return finish(arguments, measure_node(arguments, cpus, source))
    if arguments.groups == "pass":
        return finish(arguments, plugin.page(arguments.build, machine.describe(cpus, source, MPIS), busy_notes(),
                                               arguments.rounds, arguments.seed, progress,
                                               arguments.rows.split(",") if arguments.rows else ()))
    groups = make_groups(arguments, len(cpus))
    present, runtime_facts, notes = present_runtimes(arguments, crossed, arguments.before)
    load = os.getloadavg()[0]
    if load > BUSY_LOAD and not arguments.neighbour:
        notes.append(f"Other work was running here (load average {load:.1f}): do not trust these numbers.")
    for note in notes:
        progress(note)
    facts = machine.describe(cpus, source, {group.mpi for group in groups})
    facts += [*machine.switch_facts(arguments.build), *runtime_facts]
    started = time.monotonic()
    if arguments.memory:
        parts = ["# Memory per task", "\n".join(f"- {name}: {text}" for name, text in facts),
                 " ".join(memory.__doc__.split()),
                 memory.table(arguments.build, present, arguments.rounds, progress)]
        text = "\n\n".join(parts) + "\n"
    elif arguments.callgrind:
        parts = ["# Instructions per unit, one thread", "\n".join(f"- {name}: {text}" for name, text in facts),
                 "\n".join(f"**{note}**" for note in notes), " ".join(instructions.__doc__.split()),
                 instructions.table(arguments.build, groups[0], present, progress)]
        text = "\n\n".join(part for part in parts if part) + "\n"
    else:
        plan = [(group, group_runtimes(arguments.build, group, present, notes)) for group in groups]
        with neighbours(cpus if arguments.neighbour else ()):
            results = measure(arguments, plan)
        if arguments.neighbour:
            facts.append(("neighbour", "a process on each core that computes all the time"))
        facts.append(("runs", f"{arguments.rounds} round(s) of {arguments.samples} samples of at least "
                              f"{arguments.sample_ms} ms, seed {arguments.seed}, limit {arguments.timeout:g} s a run"))
        text = report.render("OpenMP runtimes beside each other", facts, notes, plan, results)
        if arguments.json:
            write_samples(arguments.json, results)
    finish(arguments, text)
    progress(f"done in {time.monotonic() - started:.0f} s")


def main():
    arguments = parse_arguments()
    crossed = None
    try:
        if arguments.crossed:
            crossed = bench_cells.make_crossed_folder(arguments.build)
        run(arguments, crossed)
    except (bench_cells.BenchError, OSError) as error:
        print(f"sennit: bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        if crossed:
            shutil.rmtree(crossed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
