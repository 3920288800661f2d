# SPDX-License-Identifier: Apache-2.0
# whole: tools.configure -- {cmake} {source} {wrappers}
"""Sennit is configured as people do it: a Release build of the libraries and the command, with the MPIs that are there
under whatever names, without what it can do without. The summary says what is left out; all that is missing and is
needed is said at once.

Usage: configure_test.py CMAKE SOURCE-FOLDER MPI=MPICC... (compiler wrappers)"""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile

import harness

CMAKE, SOURCE = sys.argv[1:3]
WRAPPERS = dict(word.split("=", 1) for word in sys.argv[3:])
DEVELOPER = "-DSENNIT_DEVELOPER=ON"
WORLDS = {"mpich": "0x44000000", "openmpi": "&(ompi_mpi_comm_world)", "mpiabi": "257",
                         "": "42"}  # what MPI_COMM_WORLD is


class Configured:
    """A build folder: what was said, the lists of the summary, and every command of the build."""

    def __init__(self, folder, *options, environment=None):
        self.folder = folder
        self.done = subprocess.run([CMAKE, "-S", SOURCE, "-B", folder, "-G", "Ninja", *options], text=True, check=False,
                                   capture_output=True, env={**os.environ, **(environment or {})})
        self.said = self.done.stdout + self.done.stderr

    def line(self, name):
        assert self.done.returncode == 0, self.said
        lines = re.findall(rf"^-- {name}: (.*)$", self.done.stdout, re.MULTILINE)
        assert len(lines) == 1, self.said
        return lines[0]

    def plan(self):
        return subprocess.run([CMAKE, "--build", self.folder, "--", "-t", "commands", "all"],
                              capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def configured(*options, **more):
    with tempfile.TemporaryDirectory() as folder:
        yield Configured(os.path.join(folder, "build"), *options, **more)


def left_out(*off, more=()):
    """Configure with these switched off: the line, and every command of the build."""
    with configured(DEVELOPER, *[f"-D{name}=OFF" for name in off], *more) as build:
        return build.line("Left out"), build.plan()


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


def test_without_a_word_it_is_release_without_tests():
    with configured(environment={"CXXFLAGS": "", "CFLAGS": ""}) as build:
        assert ": Release, by " in build.said, build.said
        with open(os.path.join(build.folder, "compile_commands.json"), encoding="utf-8") as file:
            commands = [entry["command"] for entry in json.load(file)]
        plan = build.plan()
    assert commands and all(re.search(r" -O[1-3] ", command) or "-O0" in command for command in commands), commands
    assert sum("-O0" in command for command in commands) <= 4 # the command line's and JSON's headers
    assert "-Werror" not in plan
    assert not any(word in plan for word in ("unit-tests", "/apps/", "/bench/", "checked/", "gtest"))
    for name in ("bin/sennit", "lib/libsennit-omp.so", "lib/sennit-loader", "lib/libsennit-mpich.so"):
        assert f"-o {name} " in plan, name


def test_a_package_manager_may_say_where_libraries_are():
    """As Spack does. The stub has no dynamic section: CMake would find no RPATH to change, and not install it."""
    with configured("-DCMAKE_INSTALL_RPATH=/opt/some/lib", "-DCMAKE_INSTALL_RPATH_USE_LINK_PATH=ON") as build:
        assert build.done.returncode == 0, build.said
        with open(os.path.join(build.folder, "cmake_install.cmake"), encoding="utf-8") as file:
            changed = re.findall(r"file\(RPATH_CHANGE\s+FILE \"[^\"]*/([^\"/]+)\"", file.read())
    assert "sennit" in changed and "sennit-stub" not in changed, changed


def test_an_mpi_is_what_its_header_says():
    """One MPI each under the name `mpicc`: in PATH, in MPI_HOME, by SENNIT_MPI. A name says nothing."""
    for mpi, wrapper in WRAPPERS.items():
        with tempfile.TemporaryDirectory(prefix="openmpi-mpich-") as home:
            own = os.path.join(home, "bin", "mpicc")
            os.mkdir(os.path.dirname(own))
            os.symlink(wrapper, own)
            for options, environment in ((["-DSENNIT_MPI=" + own], None), ([], {"MPI_HOME": home}),
                                         (["-DMPI_HOME=" + home], None)):
                with configured(*options, environment=environment) as build:
                    assert build.line("MPI") == f"{mpi} ({own})", build.said
                    assert f"-o lib/libsennit-{mpi}.so" in build.plan()
            path = os.path.dirname(own) + ":" + os.environ["PATH"]
            with configured(environment={"PATH": path}) as build:
                assert f"{mpi} ({own})" in build.line("MPI"), build.said


def imitation(folder, kind):
    """A wrapper that has nothing of an MPI but the header's constant."""
    include, wrapper = os.path.join(folder, "include"), os.path.join(folder, "cc")
    os.makedirs(include)
    with open(os.path.join(include, "mpi.h"), "w", encoding="utf-8") as file:
        file.write(f"#define MPI_COMM_WORLD ((MPI_Comm){WORLDS[kind]})\n")
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec gcc -I{include} \"$@\"\n")
    os.chmod(wrapper, 0o755)
    return wrapper


def test_all_wrappers_in_one_list():
    with tempfile.TemporaryDirectory() as folder:
        wrappers = {kind: imitation(os.path.join(folder, kind), kind) for kind in ("openmpi", "mpiabi", "mpich")}
        with configured("-DSENNIT_MPI=" + ";".join(wrappers.values())) as build:
            assert build.line("MPI") == ", ".join(f"{kind} ({wrappers[kind]})" for kind in
                                                  ("mpich", "openmpi", "mpiabi")), build.said
        # Another list later: what it does not have is forgotten.
        build = Configured(build.folder, "-DSENNIT_MPI=" + wrappers["mpich"])
        assert build.line("MPI") == f"mpich ({wrappers['mpich']})", build.said


def test_what_is_no_mpi_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        for wrapper in (imitation(folder, ""), "/nowhere/mpicc"):
            with configured("-DSENNIT_MPI=" + wrapper) as build:
                assert build.done.returncode != 0 and wrapper in build.said, build.said


def test_all_that_is_missing_is_said_at_once():
    packages = ("fmt", "CLI11", "nlohmann_json")
    with configured("-DSENNIT_MPICH_CC=OFF", "-DSENNIT_OPENMPI_CC=OFF", "-DSENNIT_BOOST_CONTEXT=OFF",
                    *[f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in packages]) as build:
        assert build.done.returncode != 0, build.said
        assert build.said.count("CMake Error") == 1, build.said
        for words in ("libfmt-dev", "libcli11-dev", "nlohmann-json3-dev", "libboost-context-dev", "MPI: an mpicc in PATH"):
            assert words in build.said, (words, build.said)


def test_openmp_alone_if_that_is_said():
    with configured("-DSENNIT_MPI=none") as build:
        assert build.line("MPI") == "nothing"
        assert "-o lib/libsennit-omp.so" in build.plan()


def test_boost_context_may_be_shared():
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "libboost_context.so")
        subprocess.run(["gcc", "-shared", "-x", "c", "/dev/null", "-o", library], check=True)
        with configured("-DSENNIT_BOOST_CONTEXT=" + library) as build:
            assert library in build.line("Found"), build.said
            assert f"-Wl,-rpath,{folder}" in build.plan()


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
