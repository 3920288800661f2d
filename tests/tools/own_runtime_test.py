# SPDX-License-Identifier: Apache-2.0
# whole: tools.own_runtime -- {sennit} {SENNIT_GCC} {SENNIT_CLANG}
"""Programs and extensions that bring a copy of libgomp along, under a name of its own and found by
their own path, as Python's wheels do; OpenMP that comes with what a script starts.

Usage: own_runtime_test.py SENNIT GCC [CLANG]"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import harness

SENNIT, GCC, *CLANG = sys.argv[1:]
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
SOURCE = os.path.join(PROGRAMS, "whose_runtime.c")
NAME = b"libgomp-7.so"  # no longer than the one it replaces


def libgomp():
    for name in ("libgomp.so.1", "libgomp.so"):
        stock = subprocess.run([GCC, f"-print-file-name={name}"], check=True, capture_output=True,
                               text=True).stdout.strip()
        if os.path.isabs(stock):
            break
    return stock


def copy_libgomp(folder):
    with open(libgomp(), "rb") as file:
        image = file.read()
    assert b"libgomp.so.1\0" in image
    with open(os.path.join(folder, NAME.decode()), "wb") as file:
        file.write(image.replace(b"libgomp.so.1\0", NAME + b"\0"))


def build(folder, output, *options):
    path = os.path.join(folder, output)
    objects = path + ".o"
    subprocess.run([GCC, "-fopenmp", "-fPIC", "-Wall", "-Wextra", "-Werror", *options, "-c", SOURCE,
                    "-o", objects], check=True)
    shared = [] if "-DPROGRAM" in options else ["-shared"]
    subprocess.run([GCC, *shared, objects, os.path.join(folder, NAME.decode()), "-o", path,
                    "-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags"], check=True)
    return path


def output_of(*command, **environment):
    done = subprocess.run([SENNIT, *command], env={**os.environ, **environment}, text=True,
                          capture_output=True, timeout=harness.LIMIT, check=False)
    assert done.returncode == 0, f"{command}: {done.returncode}, {done.stdout}{done.stderr}"
    assert not done.stderr, done.stderr
    return done.stdout.strip()


def is_ours(runtime):
    return os.path.basename(os.path.realpath(runtime)) == "libsennit-omp.so"


def test_a_stock_runtime_that_is_first_in_the_path():
    with tempfile.TemporaryDirectory() as folder:
        stock = shutil.copy(libgomp(), os.path.join(folder, "libgomp.so.1"))
        program = os.path.join(folder, "program")
        subprocess.run([GCC, "-fopenmp", "-DPROGRAM", SOURCE, "-o", program], check=True)
        first = {"LD_LIBRARY_PATH": folder}
        bare = subprocess.run([program], check=True, capture_output=True, text=True, env={**os.environ, **first})
        assert os.path.samefile(bare.stdout.strip(), stock), bare.stdout
        for command in (["exec"], ["run"]):
            assert is_ours(output_of(*command, program, **first)), command


def test_a_program_with_a_copy_of_its_own():
    with tempfile.TemporaryDirectory() as folder:
        copy_libgomp(folder)
        program = build(folder, "program", "-DPROGRAM")
        assert not is_ours(subprocess.run([program], check=True, capture_output=True, text=True)
                           .stdout.strip())
        processor = str(min(os.sched_getaffinity(0)))
        for command in ([program], ["env", "A=1", program], ["A=1", program],
                        ["OMP_NUM_THREADS=2", "taskset", "-c", processor, "env", program]):
            assert is_ours(output_of("exec", *command)), command
        said = output_of("doctor", program)
    assert "cannot replace it, so Sennit's OpenMP library is preloaded" in said, said


def test_a_program_with_a_runtime_linked_into_it():
    archive = subprocess.run([GCC, "-print-file-name=libgomp.a"], check=True, capture_output=True,
                             text=True).stdout.strip()
    if not os.path.isabs(archive):
        return
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run([GCC, "-fopenmp", "-DPROGRAM", "-c", SOURCE, "-o", program + ".o"], check=True)
        subprocess.run([GCC, program + ".o", archive, "-lpthread", "-ldl", "-o", program],
                       check=True)
        for command in ("exec", "run"):
            done = subprocess.run([SENNIT, command, program], check=True, capture_output=True,
                                  text=True)
            assert done.stdout.strip() == program, done.stdout
            assert done.stderr.count("\n") == done.stderr.count("linked into it") == 1, done.stderr
        assert "linked into it" in output_of("doctor", program)


def test_an_extension_of_python_with_a_copy_of_its_own():
    tell = "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).whose_runtime; " \
           "f.restype = ctypes.c_char_p; print(f().decode())"
    with tempfile.TemporaryDirectory() as folder:
        copy_libgomp(folder)
        extension = build(folder, "extension.so")
        script = os.path.join(folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n# whatever the environment is\nunset LD_LIBRARY_PATH\n"
                       f"exec '{sys.executable}' -c '{tell}' '{extension}'\n")
        shim = os.path.join(folder, "shim")  # which finds out what to run, as those of pyenv do
        with open(shim, "w", encoding="utf-8") as file:
            file.write('#!/usr/bin/env bash\nset -e\nprogram="script"\n'
                       'exec "${0%/*}/$program" "$@"\n')
        for file in (script, shim):
            os.chmod(file, 0o755)
        for command in ([sys.executable, "-c", tell, extension], [script], ["sh", script], [shim]):
            assert is_ours(output_of("exec", *command)), command
            assert is_ours(output_of("run", *command)), command


# Opens runtimes by their paths, as threadpoolctl does, while libraries of both compilers are there.
OPEN = """
import ctypes, sys
runtimes = sys.argv[1].split(":")
parts = [ctypes.CDLL(path) for path in sys.argv[2:]]
for path in runtimes:
    runtime = ctypes.CDLL(path)
    before = runtime.omp_get_max_threads()
    runtime.omp_set_num_threads(3)
    seen = {(other, ctypes.CDLL(other).omp_get_max_threads()) for other in runtimes}
    assert before == 2 and seen == {(other, 3) for other in runtimes}, (path, before, seen)
    runtime.omp_set_num_threads(2)
