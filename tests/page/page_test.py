#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: tools.page timeout=300 skip=77 -- --sennit {sennit} --shares {build}/tests/tools/programs/pool_calls.gcc
#     --split {build}/tests/programs/gcc/sennit_split_balanced
"""The page of `sennit report` in a headless Chromium: keyboard, mouse and touch do what the page says.

usage: page_test.py --sennit PATH     (exit code 77: no Chromium here)"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser

OPTIONS = argparse.Namespace()


def make_page(folder, *, n, ranks, threads, policies="fifo,fa"):
    """The page of simulated runs: as big as wanted, and the same every time."""
    sennit = os.path.abspath(OPTIONS.sennit)
    subprocess.run([sennit, "simulate", "cholesky", "--n", str(n), "--ranks", str(ranks), "--threads",
                    str(threads), "--bandwidth", "1", "--policy", policies, "--quiet", "--no-path", "--trace", "runs"],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    runs = [f"runs/{policy}" for policy in policies.split(",")] if "," in policies else ["runs"]
    subprocess.run([sennit, "report", *runs, "--html", "page.html"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    return pathlib.Path(folder, "page.html")


class Page(unittest.TestCase):
    """A page in a browser; make() makes it."""

    @classmethod
    def setUpClass(cls):
        if cls is Cores and not OPTIONS.shares:
            raise unittest.SkipTest("no program that shares cores")
        if cls is Split and not OPTIONS.split:
            raise unittest.SkipTest("no program that splits threads")
        cls.folder = tempfile.TemporaryDirectory()
        cls.page = cls.make(cls.folder.name)
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def open(self, width=1280, height=1000, touch=False):
        self.browser.errors.clear()
        self.browser.resize(width, height, touch=touch)
        self.browser.open(self.page)
        self.run_in("canvas.scrollIntoView({block: 'start'})")
        self.browser.settle()

    def tearDown(self):
        self.assertEqual(self.browser.errors, [])

    def run_in(self, script):
        return self.browser.run(script)


class Timeline(Page):
    @staticmethod
    def make(folder):
        return make_page(folder, n=6144, ranks=4, threads=2)

    def view(self):
        return self.run_in("[view.begin, view.end]")

    def span(self):
        begin, end = self.view()
        return end - begin

    def selected(self):
        return self.run_in("selected && [selected.process.run.number, selected.process.rank, selected.task]")

    def row(self, part):
        """A point on the timeline's third row, `part` of the way along it."""
        return self.run_in(f"""(() => {{ const box = canvas.getBoundingClientRect(), row = layout.rows[2];
            return [box.left + layout.left + {part} * layout.width, box.top + row.y + row.height / 2]; }})()""")

    def on_task(self):
        """A point in the middle of a task, and whose it is."""
        return self.run_in("""(() => { const box = canvas.getBoundingClientRect();
            for (const {row, y, height} of layout.rows) { const {begin, end, task} = row.thread;
              for (let i = 0; i < task.length; ++i) if (task[i] && x(row.run, begin[i]) > layout.left && x(row.run, end[i]) - x(row.run, begin[i]) > 6)
                return {x: box.left + (x(row.run, begin[i]) + x(row.run, end[i])) / 2, y: box.top + y + height / 2,
                        task: [row.run.number, row.process.rank, task[i]]}; } })()""")

    # ---- keyboard ---------------------------------------------------------------------------------

    def test_keys_zoom_and_move(self):
        self.open()
        whole = self.span()
        for more, less in (("+", "-"), ("=", "-"), ("w", "s")):
            self.browser.key(more)
            self.assertAlmostEqual(self.span(), whole / 2, delta=whole * .01)
            self.browser.key(less)
            self.assertAlmostEqual(self.span(), whole, delta=whole * .03)
        for _ in range(4):
            self.browser.key("+")
        for left, right in (("ArrowLeft", "ArrowRight"), ("a", "d")):
            begin = self.view()[0]
            self.browser.key(right)
            self.assertAlmostEqual(self.view()[0] - begin, self.span() * .15, delta=self.span() * .01)
            self.browser.key(left)
            self.assertAlmostEqual(self.view()[0], begin, delta=self.span() * .01)
        self.browser.key("0")
        self.assertAlmostEqual(self.span(), whole, delta=whole * .01)

    def test_keys_walk_from_task_to_task(self):
        self.open()
        first = self.selected()
        self.browser.key("n")
        second = self.selected()
        self.assertNotEqual(first, second)
        self.browser.key("p")
        self.assertEqual(self.selected(), first)
        self.browser.key("f")
        began, ended = self.run_in("[selected.process.tasks.started[selected.task] * selected.process.run.unit,"
                                   " selected.process.tasks.ended[selected.task] * selected.process.run.unit]")
        begin, end = self.view()
        self.assertTrue(begin <= began <= ended <= end, (begin, began, ended, end))
        self.assertLess(end - begin, 20 * (ended - began) + 1000)
        self.assertIn("priority", self.run_in("$('detail').textContent"))
        self.browser.key("Escape")
        self.assertIsNone(self.selected())

    def test_keys_switch(self):
        self.open()
        for key, button in (("m", "messages"), ("c", "path")):
            pressed = f"$('{button}').getAttribute('aria-pressed')"
            before = self.run_in(pressed)
            self.browser.key(key)
            self.assertNotEqual(self.run_in(pressed), before)
        theme = self.run_in("document.documentElement.dataset.theme")
        self.browser.key("t")
        self.assertNotEqual(self.run_in("document.documentElement.dataset.theme"), theme)

    def test_the_timeline_is_reached_by_tab(self):
        self.open()
        reached = []
        for _ in range(12):
            self.browser.key("Tab", text="")
            reached.append(self.run_in("document.activeElement.id"))
        self.assertIn("timeline", reached)

    def test_text_is_typed_into_the_search_and_finds_a_task(self):
        self.open()
        before = self.view()
        self.run_in("$('find').focus()")
        for letter in "send":
            self.browser.key(letter)
        self.assertEqual(self.run_in("$('find').value"), "send")
        self.assertEqual(self.view(), before)
        self.browser.key("Enter", text="\r")
        self.assertIn("send", self.run_in("taskName(selected.process, selected.task)"))

    # ---- mouse ------------------------------------------------------------------------------------

    def test_wheel_zooms_at_the_pointer(self):
        self.open()
        at_x, at_y = self.row(.25)
        under = "view.begin + .25 * (view.end - view.begin)"
        before, time_there = self.span(), self.run_in(under)
        self.browser.mouse("mouseWheel", at_x, at_y, deltaX=0, deltaY=-260)
        self.browser.settle()
        self.assertLess(self.span(), before / 2)
        self.assertAlmostEqual(self.run_in(under), time_there, delta=before * .005)

    def test_dragging_moves_and_with_shift_zooms_to_the_range(self):
        self.open()
        self.browser.drag(*self.row(.2), *self.row(.6), modifiers=8)
        begin, end = self.view()
        longest = self.run_in("longest")
        self.assertAlmostEqual((end - begin) / longest, .4, delta=.03)
        self.browser.drag(*self.row(.5), *self.row(.25))
        self.assertAlmostEqual(self.view()[0] - begin, .25 * (end - begin), delta=.02 * (end - begin))

    def test_a_click_selects(self):
        self.open()
        self.browser.key("Escape")
        there = self.on_task()
        self.browser.click(there["x"], there["y"])
        self.assertEqual(self.selected(), there["task"])
        self.assertTrue(self.run_in("$('graph').querySelector('svg') !== null"))

    # ---- touch ------------------------------------------------------------------------------------

    def test_two_fingers_zoom(self):
        self.open(390, 800, touch=True)
        before = self.span()
        middle_x, y = self.row(.5)
        steps = [[(middle_x - d, y), (middle_x + d, y)] for d in (20, 30, 40, 60, 80)]
        under = "view.begin + .5 * (view.end - view.begin)"
        time_there = self.run_in(under)
        self.browser.touch(*steps)
        self.assertAlmostEqual(self.span(), before / 4, delta=before * .05)
        self.assertAlmostEqual(self.run_in(under), time_there, delta=before * .02)

    def test_one_finger_moves_the_timeline_sideways_and_the_page_up(self):
        self.open(390, 800, touch=True)
        self.browser.key("+")
        begin, span = self.view()[0], self.span()
        (x0, y), (x1, _) = self.row(.8), self.row(.3)
        self.browser.touch(*[[(x0 + (x1 - x0) * i / 5, y)] for i in range(6)])
        self.assertAlmostEqual(self.view()[0] - begin, .5 * span, delta=.12 * span)
        self.assertEqual(self.run_in("getComputedStyle(canvas).touchAction"), "pan-y")

    def test_a_tap_selects(self):
        self.open(390, 800, touch=True)
        self.run_in("select(null)")
        for _ in range(4):
            self.browser.key("+")
        there = self.on_task()
        self.browser.touch([(there["x"], there["y"])])
        self.assertEqual(self.selected(), there["task"])

    # ---- the page itself --------------------------------------------------------------------------

    def test_it_is_no_wider_than_the_window_and_needs_no_network(self):
        for width in (1280, 390):
            self.open(width, 900, touch=width < 500)
            self.assertLessEqual(self.run_in("document.documentElement.scrollWidth"), width)
            self.assertEqual(self.run_in("performance.getEntriesByType('resource').length"), 0)

    def test_nothing_is_said_of_cores_where_none_was_shared(self):
        self.open()
        self.assertEqual(self.run_in("layout.cores.length"), 0)
        self.assertTrue(self.run_in("$('moves').hidden"))

    def test_it_says_how_well_each_run_used_its_threads(self):
        self.open()
        rows = self.run_in("[...document.querySelectorAll('#efficiency tr')].map(row => row.textContent)")
        self.assertEqual(sum(row.startswith("all") for row in rows), 2, rows)  # of both policies
        self.assertTrue(all(re.fullmatch(r"(all|rank \d)(\d+\.\d%|–)+", row) for row in rows if not row.startswith("of")), rows)

    def test_it_says_what_the_policies_do(self):
        self.open()
        text = self.run_in("$('changed').textContent")
        for words in ("fa took", "in the order of their creation", "Sennit finds out which do"):
            self.assertIn(words, text)


