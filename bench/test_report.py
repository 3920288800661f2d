# SPDX-License-Identifier: Apache-2.0
"""Tests of the arithmetic and the states of the report."""

import pathlib
import sys
import unittest

import cells as bench_cells
import report

LIBGOMP = bench_cells.Runtime("libgomp", "gcc")
LIBOMP = bench_cells.Runtime("libomp", "clang")
SENNIT = bench_cells.Runtime("Sennit", "gcc", pathlib.Path("lib"), True)
BEFORE = bench_cells.Runtime("Sennit before", "gcc", pathlib.Path("old"), True, True)
MODE = bench_cells.Mode("mode", 2, True)


def tables(*rounds_of, rivals=("row",)):
    """Tables of one row; rounds_of is (runtime, row name, Cell)..."""
    row = bench_cells.Row("row", "task", "", rivals, 0.6)
    group = bench_cells.Group("group", "program", (MODE,), (row,))
    measured = {("group", "mode", name, runtime): cell for runtime, name, cell in rounds_of}
    return report.Tables(group, MODE, [LIBGOMP, SENNIT, LIBOMP, BEFORE], measured)


class Ratios(unittest.TestCase):
    def test_a_ratio_is_taken_within_each_round(self):
        ours, peer = report.Cell([[1, 2, 3], [10, 10, 10]]), report.Cell([[4, 4, 4], [40, 10, 10]])
        value = report.ratio(ours, {"peer": peer})
        self.assertEqual(value.by_round, (0.5, 1.0))
        self.assertEqual(value.median, 0.75)
        self.assertEqual(value.best, 0.25)

    def test_the_peer_is_the_one_with_the_least_median(self):
        slow, quick = report.Cell([[9, 9, 1]]), report.Cell([[3, 3, 3]])
        self.assertEqual(report.ratio(report.Cell([[3]]), {"slow": slow, "quick": quick}).peer, "quick")

    def test_a_hang_is_never_a_ratio(self):
        hung = report.Cell([[1]], "hang")  # samples from before the hang do not count
        self.assertIsNone(report.ratio(report.Cell([[1]]), {"peer": hung}))
        self.assertIsNone(report.ratio(hung, {"peer": report.Cell([[1]])}))


class Rendering(unittest.TestCase):
    def test_the_own_door_and_the_best_of_all_are_told_apart(self):
        subject = tables((LIBGOMP, "row", report.Cell([[10]])), (LIBOMP, "row", report.Cell([[2]])),
                         (SENNIT, "row", report.Cell([[5]])))
        line = subject.ratios().splitlines()[-1]
        self.assertIn("| 0.50 (0.50) | 2.50 (2.50) libomp (clang) |", line)
        self.assertEqual(subject.met, {("gcc", "own compiler"): [1, 1], ("gcc", "best of all"): [0, 1]})

    def test_a_build_before_is_compared_and_no_peer(self):
        subject = tables((LIBGOMP, "row", report.Cell([[10]])), (SENNIT, "row", report.Cell([[5]])),
                         (BEFORE, "row", report.Cell([[4]])))
        self.assertEqual(subject.changes().splitlines()[-1], "| row | 1.25 (1.25) |")
        self.assertIn("| 0.50 (0.50) | 0.50 (0.50) libgomp (gcc) |", subject.ratios())

    def test_a_row_without_counterpart_is_compared_with_its_rivals(self):
        subject = tables((LIBGOMP, "other", report.Cell([[10]])), (SENNIT, "row", report.Cell([[5]])),
                         rivals=("other",))
        self.assertIn("0.50 (0.50)", subject.ratios())

    def test_hangs_and_absent_things_are_said(self):
        subject = tables((LIBGOMP, "row", report.Cell([], "hang", "no result after 8 s")),
                         (SENNIT, "row", report.Cell([[5]])))
        self.assertIn("**hang**", subject.values())
        self.assertIn("peers hang", subject.ratios())
        self.assertEqual(list(subject.complaints()), ["- row, libgomp (gcc): no result after 8 s"])

    def test_numbers_have_three_digits(self):
        self.assertEqual([report.number(value) for value in (0.1234, 9.876, 98.76, 1234567)],
                         ["0.123", "9.88", "98.8", "1,230,000"])

    def test_a_table_may_have_numbers_in_it(self):
        self.assertEqual(report.markdown(["bytes", "us"], [[8, report.median_text([3, 1, 2])], [16, report.median_text([])]]),
                         "| bytes | us |\n| --- | ---: |\n| 8 | 2.00 [1.00 to 3.00] |\n| 16 | too long |")


class Running(unittest.TestCase):
    def test_a_run_over_its_limit_is_a_hang_and_leaves_nothing_behind(self):
        state, _out, complaint = bench_cells.execute(["sleep", "60"], bench_cells.clean_environment(), 0.2)
        self.assertEqual((state, complaint), ("hang", "no result after 0.2 s"))

    def test_states_follow_the_exit_status(self):
        environment = bench_cells.clean_environment()
        for status, expected in ((0, "ok"), (77, "unavailable"), (3, "error")):
            argv = [sys.executable, "-c", f"import sys; sys.exit({status})"]
            self.assertEqual(bench_cells.execute(argv, environment, 30)[0], expected)


if __name__ == "__main__":
    unittest.main()
