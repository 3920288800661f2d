#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.stencil.{compiler}.{mpi} mpi=all compiler=all timeout=300 -- --sennit {sennit} --program
#     {apps}/stencil-{compiler}-{mpi} Versions
# script: apps.stencil.shapes.{mpi} mpi=all timeout=300 -- --sennit {sennit} --program {apps}/stencil-{paired}-{mpi} Shapes
# script: apps.stencil.input if="mpi == mpis[0]" mpi=all timeout=300 -- --sennit {sennit} --program
#     {apps}/stencil-{paired}-{mpi} Input
# script: apps.stencil.stock.{mpi} mpi=all timeout=300 -- --mpiexec {mpiexec} --program {apps}/stencil-{paired}-{mpi} Stock
"""apps/stencil: objects, objects with shared loops and plain OpenMP give the same cells bit by bit, with any number of
ranks and threads, split or not, wherever the objects are, and as the exact solution says; bad input is one line and
exit code 2.

usage: stencil_test.py [--sennit BIN | --mpiexec BIN] --program BIN [TEST...]
"""

import re

import program

# Neither rows nor strips are a multiple of the ranks or the threads.
ODD = "--size 61x43 --strips 7 --steps 9 --check"
OBJECTS = ("objects", "shared")
RESULT = re.compile(r"moved (\d+), checksum ([0-9a-f]{16}), as the exact solution\n")


class Case(program.Case):
    def checksum(self, ranks, threads, arguments, split="", **environment):
        """(checksum, how many objects moved); `split`: of --split of sennit run"""
        before = ("--split", split) if split else ()
        found, said = self.good(ranks, threads, arguments, RESULT, before, **environment)
        self.assertEqual(said, [])
        return found[2], int(found[1])


class Versions(Case):
    def test_all_give_the_same_cells(self):
        sums = {self.checksum(1, threads, f"--version openmp {ODD}", split)[0]
                for threads in (1, 2) for split in ("", "auto")}
        for version in OBJECTS:
            for ranks in (1, 2, 3):
                for split in ("", "auto"):
                    sums.add(self.checksum(ranks, 1 + ranks % 2, f"--version {version} {ODD}", split)[0])
        self.assertEqual(len(sums), 1)


class Shapes(Case):
    def test_objects_that_move(self):
        expected, _ = self.checksum(1, 1, f"--version openmp {ODD}")
        for version in OBJECTS:
            found, moved = self.checksum(3, 2, f"--version {version} {ODD} --period 2", SENNIT_BALANCE="rotate")
            self.assertEqual((found, moved), (expected, 4 * 7))

    def test_policies(self):
        sums = {self.checksum(2, 2, f"--version {version} {ODD}", SENNIT_POLICY=policy)[0]
                for version in OBJECTS for policy in ("fifo", "fa")}
        self.assertEqual(len(sums), 1)

    def test_split_by_a_number(self):
        sums = {self.checksum(1, 2, f"--version {version} {ODD}", "4")[0] for version in (*OBJECTS, "openmp")}
        self.assertEqual(len(sums), 1)

    def test_few_and_small_strips(self):
        for version in OBJECTS:
            self.checksum(3, 2, f"--version {version} --size 5x1 --strips 5 --steps 12 --check")
            self.checksum(3, 1, f"--version {version} --size 40 --strips 2 --steps 5 --check")  # one rank has none
            self.checksum(2, 2, f"--version {version} --size 40 --strips 4 --steps 0 --check")


class Stock(Case):
    """Objects need MPI alone, and a rank waits for rows of the step before only. So any OpenMP runtime will do."""

    def test_every_version(self):
        sums = {self.checksum(1, 2, f"--version openmp {ODD}")[0]}
        for version in OBJECTS:
            for ranks in (1, 2):
                sums.add(self.checksum(ranks, 2, f"--version {version} {ODD}")[0])
        self.assertEqual(len(sums), 1)


class Input(Case):
    def test_bad_options(self):
        self.bad_options("--version fastest", "--size 0", "--size 5x", "--size 5x5x5", "--strips 1e3", "--steps -1",
                         "--period x", "--sweeps 5", "--size")
        self.bad(0, "--size 9 --strips 10", "9 rows cannot be dealt to 10 strips")
        self.bad(2, "--version openmp", "--version openmp has one rank, not 2")

    def test_help(self):
        self.help_names((*OBJECTS, "openmp"))


if __name__ == "__main__":
    program.main()
