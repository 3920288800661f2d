#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.ifsker.{compiler}.{mpi} mpi=all compiler=all if="SENNIT_FFTW_LIBRARY" timeout=300 virtual=1 --
#     --sennit {sennit} --program {apps}/ifsker-{compiler}-{mpi} Versions
# script: apps.ifsker.{part}.{mpi} mpi=all part=shapes|input if="SENNIT_FFTW_LIBRARY" timeout=300 --
#     --sennit {sennit} --program {apps}/ifsker-{paired}-{mpi} {part.capitalize()}
# script: apps.ifsker.stock.{mpi} mpi=all if="SENNIT_FFTW_LIBRARY" timeout=300 --
#     --mpiexec {mpiexec} --program {apps}/ifsker-{paired}-{mpi} Stock
"""apps/ifsker: every version makes the values of a rank that is alone, bit by bit, with any number of ranks; what is
transposed or transformed comes back; the sum is conserved; one field follows the exact solution; bad input is one line
and exit code 2.

usage: ifsker_test.py [--sennit BIN | --mpiexec BIN] --program BIN [TEST...]
"""

import re

import program

VERSIONS = ("pure", "interop-blk", "interop-nonblk")
# Nothing is a multiple of the ranks, or of the pieces.
ODD = "--grid 19x7 --fields 5 --steps 6 --pieces 3 --check"
RESULT = re.compile(r"checksum ([0-9a-f]{16}), checked\n")


class Case(program.Case):
    def checksum(self, ranks, threads, arguments, **environment):
        """(checksum, lines on stderr)"""
        found, said = self.good(ranks, threads, arguments, RESULT, **environment)
        return found[1], said


class Versions(Case):
    def test_all_make_the_same_values_with_1_2_and_3_ranks(self):
        sums = set()
        for version in VERSIONS:
            for ranks in (1, 2, 3):
                checksum, said = self.checksum(ranks, 1 + ranks % 2, f"--version {version} {ODD}")
                self.assertEqual(said, [])
                sums.add(checksum)
        self.assertEqual(len(sums), 1)


class Shapes(Case):
    def test_policies(self):
        for version in VERSIONS[1:]:
            for policy in ("fifo", "fa"):
                for threads in (1, 2):
                    self.checksum(3, threads, f"--version {version} {ODD}", SENNIT_POLICY=policy)

    def test_one_field_follows_the_exact_solution(self):
        """Of three ranks, two have no field to transform."""
        for version in VERSIONS:
            self.checksum(3, 1, f"--version {version} --grid 16x3 --fields 1 --steps 200 --check")

    def test_small_ones(self):
        for arguments in ("--grid 3x1 --fields 2 --pieces 4 --steps 3", "--grid 4x65 --fields 3 --steps 2",
                          "--grid 8x2 --fields 9 --steps 0"):
            for version in VERSIONS:
                self.checksum(3, 2, f"--version {version} {arguments} --check")

    def test_long_messages(self):
        """Which are sent when the receiver is ready, and not before."""
        for version in VERSIONS:
            self.checksum(2, 1, f"--version {version} --grid 256x128 --fields 3 --steps 3 --pieces 1 --check")


class Stock(Case):
    """Without Sennit a task that waits in MPI would keep its thread: a line says that there are none."""

    def test_every_version(self):
        sums = set()
        for version in VERSIONS:
            checksum, said = self.checksum(2, 2, f"--version {version} {ODD}")
            fallback = [f"--version {version}: no MPI_TASK_MULTIPLE here, so it runs as pure"]
            self.assertEqual(said, [] if version == "pure" else fallback)
            sums.add(checksum)
        self.assertEqual(len(sums), 1)


class Input(Case):
    def test_bad_options(self):
        self.bad_options("--version fastest", "--grid 0x5", "--grid 5", "--grid 5x5x5", "--fields 1e3", "--steps -1",
                         "--pieces 0", "--sweeps 5", "--grid")
        self.bad(3, "--grid 2x9", "2 longitudes cannot be dealt to 3 ranks")
        self.bad(0, "--grid 40000x40000", "40000 x 40000 points are more than a message can have")
        self.bad(0, "--grid 9x9 --fields 1048576 --pieces 1048576",
                 "1048576 pieces of 1048576 fields need more message tags than this MPI has")

    def test_help(self):
        self.help_names(VERSIONS)


if __name__ == "__main__":
    program.main()
