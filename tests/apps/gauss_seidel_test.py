#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.gauss_seidel.{compiler}.{mpi} mpi=all compiler=all timeout=300 virtual=1 -- --sennit {sennit} --program
#     {apps}/gauss-seidel-{compiler}-{mpi} Versions
# script: apps.gauss_seidel.{part}.{mpi} mpi=all part=shapes|files timeout=300 virtual=1 -- --sennit {sennit} --program
#     {apps}/gauss-seidel-{paired}-{mpi} {part.capitalize()}
# script: apps.gauss_seidel.input if="mpi == mpis[0]" mpi=all timeout=300 -- --sennit {sennit} --program
#     {apps}/gauss-seidel-{paired}-{mpi} Input
# script: apps.gauss_seidel.stock.{mpi} mpi=all timeout=300 -- --mpiexec {mpiexec} --library {file('sennit-' + mpi)} --program
#     {apps}/gauss-seidel-{paired}-{mpi} Stock
"""apps/gauss-seidel: every version gives the serial solver's grid bit by bit, under Sennit and under the stock runtime; a run
that goes on from a checkpoint ends as one that was never interrupted; bad input is one line and exit code 2.

usage: gauss_seidel_test.py [--sennit BIN | --mpiexec BIN --library LIB] --program BIN [TEST...]
"""

import os
import re
import struct
import tempfile
import zlib

import program

# Neither size is a multiple of its block's, nor of the ranks.
ODD = "--size 97x61 --block 10x9 --iterations 7"
RESULT = re.compile(r"checksum ([0-9a-f]{16})(, as the serial solver's)?\n")


def versions():
    """as the program lists them: those in Fortran are there if it was built with them"""
    code, text, _ = program.run(0, 1, "--help")
    found = re.findall(r"^  ([a-z][\w-]+) ", text.partition("versions:\n")[2], re.MULTILINE)
    assert code == 0 and len(found) in (7, 9), text
    return found


class Case(program.Case):
    def checksum(self, ranks, threads, arguments, before=(), **environment):
        """(checksum, lines on stderr)"""
        found, said = self.good(ranks, threads, arguments, RESULT, before, **environment)
        self.assertTrue("--check" not in arguments.split() or found[2], arguments)
        return found[1], said


class Versions(Case):
    def test_every_version_gives_the_serial_grid(self):
        sums = set()
        for version in versions():
            checksum, said = self.checksum(3, 2, f"--version {version} {ODD} --check")
            self.assertEqual(said, [])
            sums.add(checksum)
        self.assertEqual(len(sums), 1)


class Shapes(Case):
    def test_one_thread(self):
        """A task that blocks in MPI must not keep it from others."""
        for version in ("sentinel", "interop-blk", "interop-nonblk", "detach"):
            self.checksum(2, 1, f"--version {version} {ODD} --check")

    def test_policies(self):
        for version in ("interop-blk", "interop-nonblk"):
            for policy in ("fifo", "fa"):
                self.checksum(3, 2, f"--version {version} {ODD} --check", SENNIT_POLICY=policy)

    def test_one_rank_and_one_row_each(self):
        self.checksum(1, 2, f"{ODD} --check")
        self.checksum(3, 1, "--size 3x5 --block 2 --iterations 9 --check")
        self.checksum(2, 2, "--size 40 --block 64 --iterations 0 --check")


class Stock(Case):
    """Without Sennit the communication of the interop versions is serialized, and a line says so."""

    def test_every_version_gives_the_serial_grid(self):
        sums = set()
        for version in versions():
            arguments = f"--version {version} {ODD} --check"
            if version == "detach":
                self.assertEqual(program.run(0, 2, arguments)[::2],
                                 (3, ["--version detach needs MPIX_Detach: start the program with 'sennit run'"]))
                continue
            checksum, said = self.checksum(2, 2, arguments)
            fallback = [f"--version {version}: no MPI_TASK_MULTIPLE here, so it runs as sentinel"]
            self.assertEqual(said, fallback if version.startswith("interop") else [])
            sums.add(checksum)
        self.assertEqual(len(sums), 1)

    def test_detach_on_the_stock_openmp_runtime(self):
        """With Sennit's library for MPI alone, whose thread runs the callbacks: in the ranks, not in mpiexec."""
        preload = ("env", f"LD_PRELOAD={program.OPTIONS.library}")
        self.checksum(2, 2, f"--version detach {ODD} --check", before=preload, MPIX_DETACH="progress")


