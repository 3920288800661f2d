#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: layers labels=quick -- --source {source}/src {beside} {objects} --rooms {room}/rooms.txt
"""Are the arrows of docs/architecture.md true? rooms.txt is the drawing as data.

Checked: which rooms' headers the files of a room include; which rooms define the symbols that the objects
of a room leave undefined; whether headers include each other in a circle;
which variables a room has, if rooms.txt says so; which files call what only one file may call; and whether a file
that names integers of a fixed width includes <cstdint>, itself or by a header of ours (since GCC 13, <string> and
its like do not). What is not drawn is an error, and so is an exception in
rooms.txt that is no longer needed.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.MULTILINE)
FIXED_WIDTH = re.compile(r"\b(?:u?int(?:8|16|32|64|max)_t|u?intptr_t)\b")
HAS_FIXED_WIDTH = re.compile(r"^\s*#\s*include <(?:cstdint|stdint\.h|inttypes\.h)>", re.MULTILINE)
SOURCES = (".h", ".cpp")
VARIABLE = re.compile(r"\d(g_[a-z0-9_]+)E$") # the end of a mangled name


def read_drawing(path):
    """(room -> rooms that it may use, room -> its variables, function -> the file that may call it, exceptions as
    (kind, from, to) or ("circle", headers))"""
    rooms, state, callers, exceptions = {}, {}, {}, set()
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            if match := re.fullmatch(r"left (include|symbol): (\S+) -> (\S+)", line):
                exceptions.add(match.groups())
            elif match := re.fullmatch(r"left circle: (.+)", line):
                exceptions.add(("circle", " ".join(sorted(match[1].split()))))
            elif match := re.fullmatch(r"state (\S+):(.*)", line):
                state[match[1]] = set(match[2].split())
            elif match := re.fullmatch(r"only (\S+):(.*)", line):
                callers.update(dict.fromkeys(match[2].split(), match[1]))
            elif match := re.fullmatch(r"(\S+):(.*)", line):
                rooms[match[1]] = set(match[2].split())
                if unknown := rooms[match[1]] - rooms.keys():
                    sys.exit(f"{path}:{number}: {', '.join(unknown)}: not drawn above this line")
            else:
                sys.exit(f"{path}:{number}: cannot read '{line}'")
    return rooms, state, callers, exceptions


def room_of(path):
    return os.path.dirname(path)


def files_of(root):
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.relpath(os.path.join(folder, name), root)


def includes_of(root, beside=()):
    """file -> the files of ours that it includes. A folder beside src/ is named, from where src/ is, in front of its
    files; they include from where they are, from the folder, from what it is in, or from src/."""
    places = {path: os.path.join(root, path) for path in files_of(root)}
    tops = dict.fromkeys(places, "")
    for folder in beside:
        top = os.path.relpath(folder, os.path.dirname(root))
        for path in files_of(folder):
            places[f"{top}/{path}"], tops[f"{top}/{path}"] = os.path.join(folder, path), top
    includes = {}
    for path, place in places.items():
        with open(place, encoding="utf-8") as file:
            named = INCLUDE.findall(file.read())
        starts = (room_of(path), tops[path], os.path.dirname(tops[path]), "") if tops[path] else ("",)
        found = ([name for name in (os.path.join(start, name) for start in starts) if name in places] for name in named)
        includes[path] = [names[0] for names in found if names]
    return includes, places


def without_integers(includes, places):
    """The files that name an integer of a fixed width, and do not include what declares it."""
    texts = {path: pathlib.Path(place).read_text(encoding="utf-8") for path, place in places.items()}
    known = {path for path, text in texts.items() if HAS_FIXED_WIDTH.search(text)}
    while more := {path for path, targets in includes.items() if path not in known and known.intersection(targets)}:
        known |= more
    return sorted(path for path, text in texts.items()
                  if path not in known and FIXED_WIDTH.search(re.sub("//.*", "", text)))


def symbols_of(objects, prefix, known):
    """({symbol: defining file}, {file: undefined symbols}, {(file, variable)}) of the objects of one library, a folder
    that has the layout of the sources behind `prefix`. Objects that an earlier layout left there do not count."""
    sources = {} # of each object
    for folder, _, names in os.walk(objects):
        for name in names:
            path = os.path.join(folder, name)
            # CMake writes __ for .. where a library has another room's sources, too.
            inner = os.path.relpath(path, objects)[:-len(".o")].replace("__/", "../")
            source = os.path.normpath(os.path.join(prefix, inner)).removeprefix("src/")
            if name.endswith(".cpp.o") and source in known:
                sources[path] = source
    defined, undefined, variables = {}, collections.defaultdict(set), set()
    output = subprocess.run(["nm", "-A", *sources], check=True, stdout=subprocess.PIPE, text=True).stdout if sources else ""
    for line in output.splitlines():
        path, _, entry = line.partition(":")
        kind, symbol = entry.split()[-2:]
        if kind in "BbDd" and (match := VARIABLE.search(symbol)):
            variables.add((sources[path], match[1]))
        if re.match(r"P?MPI_", symbol): # may be a tool's, in front of ours
            continue
        if kind == "U":
            undefined[sources[path]].add(symbol)
        elif kind in "TDBR": # weak ones are inline: their headers were checked
            defined[symbol] = sources[path]
    return defined, undefined, variables


def circles(graph):
    """The strongly connected components of more than one node (Tarjan, 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def strange_calls(root, callers):
    """{("call", file, function): an example}: by the text, since an inline function is in no file's objects."""
    found = {}
    for path in files_of(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                for name in re.findall(r"\w+(?=\s*\()", line.partition("//")[0]):
                    if callers.get(name, path) != path:
                        found[("call", path, name)] = f"line {number}: only {callers[name]} may call it"
    return found


def check(root, beside, objects, rooms, state, callers):
    """{(kind, from, to) or ("circle", headers): an example}"""
    found = strange_calls(root, callers)
    includes, places = includes_of(root, beside)
    for path in without_integers(includes, places):
        found[("fixed width", path)] = "#include <cstdint>"
    for path in includes:
        if room_of(path) not in rooms:
            sys.exit(f"{path}: the room '{room_of(path)}' is not drawn in rooms.txt")

    def use(kind, source, target, what):
        here, there = room_of(source), room_of(target)
        if there != here and there not in rooms[here]:
            found.setdefault((kind, here, there), f"{source}: {what}")

    graph = {path: {target for target in targets if target.endswith(".h")} for path, targets in includes.items()
             if path.endswith(".h")}
    for path, targets in includes.items():
        for target in targets:
            use("include", path, target, f'#include "{target}"')
    for circle in circles(graph):
        found[("circle", " ".join(circle))] = "these headers include each other"
    libraries = [symbols_of(folder, prefix, includes) for folder, prefix in objects]
    anywhere = collections.ChainMap(*(defined for defined, _, _ in libraries))
    for defined, undefined, variables in libraries:
        for source, name in variables:
            if name not in state.get(room_of(source), {name}):
                found[("variable", room_of(source), name)] = source
        for source, symbols in undefined.items():
            for symbol in symbols: # of the library itself, if it has one
                if there := defined.get(symbol, anywhere.get(symbol)):
                    use("symbol", source, there, f"{symbol} of {there}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", required=True, help="the folder src/")
    parser.add_argument("--beside", action="append", default=[], metavar="FOLDER", help="one beside src/ that uses it")
    parser.add_argument("--rooms", required=True, help="rooms.txt")
    parser.add_argument("--objects", action="append", default=[], metavar="FOLDER[=PREFIX]",
                        help="object files of one library; PREFIX: where its sources are in src/")
    options = parser.parse_args()
    sys.setrecursionlimit(10000)
    rooms, state, callers, exceptions = read_drawing(options.rooms)
    objects = [(folder, prefix) for folder, _, prefix in (text.partition("=") for text in options.objects)]
    for folder, _ in objects: # CMake says where they are; a part of them may not be built
        if not os.path.isdir(folder):
            print(f"not built, so not looked at: {folder}")
    found = check(options.source, options.beside, objects, rooms, state, callers)
    if not objects:
        exceptions = {key for key in exceptions if key[0] != "symbol"}
    for key in sorted(found.keys() - exceptions):
        print(f"{key[0]} that is not drawn: {' -> '.join(key[1:])}\n    ({found[key]})")
    for key in sorted(exceptions - found.keys()):
        print(f"rooms.txt has an exception that is not needed: {key[0]}: {' -> '.join(key[1:])}")
    wrong = found.keys() ^ exceptions
    print(f"{len(rooms)} rooms, {len(exceptions)} exceptions, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
