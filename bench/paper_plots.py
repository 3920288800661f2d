# SPDX-License-Identifier: Apache-2.0
"""The papers' plots, drawn from the values of our figures: {name of a file: SVG} for each figure that has some; and tables of
all numbers behind a plot. What was not measured has neither. Used by papers.py."""

import statistics

import coscheduling
import message_sizes
import paper_runs
import plot
from paper_figures import FIGURE_4, HEAD_DETACH, RANKS, SEIDEL, TABLE_3, VARIANTS, outside

POLICIES = ("fifo", "ma1", "ma2", "sa", "fa")


def middle(values):
    return statistics.median(values)


def points(values, name, numbers):
    """[(number, value)] of the values that there are, as `name 4`"""
    return [(number, middle(values[f"{name} {number}"])) for number in numbers if f"{name} {number}" in values]


def spreads(values):
    groups = {}
    for split in ("16-48", "32-24", "64-12", "128-6"):
        for policy in POLICIES:
            total, idle = (middle(values[f"{split} {policy}{what}"]) for what in ("", " idle"))
            overhead = middle(values.get(f"{split} {policy} overhead", [0]))
            groups.setdefault(split, {})[policy] = {"in task": total - idle - overhead, "idle": idle, "overhead": overhead}
        for policy, (total, idle) in FIGURE_4.get(split, {}).items():
            groups[split][f"{policy}, paper"] = {"in task or overhead": total - idle, "idle": idle}
    return {"bars": plot.bars("Cores spread over ranks and threads, 16 nodes", "ranks-threads", "seconds", groups)}


def weak_scaling(values):
    alone = {policy: middle(values[f"{policy} 1"]) for policy in POLICIES}
    series = {policy: [(int(ranks), alone[policy] / time) for ranks, time in points(values, policy, RANKS)] for policy in POLICIES}
    series |= {f"{policy}, paper": [(int(ranks), paper[0] / time) for ranks, time in zip(RANKS, paper)]
               for policy, paper in TABLE_3.items()}
    return {"efficiency": plot.lines("Weak scaling: efficiency", "ranks of 24 threads", "time on one rank / time", series,
                                     log_x=True)}


def gauss_seidel(values):
    nodes = (1, 2, 4, 8, 16, 32, 64)
    series = {name: points(values, name, nodes) for name in SEIDEL}
    base = middle(values["Pure MPI 1, s"])
    grown = {name: [(count, share * count * base / middle(values[f"{name} 1, s"])) for count, share in line]
             for name, line in series.items()}
    return {"efficiency": plot.lines("Gauss-Seidel: efficiency", "nodes", "efficiency", series, log_x=True),
            "speedup": plot.lines("Gauss-Seidel: speedup over Pure MPI on one node", "nodes", "speedup", grown, log_x=True,
                                  log_y=True)}


def ping_pong(values):
    lines, found = message_sizes.lines_of(values), {}
    for mpi in message_sizes.MPIS.values():
        own = {name.removeprefix(f"{mpi}, "): took for name, took in lines.items() if name.startswith(f"{mpi}, ")}
        if not own:
            continue
        word = mpi.replace(" ", "").lower()
        found[f"{word}-latency"] = plot.lines(
            f"{mpi}: latency", "bytes", "microseconds",
            {name: [(size, middle(one)) for size, one in took.items()] for name, took in own.items()}, log_x=True, log_y=True)
        found[f"{word}-bandwidth"] = plot.lines(
            f"{mpi}: bandwidth", "bytes", "MB/s", {name: [(size, middle(one)) for size, one in message_sizes.bandwidth(took).items()]
                                                   for name, took in own.items()}, log_x=True)
    return found


def together(values):
    curves = {name: [(cores, middle(one)) for cores, one in took.items()] for name, took in coscheduling.curves(values).items()}
    groups = {}
    for title, ways in coscheduling.makespans(values).items():
        splits = {way: middle(took) for way, took in ways.items() if way.startswith("split")}
        shown = {"in turn": middle(ways["in turn"]), "best split": min(splits.values()), "worst split": max(splits.values()),
                 **{way: middle(ways[way]) for way in coscheduling.POLICIES if way in ways}}
        groups[title] = {way: {"makespan": took} for way, took in shown.items() if len(splits) > 1 or way != "worst split"}
    return {"alone": plot.lines("Programs alone", "cores", "seconds", curves, log_y=True),
            "together": plot.bars("Programs together", "", "seconds until the last one ends", groups)}


def traces(values):
    rows = {name: list(zip(ends[::2], ends[1::2])) for name, ends in values.items() if ", rank " in name}
    groups = {}
    for name, row in rows.items():
        version, _, rank = name.partition(", ")
        groups.setdefault(version, {})[rank] = row
    ranks = sorted({rank for group in groups.values() for rank in group})
    ordered = {version: groups[version] for version in paper_runs.SEIDEL if version in groups}
    return {"traces": plot.spans("Gauss-Seidel: when each rank computes", "milliseconds", ordered, dict(zip(ranks, plot.COLOURS)))}


