#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One truth for environment variables: every one of ours that the code reads has a row in a table, every row is
read, and docs/user/options.md is what the tables say.

usage: options_test.py SENNIT SOURCE_FOLDER
"""

import pathlib
import re
import subprocess
import sys

ROW = re.compile(r'^SENNIT_(?:CHOICE|NUMBER|TEXT)\((?:[^"\n]*)"((?:SENNIT|MPIX)_[A-Z_]+)"', re.MULTILINE)
READ = re.compile(r'(?:getenv|is_given)\("((?:SENNIT|MPIX)_[A-Z_]+)"\)')


def main():
    sennit, source = sys.argv[1], pathlib.Path(sys.argv[2])
    rows, wrong = {}, 0

    def complain(text):
        nonlocal wrong
        wrong += 1
        print(text)

    for table in ("src/base", "src/mpi", "src/network", "src/objects", "tools/sennit"):
        found = ROW.findall((source / table / "options.def").read_text())
        if not found:
            complain(f"{table}/options.def has no rows that this test can read")
        for variable in found:
            if variable in rows:
                complain(f"{variable} has rows in {rows[variable]} and {table}")
            rows[variable] = table
    for folder in ("src", "tools", "sim"):
        for path in (source / folder).rglob("*"):
            if path.suffix in (".cpp", ".h"):
                for variable in READ.findall(path.read_text()):
                    if variable not in rows:
                        complain(f"{path}: reads {variable}, which has no row in an options.def")

    told = {form: subprocess.run([sennit, "doctor", f"--options={form}"], check=True, stdout=subprocess.PIPE,
                                 text=True).stdout for form in ("text", "markdown", "man")}
    for variable, table in rows.items():
        for form, text in told.items():
            if variable not in text:
                complain(f"{variable} of {table} is missing in `sennit doctor --options={form}`")
    if (source / "docs/user/options.md").read_text() != told["markdown"]:
        complain("docs/user/options.md is old: sennit doctor --options=markdown > docs/user/options.md")
    bad = subprocess.run([sennit, "doctor", "--options=pdf"], capture_output=True, text=True)
    if bad.returncode != 2 or "text, markdown or man" not in bad.stderr:
        complain(f"an unknown form: {bad.returncode}, {bad.stderr}")
    print(f"{len(rows)} variables")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
