#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A part of the long checks, another one with each commit, so that none of them rots.

usage: rotation.py --build DIR [--number N] [--seconds S]

N, by default the number of commits behind HEAD, chooses the kind of check (KINDS) and the share of it. So eight
commits in a row see each kind, and after some hundred everything was checked once more. The part builds only what its
tests need. What is not done after S seconds (330) is left out, with a line: the machine may have other work. The suites
of other projects are not among the kinds: their sources are large, and a machine may not reach them.

The exit code is 1 if a check fails.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lint"))
import lint as reader


class Late(Exception):
    """No time is left."""


class Part:
    def __init__(self, number, seconds, build):
        self.turn, self.number = divmod(number, len(KINDS))
        self.end = time.monotonic() + seconds
        self.release = build

    def share(self, things, shares):
        return things[self.turn % shares::shares]

    def run(self, *command, **how):
        """True: the exit code is 0."""
        print("+", *command[:7], "..." if len(command) > 7 else "", flush=True)
        process = subprocess.Popen([str(word) for word in command], start_new_session=True, **how)
        try:
            return process.wait(max(self.end - time.monotonic(), 0)) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            raise Late from None

    def must(self, *command):
        """What it prints is of interest only if it fails."""
        with tempfile.TemporaryFile("w+", errors="replace") as told:
            if not self.run(*command, stdout=told, stderr=subprocess.STDOUT):
                told.seek(0)
                print(*told.readlines()[-40:], sep="")
                sys.exit(f"failed: {' '.join(str(word) for word in command[:4])} ...")


# ---- tests of a preset ----------------------------------------------------------------------------

def tests_of(build):
    """name -> (the paths in the build folder that it names, its labels). CTest itself tells no command before the
    program is built."""
    tests = {}
    for path in build.rglob("CTestTestfile.cmake"):
        for kind, name, rest in re.findall(r"^(add_test|set_tests_properties)\((?:\[=\[)?(.+?)(?:\]=\])?[ ]+(.*)\)$",
                                           path.read_text(), re.MULTILINE):
            paths, labels = tests.setdefault(name, (set(), set()))
            rest = re.sub(r'WORKING_DIRECTORY "[^"]*"', "", rest)
            paths.update(re.findall(re.escape(str(build)) + r"/([^\s\";:\\]+)", rest))
            for found in re.findall(r'LABELS "([^"]*)"', rest):
                labels.update(found.split(";"))
    return tests


def programs(part, preset, wanted, shares, label=None):
    build = ROOT / "build" / preset
    part.must("cmake", "--preset", preset)
    told = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, stdout=subprocess.PIPE, text=True)
    outputs = {line.split(": ")[0] for line in told.stdout.splitlines()}
    known = tests_of(build)
    listed = subprocess.run(["ctest", "--preset", preset, "-N"], check=True, stdout=subprocess.PIPE, text=True)
    numbers = {name: number for number, name in re.findall(r"^ *Test +#(\d+): (\S+)", listed.stdout, re.MULTILINE)}
    # What names a folder of programs, or a script of the build, needs more than can be told here: not taken.
    names = [name for name in numbers if re.match(wanted, name) and (not label or label in known[name][1])
             and known[name][0] <= outputs | {"lib/omp"}]
    chosen = part.share(names, shares)
    if not chosen:
        sys.exit(f"no test of {preset} matches {wanted}")
    needed = set().union(*(known[name][0] for name in chosen)) & outputs
    part.must("cmake", "--build", build, "--target", "sennit-omp", *sorted(needed))
    print(f"{len(chosen)} of {len(names)} tests of {preset}", flush=True)
    return part.run("ctest", "--preset", preset, "-j3", "-I", "0,0,0," + ",".join(numbers[name] for name in chosen))


def units(part, preset):
    """One program has them all, and CTest knows them only when it is built."""
    part.must("cmake", "--preset", preset)
    part.must("cmake", "--build", "--preset", preset, "--target", "unit-tests", "mpi-unit-tests")
    return part.run("ctest", "--preset", preset, "-j3", "-R", r"^unit\.")


# ---- the others -------------------------------------------------------------------------------------

def lint(part):
    return part.run("./dev", "lint", *part.share(reader.git("ls-files", *reader.READ), 12))


def stress(part):
    return part.run("python3", "tests/stress/stress.py", "5", "--build", part.release)


KINDS = [
    ("OpenMP programs under ASan+UBSan", lambda part: programs(part, "asan", r"omp\.", 10)),
    ("OpenMP programs under TSan", lambda part: programs(part, "tsan", r"omp\.", 12)),
    ("unit tests under ASan+UBSan", lambda part: units(part, "asan")),
    ("clang-tidy", lint),
    ("OpenMP programs with assertions", lambda part: programs(part, "debug", r"omp\.", 4)),
    ("MPI programs under ASan+UBSan", lambda part: programs(part, "asan", r"mpi\.", 16, "mpi-programs")),
    ("random programs", stress),
    ("unit tests under TSan", lambda part: units(part, "tsan")),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the release build")
    parser.add_argument("--number", type=int)
    parser.add_argument("--seconds", type=float, default=330)
    options = parser.parse_args()
    release = options.build.resolve()
    os.chdir(ROOT)
    number = options.number if options.number is not None else int(reader.git("rev-list", "--count", "HEAD")[0])
    part = Part(number, options.seconds, release)
    what, check = KINDS[part.number]
    print(f"part {number}: {what}, turn {part.turn}", flush=True)
    try:
        right = check(part)
    except Late:
        print(f"{what}: not ended after {options.seconds:.0f} s")
        return 0
    print(f"{what}: {'pass' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