def detached(values):
    return {heading.rpartition(": ")[2].replace(" ", "-"): plot.lines(
        f"{heading.rpartition(': ')[2].capitalize()}: time of a thread outside of kernels", "ranks", "seconds",
        {variant: sorted(outside(heading, variant, 1)(values).items()) for variant in VARIANTS}, log_x=True)
        for heading in HEAD_DETACH}


def times(values):
    groups = {"": {name: {"median": middle(took)} for name, took in values.items()}}
    return {"times": plot.bars("Time", "", "seconds", groups)}


CALC = (" calc", " noncalc", " calc, all", " noncalc, all")


def calculation(values):
    """{case: {what: seconds}}; of older runs the seconds alone"""
    cases = [name for name in values if not name.endswith(CALC)]
    return {name: {what: middle(values[name + what]) for what in CALC if name + what in values} for name in cases}


def calculations(values):
    """A thread's time in kernels and outside of them, as the paper's Figure 2a; of all threads, as its Figure 2b."""
    found = calculation(values)
    if not all(found.values()):
        return times({name: values[name] for name in found})
    return {name: plot.bars(title, "", "seconds", {"": {case: {"calc": took[" calc" + whose], "noncalc": took[" noncalc" + whose]}
                                                        for case, took in found.items()}})
            for name, title, whose in (("thread", "Time of a thread", ""), ("sum", "Time of all threads", ", all"))}


PLOTS = {"aware-4": spreads, "aware-5": weak_scaling, "tampi-9": gauss_seidel, "tampi-10": traces, "tampi-11": gauss_seidel,
         "tampi-9-here": times, "tampi-9-runtimes": times, "tampi-14-runtimes": times, "tampi-blocks": times,
         "detach-1-2-simulated": detached, "detach-1-2": calculations, "charm-2": times, "charm-table-2": times,
         "virtual-3": times, "virtual-3-here": together, "virtual-3-npb": together, "virtual-4-sizes": ping_pong,
         **{f"virtual-4-imb-{word}": ping_pong for word in message_sizes.MPIS}}


def spread(values):
    return f"{middle(values):.4g} [{min(values):.4g} – {max(values):.4g}]"


def table_of_sizes(values):
    lines = message_sizes.lines_of(values)
    return (["bytes; microseconds", *lines], [[size, *(f"{middle(took[size]):.2f}" if size in took else "" for took in lines.values())]
                                              for size in sorted({size for took in lines.values() for size in took})])


def table_of_makespans(values):
    told = coscheduling.makespans(values, ", simulated")
    alone = [[f"{name} alone", f"{cores} cores", spread(took), ""]
             for name, counts in coscheduling.curves(values).items() for cores, took in sorted(counts.items())]
    if not told:  # the programs ran alone only
        alone = [row[:3] for row in alone]
        return (["programs", "", "seconds"], alone + [[title, f"{way}, simulated", spread(took)] for title, ways in
                                                      coscheduling.makespans(values).items() for way, took in ways.items()])
    return (["programs", "", "seconds", "simulated"],
            alone + [[title, way, spread(took), f"{middle(told[title][way]):.4g}"]
                     for title, ways in coscheduling.makespans(values).items() for way, took in ways.items()])


def table_of_calculations(values):
    found = calculation(values)
    if not all(found.values()):
        return None
    return (["seconds, median", *(what.strip() for what in CALC)],
            [[name, *(f"{took[what]:.4f}" for what in CALC)] for name, took in found.items()])


def table_of_runtimes(values):
    """Of what is called `version, runtime`."""
    runtimes = list(dict.fromkeys(name.rpartition(", ")[2] for name in values))
    versions = list(dict.fromkeys(name.rpartition(", ")[0] for name in values))
    return (["seconds", *runtimes], [[version, *(spread(values[f"{version}, {runtime}"]) if f"{version}, {runtime}" in values else "–"
                                                 for runtime in runtimes)] for version in versions])


TABLES = {"detach-1-2": table_of_calculations, "tampi-9-runtimes": table_of_runtimes, "tampi-14-runtimes": table_of_runtimes,
          "virtual-3-here": table_of_makespans, "virtual-3-npb": table_of_makespans, "virtual-4-sizes": table_of_sizes,
          **{f"virtual-4-imb-{word}": table_of_sizes for word in message_sizes.MPIS}}


def table_of(figure, found):
    """(columns, rows) of a figure whose numbers are more than its sentences'; or None"""
    return TABLES[figure](found[figure]["values"]) if figure in found and figure in TABLES else None


def plots_of(figure, found):
    """{name of a file: SVG}"""
    if figure not in found or figure not in PLOTS:
        return {}
    return {f"{figure}-{name}.svg": text for name, text in PLOTS[figure](found[figure]["values"]).items()}