class WithFolder(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name


class Files(WithFolder):
    def needs(self, what):
        """A build without the library refuses the option."""
        _, _, said = program.run(0, 1, f"--version pure --iterations 0 {what} {self.folder}/none/file")
        if said and "this build is without" in said[0]:
            self.skipTest(said[0])

    def test_a_restarted_run_ends_as_one_that_was_never_interrupted(self):
        self.needs("--restart")
        size, path = "--size 50x70 --block 16", f"{self.folder}/half.h5"
        whole, _ = self.checksum(2, 2, f"{size} --iterations 30")
        part, _ = self.checksum(2, 2, f"{size} --iterations 17 --checkpoint {path} --checkpoint-every 5")
        self.assertNotEqual(part, whole)
        self.assertEqual(os.listdir(self.folder), ["half.h5"])
        for ranks, version in ((3, "interop-blk"), (1, "forkjoin")):
            again, _ = self.checksum(ranks, 2, f"--version {version} --block 16 --iterations 30 --restart {path} --check")
            self.assertEqual(again, whole)
        self.bad(2, f"--restart {path} --iterations 3", f"{path} has 17 iterations already, --iterations asks for 3")
        self.bad(0, f"--restart {path} --size 9",
                 "--restart has the size and the border: leave --size and --sources out")
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) // 2)
        self.bad(0, f"--restart {path}", f"{path}: no whole HDF5 file")
        self.bad(0, f"--restart {self.folder}/none", f"{self.folder}/none: No such file or directory")
        self.bad(0, f"--version pure --size 9 --checkpoint {self.folder}/no/file", f"{self.folder}/no/file: cannot be written")

    def test_a_picture(self):
        self.needs("--picture")
        path = f"{self.folder}/grid.png"
        self.checksum(2, 1, f"--size 1100x20 --iterations 2 --picture {path}")
        with open(path, "rb") as file:
            data = file.read()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", data[16:24]), (22, 1024)) # with the border; the rows are sampled
        pixels, at = b"", 8
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at:at + 8])
            pixels += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
            at += length + 12
        pixels = zlib.decompress(pixels)
        self.assertEqual(len(pixels), 1024 * (1 + 3 * 22))
        self.assertGreater(len(set(pixels)), 50)
        self.bad(0, f"--version pure --size 9 --picture {self.folder}/no/file", f"{self.folder}/no/file: No such file or directory")


class Input(WithFolder):
    def source_file(self, text):
        path = f"{self.folder}/sources"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_heat_sources(self):
        own = self.source_file("# two\n\n 0.0 0.0 1.0 2.5  # the corner\n0.5 1.0 1.0 2.5\n")
        default, _ = self.checksum(1, 1, "--size 20 --iterations 3")
        self.assertEqual(self.checksum(3, 1, f"--size 20 --iterations 3 --check --sources {own}")[0], default)
        other = self.source_file("0.3 0 0.4 -1e3\n")
        self.assertNotEqual(self.checksum(2, 1, f"--size 20 --iterations 3 --check --sources {other}")[0], default)
        for text, line, problem in (("0 0 1 1\n0 0 1\n", 2, "expected four numbers: X Y RANGE TEMPERATURE"),
                                    ("0 0 1 1 1\n", 1, "expected four numbers: X Y RANGE TEMPERATURE"),
                                    ("\n0 0 1 1x\n", 2, "expected four numbers: X Y RANGE TEMPERATURE"),
                                    ("0 0 1 inf", 1, "expected four numbers: X Y RANGE TEMPERATURE"),
                                    ("0 1.5 1 1", 1, "X and Y must be 0 to 1"),
                                    ("# no\n0 0 0 1", 2, "RANGE must be more than 0"),
                                    ("0 0 1 1\0\n", 1, "a zero byte"),
                                    ("# none\n", 1, "no heat source"), ("", 1, "no heat source")):
            path = self.source_file(text)
            self.bad(2 if "none" in text else 0, f"--sources {path}", f"{path}:{line}: {problem}")
        self.bad(0, f"--sources {self.folder}/none", f"{self.folder}/none: No such file or directory")

    def test_bad_options(self):
        self.bad_options("--version fastest", "--size 0", "--size 5x", "--size 5x5x5", "--block 1e3", "--iterations -1",
                         "--sweeps 5", "--size")
        self.bad(0, "--checkpoint-every 5", "--checkpoint-every needs --checkpoint FILE")
        self.bad(3, "--size 2", "2 rows cannot be dealt to 3 ranks")


if __name__ == "__main__":
    program.main()
