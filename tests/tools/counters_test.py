# SPDX-License-Identifier: Apache-2.0
# whole: tools.counters processors=2 -- {sennit} {programs}/counted_faults.gcc
"""`sennit run --trace --counters`: what was counted is told by task function, in the text, the numbers and the page. Page
faults, which every kernel counts, are known; of what processors count, only that it is there or that a line says why not.

Usage: counters_test.py SENNIT PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile

import harness

SENNIT, PROGRAM = sys.argv[1:3]
TOUCHED = 8 * 64  # pages, by the tasks of each of two functions


def command(*words, environment=None):
    return subprocess.run([SENNIT, *words], timeout=harness.LIMIT, text=True, capture_output=True, check=False,
                          env=environment)


def recorded(folder, counters):
    """What the run said, the report's text, its counters, and its page."""
    trace, numbers, page = (os.path.join(folder, name) for name in ("trace", "numbers.json", "page.html"))
    ran = command("exec", f"--trace={trace}", f"--counters={counters}", PROGRAM)
    assert ran.returncode == 0, ran
    text = command("report", trace, "--json", numbers, "--html", page).stdout
    with open(numbers, encoding="utf-8") as file, open(page, encoding="utf-8") as html:
        return ran.stderr, text, json.load(file)["runs"][0]["counters"], html.read()


def test_tasks_have_what_was_counted_while_they_ran():
    with tempfile.TemporaryDirectory() as folder:
        said, text, counters, page = recorded(folder, "instructions,cycles,page-faults")
    left_out = "SENNIT_COUNTERS: not counted: instructions, cycles ("
    if "page-faults (" in said:  # the system permits none at all
        assert "perf_event_paranoid" in said or "offers no counters" in said, said
        assert not counters["rows"] and "Counters (" not in text, (counters, text)
        return
    names = ["page-faults"] if left_out in said else ["instructions", "cycles", "page-faults"]
    assert counters["names"] == names, (counters, said)
    assert "Counters (IPC" in text and 'id="counters"' in page and '"names":["' in page, text
    rows = {row["name"].split(" ")[0]: row for row in counters["rows"]}
    at = names.index("page-faults")
    for function in ("touch_in_halves", "touch_at_once"):
        assert rows[function]["tasks"] == 8, rows
        assert TOUCHED <= rows[function]["values"][at] < 1.5 * TOUCHED, rows
    assert rows["only_compute"]["values"][at] < 0.5 * TOUCHED, rows
    assert (rows["only_compute"]["ipc"] is None) == (left_out in said), rows


def test_what_cannot_be_counted_is_said_in_one_line():
    with tempfile.TemporaryDirectory() as folder:
        said, text, counters, _ = recorded(folder, "cycles,clouds")
        assert len(said.splitlines()) == 1 and "'clouds' is no counter" in said, said
        assert counters == {"names": [], "rows": []} and "Counters (" not in text, counters
        alone = command("exec", PROGRAM, environment={**os.environ, "SENNIT_COUNTERS": "on"})
        assert alone.returncode == 0 and alone.stderr.startswith("sennit: SENNIT_COUNTERS: they go to a trace"), alone
    refused = command("exec", "--counters", PROGRAM)
    assert refused.returncode == 2 and "--counters goes with --trace" in refused.stderr, refused


if __name__ == "__main__":
    test_tasks_have_what_was_counted_while_they_ran()
    test_what_cannot_be_counted_is_said_in_one_line()
