#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/advise.py tells whether advice was in the order that was measured, and starts each run with what its change says."""
import pathlib

import advise


def rows(*measured):
    return [{"measured": gain} for gain in measured]


def test_of_three_each_pair_counts():
    assert advise.in_order(rows(0.3, 0.2, 0.1)) == (True, 3, 3)
    assert advise.in_order(rows(0.1, 0.3, 0.2)) == (False, 1, 3)
    assert advise.in_order(rows(0.3, 0.1, 0.2)) == (True, 2, 3) # the first one is the best
    assert advise.in_order(rows(0.3, 0.2, 0.1, 0.9)) == (True, 3, 3) # the fourth was not named


def test_a_tie_may_come_in_either_order():
    assert advise.in_order(rows(0.20, 0.20 + advise.TIE / 2)) == (True, 1, 1)
    assert advise.in_order(rows(0.20, 0.20 + advise.TIE * 2)) == (False, 0, 1)


def test_only_what_a_run_has_is_changed():
    for case in advise.CASES:
        changes = case.changes()
        assert f"policy {case.policy}" in changes # left out where it is the run's: it is no advice then
        assert ("a second buffer where tasks receive" in changes) == ("--buffers" in case.words), case
        assert ("policy sa" in changes) == (case.program in ("cholesky", "wavefront")), case


def test_rows_of_an_earlier_page_stay():
    page = pathlib.Path(__file__).parent.parent / "docs/results/advise.json"
    rows = advise.kept(page)
    assert set(rows) == {advise.name_of(case) for case in advise.CASES}, set(rows)
    assert advise.kept(None) == {}
    own = [["policy fa", "+5.0%", "-1.5%", "", "likely"], ["--virtual", "", "+2.0%", "", "left out"], ["the replay", "+1.0%", "", "", ""]]
    assert advise.predicted_rows(own) == [{"predicted": 0.05, "measured": -0.015}]


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name)
