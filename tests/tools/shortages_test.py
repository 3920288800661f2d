# SPDX-License-Identifier: Apache-2.0
# whole: tools.shortages processors=2 -- {sennit} {programs}/full_window.gcc {programs}/refused_stacks.gcc
"""Hints of recorded runs in which a creator has too many unfinished tasks, or the memory for stacks is short.

Usage: shortages_test.py SENNIT FULL-WINDOW REFUSED-STACKS"""
import json
import os
import subprocess
import sys
import tempfile

import harness

SENNIT, FULL_WINDOW, REFUSED_STACKS = sys.argv[1:4]


def hints(program, **settings):
    """Of a run on two threads."""
    with tempfile.TemporaryDirectory() as folder:
        trace, numbers = os.path.join(folder, "trace"), os.path.join(folder, "numbers.json")
        for words in (["exec", "--threads=2", f"--trace={trace}", program], ["report", trace, "--json", numbers]):
            subprocess.run([SENNIT, *words], check=True, timeout=harness.LIMIT, capture_output=True,
                           env={**os.environ, **settings})
        with open(numbers, encoding="utf-8") as file:
            return json.load(file)["runs"][0]["hints"]


def test_a_full_window():
    full = [line for line in hints(FULL_WINDOW, SENNIT_WINDOW="16") if "raise SENNIT_WINDOW" in line]
    assert len(full) == 1 and "too many were unfinished" in full[0], full
    assert not any("SENNIT_WINDOW" in line for line in hints(FULL_WINDOW))


def test_stacks_that_are_refused():
    refused = [line for line in hints(REFUSED_STACKS, OMP_STACKSIZE="8M") if "no memory for another stack" in line]
    assert len(refused) == 1 and "stack of 8389 KB" in refused[0], refused


if __name__ == "__main__":
    test_a_full_window()
    test_stacks_that_are_refused()
