# SPDX-License-Identifier: Apache-2.0
"""The suite's tables, goals and plot."""

import html
import statistics

LEGEND = """\
Times are seconds: median [least – largest].

- *Gain*: how much of the time of `fifo` by creation is saved: the median over the rounds, each against the `fifo` run of its
  round (in parentheses: by the least times of both).
- *Above bound*: above what no schedule can beat. The bound is the greatest of these: the work of the busiest rank, divided by
  its threads; the longest path, with its messages; the bytes of the busiest card; and for every set of tasks of a rank, or of
  messages of a card, the sum of what has to come before them, what they take together, and what has to follow them.
- *Processors*: the part of the two processors' time that the run used. Near 1 an emulated result would be noise.
- *Policy work*: time in the policy, with its waits for a lock, as a part of the time of all threads.
- *Late*: how late the machine woke the threads of emulated kernels, as a part of the time of all threads. No order of tasks
  saves that. So the goals take it off when they compare with the bound, and a run with more than 2.5% is done again, up to twice.

The order in parentheses says what the age of equals counts from. FIFO means creation order, and in the goals so does LIFO.
Messages of more than 64 KiB leave when their receive has been called, as with any MPI, unless *sent unasked* is said. A network
counts as saturated if the busiest card sends for a fifth of the time or more. With real kernels a run is the fastest of five
factorizations."""

TESTED = """Goals: median over the rounds (the least times) [least – largest of the rounds]. *A half-learned FA is never slower than FIFO* is a
test: `unit.Outlook.AHalfLearnedGraphDoesNotPreferTheKnownSend`."""

# Pereira et al. (IWOMP 2021): table 3 and section 4.3, seconds.
PAPER = """\
Pereira et al. measured (n = 131072, b = 512, 24 threads a rank, Skylake, 100 Gb/s):

| ranks | 1 | 2 | 4 | 8 | 16 | 32 |
|---|---:|---:|---:|---:|---:|---:|
| FIFO | 22.28 | 24.05 | 25.82 | 26.46 | 31.02 | 33.36 |
| SA | 22.67 | 24.46 | 24.58 | 24.91 | 25.96 | 27.01 |
| FA | 22.63 | 24.48 | 25.05 | 25.38 | 26.27 | 27.89 |
| gain of SA | –1.8% | –1.7% | 4.8% | 5.9% | 16.3% | 19.0% |
| FA behind SA | –0.2% | 0.1% | 1.9% | 1.9% | 1.2% | 3.3% |

There FA is up to 8% behind SA (128 x 6); MA-1 and MA-2 gain nothing. Protze et al. find *detach* the
fastest of blocking, singlecom, taskyield and detach (figures 1 and 2; no numbers are printed)."""


def markdown(header, lines):
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *lines])


def good(cell):
    return [sample for sample in cell or [] if sample]


def median(cell, field="seconds"):
    values = [sample[field] for sample in good(cell)]
    return statistics.median(values) if values else None


def above_bound(cell):
    return [sample["seconds"] / sample["bound"] - 1 for sample in good(cell)]


def saturated(sample):
    return sample["bound_card"] >= 0.2 * sample["bound"]


def late_share(sample):
    """Of the threads' time, that emulated kernels took too long."""
    return sample.get("late", 0.0) / sample["seconds"] / sample["threads"] / sample["ranks"]


def above_bound_but_late(cell):
    return [sample["seconds"] * (1 - late_share(sample)) / sample["bound"] - 1 for sample in good(cell)]


def by_round(mine, theirs):
    """Of the rounds in which both have a time: theirs, mine."""
    return [(b["seconds"], a["seconds"]) for a, b in zip(mine or [], theirs or []) if a and b]


def savings(mine, theirs):
    """Of each round, the share of `theirs` that `mine` saves."""
    return [(their - my) / their for their, my in by_round(mine, theirs)]


def saved_best(mine, theirs):
    if not good(mine) or not good(theirs):
        return None
    my, their = (min(s["seconds"] for s in good(cell)) for cell in (mine, theirs))
    return (their - my) / their


