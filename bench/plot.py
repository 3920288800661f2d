# SPDX-License-Identifier: Apache-2.0
"""Plots of one style as SVG, without a library: lines over a number, and bars of stacked parts. A page may have several:
nothing of one reaches another. Used by paper_plots.py."""

import html
import math

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 170, 34, 52  # the legend is on the right
COLOURS = ("#3b6ea5", "#e8a33d", "#4a9a5a", "#c0504d", "#8064a2", "#6f6f6f", "#20a0b0", "#b08a60")
GREY = "#888"


def number_text(value):
    for size, letter in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if value >= size and value % size == 0:
            return f"{value // size:g}{letter}"
    return f"{value:g}"


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(str(words))}</text>'


def frame(title, below, beside, parts, height=HEIGHT):
    """Text is grey: it is read on white and on black."""
    middle = (TOP + height - BOTTOM) / 2
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" '
            f'font-family="system-ui, sans-serif" font-size="11" fill="{GREY}"><title>{html.escape(title)}</title>'
            + text(LEFT, 18, title, more=' font-weight="bold"')
            + text((LEFT + WIDTH - RIGHT) / 2, height - 8, below, "middle")
            + text(14, middle, beside, "middle", f' transform="rotate(-90 14 {middle:.1f})"') + "".join(parts) + "</svg>\n")


def legend(names, colours):
    for at, (name, colour) in enumerate(zip(names, colours)):
        y = TOP + 14 * at
        yield (f'<rect x="{WIDTH - RIGHT + 12}" y="{y}" width="10" height="10" fill="{colour}"/>'
               + text(WIDTH - RIGHT + 26, y + 9, name))


class Axis:
    """Numbers to places, linear from 0 or logarithmic."""

    def __init__(self, values, begin, end, log):
        self.begin, self.end, self.log = begin, end, log
        least, most = min(values), max(values)
        if log:
            self.low, self.high = math.log(least), math.log(most if most > least else 2 * least)
        else:
            self.low, self.high = min(0, least), most if most > 0 else 1

    def __call__(self, value):
        here = math.log(value) if self.log else value
        return self.begin + (here - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self):
        if self.log:
            exponents = range(math.ceil(self.low / math.log(10) - 1e-9), math.floor(self.high / math.log(10) + 1e-9) + 1)
            return [10.0 ** exponent for exponent in exponents]
        step = 10 ** math.floor(math.log10(self.high))
        step = next(part * step for part in (.2, .5, 1, 2) if self.high / (part * step) <= 6)
        return [step * n for n in range(round(self.high / step + .499))]


def height_lines(axis):
    for value in axis.ticks():
        y = axis(value)
        yield (f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GREY}" stroke-opacity=".3"/>'
               + text(LEFT - 5, y + 4, number_text(value), "end"))


def lines(title, below, beside, series, log_x=False, log_y=False):
    """series: {name: [(x, y), ...]}. With log_x, x = 0 has the first place, left of all others."""
    everything = [point for points in series.values() for point in points]
    columns = sorted({x for x, _ in everything})
    # On an axis of sizes every size has its own column.
    place = {x: LEFT + 10 + (WIDTH - LEFT - RIGHT - 20) * at / max(len(columns) - 1, 1) for at, x in enumerate(columns)} \
        if log_x else None
    across = place.__getitem__ if log_x else Axis(columns, LEFT + 10, WIDTH - RIGHT - 10, False)
    up = Axis([y for _, y in everything if y > 0 or not log_y], HEIGHT - BOTTOM, TOP, log_y)
    parts = list(height_lines(up))
    every = math.ceil(len(columns) / 13)
    for x in columns[::every]:
        parts.append(text(across(x), HEIGHT - BOTTOM + 15, number_text(x), "middle"))
    for (name, points), colour in zip(series.items(), COLOURS):
        seen = [(across(x), up(y)) for x, y in sorted(points) if y > 0 or not log_y]
        parts.append(f'<g fill="none" stroke="{colour}"><title>{html.escape(name)}</title><polyline stroke-width="2" points="'
                     + " ".join(f"{x:.1f},{y:.1f}" for x, y in seen) + '"/>'
                     + "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in seen) + "</g>")
    return frame(title, below, beside, [*parts, *legend(series, COLOURS)])


def spans(title, below, groups, colours):
    """groups: {group: {row: [(begin, end), ...]}}, all over one axis; a row is drawn in its name's colour."""
    room = 14  # of a row
    height = TOP + BOTTOM + sum(room * len(rows) + 8 for rows in groups.values())
    across = Axis([end for rows in groups.values() for row in rows.values() for _, end in row], LEFT + 30, WIDTH - RIGHT, False)
    y, parts = TOP, []
    for value in across.ticks():
        x = across(value)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - BOTTOM}" stroke="{GREY}" stroke-opacity=".3"/>'
                     + text(x, height - BOTTOM + 15, number_text(value), "middle"))
    for group, rows in groups.items():
        parts.append(text(LEFT + 25, y + room * len(rows) / 2 + 4, group, "end"))
        for name, row in rows.items():
            parts.append(f'<g fill="{colours[name]}"><title>{html.escape(f"{group}, {name}")}</title>'
                         + "".join(f'<rect x="{across(begin):.1f}" width="{max(.3, across(end) - across(begin)):.1f}" y="{y}" '
                                   f'height="{room - 2}"/>' for begin, end in row) + "</g>")
            y += room
        y += 8
    return frame(title, below, "", [*parts, *legend(colours, colours.values())], height)


def bars(title, below, beside, groups):
    """groups: {group: {bar: {part: height}}}. The parts of a bar stand on each other in its own order; each name has a colour."""
    every = [bar for group in groups.values() for bar in group.values()]
    colours = dict(zip(dict.fromkeys(name for bar in every for name in bar), COLOURS))
    height = HEIGHT + 45  # the bars' names stand upright
    foot = height - BOTTOM - 45
    up = Axis([0, *(sum(bar.values()) for bar in every)], foot, TOP, False)
    room = (WIDTH - LEFT - RIGHT) / (len(every) + .7 * len(groups))
    x, parts = LEFT + .35 * room, list(height_lines(up))
    for group, inside in groups.items():
        parts.append(text(x + room * len(inside) / 2, height - BOTTOM + 20, group, "middle"))
        for bar, values in inside.items():
            top = 0.0
            told = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
            parts.append(f"<g><title>{html.escape(f'{group} {bar}: {told}')}</title>")
            for name, value in values.items():
                parts.append(f'<rect x="{x:.1f}" width="{.85 * room:.1f}" y="{up(top + value):.1f}" '
                             f'height="{up(top) - up(top + value):.1f}" fill="{colours[name]}"/>')
                top += value
            parts.append("</g>" + text(x + .55 * room, foot + 8, bar, "end",
                                       f' transform="rotate(-60 {x + .55 * room:.1f} {foot + 8})" font-size="9"'))
            x += room
        x += .7 * room
    return frame(title, below, beside, [*parts, *legend(colours, COLOURS)], height)
