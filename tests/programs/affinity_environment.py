#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# judge:
"""The variables about places, binding and their display (OpenMP 5.2, 21.1.5, 21.1.6, 21.2, 21.7, and
those of libgomp and libomp), read by a program under Sennit.

    affinity_environment.py --programs build/tests/programs/gcc --lib build/lib/omp
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
CPUS = sorted(os.sched_getaffinity(0))
# By compiler, as its runtime has it.
FORMATS = {"gcc": "level %L thread %i affinity %A",
           "clang": "OMP: pid %P tid %i thread %n bound to OS proc set {%A}"}
TRUE = {"gcc": "TRUE", "clang": "SPREAD"} # what OMP_PROC_BIND=true stands for
PAIR = set(CPUS) >= {0, 1}  # some tests name these two


def run(**environment):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("OMP_", "GOMP_", "KMP_", "SENNIT_"))}
    return subprocess.run([OPTIONS.programs / "affinity_victim"], timeout=SECONDS,
                          env={**clean, "LD_LIBRARY_PATH": str(OPTIONS.lib), **environment},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)


def where(result):
    """(place, processors) of the threads of each region, in the order of their lines."""
    return [(int(place), [int(cpu) for cpu in cpus.split()])
            for place, cpus in re.findall(r"^thread \d+ place (-?\d+) cpus((?: \d+)*)$",
                                          result.stdout, re.M)]


def shown(result):
    """The variables that the display names."""
    return dict(re.findall(r"^  (?:\[host\] )?(\w+) = '(.*)'$", result.stderr, re.M))


class Environment(unittest.TestCase):
    def warns(self, result, *words):
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertRegex(lines[0], r"^(OMP: Warning #\d+: )?sennit: ")
        for word in words:
            self.assertIn(word, lines[0])

    def test_nothing_asked_nothing_bound(self):
        result = run()
        self.assertEqual(where(result), [(-1, CPUS)] * 7)
        self.assertEqual(result.stderr, "")

    def test_places_alone_bind(self):
        result = run(OMP_PLACES=f"{{{CPUS[-1]}}}")
        self.assertEqual(where(result), [(0, CPUS[-1:])] * 7)
        self.assertEqual(shown(run(OMP_PLACES="threads", OMP_DISPLAY_ENV="true"))["OMP_PROC_BIND"],
                         TRUE[OPTIONS.programs.name])

    def test_proc_bind_alone_has_a_place_for_each_processor(self):
        result = run(OMP_PROC_BIND="close")
        self.assertEqual(where(result)[:2],
                         [(i % len(CPUS), [CPUS[i % len(CPUS)]]) for i in range(2)])

    def test_false_wins(self):
        for name in ("OMP_PLACES", "GOMP_CPU_AFFINITY"):
            result = run(OMP_PROC_BIND="false", **{name: str(CPUS[0])})
            self.assertEqual(where(result), [(-1, CPUS)] * 7)
        if OPTIONS.programs.name == "clang": # whose runtime asks KMP_AFFINITY first
            result = run(OMP_PROC_BIND="false", KMP_AFFINITY="granularity=fine,compact")
            self.assertEqual(where(result)[0], (0, CPUS[:1]))
            self.warns(result, "OMP_PROC_BIND", "KMP_AFFINITY")

    def test_gomp_cpu_affinity(self):
        backwards = " ".join(str(cpu) for cpu in reversed(CPUS))
        result = run(GOMP_CPU_AFFINITY=backwards, OMP_DISPLAY_ENV="true")
        self.assertEqual(where(result)[0], (0, [CPUS[-1]]))
        self.assertEqual(shown(result)["OMP_PLACES"],
                         ",".join(f"{{{cpu}}}" for cpu in reversed(CPUS)))

    def test_kmp_affinity(self):
        if OPTIONS.programs.name == "gcc": # whose runtime does not know the variable
            for value in ("granularity=fine,compact", "warp,compact"):
                result = run(KMP_AFFINITY=value)
                self.assertEqual((where(result), result.stderr), ([(-1, CPUS)] * 7, ""))
            return
        for text, bind in (("compact", "CLOSE"), ("granularity=fine,scatter", "CLOSE"),
                           ("nowarnings,balanced", "SPREAD"), ("none", "FALSE"),
                           ("disabled", "FALSE"), ("granularity=fine,compact,1,0", "CLOSE")):
            with self.subTest(KMP_AFFINITY=text):
                result = run(KMP_AFFINITY=text, OMP_DISPLAY_ENV="true")
                self.assertEqual(shown(result)["OMP_PROC_BIND"], bind)
                self.assertEqual(result.stderr.count("sennit:"), 0)
        self.warns(run(KMP_AFFINITY="warp,compact"), "KMP_AFFINITY", "'warp'")

    def test_kmp_affinity_with_a_list(self):
        if OPTIONS.programs.name == "gcc":
            return
        backwards = ",".join(str(cpu) for cpu in reversed(CPUS))
        for text in (f"explicit,proclist=[{backwards}]", f"proclist=[{backwards}],explicit"):
            self.assertEqual(where(run(KMP_AFFINITY=text))[0], (0, [CPUS[-1]]))
        for text in ("explicit", "explicit,proclist=[planet]"):
            self.assertEqual(where(run(KMP_AFFINITY=text)), [(-1, CPUS)] * 7)
        self.warns(run(KMP_AFFINITY="explicit,proclist=[planet]"), "KMP_AFFINITY", "'planet'")

    def test_kmp_affinity_reset(self):
        if OPTIONS.programs.name == "gcc":
            return
        result = run(KMP_AFFINITY="reset,granularity=fine,compact")
        outside = re.findall(r"^thread outside cpus((?: \d+)*)$", result.stdout, re.M)
        self.assertEqual([[int(cpu) for cpu in cpus.split()] for cpus in outside], [CPUS] * 4)
        self.assertEqual(where(result)[0], (0, CPUS[:1]))
        result = run(KMP_AFFINITY="granularity=fine,compact")
        outside = re.findall(r"^thread outside cpus((?: \d+)*)$", result.stdout, re.M)
        self.assertEqual(len(outside), 4)
        self.assertEqual(outside[0].split(), [str(CPUS[0])])

    def test_hardware_subset(self):
        """A part of the machine, all of it, or one line about what makes no sense; GCC's runtime does
        not know the variable."""
        if OPTIONS.programs.name == "gcc":
            for value in ("1t", "2z"):
                result = run(KMP_HW_SUBSET=value)
                self.assertEqual((where(result), result.stderr), ([(-1, CPUS)] * 7, ""))
            return
        result = run(KMP_HW_SUBSET="1s,1c,1t", OMP_DISPLAY_ENV="true")
        self.assertEqual(where(result), [(-1, CPUS[:1])] * 7)
        self.assertEqual(shown(result)["OMP_NUM_THREADS"], "1")
        if PAIR: # each a socket
            two = {"SENNIT_SYSTEM_FILES": str(OPTIONS.programs.parent / "two-domains")}
            self.assertEqual(where(run(KMP_HW_SUBSET="1S@1", **two)), [(-1, [1])] * 7)
            self.assertEqual(where(run(KMP_HW_SUBSET="1c", **two)), [(-1, [0, 1])] * 7)
        self.assertEqual(where(run(KMP_HW_SUBSET="*t,*s,*c")), [(-1, CPUS)] * 7)
        self.assertEqual(where(run(KMP_HW_SUBSET="1t,1c,1s", OMP_PLACES="threads")),
                         [(0, CPUS[:1])] * 7)
        for value, word in (("5000t", "not so many"), ("2z", "'z'"), ("1s,", "''"), ("1c 2t", "2t")):
            result = run(KMP_HW_SUBSET=value)
            self.warns(result, "KMP_HW_SUBSET", word)
            self.assertEqual(where(result), [(-1, CPUS)] * 7)

    def test_settings(self):
        for value, effective in (("planets", "cores"), ("sockets(", "sockets"),
                                 ("threads()", "threads"), ("cores(1)", "cores")):
            result = run(KMP_SETTINGS="1", OMP_PLACES=value)
            user, _, now = result.stdout.partition("Effective settings:")
            self.assertIn(f"OMP_PLACES={value}", user)
            if OPTIONS.programs.name == "gcc": # which has its program not bound then
                effective = "cores" if value == "cores(1)" else ""
            self.assertIn(f"OMP_PLACES='{effective}'", now)

    def test_senseless_settings_cost_one_line(self):
        for name, value, word in (("OMP_PLACES", "{0:4", "''"), ("OMP_PLACES", "planets", "planets"),
                                  ("OMP_PROC_BIND", "often", "often"),
                                  ("OMP_PROC_BIND", "close,,spread", "close,,spread"),
                                  ("GOMP_CPU_AFFINITY", "0-", "0-"),
                                  ("OMP_DISPLAY_AFFINITY", "perhaps", "perhaps"),
                                  ("OMP_DISPLAY_ENV", "loud", "loud")):
            with self.subTest(name=name, value=value):
                self.warns(run(**{name: value}), name, word)

    def test_processors_that_are_not_ours_are_left_out(self):
        result = run(OMP_PLACES=f"{{{CPUS[0]}}},{{8191}}")
        self.warns(result, "OMP_PLACES", "left out")
        self.assertEqual(where(result), [(0, CPUS[:1])] * 7)
        result = run(OMP_PLACES="{8190:2}", OMP_PROC_BIND="close")
        self.warns(result, "none is left")
        # To GCC's runtime it is as if there were no OMP_PLACES. LLVM's binds nobody then.
        first = CPUS[:1] if OPTIONS.programs.name == "gcc" else CPUS
        self.assertEqual(where(result)[0], (0, first))
        result = run(OMP_PLACES="planets", GOMP_CPU_AFFINITY=str(CPUS[-1]))
        self.warns(result, "planets")
        if OPTIONS.programs.name == "gcc":
            self.assertEqual(where(result), [(0, CPUS[-1:])] * 7)

    @unittest.skipUnless(PAIR, "needs processors 0 and 1")
    def test_places_of_the_machine(self):
        def places(siblings):
            files = (pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology", siblings) for cpu in (0, 1))
            groups = {file.read_text() for file in files if file.exists()}
            return "{0:2}" if len(groups) == 1 else "{0},{1}"

        if len(CPUS) > 2:
            self.skipTest("knows by heart how two processors are grouped")
        for name, expected in (("cores", places("thread_siblings_list")),
                               ("sockets", places("core_siblings_list")),
                               ("threads", "{0},{1}"), ("threads(1)", "{0}")):
            with self.subTest(OMP_PLACES=name):
                result = run(OMP_PLACES=name, OMP_DISPLAY_ENV="true")
                self.assertEqual(shown(result)["OMP_PLACES"], expected)

    def test_display_affinity(self):
        lines = run(OMP_DISPLAY_AFFINITY="true", OMP_NUM_THREADS="2",
                    OMP_AFFINITY_FORMAT="show %L %0.2n/%N")
        lines = (lines.stderr if OPTIONS.programs.name == "gcc" else lines.stdout).splitlines()
        lines = [line for line in lines if line.startswith("show")]
        # The second region is as the first one; the third has more threads.
        self.assertEqual(sorted(lines[:2]), ["show 1 00/2", "show 1 01/2"])
        self.assertEqual(sorted(lines[2:]), [f"show 1 0{i}/3" for i in range(3)])
        self.assertEqual([line for line in run(OMP_DISPLAY_AFFINITY="false").stdout.splitlines()
                          if not line.startswith("thread")], [])

    def test_display_env(self):
        result = run(OMP_DISPLAY_ENV="true", OMP_NUM_THREADS="4,2", OMP_PROC_BIND="spread,close",
                     OMP_PLACES=f"{{{CPUS[0]}}}", OMP_SCHEDULE="dynamic,3")
        lines = result.stderr.splitlines()
        self.assertEqual((lines[1], lines[-1]), ("OPENMP DISPLAY ENVIRONMENT BEGIN",
                                                 "OPENMP DISPLAY ENVIRONMENT END"))
        values = shown(result)
        for name, value in (("_OPENMP", "202111"), ("OMP_NUM_THREADS", "4,2"),
                            ("OMP_PROC_BIND", "SPREAD,CLOSE"), ("OMP_PLACES", f"{{{CPUS[0]}}}"),
                            ("OMP_SCHEDULE", "DYNAMIC,3"), ("OMP_DISPLAY_AFFINITY", "FALSE"),
                            ("OMP_AFFINITY_FORMAT", FORMATS[OPTIONS.programs.name])):
            self.assertEqual(values[name], value)
        self.assertNotIn("SENNIT_POLICY", values)
        self.assertEqual(shown(run(OMP_DISPLAY_ENV="verbose"))["SENNIT_POLICY"], "auto")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--lib", type=pathlib.Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.programs = OPTIONS.programs.resolve()
    OPTIONS.lib = OPTIONS.lib.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