class Cores(Page):
    """The page of a program of a pool: whose thread has which core."""

    @classmethod
    def make(cls, folder):
        sennit = os.path.abspath(OPTIONS.sennit)
        environment = {**os.environ, "SENNIT_BOARD": os.path.join(folder, "board")}

        def run(*words, **more):
            subprocess.run([sennit, *words], cwd=folder, check=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, env={**environment, **more})
        run("pool", "start", "page")
        try:
            run("exec", "--pool", "page", os.path.abspath(OPTIONS.shares), SENNIT_TRACE="runs")
        finally:
            run("pool", "stop", "page", "--now")
        run("report", "runs", "--html", "page.html")
        return pathlib.Path(folder, "page.html")

    def test_the_timeline_has_a_row_for_each_core(self):
        self.open()
        cores = self.run_in("layout.cores.map(({row}) => row.core)")
        self.assertEqual(cores, sorted(set(cores)))
        self.assertLessEqual(set(cores), os.sched_getaffinity(0))
        self.assertTrue(cores)
        self.assertFalse(self.run_in("$('moves').hidden"))
        self.assertIn("rank 0", self.run_in("$('cores').textContent"))
        said = self.run_in("""layout.cores.map(({row, y, height}) => {
            const longest = row.begin.reduce((best, begin, i) => row.end[i] - begin > row.end[best] - row.begin[best] ? i : best, 0);
            return coreText((x(row.run, row.begin[longest]) + x(row.run, row.end[longest])) / 2, y + height / 2); })""")
        self.assertEqual(said, [f"core {core}: rank 0" for core in cores])
        self.assertEqual(self.run_in("coreText(layout.left + 5, 5)"), "")

    def test_a_core_has_the_colour_of_its_rank(self):
        """Of each core the longest use, which fills a third of the width then: an edge is a mixture."""
        self.open()
        self.assertTrue(self.run_in("""layout.cores.every(({row, y, height}) => {
            const longest = row.begin.reduce((best, begin, i) => row.end[i] - begin > row.end[best] - row.begin[best] ? i : best, 0);
            const begin = row.begin[longest] * row.run.unit, length = Math.max(200, row.end[longest] * row.run.unit - begin);
            setView(begin - length, begin + 2 * length); draw();
            const middle = (x(row.run, row.begin[longest]) + x(row.run, row.end[longest])) / 2, ratio = devicePixelRatio || 1;
            const pixel = context.getImageData(Math.round(middle * ratio), Math.round((y + height / 2) * ratio), 1, 1).data;
            const probe = document.createElement("canvas").getContext("2d");
            probe.fillStyle = rankColor(row.process[longest]); probe.fillRect(0, 0, 1, 1);
            return probe.getImageData(0, 0, 1, 1).data.every((value, i) => Math.abs(value - pixel[i]) < 3); })"""))


