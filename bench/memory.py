# SPDX-License-Identifier: Apache-2.0
"""Resident memory of one task that waits for a dependence, of one whose body has ended but whose event is
not fulfilled, and of one that is suspended in the middle of its body: what further tasks of that kind add.
"""

import re
import statistics

import cells as bench_cells
import report

KINDS = ("waiting", "detached", "suspended")
TASKS = 900
# libgomp holds no more than 64 tasks a thread back, so the team is large; it sleeps.
MODE = bench_cells.Mode("memory", 32, False)
TIMEOUT_S = 60


def per_task(build, kind, runtime, runs):
    """The median of some runs as text."""
    argv = [str(build / "bench" / runtime.compiler / "task-memory"), kind, str(TASKS)]
    environment = {**bench_cells.clean_environment(), **runtime.environment(), **MODE.environment(),
                   "OMP_WAIT_POLICY": "passive"}
    values = []
    for _ in range(runs):
        state, out, _complaint = bench_cells.execute(argv, environment, TIMEOUT_S)
        if state != "ok":
            return report.STATE_TEXT[state]
        values.append(float(re.search(r"bytes=(\S+)", out).group(1)))
    return f"{statistics.median(values):,.0f}"


def table(build, runtimes, runs, progress):
    lines = []
    for kind in KINDS:
        progress(f"memory of {kind} tasks")
        lines.append([kind, *(per_task(build, kind, runtime, runs) for runtime in runtimes)])
    return report.markdown(["bytes a task", *(runtime.label for runtime in runtimes)], lines)
