# SPDX-License-Identifier: Apache-2.0
"""The priorities that each policy gives to the tasks of a real program: the factorization of 4 x 4 tiles on two ranks of the
paper on communication-aware scheduling, Figures 1 and 3. They and the graph are read from the program's traces. Used by
paper_figures.py; the program runs twice in a process, and the second round is looked at, for FA learns in the first."""

import base64
import dataclasses
import json
import pathlib
import re
import struct
import subprocess
import tempfile

import cells
import versions

MOST = 1023  # the highest priority: OMP_MAX_TASK_PRIORITY's default under a policy
TILES, BLOCK, RANKS = 4, 128, 2
DATA = re.compile(r"^const DATA = (\{.*\});$", re.MULTILINE)


@dataclasses.dataclass
class Task:
    kind: str  # its function in apps/cholesky
    priority: int
    successors: list

    def sends(self):
        return self.kind.startswith("send")


def column(text, form):
    raw = base64.b64decode(text)
    return struct.unpack(f"<{len(raw) // 4}{form}", raw)


def second_round(process, names):
    """The tasks of a rank's second round: [Task], a task before its successors."""
    kinds = [names[name] for name in column(process["tasks"]["name"], "I")]
    found = {at: Task(kind, priority, []) for at, (kind, priority) in
             enumerate(zip(kinds, column(process["tasks"]["priority"], "i"))) if kind}
    for before, after in zip(column(process["edges"]["from"], "I"), column(process["edges"]["to"], "I")):
        found[before].successors.append(found[after])
    tasks = [found[at] for at in sorted(found)]
    return tasks[len(tasks) // 2:]


def traced(run, cases):
    """cases: {name: (policy, what the program's priority clauses say)}; {name: [tasks of a rank]}, or None"""
    if not (binary := run.program("cholesky")):
        return None
    with tempfile.TemporaryDirectory() as scratch:
        folder, page = pathlib.Path(scratch), pathlib.Path(scratch) / "page.html"
        for name, (policy, clauses) in cases.items():
            start, environment = versions.start(run, RANKS, 1, True, ("--policy", policy, "--trace", folder / name))
            argv = [*start, binary, "--n", TILES * BLOCK, "--block", BLOCK, "--grid", f"1x{RANKS}", "--repeat", 2, "--no-check",
                    "--priorities", clauses]
            state, _out, complaint = cells.execute([str(word) for word in argv], environment, versions.LIMIT_S)
            if state != "ok":
                raise cells.BenchError(f"cholesky under {policy}: {complaint or state}")
        subprocess.run([run.build / "bin/sennit", "report", *(folder / name for name in cases), "--html", page], check=True,
                       stdout=subprocess.DEVNULL)
        runs = json.loads(DATA.search(page.read_text())[1])["runs"]
    return {name: [second_round(process, one["names"]) for process in one["processes"]]
            for name, one in zip(cases, runs, strict=True)}


def algorithm_1(tasks):
    """Of each task, by the paper's Algorithm 1."""
    found = {}
    for task in reversed(tasks):
        most = max((found[id(other)] for other in task.successors), default=0)
        found[id(task)] = MOST if task.sends() else max(most - 1, 0)
    return [found[id(task)] for task in tasks]


def on_path(tasks):
    """Does it lead to a send, or is it one?"""
    return [priority > 0 for priority in algorithm_1(tasks)]


# What Figure 3's policies are said to do, and what the user writes for them.
RULES = {"ma1": lambda tasks: [int(task.sends()) for task in tasks], "ma2": lambda tasks: [int(leads) for leads in on_path(tasks)],
         "ma3": algorithm_1, "sa": algorithm_1, "fa": algorithm_1}
CLAUSES = {"ma1": "sends", "ma2": "path", "ma3": "depth", "sa": "sends", "fa": "none"}


def figure_3(run):
    """{policy: tasks that have another priority than the paper says}"""
    if not (found := traced(run, {policy: (policy, clauses) for policy, clauses in CLAUSES.items()})):
        return None
    return {policy: [sum(task.priority != wanted for tasks in ranks for task, wanted in zip(tasks, RULES[policy](tasks)))]
            for policy, ranks in found.items()}


def table_1(run):
    """{"policy: sends", "policy: path"}: of these tasks, the share that has a priority without the user's help. Sends: in a
    program without priority clauses. The path: in one that marks its sends, but under FA, which needs no marks."""
    cases = {f"{policy}: {what}": (policy, clauses) for policy in CLAUSES
             for what, clauses in (("sends", "none"), ("path", "sends"))}
    cases["fa: path"] = ("fa", "none")
    if not (found := traced(run, cases)):
        return None

    def wanted(what, tasks):
        return [task for task, leads in zip(tasks, on_path(tasks)) if leads and task.sends() == (what == "sends")]

    shares = {}
    for name, ranks in found.items():
        some = [task for tasks in ranks for task in wanted(name.rpartition(" ")[2], tasks)]
        shares[name] = [sum(task.priority > 0 for task in some) / len(some)]
    return shares
