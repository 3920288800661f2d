# SPDX-License-Identifier: Apache-2.0
"""What the tests of single applications share: a program is run by Sennit or by an mpiexec with the stock runtime; what it
says on stderr is lines that begin with its name; bad input is one line and exit code 2.

The program's name is that of its file, without the compiler and the MPI."""

import argparse
import os
import pathlib
import subprocess
import sys
import unittest

OPTIONS = argparse.Namespace()
STOCK = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
         "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMP_WAIT_POLICY": "passive"}


def run(ranks, threads, arguments, before=(), **environment):
    """(exit code, stdout, lines of the program on stderr). No rank: the program by itself, for Open MPI's mpiexec takes
    seconds to end a job that failed. `before`: words that come before the program."""
    start = ([OPTIONS.sennit, "run", "-n", str(ranks), "--threads", str(threads)] if OPTIONS.sennit
             else [OPTIONS.mpiexec, "-n", str(ranks)]) if ranks else []
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    done = subprocess.run([*start, *before, OPTIONS.program, *arguments.split()], text=True, timeout=120, capture_output=True,
                          stdin=subprocess.DEVNULL, check=False,
                          env=inherited | environment | ({} if OPTIONS.sennit else STOCK | {"OMP_NUM_THREADS": str(threads)}))
    name = pathlib.Path(OPTIONS.program).name.rsplit("-", 2)[0] + ": "
    said = [line.partition(name)[2] for line in done.stderr.splitlines() if name in line]
    return done.returncode, done.stdout, said


class Case(unittest.TestCase):
    def good(self, ranks, threads, arguments, pattern, before=(), **environment):
        """(what the pattern finds in stdout, lines on stderr)"""
        code, text, said = run(ranks, threads, arguments, before, **environment)
        found = pattern.search(text)
        self.assertTrue(code == 0 and found, (code, arguments, text, said))
        return found, said

    def bad(self, ranks, arguments, line):
        code, text, said = run(ranks, 1, arguments)
        self.assertEqual((code, text.count("checksum"), said), (2, 0, [line]))

    def bad_options(self, *all_arguments):
        for arguments in all_arguments:
            self.bad(0, arguments, f"bad option {arguments}; see --help")

    def help_names(self, versions):
        code, text, _ = run(0, 1, "--help")
        self.assertEqual(code, 0)
        for version in versions:
            self.assertIn(f"\n  {version} ", text)


def main():
    """The script's options, and the tests of its classes."""
    parser = argparse.ArgumentParser()
    for name in ("--sennit", "--mpiexec", "--library", "--program"):
        parser.add_argument(name)
    rest = parser.parse_known_args(namespace=OPTIONS)[1]
    unittest.main(argv=[sys.argv[0], *rest])
