# SPDX-License-Identifier: Apache-2.0
# script: tools.labels if="not sanitized" -- {sennit} {build}/tests/programs/gcc/sennit_spawn_fd
"""A task's label is its name in a trace, and so in the report; a task without one has its function's.

Usage: labels_test.py SENNIT PROGRAM"""
import json
import subprocess
import sys
import tempfile

SENNIT, PROGRAM = sys.argv[1:]


def main():
    with tempfile.TemporaryDirectory() as folder:
        def run(*words):
            return subprocess.run([SENNIT, *words], check=True, timeout=60, text=True, capture_output=True, cwd=folder)
        run("run", "--threads", "1", "--trace=t", PROGRAM)
        report = run("report", "t", "--json", "numbers.json")
        with open(f"{folder}/numbers.json", encoding="utf-8") as file:
            (of_run,) = json.load(file)["runs"]
    names = {kind["name"]: kind["count"] for kind in of_run["kinds"]}
    assert names == {"late": 2, "count": 100}, names
    assert "  late " in report.stdout, report.stdout


main()