def policy_share(sample):
    return sample["policy"] / sample["seconds"] / sample["threads"] / sample["ranks"]


def percent(value):
    return "–" if value is None else f"{100 * value:.1f}%"


def gain_text(mine, theirs):
    shares = savings(mine, theirs)
    return f"{percent(statistics.median(shares) if shares else None)} ({percent(saved_best(mine, theirs))})"


def baseline(ways):
    """What gains are counted from: creation-order FIFO, or the first row."""
    for way in ways:
        if way.policy == "fifo" and way.order == "creation":
            return way
    return ways[0]


def table(name, case, ways, samples):
    base = baseline(ways)
    lines = []
    for way in ways:
        cell = samples.get((name, case, way))
        if not good(cell):
            lines.append([way.label, "**no result**", "", "", "", "", ""])
            continue
        times = [sample["seconds"] for sample in good(cell)]
        emulated = good(cell)[0]["emulated"]
        lines.append([
            way.label,
            f"{median(cell):.3f} [{min(times):.3f} – {max(times):.3f}]" + ("" if len(good(cell)) == len(cell) else
                                                                          f", {len(cell) - len(good(cell))} failed"),
            "" if way == base else gain_text(cell, samples.get((name, case, base))),
            percent(statistics.median(above_bound(cell))) if emulated else "–",
            percent(statistics.median(map(late_share, good(cell)))) if emulated else "–",
            percent(statistics.median(s["cpu"] / s["seconds"] / 2 for s in good(cell))),
            percent(statistics.median(map(policy_share, good(cell)))),
        ])
    text = markdown(["", "seconds", f"gain over {base.label}", "above bound", "late", "processors", "policy work"], lines)
    some = next((s for way in ways for s in good(samples.get((name, case, way)))), None)
    if some and some["emulated"]:
        text = (f"Bounds: work {some['bound_work']:.3f} s, longest path {some['bound_path']:.3f} s, busiest card "
                f"{some['bound_card']:.3f} s, with what comes before and after {some['bound']:.3f} s.\n\n" + text)
    return text


class Goals:
    def __init__(self, groups, samples):
        self.samples = samples
        self.cases = [(name, case, ways) for name, _, cases, ways in groups for case in cases]
        self.lines = []

    def cell(self, name, case, policy, order="auto"):
        for (group, where, way), cell in self.samples.items():
            if (group, where, way.policy, way.order, way.variant) == (name, case, policy, order, "interop-blocking"):
                return cell
        return None

    def say(self, goal, case, values, met, best):
        """`values`: of each round; their median has to be good enough."""
        if not values:
            self.lines.append([goal, case.title, "–", "not measured"])
            return
        value = statistics.median(values)
        self.lines.append([goal, case.title,
                           f"{percent(value)} ({percent(best)}) [{percent(min(values))} – {percent(max(values))}]",
                           "met" if met(value) else "**missed**"])

    def say_gain(self, goal, case, mine, theirs, met):
        self.say(goal, case, savings(mine, theirs), met, saved_best(mine, theirs))

    def judge(self):
        for name, case, _ in self.cases:
            fifo, sa = self.cell(name, case, "fifo", "creation"), self.cell(name, case, "sa")
            fa, lifo = self.cell(name, case, "fa"), self.cell(name, case, "lifo", "creation")
            if not sa:
                continue
            if good(sa) and good(sa)[0]["emulated"] and not saturated(good(sa)[0]):
                above = above_bound_but_late(sa)
                self.say("SA within 5% of the bound (network not saturated)", case, above, lambda v: v <= 0.05, min(above))
            least = {("policies", 4): 0.05, ("large", 16): 0.20, ("two", 2): 0.12}.get((name, case.ranks))
            if least:
                self.say_gain(f"SA ≥ {100 * least:g}% faster than FIFO", case, sa, fifo, lambda v, m=least: v >= m)
            if name == "two":
                self.say_gain("FA ≥ 12% faster than FIFO", case, fa, fifo, lambda v: v >= 0.12)
            if name in ("policies", "large"):
                self.say_gain("LIFO clearly worst: gain ≤ -2%", case, lifo, fifo, lambda v: v <= -0.02)
            for other, text in ((sa, "FA's gain over SA ≥ -1%"), (fifo, "FA's gain over FIFO ≥ -1%")):
                if other and fa:
                    self.say_gain(text, case, fa, other, lambda v: v >= -0.01)
        spent = [([*map(policy_share, good(cell))], case) for (_, case, _), cell in self.samples.items() if good(cell)]
        if spent:
            shares, case = max(spent, key=lambda pair: statistics.median(pair[0]))
            self.say("policy work < 1% of the threads' time, worst row", case, shares, lambda v: v < 0.01, min(shares))
        return markdown(["goal", "where", "measured", ""], self.lines)


