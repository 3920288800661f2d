#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: tools.demo_cost if="value('CMAKE_GENERATOR') == 'Ninja'" labels=quick -- {CMAKE_MAKE_PROGRAM} {build}
"""`./dev demo` is somebody's first minutes: it compiles what it shows, and no more.

Usage: demo_cost_test.py NINJA BUILD-FOLDER"""
import os
import subprocess
import sys

import harness

NINJA, BUILD = sys.argv[1:3]
# Of these there is one library for each MPI.
EACH_MPI = ("src/mpi/CMakeFiles/sennit-mpich.dir/", "src/mpi/CMakeFiles/sennit-openmpi.dir/", "apps/")


def compilations():
    """(source, output) of each"""
    steps = subprocess.run([NINJA, "-C", BUILD, "-t", "commands", "demo"], check=True, capture_output=True, text=True)
    for step in steps.stdout.splitlines():
        words = step.split()
        if "-c" in words and "-o" in words:
            source = os.path.realpath(os.path.join(BUILD, words[words.index("-c") + 1]))
            yield source, words[words.index("-o") + 1]


def test_no_file_is_compiled_twice_but_for_another_mpi():
    outputs = {}
    for source, output in compilations():
        if not output.startswith(EACH_MPI):
            outputs.setdefault(source, []).append(output)
    assert len(outputs) > 100, outputs
    twice = {source: names for source, names in outputs.items() if len(names) > 1}
    assert not twice, twice


def test_nothing_else_is_compiled():
    for _, output in compilations():
        assert not output.startswith(("tests/", "bench/", "sim/", "pass/", "src/ranks/", "addons/objects/")), output


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
