#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# judge:
"""Senseless settings and abrupt ends, under Sennit: one clear line that names the culprit and a
program that still runs right, or the exit status that the program asked for; never a crash of the
runtime's own, never a hang (a program that outlives its time limit fails the test).

    bad_input.py --programs build/tests/programs/gcc --lib build/lib/omp
"""
import argparse
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

OPTIONS = argparse.Namespace()
SECONDS = 120


def run(program, address_space=None, **environment):
    """Run a program on Sennit with these variables; limit its address space to so many bytes."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if address_space:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("OMP_", "GOMP_", "KMP_", "SENNIT_"))}
    return subprocess.run([OPTIONS.programs / program], timeout=SECONDS, preexec_fn=limit,
                          env={**clean, "LD_LIBRARY_PATH": str(OPTIONS.lib), **environment},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


class BadInput(unittest.TestCase):
    def says(self, result, *words):
        """Exactly one line on stderr, from Sennit, with these words."""
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertRegex(lines[0], r"^(OMP: Warning #\d+: )?sennit: ")
        for word in words:
            self.assertIn(word, lines[0])

    def threads(self, result):
        """The program worked; the team's size and the number of processors."""
        self.assertEqual(result.returncode, 0, result.stderr)
        match = re.fullmatch(r"threads=(\d+) procs=(\d+)\n", result.stdout)
        self.assertIsNotNone(match, result.stdout)
        return int(match[1]), int(match[2])

    def test_good_settings_say_nothing(self):
        result = run("bad_input_victim", OMP_NUM_THREADS="3", OMP_STACKSIZE="1M",
                     SENNIT_POLICY="fifo")
        self.assertEqual(self.threads(result)[0], 3)
        self.assertEqual(result.stderr, "")

    def test_num_threads_that_are_no_number_of_threads(self):
        for value in ("-3", "0", "two", "4x", "2,,3", "99999999999999999999"):
            with self.subTest(OMP_NUM_THREADS=value):
                result = run("bad_input_victim", OMP_NUM_THREADS=value)
                self.says(result, "OMP_NUM_THREADS", value)
                threads, procs = self.threads(result)
                # LLVM's runtime takes the smallest number for 0.
                smallest = value == "0" and OPTIONS.programs.name == "clang"
                self.assertEqual(threads, 1 if smallest else procs)

    def test_stack_sizes_that_hold_no_stack(self):
        for value in ("1k", "0", "-5M", "lots", "1Q"):
            with self.subTest(OMP_STACKSIZE=value):
                result = run("bad_input_victim", OMP_NUM_THREADS="2", OMP_STACKSIZE=value)
                self.says(result, "OMP_STACKSIZE", value)
                self.assertEqual(self.threads(result)[0], 2)

    def test_unknown_words(self):
        for name, value in (("SENNIT_POLICY", "nonsense"), ("SENNIT_THROTTLE", "-1"), ("SENNIT_LIBC", "perhaps"),
                            ("SENNIT_SPIN_US", "soon"), ("OMP_SCHEDULE", "sometimes,3"),
                            ("OMP_SCHEDULE", "dynamic,-4"), ("OMP_DYNAMIC", "maybe"),
                            ("OMP_MAX_ACTIVE_LEVELS", "-1"), ("OMP_THREAD_LIMIT", "none"),
                            ("OMP_MAX_TASK_PRIORITY", "high"), ("OMP_WAIT_POLICY", "lazy"),
                            ("OMP_TARGET_OFFLOAD", "please"), ("OMP_ALLOCATOR", "mine"),
                            ("OMP_ALLOCATOR", "omp_default_mem_space:alignment=3"),
                            ("OMP_ALLOCATOR", "omp_default_mem_space:pinned")):
            with self.subTest(name=name, value=value):
                result = run("bad_input_victim", OMP_NUM_THREADS="2", **{name: value})
                self.says(result, name, value)
                self.assertEqual(self.threads(result)[0], 2)

    def test_numbers_out_of_range(self):
        for value, word in (("0", "too small"), ("4097", "too large")):
            result = run("bad_input_victim", OMP_NUM_THREADS="2", KMP_DISP_NUM_BUFFERS=value)
            self.says(result, "KMP_DISP_NUM_BUFFERS", word)

    def test_files_of_the_system_that_are_none(self):
        for folder in ("/nowhere", "/dev/null", "/proc/self", "x" * 4000):
            with self.subTest(SENNIT_SYSTEM_FILES=folder):
                result = run("bad_input_victim", SENNIT_SYSTEM_FILES=folder, OMP_PROC_BIND="true")
                self.says(result, "SENNIT_SYSTEM_FILES", "describes no machine")
                self.threads(result)

    def test_a_machine_that_is_described_by_nonsense(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for part in ("cpu/cpu0/topology", "cpu/cpu0/cache/index0", "node/node0", "cgroup"):
                (folder / part).mkdir(parents=True)
            files = ["cpu/cpu0/topology/thread_siblings_list", "cpu/cpu0/topology/core_siblings_list",
                     "cpu/cpu0/cache/index0/level", "cpu/cpu0/cache/index0/shared_cpu_list", "node/online",
                     "node/node0/cpulist", "cgroup/self", "cgroup/cpu.max"]
            for text in ("", "x", "-1", "9-1,,5", "0-99999999999999999999", "99999999999999999999", "0::/\n7:cpu:", "\0" * 99,
                         "9223372036854775807 9223372036854775807", None):
                for file in files:
                    (folder / file).unlink(missing_ok=True)
                    os.mkfifo(folder / file) if text is None else (folder / file).write_text(text)
                for places in ("threads", "cores", "sockets", "ll_caches", "numa_domains"):
                    with self.subTest(text, places=places):
                        self.threads(run("bad_input_victim", SENNIT_SYSTEM_FILES=name, OMP_PLACES=places))

    def test_allocators_that_there_are_not(self):
        for value in ("111", "omp_default_mem_alloc_xyz", "omp_default_mem_space:alignment=3",
                      "omp_default_mem_space:fallback=true", "omp_default_mem_alloc:alignment=8"):
            result = run("bad_input_victim", OMP_NUM_THREADS="2", OMP_ALLOCATOR=value)
            self.says(result, "OMP_ALLOCATOR", value)

    def test_empty_values_are_as_if_unset(self):
        result = run("bad_input_victim", OMP_NUM_THREADS="2", OMP_STACKSIZE="", OMP_SCHEDULE="",
                     SENNIT_POLICY="")
        self.assertEqual(self.threads(result)[0], 2)
        self.assertLessEqual(len(result.stderr.splitlines()), 3, result.stderr)

    def test_address_space_too_small_for_stacks(self):
        """Fewer threads, tasks in place, or an error line: never a signal other than our abort."""
        for mebibytes in (16, 32, 48, 64, 96, 128, 256, 1024):
            with self.subTest(mebibytes=mebibytes):
                result = run("bad_input_victim", address_space=mebibytes << 20,
                             OMP_NUM_THREADS="8", OMP_STACKSIZE="64M")
                if result.returncode != 0:
                    self.assertIn(result.returncode, (1, 127, -signal.SIGABRT), result.stderr)
                    self.assertNotEqual(result.stderr, "")
                else:
                    self.threads(result)
                for line in result.stderr.splitlines():
                    if result.returncode != 127:  # the loader's own words
                        self.assertRegex(line, r"^(OMP: Warning #\d+: )?sennit: ")

    def test_no_memory_for_threads(self):
        result = run("bad_input_victim", address_space=256 << 20, OMP_NUM_THREADS="8",
                     OMP_STACKSIZE="64M")
        lines = [line for line in result.stderr.splitlines() if "another thread" in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertIn("ulimit -v", lines[0])
        self.assertNotIn("ulimit -u", lines[0])

    def test_a_device_that_is_mandatory_and_missing(self):
        result = run("device_victim", OMP_TARGET_OFFLOAD="default")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "host\nhost\n", ""))
        result = run("device_victim", OMP_TARGET_OFFLOAD="MANDATORY")
        if OPTIONS.programs.name == "clang":  # clang 19 asks nobody where there is no device
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        else:
            self.assertEqual((result.returncode, result.stdout), (-signal.SIGABRT, "host\n"))
            self.says(result, "OMP_TARGET_OFFLOAD", "device 1")

    def test_error_directives(self):
        result = run("error_directive")
        self.assertEqual((result.returncode, result.stdout), (1, "goes on\n"))
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 2, result.stderr)
        libomp = OPTIONS.programs.name == "clang"  # which says it so
        for line, head, text in zip(lines, ("OMP: Warning: ", "OMP: Error: "),
                                    ("first of two", "second of two")):
            self.assertRegex(line, f"^{head if libomp else ''}sennit: error directive.*: {text}$")

    def test_exit_inside_a_task(self):
        for threads in "128":
            with self.subTest(threads=threads):
                result = run("exit_in_task", OMP_NUM_THREADS=threads)
                self.assertEqual((result.returncode, result.stdout, result.stderr),
                                 (7, "bye\n", ""))

    def test_exception_that_leaves_a_task(self):
        for threads in "128":
            with self.subTest(threads=threads):
                result = run("throw_out_of_task", OMP_NUM_THREADS=threads)
                self.assertEqual(result.returncode, -signal.SIGABRT, result.stderr)
                self.assertIn("out of the task", result.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--lib", type=pathlib.Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.programs = OPTIONS.programs.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
