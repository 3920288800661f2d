# SPDX-License-Identifier: Apache-2.0
"""The rows of calls.txt."""

COLUMNS = ["kind", "name", "twin", "since", "ordered", "notice", "peer", "tag", "status"]


def parse_row(line):
    """None: it is a comment."""
    if not line.strip() or line.startswith("#"):
        return None
    return dict(zip(COLUMNS, line.split(), strict=True))


def read_calls(path):
    with open(path, encoding="utf-8") as lines:
        yield from filter(None, map(parse_row, lines))
