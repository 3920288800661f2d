# SPDX-License-Identifier: Apache-2.0
"""Tests of the comparison of whole programs: its lists, its verdicts, and a run with a real program.

usage: test_programs.py BUILD
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import cells as bench_cells
import programs
import report

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
LIBGOMP = bench_cells.Runtime("libgomp", "gcc")
SENNIT = bench_cells.Runtime("Sennit", "gcc", pathlib.Path("lib"), True)
MODE = bench_cells.Mode("mode", 2, True)
GROUP = '[[group]]\nname = "G"\ntimeout = 7\n[[group.program]]\nname = "p"\ncommand = ["p.{compiler}", "{here}/x"]\n'


class Lists(unittest.TestCase):
    def read(self, text, only=None):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.toml"
            path.write_text(text)
            return programs.read_list(path, only)

    def test_a_program_takes_what_its_group_says(self):
        program, other = self.read(GROUP + '[[group.program]]\nname = "q"\ncommand = ["q"]\ntimeout = 9\n')
        self.assertEqual((program.group, program.timeout, other.timeout), ("G", 7, 9))

    def test_placeholders(self):
        program, = self.read(GROUP)
        self.assertEqual(programs.program_words(program, "gcc", pathlib.Path("/lists")),
                         ["/lists/p.gcc", "/lists/x"])

    def test_mistakes_are_named(self):
        for text, complaint in ((GROUP + "colour = 3\n", "no such key: colour"),
                                (GROUP + 'check = "-c"\n', "check must be a list of texts"),
                                (GROUP + 'compilers = ["icc"]\n', "no such compiler: icc"),
                                (GROUP + 'result = "("\n', "result: "),
                                ('[[group]]\n[[group.program]]\nname = "p"\n', "name and command are needed"),
                                ("[[group", "list.toml: "),
                                ("", "no .*program")):
            with self.subTest(complaint), self.assertRaisesRegex(programs.ListError, complaint):
                self.read(text)
        with self.assertRaisesRegex(programs.ListError, "no such program: r"):
            self.read(GROUP, ["p", "r"])

    def test_what_is_no_list_is_refused(self):
        for text in ("group = 3", 'group = "x"', "group = [1, 2]", "[group]\nname = 'G'", "[[group]]\nprogram = 3",
                     "[[group]]\nprogram = [[]]", "[[group]]\n[group.program]\nname = 'p'", "x = " + 5000 * "[",
                     GROUP + "timeout = nan", GROUP + "timeout = -inf", GROUP + "tolerance = -1.0", GROUP + "timeout = true",
                     GROUP + "status = true", GROUP + "status = -1", GROUP + "status = 1979-05-27", GROUP + "check = [1]",
                     GROUP + 'check = ["a\\u0000b"]', GROUP + "launcher = [[]]", GROUP + "environment = {A = 1}",
                     GROUP + 'environment = {"A=B" = "1"}', GROUP + 'environment = {"" = "1"}',
                     GROUP + 'environment = {A = "\\u0000"}', GROUP + f'expect = "a{{{2**40}}}"',
                     GROUP + f'expect = "{2000 * "("}"',
                     GROUP.replace('"p"', "3"), GROUP.replace('"p"', "[]"), GROUP.replace('"G"', "{}"),
                     GROUP.replace('["p.{compiler}", "{here}/x"]', "[]"), GROUP + 'compilers = "gcc"',
                     GROUP + "compilers = [[]]", GROUP + "name = 'again'", "\x00", "[[group]]\r"):
            with self.subTest(text[:80]), self.assertRaises(programs.ListError):
                self.read(text)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.toml"
            for wrong in (b"\xff\xfe", b"name = '\xe9'"):
                path.write_bytes(wrong)
                with self.assertRaises(programs.ListError):
                    programs.read_list(path)
            with self.assertRaises(programs.ListError):
                programs.read_list(pathlib.Path(folder))


class Results(unittest.TestCase):
    def test_numbers_within_the_tolerance_are_the_same(self):
        same = programs.same_results
        self.assertTrue(same(["1.0", "a"], ["1.0000001", "a"], 1e-6))
        self.assertFalse(same(["1.0", "a"], ["1.0000001", "a"], 0))
        self.assertFalse(same(["1.0", "a"], ["1.0", "b"], 1e-6))
        self.assertFalse(same(["1.0"], ["1.0", "1.0"], 1e-6))
        self.assertFalse(same(["1.0"], ["nan"], 1e-6))

    def test_all_matches_of_a_pattern_count(self):
        self.assertEqual(programs.printed_results(r"^x = (\S+), (\S+)", "x = 1, 2\nx = 3, 4\n"), ["1", "2", "3", "4"])


def outcome(seconds, state="ok"):
    made = programs.Outcome(report.Cell([[seconds]]), report.Cell([[2 * seconds]]), 2048)
    if state != "ok":
        made.fail(state, "as the test wants")
    return made


class Rows(unittest.TestCase):
    def row(self, peer, ours):
        case = programs.Case(programs.Program("G", "p", ["p"]), "gcc", MODE)
        return programs.CaseReport(case, {(case, LIBGOMP): peer, (case, SENNIT): ours})

    def test_a_good_row(self):
        row = self.row(outcome(4), outcome(1))
        self.assertFalse(row.regressed)
        self.assertEqual(row.line(), ["p", "gcc", "same", "1", "4 libgomp", "0.25 [0.25 – 0.25]",
                                      "0.25 [0.25 – 0.25]", "2.0, 2.0"])

    def test_what_goes_wrong_has_no_ratio(self):
        row = self.row(outcome(4), outcome(1, "hang"))
        self.assertTrue(row.regressed)
        self.assertIn("Sennit **hang**", row.line())
        self.assertIsNone(row.time)
        self.assertEqual(list(row.complaints()), ["- p, Sennit (gcc): as the test wants"])

    def test_what_no_runtime_does_is_no_regression(self):
        self.assertFalse(self.row(outcome(4, "error"), outcome(1, "error")).regressed)


class RealRuns(unittest.TestCase):
    def compare(self, keys, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.toml"
            path.write_text('[[group]]\nname = "G"\n[[group.program]]\nname = "fib"\ncompilers = ["gcc"]\n' + keys)
            return subprocess.run([sys.executable, programs.__file__, path, "--build", BUILD, "--threads", "1",
                                   "--cores", "1", *options], capture_output=True, text=True, timeout=100)

    def fib(self, name="fib"):
        return f'command = ["{BUILD}/bench/gcc/omp-micro", "{name}", "--calls", "1"]\n'

    def test_a_program_is_checked_and_timed(self):
        done = self.compare(self.fib() + 'result = "unit=(.+) calls"\n', "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\| fib \| gcc \| same \| [\d.e-]+ \| [\d.e-]+ libgomp \| [\d.]+ \[")

    def test_a_time_that_is_no_number_is_reported(self):
        done = self.compare(self.fib() + 'seconds = "unit=.+ (calls)"\n', "--rounds", "1")
        self.assertNotIn("Traceback", done.stderr)
        self.assertIn("- fib, Sennit (gcc): prints a time that is no number: calls", done.stdout)

    def test_a_failure_is_reported(self):
        done = self.compare(self.fib("no-such-row"), "--rounds", "0")
        self.assertEqual(done.returncode, 0, done.stderr)  # it fails under libgomp too
        self.assertIn("libgomp **error**, Sennit **error**", done.stdout)
        self.assertIn("- fib, Sennit (gcc): exit status 2: ", done.stdout)

    def test_programs_without_openmp_are_refused(self):
        done = self.compare('command = ["/bin/true"]\n')
        self.assertEqual(done.returncode, 2)
        self.assertIn("does not load libgomp.so.1", done.stderr)


if __name__ == "__main__":
    unittest.main()
