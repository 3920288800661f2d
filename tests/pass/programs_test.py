# SPDX-License-Identifier: Apache-2.0
# script: pass.programs.{mpi} mpi=all timeout=1800 -- {mpi} {mpicc} {mpiexec} {sennit} {folder('sennit-' + mpi)} {tests}
"""Programs that were not written for the plug-in do the same when it has transformed them.

    those of tests/mpi    Each checks itself. Those that make collective calls are compiled with -sennit-collectives. One in
                          which nothing is moved is not run: it is the same code (pass.untouched). Those of MUCH run with both
                          MPIs, the others with one of them; every other one under SENNIT_CHAOS, with the other MPI the rest.
    without Sennit        STOCK: under the MPI's own launcher and the stock OpenMP runtime, too
    exchanges             tests/apps: each way to exchange, half of them with each MPI
    front, wavefront      applications, one with each MPI: the same results as without the plug-in, with Sennit and without

usage: programs_test.py MPI MPICC MPIEXEC SENNIT LIBRARY-FOLDER TESTS-FOLDER [NAME...]
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

MPI, MPICC, MPIEXEC, SENNIT, LIBRARIES, TESTS = sys.argv[1:7]
NAMES = sys.argv[7:]
sys.path.insert(0, TESTS)
from manifest import manifest, parsed # noqa: E402
PROGRAMS, APPS = os.path.join(TESTS, "mpi", "programs"), os.path.join(TESTS, "..", "apps")
ENVIRONMENT = {**os.environ, "MPICH_CC": "clang-19", "OMPI_CC": "clang-19", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
LIMIT = 400 # seconds for one command, on a busy machine
COLLECTIVES = re.compile(r"\bMPI_(Barrier|Bcast|Reduce|Allreduce|Gatherv?|Scatterv?|Allgatherv?|Alltoallv?)\(")
MUCH = ("point_to_point", "collectives", "assembled", "callbacks", "initial_tasks", "polling", "some_ranks_tasks", "beside_tasks",
        "claims")
# Not as -sennit-collectives wants programs (docs/user/recompile.md): operations of their own that use OpenMP, errors that they handle.
NOT_COLLECTIVE = ("operations", "broadcasts")
STOCK = ("files", "fork_exec", "outside") # others' tasks would wait for each other with all threads
SECOND = MPI != "mpich" # of the two MPIs


def started(command, environment=None):
    return subprocess.run(command, text=True, capture_output=True, env={**ENVIRONMENT, **(environment or {})}, timeout=LIMIT,
                          check=False)


def built(folder, name, files, *options, plain=False):
    """The program, and how many calls and loops of it are transformed. The plug-in's work is done before -O1 differs from -O2."""
    program = os.path.join(folder, name + ("-plain" if plain else ""))
    collective = name not in NOT_COLLECTIVE and any(COLLECTIVES.search(text_with_headers(file)) for file in files)
    prefix = [] if plain else [SENNIT, "cc"]
    extra = [] if plain else ["-Rpass=sennit"] + ["-sennit-collectives"] * collective
    done = started([*prefix, MPICC, "-O1", "-std=c11", "-D_GNU_SOURCE", "-w", "-fopenmp", *extra, "-I" + os.path.join(TESTS, "..", "include"),
                    *files, "-o", program, *options, "-Wl,-rpath," + LIBRARIES, "-lm"])
    assert done.returncode == 0, done.stderr
    return program, done.stderr.count("[-Rpass=sennit]"), collective


