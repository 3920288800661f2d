# SPDX-License-Identifier: Apache-2.0
# whole: tools.counters processors=2 -- {sennit} {programs}/counted_faults.gcc
"""`sennit run --trace --counters`: what was counted is told by task function, in the text, the numbers and the page, and over time
in the formats of other viewers. Page faults, which every kernel counts, are known; of what processors count, only that it is
there or that a line says why not.

Usage: counters_test.py SENNIT PROGRAM"""
import json
import os
import re
import shutil
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
    trace, numbers, page, curves, paraver = (os.path.join(folder, name)
                                             for name in ("trace", "numbers.json", "page.html", "curves.json", "paraver"))
    ran = command("exec", f"--trace={trace}", f"--counters={counters}", PROGRAM)
    assert ran.returncode == 0, ran
    text = command("report", trace, "--json", numbers, "--html", page, "--perfetto", curves, "--paraver", paraver).stdout
    with open(numbers, encoding="utf-8") as file, open(page, encoding="utf-8") as html:
        return ran.stderr, text, json.load(file)["runs"][0]["counters"], html.read()


def in_perfetto(folder):
    """Page faults by Perfetto's file: its curves are rates, each until the next one."""
    with open(os.path.join(folder, "curves.json"), encoding="utf-8") as file:
        points = [event for event in json.load(file)["traceEvents"] if event["ph"] == "C"]
    total = 0
    for name in {point["name"] for point in points if point["name"].endswith(": page-faults/us")}:
        curve = [(point["ts"], point["args"]["value"]) for point in points if point["name"] == name]
        assert curve == sorted(curve, key=lambda point: point[0]) and curve[-1][1] == 0, curve
        total += sum(rate * (end - begin) for (begin, rate), (end, _) in zip(curve, curve[1:]))
    return total


def in_paraver(folder):
    with open(os.path.join(folder, "paraver.pcf"), encoding="utf-8") as file:
        (kind,) = re.findall(r"^0 +(\d+) +page-faults$", file.read(), re.M)
    with open(os.path.join(folder, "paraver.prv"), encoding="utf-8") as file:
        return sum(int(count) for count in re.findall(rf"^2:\d+:1:1:\d+:\d+:{kind}:(\d+)$", file.read(), re.M))


def in_otf2(folder):
    archive = os.path.join(folder, "archive")
    written = command("report", os.path.join(folder, "trace"), "--otf2", archive)
    assert written.returncode == 0 and not written.stderr, written
    read = subprocess.run(["otf2-print", os.path.join(archive, "trace.otf2")], capture_output=True, text=True, check=True,
                          timeout=harness.LIMIT)
    assert not read.stderr, read.stderr
    # Sums since the start, by worker.
    return sum(int(count) for count in dict(re.findall(r'^METRIC +(\d+) .*\("page-faults" <\d+>; UINT64; (\d+)\)', read.stdout,
                                                       re.M)).values())


def test_tasks_have_what_was_counted_while_they_ran():
    with tempfile.TemporaryDirectory() as folder:
        said, text, counters, page = recorded(folder, "instructions,cycles,page-faults")
        elsewhere = {"Perfetto": round(in_perfetto(folder), 2)}
        if elsewhere["Perfetto"]:
            elsewhere["Paraver"] = in_paraver(folder)
            if os.path.exists(os.path.join(os.path.dirname(SENNIT), "..", "lib", "sennit-otf2")) and shutil.which("otf2-print"):
                elsewhere["OTF2"] = in_otf2(folder)
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
    faults = sum(row["values"][at] for row in counters["rows"])
    assert all(abs(found - faults) < 0.5 for found in elsewhere.values()) and elsewhere, (elsewhere, faults)
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
