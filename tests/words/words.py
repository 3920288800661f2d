#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: words labels=quick -- {source}
"""One word, one thing: no two headers of src/ and addons/ have a class of the same name, in whatever namespace.
Classes inside others, and those of one source file, are not meant: their names are read in their place.

And the subjects of the last commits have at most 72 characters, if git can tell."""

import collections
import pathlib
import re
import subprocess
import sys

CLASS = re.compile(r"^(?:template\s*<[^;{]*>\s*)?(?:class|struct|union|enum class|enum)\s+(?:alignas\([^)]*\)\s*)?"
                   r"(?:SENNIT_\w+(?:\([^)]*\))?\s+)?([A-Z]\w+)(?:\s+final)?\s*(?::[^:;{][^;{]*)?\{", re.MULTILINE)


def names_of(text):
    return set(CLASS.findall(text))


def long_subjects(source):
    told = subprocess.run(["git", "-C", source, "log", "-30", "--no-merges", "--format=%s"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return [line for line in told.stdout.splitlines() if len(line) > 72] if told.returncode == 0 else []


def main():
    source = pathlib.Path(sys.argv[1])
    # What the expression must find, and must not.
    assert names_of("struct One {\nclass alignas(64) Two final : Base {\nenum class Three : int {\n") == {"One", "Two", "Three"}
    assert names_of("class One;\n    struct Inner {\nstruct Two *two();\n") == set()

    where = collections.defaultdict(list)
    for folder in ("src", "addons"):
        for path in sorted((source / folder).rglob("*.h")):
            for name in names_of(path.read_text()):
                where[name].append(path.relative_to(source).as_posix())
    twice = {name: paths for name, paths in where.items() if len(paths) > 1}
    wrong = [f"class {name}: {', '.join(twice[name])}" for name in sorted(twice)]
    wrong += [f"subject of {len(line)} characters: {line}" for line in long_subjects(source)]
    print(*wrong, f"{len(where)} classes, {len(wrong)} things wrong", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
