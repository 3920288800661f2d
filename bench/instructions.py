# SPDX-License-Identifier: Apache-2.0
"""Counts instructions per unit with valgrind's callgrind, one thread: free of the machine's noise.

Each row runs twice, with N and with 2 N calls; the difference, divided by the units of N calls, is
what one unit costs without the start of the program. Of some rows only what is done in some
functions is counted.
"""

import pathlib
import re
import tempfile

import cells as bench_cells
import report

# row: (size of a call, calls N): small, for valgrind is slow.
ROWS = {
    "task-flat": (1000, 5),
    "task-if0": (1000, 5),
    "task-untied": (1000, 5),
    "fib": (12, 5),
    "nqueens": (5, 5),
    "dep-chain": (1000, 5),
    "dep-64-chains": (1024, 5),
    "dep-stencil": (8, 5),
    "dep-sweeps": (100, 1),
    "graph": (256, 5),
    "taskgroup": (500, 5),
    "taskwait": (500, 5),
    "taskloop-grain1": (1, 5),
    "parallel": (500, 5),
    "barrier": (500, 5),
    "for-dynamic1": (1, 1),
    "critical": (1000, 5),
    "lock-pair": (1000, 5),
    "dep-creation": (100, 1),
    "dep-creation-looked-up": (100, 1),
}
PROGRAMS = ("omp-micro", "held-tasks")
# What is called for the creation of a task.
CREATION = {"gcc": ("GOMP_task",), "clang": ("__kmpc_omp_task_alloc", "__kmpc_omp_task_with_deps")}
FUNCTIONS = dict.fromkeys(("dep-creation", "dep-creation-looked-up"), CREATION)
MODE = bench_cells.Mode("instructions", 1, True)
TIMEOUT_S = 60


def rows_of(build, compiler):
    """(group, row) of each row above, as the programs of that compiler have them."""
    for program in PROGRAMS:
        group = bench_cells.Group("", program, (), ())
        for row in bench_cells.read_rows(group.binary(build, compiler), set(ROWS)):
            yield group, row


def count(build, group, row, runtime, calls, size):
    """(instructions, units) of one run."""
    argv, environment = bench_cells.command(build, group, row, runtime, MODE,
                                            ["--calls", str(calls), "--size", str(size)])
    with tempfile.TemporaryDirectory() as scratch:
        out_file = pathlib.Path(scratch) / "callgrind.out"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out_file}"]
        valgrind += [f"--toggle-collect={name}" for name in FUNCTIONS.get(row.name, {}).get(runtime.compiler, ())]
        state, out, complaint = bench_cells.execute([*valgrind, *argv], environment, TIMEOUT_S)
        if state != "ok":
            return state, complaint, 0
        total = re.search(r"^(?:summary|totals): (\d+)", out_file.read_text(), re.MULTILINE)
    return "ok", int(total.group(1)), int(re.search(r"units=(\d+)", out).group(1))


def per_unit(build, group, row, runtime):
    """('ok', instructions of one unit), or what went wrong and the program's complaint."""
    size, calls = ROWS[row.name]
    state, once, units = count(build, group, row, runtime, calls, size)
    if state != "ok":
        return state, once
    state, twice, _units = count(build, group, row, runtime, 2 * calls, size)
    return (state, (twice - once) / units) if state == "ok" else (state, twice)


def cell(build, group, row, runtime):
    state, value = per_unit(build, group, row, runtime)
    return f"{value:,.1f}" if state == "ok" else report.STATE_TEXT[state]


def table(build, group, runtimes, progress):
    lines = []
    for row in group.rows:
        if row.name in ROWS:
            progress(f"callgrind {row.name}")
            lines.append([row.name, row.unit, *(cell(build, group, row, runtime) for runtime in runtimes)])
    return report.markdown(["row", "instructions per", *(runtime.label for runtime in runtimes)], lines)
