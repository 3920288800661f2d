#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: words labels=quick -- {source}
"""One word, one thing: no two headers of src/ and addons/ have a class of the same name, in whatever namespace.
Classes inside others, and those of one source file, are not meant: their names are read in their place.

Nor does a type, wherever it is, have a name that docs/dev/words.md keeps for another thing.

And the subjects of the last commits have at most 72 characters, if git can tell."""

import collections
import pathlib
import re
import subprocess
import sys

CLASS = re.compile(r"^(?:template\s*<[^;{]*>\s*)?(?:class|struct|union|enum class|enum)\s+(?:alignas\([^)]*\)\s*)?"
                   r"(?:SENNIT_\w+(?:\([^)]*\))?\s+)?([A-Z]\w+)(?:\s+final)?\s*(?::[^:;{][^;{]*)?\{", re.MULTILINE)

TYPE = re.compile(r"^\s*(?:(?:class|struct|union|enum class|enum)\s+(?:alignas\([^)]*\)\s*)?(\w+::)?([A-Z]\w+)\b[^;(){]*\{"
                  r"|using\s+([A-Z]\w+)\s*=)", re.MULTILINE)

# Words of the standards, and the files whose type is what they mean: a place is a set of processors, a request what a
# non-blocking call of MPI gives. An entry is a field of a table.
KEPT = {
    "Place": set(),
    "Request": {"src/mpi/extensions/continuations.h", "tools/trace/replay.h"},
    "Entry": {"src/base/hash.h", "src/mpi/extensions/continuations.h", "src/mpi/record/record.h",
              "src/mpi/record/request_table.h", "src/openmp/team/virtual_team.h", "src/ranks/exported/registry.h",
              "src/tasks/task/accounts.cpp", "src/tasks/task/depend.cpp", "tools/sennit/launch/library_search.cpp"},
}


def names_of(text):
    return set(CLASS.findall(text))


def types_of(text):
    return {name or alias for _, name, alias in TYPE.findall(text)}


def misused(source):
    """Types with a kept name in other files, and files that have no such type any more."""
    found = collections.defaultdict(set)
    for folder in ("src", "addons", "tools", "sim", "pass"):
        for path in (source / folder).rglob("*"):
            if path.suffix in (".h", ".cpp"):
                for name in types_of(path.read_text()) & KEPT.keys():
                    found[name].add(path.relative_to(source).as_posix())
    wrong = [f"type {name}: {path}" for name in KEPT for path in sorted(found[name] - KEPT[name])]
    return wrong + [f"no type {name} any more: {path}" for name in KEPT for path in sorted(KEPT[name] - found[name])]


def long_subjects(source):
    told = subprocess.run(["git", "-C", source, "log", "-30", "--no-merges", "--format=%s"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return [line for line in told.stdout.splitlines() if len(line) > 72] if told.returncode == 0 else []


def main():
    source = pathlib.Path(sys.argv[1])
    # What the expression must find, and must not.
    assert names_of("struct One {\nclass alignas(64) Two final : Base {\nenum class Three : int {\n") == {"One", "Two", "Three"}
    assert names_of("class One;\n    struct Inner {\nstruct Two *two();\n") == set()

    assert types_of("    struct Place {\n    using Request = int;\nstruct Some::Entry {\n") == {"Place", "Request", "Entry"}
    assert types_of("enum class Place : int {\nEntry entry;\n") == {"Place"}

    where = collections.defaultdict(list)
    for folder in ("src", "addons"):
        for path in sorted((source / folder).rglob("*.h")):
            for name in names_of(path.read_text()):
                where[name].append(path.relative_to(source).as_posix())
    twice = {name: paths for name, paths in where.items() if len(paths) > 1}
    wrong = [f"class {name}: {', '.join(twice[name])}" for name in sorted(twice)]
    wrong += misused(source)
    wrong += [f"subject of {len(line)} characters: {line}" for line in long_subjects(source)]
    print(*wrong, f"{len(where)} classes, {len(wrong)} things wrong", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
