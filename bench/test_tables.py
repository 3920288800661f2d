#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/tables.py keeps a page's tables with what was said of them, and replaces those of the same heading alone."""
import json
import pathlib
import subprocess
import sys
import tempfile

import machine
import tables

PAGE = """# Page

- CPU: two

## Speed

    sennit bench x

Seconds, [a machine](../machine.md).

| row | s |
| --- | ---: |
| a\\|b | 1.0 |

Later.

| row | ms |
|---|---:|
| c | 2 |
"""

SPEED = [{"heading": "Speed", "command": "sennit bench x", "notes": "Seconds, a machine.", "columns": ["row", "s"],
          "rows": [["a\\|b", "1.0"]]},
         {"heading": "Speed", "notes": "Later.", "columns": ["row", "ms"], "rows": [["c", "2"]]}]

found = list(tables.tables_of(PAGE))
assert found == [{"heading": "Page", "notes": "- CPU: two"}, *SPEED], found
assert json.loads(tables.text_of(found)) == found

OLD = [{"heading": "Memory", "rows": [["a"]]}, {"heading": "Speed", "rows": [["old"]]}, {"heading": "Speed", "rows": [["older"]]},
       {"heading": "Start", "rows": [["b"]]}]
assert tables.merged(OLD, SPEED) == [OLD[0], *SPEED, OLD[3]]
assert tables.merged(tables.merged(OLD, SPEED), SPEED) == [OLD[0], *SPEED, OLD[3]], "not the same when it is kept again"
NEW = [{"heading": "Fresh", "rows": [["n"]]}]
assert tables.merged(OLD, NEW) == OLD + NEW

# A table that is kept has the commit of these sources, if they have one; those of before have what they had.
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "kept.json"
    file.write_text(tables.text_of(OLD))
    subprocess.run([sys.executable, tables.__file__, file], input=PAGE, text=True, check=True)
    commit = machine.commit(pathlib.Path(tables.__file__).parent)
    kept = json.loads(file.read_text())
    assert [table.get("commit", "") for table in kept] == ["", commit, commit, "", commit], kept
