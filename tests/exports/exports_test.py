#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: exports -- --library {file('sennit-omp')} --excluded {room}/excluded.txt
#     {source}/src/openmp/exports/libgomp.txt {source}/src/openmp/exports/libomp.txt --stock {stock_runtimes}
"""Everything that a host program can ask of a stock runtime is there: each symbol of the committed
lists, and of the stock libraries where they are installed, is implemented by Sennit (not one of
generate_stubs.py's weak stubs) or has its reason in excluded.txt. Nor does an exclusion outlive its
reason. Version nodes likewise: a program that asks for one that is missing does not start.

    exports_test.py --library libsennit-omp.so --excluded excluded.txt [--stock libgomp.so.1 ...] LIST...
"""
import argparse
import fnmatch
import pathlib
import subprocess
import sys


def symbols(library):
    """{name without its version: kind} as nm names kinds: T, B, D, W ...; A is a version node."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                          text=True).stdout
    return {words[-1].partition("@")[0]: words[-2] for words in map(str.split, text.splitlines())}


def lines(path):
    text = pathlib.Path(path).read_text(encoding="ascii")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def complaints(ours, wanted, excluded):
    """What is wrong, a line each; `wanted` is {name: who wants it}."""
    implemented = {name for name, kind in ours.items() if kind != "W"}
    for name, who in sorted(wanted.items()):
        reasons = [pattern for pattern in excluded if fnmatch.fnmatchcase(name, pattern)]
        if name not in implemented and not reasons:
            yield f"{who} exports {name}: implement it, or give a reason in excluded.txt"
        if name in implemented and name in excluded:
            yield f"{name} is implemented: take it out of excluded.txt"
    for pattern in excluded:
        if not fnmatch.filter(wanted, pattern):
            yield f"excluded.txt: no stock runtime exports {pattern}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--excluded", required=True)
    parser.add_argument("--stock", nargs="*", default=[])
    parser.add_argument("lists", nargs="+")
    arguments = parser.parse_args()
    wanted = {name: pathlib.Path(path).stem for path in arguments.lists for name in lines(path)}
    for stock in arguments.stock:
        # Data that the linker makes, and thread-local variables of the library's own.
        wanted |= {name: pathlib.Path(stock).name for name, kind in symbols(stock).items() if kind != "d"}
    excluded = {words[0]: words[1] for words in (line.split(None, 1) for line in lines(arguments.excluded))}
    found = list(complaints(symbols(arguments.library), wanted, excluded))
    print("\n".join(found) if found else f"{len(wanted)} symbols, {len(excluded)} exclusions: as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
