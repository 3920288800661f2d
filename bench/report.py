# SPDX-License-Identifier: Apache-2.0
"""Turns samples into the markdown tables: values, ratios to the peers, goals.

samples[(group title, mode title, row name, runtime)] is a list of rounds, each a list of ns per
unit. A ratio is taken within a round, where both sides met the same state of the machine; its
median and its spread are over the rounds.
"""

import dataclasses
import statistics

LEGEND = """\
Values are ns per unit: median of the rounds' medians [least – largest of all samples].
Ratios are Sennit / peer, below 1 is faster: median of the rounds' ratios (ratio of the best samples)
[least – largest round]. *gcc door* and *clang door* compare within one compiler: with libgomp, and
with the better of libomp and libiomp5. *Best of all* compares with the best peer of any compiler.
*hang*: no result within the time limit. *n/a*: the runtime has no such thing."""

STATE_TEXT = {"hang": "**hang**", "unavailable": "n/a", "error": "**error**"}


@dataclasses.dataclass
class Cell:
    rounds: list = dataclasses.field(default_factory=list)
    state: str = "ok"  # the worst that happened; samples from before a hang are kept
    complaint: str = ""

    @property
    def measured(self):
        return self.state == "ok" and bool(self.rounds)

    def median(self):
        return statistics.median(statistics.median(samples) for samples in self.rounds)

    def best(self):
        return min(min(samples) for samples in self.rounds)

    def worst(self):
        return max(max(samples) for samples in self.rounds)


@dataclasses.dataclass(frozen=True)
class Ratio:
    median: float
    best: float
    by_round: tuple
    peer: str

    def text(self):
        spread = f" [{min(self.by_round):.2f} – {max(self.by_round):.2f}]" if len(self.by_round) > 1 else ""
        return f"{self.median:.2f} ({self.best:.2f}){spread}"


def number(value):
    """Three significant digits, thousands apart."""
    if value >= 100:
        digits = len(str(int(value))) - 3
        return f"{round(value, -digits):,.0f}"
    return f"{value:.3g}"


def value_text(cell):
    if cell is None:
        return "–"
    if not cell.measured:
        return STATE_TEXT.get(cell.state, "–")
    return f"{number(cell.median())} [{number(cell.best())} – {number(cell.worst())}]"


def ratio(ours, peers):
    """Ours against the peer with the least median; peers is {label: Cell}. None = nothing to compare."""
    peers = {label: cell for label, cell in peers.items() if cell and cell.measured}
    if not ours or not ours.measured or not peers:
        return None
    label = min(peers, key=lambda candidate: peers[candidate].median())
    peer = peers[label]
    by_round = tuple(statistics.median(mine) / statistics.median(theirs)
                     for mine, theirs in zip(ours.rounds, peer.rounds))
    return Ratio(statistics.median(by_round), ours.best() / peer.best(), by_round, label)


def ratio_text(ours, peers, value):
    if value:
        return value.text()
    if ours and ours.measured and peers and any(cell and cell.state == "hang" for cell in peers.values()):
        return "peers hang"
    return "–"


def median_text(values, form="{:.2f}"):
    """The median of some rounds, and their least and greatest."""
    if not values:
        return "too long"
    return (form + " [" + form + " to " + form + "]").format(statistics.median(values), min(values), max(values))


def markdown(header, lines):
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [header, rule, *lines])


class Tables:
    """The tables of one group in one mode, and the tally of its goals."""

    def __init__(self, group, mode, runtimes, cells):
        self.group, self.mode, self.runtimes, self.cells = group, mode, runtimes, cells
        self.doors = [runtime for runtime in runtimes if runtime.is_sennit and not runtime.is_before]
        self.before = {runtime.compiler: runtime for runtime in runtimes if runtime.is_before}
        self.peers = [runtime for runtime in runtimes if not runtime.is_sennit]
        self.met = {}  # (compiler, scope): [met, judged]

    def cell(self, row_name, runtime):
        return self.cells.get((self.group.title, self.mode.title, row_name, runtime))

    def rivals(self, row, peers):
        return {f"{peer.label} {name}" if name != row.name else peer.label: self.cell(name, peer)
                for peer in peers for name in row.rivals}

    def values(self):
        lines = [[row.name, row.unit, *(value_text(self.cell(row.name, runtime)) for runtime in self.runtimes)]
                 for row in self.group.rows]
        return markdown(["row", "ns per", *(runtime.label for runtime in self.runtimes)], lines)

    def ratios(self):
        """The table of ratios, '' when there is no Sennit to compare."""
        if not self.doors:
            return ""
        lines = []
        for row in self.group.rows:
            line, verdicts = [row.name], []
            for door in self.doors:
                ours = self.cell(row.name, door)
                own = [peer for peer in self.peers if peer.compiler == door.compiler]
                for scope, peers in (("own compiler", own), ("best of all", self.peers)):
                    rivals = self.rivals(row, peers)
                    value = ratio(ours, rivals)
                    named = f" {value.peer}" if value and len(rivals) > 1 else ""
                    line.append(ratio_text(ours, rivals, value) + named)
                    if value:
                        tally = self.met.setdefault((door.compiler, scope), [0, 0])
                        tally[0] += value.median <= row.goal
                        tally[1] += 1
                        if scope == "own compiler":
                            verdicts.append(f"{door.compiler} {'met' if value.median <= row.goal else 'missed'}")
            lines.append([*line, f"≤ {row.goal:g}: {', '.join(verdicts)}" if verdicts else f"≤ {row.goal:g}"])
        header = ["Sennit /"]
        for door in self.doors:
            header += [f"{door.compiler} door", f"{door.compiler} binary, best of all"]
        return markdown([*header, "goal (own door)"], lines)

    def changes(self):
        """The table of ratios to the build before, '' when there is none."""
        doors = [door for door in self.doors if door.compiler in self.before]
        if not doors:
            return ""
        lines = []
        for row in self.group.rows:
            line = [row.name]
            for door in doors:
                earlier = self.before[door.compiler]
                value = ratio(self.cell(row.name, door), {earlier.label: self.cell(row.name, earlier)})
                line.append(value.text() if value else "–")
            lines.append(line)
        return markdown(["Sennit / Sennit before", *(door.compiler for door in doors)], lines)

    def complaints(self):
        for row in self.group.rows:
            for runtime in self.runtimes:
                cell = self.cell(row.name, runtime)
                if cell and cell.complaint:
                    yield f"- {row.name}, {runtime.label}: {cell.complaint}"


def render(title, facts, notes, groups, cells):
    """The whole report; groups is a list of (group, runtimes measured in it)."""
    parts = [f"# {title}", "\n".join(f"- {name}: {text}" for name, text in facts)]
    if notes:
        parts.append("\n".join(f"**{note}**" for note in notes))
    parts.append(LEGEND)
    goals = []
    for group, runtimes in groups:
        for mode in group.modes:
            tables = Tables(group, mode, runtimes, cells)
            parts += [f"## {group.title}: {mode.title}", tables.values(), tables.ratios(), tables.changes(),
                      "\n".join(tables.complaints())]
            goals += [[f"{group.title}: {mode.title}", compiler, scope, f"{met} of {judged}"]
                      for (compiler, scope), (met, judged) in tables.met.items()]
    if goals:
        parts += ["## Rows that meet their goal", markdown(["", "binaries of", "against", "met"], goals)]
    return "\n\n".join(part for part in parts if part) + "\n"