for one in parts:
    for other in parts:
        assert one.region_of_two(other.sees_region_of_two) == 1, (one, other)
    runtime = ctypes.CDLL(runtimes[0])
    assert one.region_of_two(runtime.omp_in_parallel) == 1, one
print("ok")
"""


def test_a_runtime_that_is_opened_by_its_path_is_the_same_one():
    with tempfile.TemporaryDirectory() as folder:
        own = os.path.join(folder, "libgomp-a34b3233.so.1.0.0")
        shutil.copy(libgomp(), own)
        runtimes = [own, libgomp(), "libgomp.so.1", "libomp.so.5", "libiomp5.so",
                    *glob.glob("/usr/lib/llvm-*/lib/libomp.so.5")]
        parts = []
        for compiler in [GCC, *CLANG]:
            parts.append(os.path.join(folder, f"part-{len(parts)}.so"))
            subprocess.run([compiler, "-fopenmp", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror",
                            os.path.join(PROGRAMS, "region_part.c"), "-o", parts[-1]], check=True)
        for libraries in (parts, parts[::-1]):
            assert output_of("exec", sys.executable, "-c", OPEN, ":".join(runtimes), *libraries,
                             OMP_NUM_THREADS="2") == "ok"
        # A library that names its own copy has it mapped from the start.
        copy_libgomp(folder)
        extension = build(folder, "extension.so")
        tell = OPEN.replace("parts = ", "first = ctypes.CDLL(sys.argv.pop()); parts = ")
        assert output_of("exec", sys.executable, "-c", tell, os.path.join(folder, NAME.decode()),
                         *parts, extension, OMP_NUM_THREADS="2") == "ok"


def test_a_shell_that_binds_no_thread_leaves_all_processors_to_what_it_starts():
    count = "python3 -c 'import os; print(len(os.sched_getaffinity(0)))'"
    seen = output_of("exec", "sh", "-c", count, OMP_PROC_BIND="true")
    assert int(seen) == len(os.sched_getaffinity(0)), seen


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
