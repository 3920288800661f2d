#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/tables.py keeps a page's tables with what was said of them, and replaces those of the same heading alone."""
import json

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
