#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the tables that a benchmark prints: the numbers behind docs/performance.md.

    bench/split.py ... | bench/tables.py docs/results/split.json

It reads a page of Markdown. Each table becomes one line of the file: its heading, the command above it, what the page
says of how it was measured, its columns and rows, and the commit of these sources. Tables under a heading that the page
has too replace those of the file; the others stay, so a part may be measured anew by itself.
"""

import json
import pathlib
import re
import sys

import machine


def words_of(text):
    """without the targets of links, which lead from the page"""
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text.strip())


def cells_of(line):
    return [words_of(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def tables_of(page):
    """each table of a page, as it goes into the file"""
    depth, heading, command, notes, table = 1, "", [], [], None
    for line in [*page.splitlines(), ""]:
        if line.startswith("|"):
            if table is None:
                table = {"heading": heading, "command": "\n".join(command), "notes": "\n".join(notes),
                         "columns": cells_of(line), "rows": []}
            elif not re.fullmatch(r"[|:\- ]+", line):
                table["rows"].append(cells_of(line))
            continue
        if table:
            yield {key: value for key, value in table.items() if value}
            command, notes, table = [], [], None
        if line.startswith("#"):
            if notes and depth == 1:  # what holds for the whole page
                yield {"heading": heading, "notes": "\n".join(notes)}
            depth = len(line) - len(line.lstrip("#"))
            heading, command, notes = line.lstrip("# "), [], []
        elif line.startswith("    "):
            command.append(line.strip())
        elif line.strip():
            notes.append(words_of(line))


def merged(old, new):
    """the file's tables, with those of the page in place of those of the same heading"""
    fresh = {table.get("heading") for table in new}
    first = {}
    for at, table in enumerate(old):
        first.setdefault(table.get("heading"), at)
    result = []
    for at, table in enumerate(old):
        heading = table.get("heading")
        if heading not in fresh:
            result.append(table)
        elif first[heading] == at:
            result += [one for one in new if one.get("heading") == heading]
    return result + [one for one in new if one.get("heading") not in first]


def text_of(tables):
    return "[\n" + ",\n".join(json.dumps(table, ensure_ascii=False) for table in tables) + "\n]\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    file = pathlib.Path(sys.argv[1])
    old = json.loads(file.read_text()) if file.exists() else []
    commit = machine.commit(pathlib.Path(__file__).parent)
    new = [{**table, "commit": commit} if commit else table for table in tables_of(sys.stdin.read())]
    file.write_text(text_of(merged(old, new)))


if __name__ == "__main__":
    main()
