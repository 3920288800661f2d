#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# judge:
"""Settings whose meaning the standard leaves open, or that are wrong: one and the same program, with
its stock runtime and with Sennit, finds the same.

    environment_stock.py --programs build/tests/programs/gcc --lib build/lib/omp
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import unittest

OPTIONS = argparse.Namespace()
SECONDS = 120
SIZES = ("team", "team of 4")


def run(sennit, **environment):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("OMP_", "GOMP_", "KMP_", "SENNIT_", "LD_LIBRARY_PATH"))}
    if sennit:
        clean["LD_LIBRARY_PATH"] = str(OPTIONS.lib)
    return subprocess.run([OPTIONS.programs / "environment_victim"], timeout=SECONDS,
                          env={**clean, **environment}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True)


def newer_libgomp():
    """Of GCC 13 or later: its programs are compiled by that GCC."""
    comment = subprocess.run(["readelf", "-p", ".comment", OPTIONS.programs / "environment_victim"], text=True,
                             capture_output=True, check=True).stdout
    versions = re.findall(r"GCC: .* (\d+)\.\d+\.\d+", comment)
    return "clang" not in comment and any(int(version) >= 13 for version in versions)


class Same(unittest.TestCase):
    def same(self, *left_out, **environment):
        """The lines that the program prints, without those that begin with `left_out`."""
        def lines(result):
            return [line for line in result.stdout.splitlines() if not line.startswith(left_out)]

        with self.subTest(**environment):
            ours = run(True, **environment)
            self.assertEqual(lines(ours), lines(run(False, **environment)))
            return ours

    def test_nothing_set(self):
        self.same()

    def test_schedules(self):
        for value in ("dynamic,0", "guided,0", "dynamic,5", "guided", "nonsense", "dynamic,",
                      "static,0", "auto", "auto,4"):
            self.same(OMP_SCHEDULE=value)

    def test_schedules_with_a_wrong_size(self):
        if newer_libgomp():
            self.skipTest("since GCC 13 libgomp takes none of it; before, the kind counted")
        for value in ("static,", "guided,2147483648", "static,1.5", "static;4", "dynamic,1e2", "dynamic,4x", "dynamic 4"):
            self.same(OMP_SCHEDULE=value)

    def test_numbers_that_are_too_small(self):
        for name in ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_NUM_TEAMS",
                     "OMP_TEAMS_THREAD_LIMIT", "OMP_DEFAULT_DEVICE", "OMP_MAX_TASK_PRIORITY"):
            self.same(**{name: "0"})
        for name in ("OMP_NUM_TEAMS", "OMP_TEAMS_THREAD_LIMIT", "OMP_DEFAULT_DEVICE"):
            self.same(**{name: "-1"})

    def test_booleans(self):
        for value in ("true", "FALSE", "yes", "no", "on", "off", ".true.", ".F.", "perhaps",
                      "1", "0"):
            self.same(*SIZES, OMP_DYNAMIC=value)
            self.same(OMP_CANCELLATION=value)

    def test_levels(self):
        for value in ("0", "3", "255", "256", "1000", "-1", "9999999999", "many"):
            self.same(OMP_MAX_ACTIVE_LEVELS=value)
        for value in ("true", "false", "1", "0"):
            self.same(OMP_NESTED=value)
        self.same(OMP_NUM_THREADS="2,2")

    def test_places_that_make_no_sense(self):
        for value in ("planets", "{0}:planets", "{0:4", "{8000}", "{8000},{8001}"):
            self.same("processors", OMP_PLACES=value)
            self.same("processors", OMP_PLACES=value, OMP_PROC_BIND="close")

    def test_a_number_of_places(self):
        for value in ("cores(1)", "threads(1)"):
            self.same(OMP_PLACES=value)
            self.same(OMP_PLACES=value, OMP_PROC_BIND="false")
        self.same("processors", OMP_PLACES="threads", OMP_PROC_BIND="nonsense")

    def test_llvm_alone_knows_kmp_affinity(self):
        cpus = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
        for value in ("compact", "granularity=fine,scatter", "none", "disabled",
                      f"granularity=fine,explicit,proclist=[{cpus}]", "warnings"):
            self.same(KMP_AFFINITY=value)
            self.same(KMP_AFFINITY=value, OMP_PROC_BIND="false")
            self.same(KMP_AFFINITY=value, OMP_PROC_BIND="close")
            self.same(KMP_AFFINITY=value, OMP_PLACES="threads(1)")

    def test_llvm_alone_knows_how_many_threads_there_may_be(self):
        for value in ("1", "3", "all"):
            self.same("limit", KMP_DEVICE_THREAD_LIMIT=value) # which is another one
            self.same("limit", KMP_ALL_THREADS=value)
        for value in ("serial", "turnaround", "throughput", "nonsense"):
            self.same("limit", KMP_LIBRARY=value)
        for value in ("1s,1c,1t", "*s,*c,*t", "1t", "1c", "1s", "1c,1t", "1s,1t"):
            self.same("team", KMP_HW_SUBSET=value)

    def test_affinity_is_shown_where_the_stock_runtime_shows_it(self):
        environment = {"OMP_DISPLAY_AFFINITY": "true", "OMP_AFFINITY_FORMAT": "shown thread %n of %N"}
        streams = [(result.stdout.count("shown thread "), result.stderr.count("shown thread "))
                   for result in (run(True, **environment), run(False, **environment))]
        self.assertEqual(*([stream > 0 for stream in each] for each in streams))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--lib", type=pathlib.Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.programs = OPTIONS.programs.resolve()
    OPTIONS.lib = OPTIONS.lib.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
