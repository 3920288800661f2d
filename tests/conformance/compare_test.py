#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: conformance.compare timeout=300
"""Tests of `compare` with tiny programs that know from LD_LIBRARY_PATH under which runtime they
run, so that neither a compiler nor a runtime is needed."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

COMPARE = pathlib.Path(__file__).with_name("compare")

# name: what it does under the stock runtime, under Sennit
PROGRAMS = {
    "both_pass": ("exit 0", "exit 0"),
    "deep/er/both_fail": ("exit 3", "exit 3"),
    "other_code": ("exit 3", "exit 4"),
    "regression": ("exit 0", "exit 9"),
    "crash": ("kill -SEGV $$", "exit 0"),
    "hang": ("sleep 600 & sleep 600", "exit 0"),
    "only_two_threads": ("exit 0", "test $OMP_NUM_THREADS != 2"),
}


class CompareTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.lib = self.root / "lib"
        self.lib.mkdir()
        (self.lib / "libgomp.so.1").touch()
        self.suite = self.root / "suite"
        self.suite.mkdir()

    def write(self, name, stock, sennit):
        path = self.suite / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\ncase "$LD_LIBRARY_PATH" in {self.lib}*) {sennit};; '
                        f'*) {stock};; esac\n')
        path.chmod(0o755)

    def run_compare(self, *arguments):
        """What does not hang ends within the limit on a busy machine, too."""
        return subprocess.run([sys.executable, COMPARE, self.suite, "--sennit-lib", self.lib,
                               "--timeout", "15", *arguments],
                              capture_output=True, text=True, timeout=250)

    def test_classifies_and_reports(self):
        for name, (stock, sennit) in PROGRAMS.items():
            self.write(name, stock, sennit)
        (self.suite / "data.txt").write_text("not executable")
        library = self.suite / "libhelper.so.1"
        library.write_bytes(b"\x7fELF")
        library.chmod(0o755)
        output = self.root / "report.md"
        result = self.run_compare("--threads", "1,2", "--jobs", "8", "--output", output)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(output.read_text(), result.stdout)
        self.assertIn("7 programs, worst of 1 run(s)", result.stdout)
        lines = result.stdout.splitlines()
        for line in ("| stock | 1 | 3 | 2 | 1 | 1 |", "| sennit | 1 | 4 | 3 | 0 | 0 |",
                     "| stock | 2 | 3 | 2 | 1 | 1 |", "| sennit | 2 | 3 | 4 | 0 | 0 |"):
            self.assertIn(line, lines)
        sections = result.stdout.split("\n## ")
        titles = [section.splitlines()[0] for section in sections[1:]]
        self.assertEqual(titles, ["Passes under the stock runtime only",
                                  "Passes under Sennit only",
                                  "Passes under neither, but differs"])
        worse, better, other = sections[1:]
        self.assertIn("| regression | 1 | pass | fail (exit code 9) |", worse)
        self.assertIn("| only_two_threads | 2 | pass | fail (exit code 1) |", worse)
        self.assertNotIn("only_two_threads | 1", worse)
        self.assertIn("| crash | 2 | crash (SIGSEGV) | pass |", better)
        self.assertIn("| hang | 1 | hang (15 s) | pass |", better)
        self.assertIn("| other_code | 1 | fail (exit code 3) | fail (exit code 4) |", other)
        self.assertNotIn("both_", "".join(sections[1:]))

    def test_a_hang_leaves_no_process_behind(self):
        """Whoever lives has the pipe's other end open."""
        pipe = self.root / "pipe"
        os.mkfifo(pipe)
        self.write("hang", f"sleep 600 <>{pipe} & wait", "exit 0")
        end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.run_compare("--threads", "1")
        for _ in range(2000):  # who is killed may need a moment to end
            with contextlib.suppress(BlockingIOError):
                self.assertEqual(os.read(end, 1), b"")
                break
            time.sleep(0.05)
        else:
            self.fail("it lives on")
        os.close(end)

    def test_the_worst_of_several_runs_counts(self):
        flag = self.root / "flag"
        self.write("flaky", "exit 0", f"test -e {flag} && exit 5; touch {flag}")
        result = self.run_compare("--threads", "1")
        self.assertEqual(result.returncode, 0, result.stdout)
        flag.unlink()
        result = self.run_compare("--threads", "1", "--repeat", "3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("| flaky | 1 | pass | fail (exit code 5, 2 of 3 runs) |", result.stdout)

    def test_alone_and_only_some(self):
        for name, (stock, sennit) in PROGRAMS.items():
            self.write(name, stock, sennit)
        result = self.run_compare("--threads", "1", "--alone", "--match", "^(both|crash|regr)")
        self.assertEqual(result.returncode, 1)
        lines = result.stdout.splitlines()
        self.assertIn("3 programs, worst of 1 run(s), time limit 15 s", lines)
        self.assertIn("| sennit | 1 | 2 | 1 | 0 | 0 |", lines)
        self.assertIn("| regression | 1 | fail (exit code 9) |", lines)
        self.assertNotIn("| stock", result.stdout)
        result = self.run_compare("--threads", "1", "--alone", "--match", "^crash")
        self.assertEqual(result.returncode, 0)

    def test_all_equal_is_success(self):
        self.write("fine", "exit 0", "exit 0")
        result = self.run_compare("--threads", "1")
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("##", result.stdout)

    def test_bad_arguments_say_what_is_wrong(self):
        result = self.run_compare()
        self.assertEqual(result.returncode, 2)
        self.assertIn("no executable program", result.stderr)
        for arguments in (["--threads", "0"], ["--threads", "x"], ["--repeat", "0"],
                          ["--sennit-lib", self.root]):
            result = self.run_compare(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