def render(groups, samples, complaints, facts):
    parts = ["# The Cholesky suite", "\n".join(f"- {name}: {text}" for name, text in facts), LEGEND]
    rounds = [len(good(cell)) for cell in samples.values()]
    parts += [f"Rounds: {min(rounds, default=0)} to {max(rounds, default=0)}.", "![plot](cholesky-suite.svg)"]
    parts += ["## Goals", Goals(groups, samples).judge(), TESTED]
    for name, title, cases, ways in groups:
        if not any((name, case, way) in samples for case in cases for way in ways):
            continue
        parts.append(f"## {title}")
        for case in cases:
            parts += [f"### {case.title}", table(name, case, ways, samples)]
    if complaints:
        parts += ["## Failures", "\n".join(f"- {case}, {way}: {text}" for (case, way), text in complaints.items())]
    parts += ["## The papers", PAPER]
    return "\n\n".join(parts) + "\n"


def plot(groups, samples):
    """Stacked like the paper's figure 4: each bar the time, the bound within it dark."""
    bars, width, height, left = [], 34, 220, 60
    x = left
    labels = []
    for name, title, cases, ways in groups:
        if name not in ("policies", "large", "window", "slow", "wavefront", "two"):
            continue
        for case in cases:
            cells = [(way, samples.get((name, case, way))) for way in ways]
            cells = [(way, cell) for way, cell in cells if good(cell)]
            if not cells:
                continue
            top = max(median(cell) for _, cell in cells)
            start = x
            for way, cell in cells:
                tall = height * median(cell) / top
                dark = height * good(cell)[0]["bound"] / top if good(cell)[0]["emulated"] else 0
                bars.append(f'<g><title>{html.escape(case.title)}, {html.escape(way.label)}: {median(cell):.3f} s</title>'
                            f'<rect class="idle" x="{x}" y="{height - tall + 30:.1f}" width="{width - 6}" height="{tall:.1f}"/>'
                            f'<rect class="work" x="{x}" y="{height - dark + 30:.1f}" width="{width - 6}" height="{dark:.1f}"/>'
                            f'<text x="{x + width / 2 - 3}" y="{height - tall + 25:.1f}" class="value">{median(cell):.2f}</text>'
                            f'<text transform="translate({x + width / 2},{height + 38}) rotate(60)">{html.escape(way.label)}</text></g>')
                x += width
            labels.append(f'<text x="{start}" y="14" class="case">{html.escape(case.title)}</text>')
            x += 3 * width // 2
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x} {height + 170}" width="{x}" '
            f'font-family="system-ui, sans-serif" font-size="11"><style>'
            '.idle{fill:#e8a33d}.work{fill:#3b6ea5}.value{text-anchor:middle;font-size:9px}.case{font-weight:bold}'
            'text{fill:#222}@media (prefers-color-scheme: dark){text{fill:#ddd}}</style>'
            '<text x="4" y="44">seconds</text>'
            + "".join(labels) + "".join(bars) +
            f'<text x="{left}" y="{height + 160}">blue: the bound that no schedule beats; orange: lost above it</text></svg>\n')
