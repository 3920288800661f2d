#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long tests take turns: of two commits in a row each runs one half of them, and `./dev test` runs all.

usage: turns.py --build DIR [--number N]

Prints a regular expression for `ctest -E`: the tests that are not run at commit number N (by default the number of
commits behind HEAD). LONG names tests of ten seconds and more, and families of many tests that are much alike:
together half of the time that all tests take. Those of one line are sorted, so that what runs with both MPIs runs
with one of them each time. Tests that count instructions or calls are not among them: they guard each commit.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

LONG = [
    r"pass\.(run|programs|random|random_fortran|remarks)\.\w+",
    r"sim\.Front\.GoalsOfThePapersStudy|sim\.command",
    r"mpi\.hang\.(slow|hung|plain)\.\w+",
    r"mpi\.(doorbells|rank_fibers|some_ranks)\.\w+",
    r"mpi\.crowded_start\..*",
    r"tools\.(mpiexec_options|worlds)\.\w+",
    r"tools\.(job|export|apart)\..*",
    r"tools\.(scarce|pool|install|configure|slurm|denied|early_end)",
    r"conformance\.compare",
    r"apps\.(suite|cholesky|front|gauss_seidel|ifsker|stencil)\..*",
    r"mpi\.assembled\.bare\..*",
    r"mpi\.chaos\..*",
    r"checked\.omp\..*",
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build whose tests are meant")
    parser.add_argument("--number", type=int)
    options = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parent
    number = options.number
    if number is None:
        number = int(subprocess.run(["git", "-C", source, "rev-list", "--count", "HEAD"], check=True,
                                    stdout=subprocess.PIPE, text=True).stdout)
    listed = json.loads(subprocess.run(["ctest", "--test-dir", options.build, "--show-only=json-v1"], check=True,
                                       stdout=subprocess.PIPE, text=True).stdout)
    names = sorted(test["name"] for test in listed["tests"])
    long = []
    for pattern in LONG:
        found = [name for name in names if re.fullmatch(pattern, name)]
        if not found:
            print(f"turns.py: no test is named {pattern}", file=sys.stderr)
        long += found
    others = [name for place, name in enumerate(long) if (place + number) % 2]
    print(f"{len(long) - len(others)} of {len(long)} long tests have their turn at commit {number}", file=sys.stderr)
    print("^(" + "|".join(re.escape(name) for name in others) + ")$")


if __name__ == "__main__":
    main()
