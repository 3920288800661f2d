# SPDX-License-Identifier: Apache-2.0
# whole: tools.configure -- {cmake} {source}
"""Sennit is configured without what it can do without, and says in one line what it leaves out.

Usage: configure_test.py CMAKE SOURCE-FOLDER"""
import re
import subprocess
import sys
import tempfile

import harness

CMAKE, SOURCE = sys.argv[1:3]


def left_out(*off, more=()):
    """Configure with these switched off: the line, and every command of the build."""
    with tempfile.TemporaryDirectory() as folder:
        options = [f"-D{name}=OFF" for name in off] + list(more)
        done = subprocess.run([CMAKE, "-S", SOURCE, "-B", folder, "-G", "Ninja", *options],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = re.findall(r"^-- Left out: (.*)$", done.stdout, re.MULTILINE)
        assert len(lines) == 1, lines
        plan = subprocess.run([CMAKE, "--build", folder, "--", "-t", "commands", "all"],
                              capture_output=True, text=True, check=True)
    return lines[0], plan.stdout


def test_one_mpi_and_gcc_alone():
    line, plan = left_out("SENNIT_MPICH_CC", "SENNIT_CLANG", "SENNIT_GFORTRAN", "SENNIT_FLANG",
                          "SENNIT_SIMGRID_LIBRARY", "SENNIT_PNG_LIBRARY", "SENNIT_HDF5_LIBRARY",
                          "SENNIT_FFTW_LIBRARY")
    for words in ("Clang", "GCC (gfortran)", "Flang", "plug-in", "mpich", "simgrid", "libpng-dev", "libhdf5-dev",
                  "libfftw3-dev"):
        assert words in line, line
    assert "openmpi" not in line, line
    assert "-o lib/libsennit-openmpi.so" in plan and "-o lib/libsennit-mpich" not in plan
    assert "clang" not in plan and "mpif90" not in plan
    assert "/apps/gauss-seidel-gcc-openmpi" in plan
    assert not any(word in plan for word in ("WITH_PNG", "WITH_HDF5", "WITH_FORTRAN", "/apps/ifsker"))


def test_the_other_mpi():
    line, plan = left_out("SENNIT_OPENMPI_CC", "SENNIT_LLVM_INCLUDE")
    assert "openmpi" in line and "mpich" not in line, line
    assert "plug-in" in line and "libsennit-pass" not in plan, line
    assert "-o lib/libsennit-mpich.so" in plan and "-o lib/libsennit-openmpi" not in plan


def test_without_tests():
    line, plan = left_out(more=["-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"])
    assert "all tests" in line, line
    assert "unit-tests" not in plan and "bin/sennit" in plan


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
