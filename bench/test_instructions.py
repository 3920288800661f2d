# SPDX-License-Identifier: Apache-2.0
"""Has a construct become dearer? Instructions per unit under Sennit, beside those on record.

usage: test_instructions.py BUILD COMPILER [--record]

The record is instructions.json. --record writes it: when a construct has become cheaper, or with a
change that is worth its price.
"""

import json
import pathlib
import sys

import cells as bench_cells
import instructions

RECORD = pathlib.Path(__file__).with_name("instructions.json")
# Builds of one source by one compiler differ by a few instructions a unit at most.
MOST_OVER, SLACK = 1.03, 2.0


def main():
    build, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    known = record.setdefault(compiler, {})
    runtime = bench_cells.Runtime("Sennit", compiler, build / "lib" / "omp", True)
    failures = 0
    for group, row in instructions.rows_of(build, compiler):
        state, value = instructions.per_unit(build, group, row, runtime)
        if state != "ok":
            print(f"{row.name}: {state}: {value}")
            failures += 1
            continue
        limit = known.get(row.name, 0) * MOST_OVER + SLACK
        print(f"{row.name}: {value:.1f} instructions a {row.unit}, on record {known.get(row.name, 'nothing')}")
        if sys.argv[3:] == ["--record"]:
            known[row.name] = round(value, 1)
        elif value > limit:
            print(f"{row.name}: more than {limit:.1f}: see `./dev bench --callgrind`, or test_instructions.py --record")
            failures += 1
    if sys.argv[3:] == ["--record"]:
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    return 1 if failures else 0


sys.exit(main())