class Split(Page):
    """The page of a program whose workers offer threads to each other."""

    @classmethod
    def make(cls, folder):
        sennit = os.path.abspath(OPTIONS.sennit)
        environment = {**os.environ, "SENNIT_BOARD": os.path.join(folder, "board")}

        def run(*words):
            return subprocess.run([sennit, *words], cwd=folder, check=True, capture_output=True, text=True, env=environment).stdout
        run("run", "--threads", "2", "--split", "auto", "--trace=runs", os.path.abspath(OPTIONS.split))
        run("report", "runs", "--html", "page.html")
        cls.tables = run("report", "runs")
        return pathlib.Path(folder, "page.html")

    def test_it_says_how_many_threads_of_a_region_were_offered_and_taken(self):
        """As the text tables do."""
        self.open()
        names, region = self.run_in(
            "[...$('balance').lastElementChild.rows].map(row => [...row.cells].map(cell => cell.textContent))")
        said = self.tables.split("Parallel regions", 1)[1].splitlines()
        self.assertEqual(names[-2:], ["offered", "taken"])
        self.assertEqual(said[1].split()[-2:], names[-2:])
        self.assertEqual(said[2].split()[-2:], region[-2:])
        self.assertGreater(int(region[-2]), 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--shares", help="a program that shares cores")
    parser.add_argument("--split", help="a program that splits threads, with --split auto")
    OPTIONS, rest = parser.parse_known_args()
    if not browser.find():
        print("no Chromium here")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