def text_with_headers(path):
    """With those that lie beside it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name in re.findall(r'#include "(\w+\.h)"', text):
        if os.path.exists(header := os.path.join(os.path.dirname(path), name)):
            with open(header, encoding="utf-8") as file:
                text += file.read()
    return text


def under_sennit(program, ranks, threads, *arguments, environment=None):
    return started([SENNIT, "run", "-n", str(ranks), "--threads", str(threads), program, *arguments], environment)


def without_sennit(program, ranks, threads, *arguments):
    return started([MPIEXEC, "-n", str(ranks), program, *arguments], {"OMP_NUM_THREADS": str(threads)})


def programs_of_mpi():
    """Those of tests/mpi that are tests by themselves: their name, and what their first lines say of the test."""
    for path in sorted(glob.glob(os.path.join(PROGRAMS, "*.c"))):
        lines = [(families, parsed(families[0], text)) for families, text in manifest(path)]
        named = {family: line for families, line in lines for family in families}
        if "test" in named:
            yield os.path.splitext(os.path.basename(path))[0], named


def test_programs():
    moved, ran, failed = 0, 0, []
    for number, (name, lines) in enumerate(programs_of_mpi()):
        if name not in NAMES if NAMES else name not in MUCH and number % 2 != SECOND:
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(PROGRAMS, name + ".c")
            libraries = []
            if "sennit_balance.h" in text_with_headers(source):
                libraries = [os.path.join(LIBRARIES, f"libsennit-balance-{MPI}.so")]
            elif "build" in lines and "{library}" in lines["build"].arguments: # they call its functions
                libraries = [os.path.join(LIBRARIES, f"libsennit-{MPI}.so")]
            program, transformed, collective = built(folder, name, [source], *libraries)
            moved += transformed
            if not transformed and not collective:
                continue
            late = "chaos" in lines and (number // 2 + SECOND) % 2 == 0
            environment = {"SENNIT_CHAOS": f"seed:{number},latency:100,order" if late else "off", **lines["test"].environment}
            ranks, threads = lines["test"].keys.get("shape", "2x2").split("|")[-1].split("x")
            runs = [under_sennit(program, ranks, threads, environment=environment)]
            if name in STOCK:
                runs.append(without_sennit(program, ranks, threads))
            ran += len(runs)
            failed += [(name, done.args, environment, done.returncode, done.stderr[-600:]) for done in runs
                       if done.returncode != int(lines["test"].keys.get("exit", 0))]
    print(f"{ran} runs of programs, {moved} calls and loops transformed")
    assert not failed, "\n".join(map(str, failed))
    assert NAMES or (moved > 10 and ran > 15)


def test_exchanges():
    source = os.path.join(TESTS, "apps", "exchanges.c")
    with open(os.path.join(TESTS, "apps", "exchanges_test.py"), encoding="utf-8") as file:
        ways = re.findall(r'^    "(\w+)": \(', file.read(), re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        program, transformed, _ = built(folder, "exchanges", [source], os.path.join(LIBRARIES, f"libsennit-{MPI}.so"))
        assert transformed > 10, transformed
        for way in ways[SECOND::2]:
            done = under_sennit(program, 2, 2, way)
            assert done.returncode == 0, (way, done)


def test_front():
    """Its domains move between ranks, and its times of arrival are the same bit by bit."""
    files = [*glob.glob(os.path.join(APPS, "front", "*.c")), os.path.join(APPS, "suite", "hold.c")]
    options = ["-I" + os.path.join(APPS, "suite"), os.path.join(LIBRARIES, f"libsennit-balance-{MPI}.so")]
    mesh = ["--side", "6", "--cells", "20", "--period", "5", "--strategy", "rotate"]

    def result(done):
        found = re.search(r"checksum (\w+): right", done.stdout)
        assert done.returncode == 0 and found, done
        return found[1]

    with tempfile.TemporaryDirectory() as folder:
        plain, _, _ = built(folder, "front", files, *options, plain=True)
        program, _, collective = built(folder, "front", files, *options)
        assert collective
        wanted = result(under_sennit(plain, 2, 1, *mesh))
        assert result(under_sennit(program, 2, 2, *mesh)) == wanted
        assert result(without_sennit(program, 2, 2, *mesh)) == wanted


def test_wavefront():
    """Messages of tasks that are bound to them; each computes the residual of all sweeps."""
    files = [*glob.glob(os.path.join(APPS, "suite", "*.c")), os.path.join(APPS, "wavefront", "main.c")]

    def result(done):
        found = re.search(r", (\d+ compute and \d+ communication tasks), (residual \S+)", done.stdout)
        assert done.returncode == 0 and found, done
        return found.groups()

    with tempfile.TemporaryDirectory() as folder:
        size = ["--n", "200", "--block", "24", "--sweeps", "5"]
        plain, _, _ = built(folder, "wavefront", files, "-I" + os.path.join(APPS, "suite"), plain=True)
        program, transformed, _ = built(folder, "wavefront", files, "-I" + os.path.join(APPS, "suite"))
        assert transformed > 0
        wanted = result(under_sennit(plain, 2, 2, *size))
        for variant in ("interop-blocking", "detach"):
            assert result(under_sennit(program, 2, 2, *size, "--variant", variant)) == wanted, variant


test_programs()
if not NAMES:
    test_exchanges()
    (test_wavefront if SECOND else test_front)()
