#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How smoothly the page of `sennit report` zooms and moves with many tasks: times of its frames.

usage: frames.py SENNIT [--n 45056]

A simulated job of more than 100,000 tasks; the page zooms from all of it to single tasks and out again,
and moves, one step a frame. Printed: how long drawing took, and from frame to frame (at 60 a second: 16.7
ms where nothing is late)."""

import argparse
import os
import tempfile
import time

import browser
import page_test

SWEEP = """(async () => {
  const drawn = [], between = [];
  let last = null;
  const frame = () => new Promise(requestAnimationFrame);
  const step = async () => {
    const now = await frame();
    if (last !== null) between.push(now - last);
    last = now;
    const begun = performance.now();
    draw();
    drawn.push(performance.now() - begun);
  };
  %s
  const of = list => { list.sort((a, b) => a - b); const at = p => list[Math.min(list.length - 1, Math.floor(p * list.length))];
    return [at(.5), at(.95), list.at(-1), list.length]; };
  return {drawn: of(drawn), between: of(between)};
})()"""
SWEEPS = {
    "zoom in and out": "for (const by of [.96, 1 / .96]) for (let i = 0; i < 150; ++i) { zoom(by); await step(); }",
    "move, a tenth in view": "setView(0, longest / 10); for (let i = 0; i < 200; ++i) { move(.045); await step(); }",
    "move, a hundredth": "setView(longest * .4, longest * .41); for (let i = 0; i < 200; ++i) { move(.05); await step(); }",
    "hover over all of it": "actions.all(); for (let i = 0; i < 100; ++i) { hover = hit(layout.left + layout.width * i / 100, "
                            "layout.rows[i % layout.rows.length].y + 5); await step(); }",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sennit")
    parser.add_argument("--n", type=int, default=45056)
    page_test.OPTIONS = options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, browser.Browser() as window:
        page = page_test.make_page(folder, n=options.n, ranks=4, threads=4, policies="fa")
        print(f"page: {os.path.getsize(page) / 1e6:.1f} MB")
        for width, height, scale, touch in ((1280, 900, 1, False), (390, 844, 3, True)):
            window.resize(width, height, scale, touch)
            begun = time.monotonic()
            window.open(page)
            tasks = window.run("runs[0].processes.reduce((n, p) => n + p.tasks.name.length - 1, 0)")
            print(f"\n{width} x {height} (x{scale}), {tasks:,} tasks: there after {time.monotonic() - begun:.1f} s\n")
            print("| ms: median, 19 of 20 below, longest | drawing | from frame to frame | frames |\n"
                  "| --- | ---: | ---: | ---: |")
            for name, steps in SWEEPS.items():
                times = window.run(SWEEP % steps)
                text = [" / ".join(f"{value:.1f}" for value in times[kind][:3]) for kind in ("drawn", "between")]
                print(f"| {name} | {text[0]} | {text[1]} | {times['drawn'][3]} |")
        assert not window.errors, window.errors


if __name__ == "__main__":
    main()
