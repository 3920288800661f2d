#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Can programs that were linked with one build's libraries run with another's? abidiff (the package abigail-tools)
compares names, versions of symbols, and the types of the public headers. Both builds need their debug symbols: two build
folders, or two installations that are not stripped.

usage: abi.py BEFORE AFTER      exit code: 0 yes, 1 no, 77 there is no abidiff"""
import pathlib
import shutil
import subprocess
import sys

INCOMPATIBLE = 8 # of abidiff's exit code; 1 and 2 are errors, 4 is any change
HEADERS = pathlib.Path(__file__).parent.parent / "include"


def libraries(home):
    """Those that programs link or find instead of the stock ones: name -> file."""
    folder = next((home / name for name in ("lib/sennit", "lib") if (home / name / "libsennit-omp.so").exists()), None)
    if not folder:
        sys.exit(f"{home}: no build and no installation of Sennit")
    found = {path.name: path for path in sorted(folder.glob("libsennit-*.so"))}
    for name in ("libsennit-pass.so", "libsennit-session.so", "libsennit-rank.so"): # nobody's but Sennit's
        found.pop(name, None)
    return found


def compare(before, after):
    """(verdict, what abidiff says) of two files."""
    done = subprocess.run(["abidiff", "--drop-private-types", "--headers-dir1", HEADERS, "--headers-dir2", HEADERS, before,
                           after], capture_output=True, text=True, check=False)
    if done.returncode & 3:
        sys.exit(f"abidiff {before} {after}: {done.stderr.strip() or done.stdout.strip()}")
    verdict = "INCOMPATIBLE" if done.returncode & INCOMPATIBLE else "differs" if done.returncode else "the same"
    return verdict, done.stdout


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if not shutil.which("abidiff"):
        print("nothing is compared: there is no abidiff")
        sys.exit(77)
    before, after = (libraries(pathlib.Path(word)) for word in sys.argv[1:])
    worst = 0
    for name in sorted(before | after):
        if name not in after:
            verdict, said = "INCOMPATIBLE", f"{name} is gone\n"
        elif name not in before:
            verdict, said = "new", ""
        else:
            verdict, said = compare(before[name], after[name])
        print(f"{name:40} {verdict}")
        if verdict == "INCOMPATIBLE":
            print(said, end="")
            worst = 1
    sys.exit(worst)


if __name__ == "__main__":
    main()
