#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unpack and build the test suites of the runtimes that Sennit stands in for, with the stock
compilers, for `compare`. Their sources come from Debian's source packages.

    suites.py {llvm,libgomp} FOLDER

llvm:    the host tests of LLVM's OpenMP runtime (source package llvm-toolchain-19), built by clang
libgomp: GCC's runtime tests in C, C++ and Fortran (source package gcc-12), built by gcc

FOLDER gets source/, bin/ (programs) and tests/ (a script for each program that sets its environment
and, where the suite says so, checks its output), and skipped.txt with the reason for each test left
out. What is there already is not made again.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


class Skip(Exception):
    """Why a test cannot be used here."""


@dataclasses.dataclass
class Test:
    """A test of a suite as commands: those that build it and those that run it."""
    build: list
    run: list


def need(program):
    path = shutil.which(program)
    if not path:
        raise SystemExit(f"suites: {program} is missing: run ./dev conformance, which installs it")
    return path


# ---- sources ------------------------------------------------------------------------------------

def source_lists(folder):
    """apt's own source lists, for source packages."""
    for path in [pathlib.Path("/etc/apt/sources.list"),
                 *pathlib.Path("/etc/apt/sources.list.d").glob("*.list"),
                 *pathlib.Path("/etc/apt/sources.list.d").glob("*.sources")]:
        if path.exists():
            text = re.sub(r"^deb ", "deb-src ", path.read_text(), flags=re.M)
            text = re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.M)
            (folder / path.name).write_text(text)


def download(package, folder):
    """The files of a source package, without touching the system's apt configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="suites-") as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "lists/partial").mkdir(parents=True)
        (scratch / "parts").mkdir()
        source_lists(scratch / "parts")
        options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={scratch / 'parts'}",
                   "-o", f"Dir::State::lists={scratch / 'lists'}", "-o", "APT::Sandbox::User=root", "-qq"]
        subprocess.run(["apt-get", *options, "update"], check=True)
        subprocess.run(["apt-get", *options, "source", "--download-only", package], check=True, cwd=folder)


def unpack(package, inside, headers, folder):
    """The folder `inside` of the package's upstream source, as folder/source; its tests include
    `headers`, files in folders beside it."""
    source = folder / "source"
    if source.exists():
        return source
    downloads = folder / "downloads"
    download(package, downloads)
    upstream = next(downloads.glob("*.orig.tar.*"))
    with tempfile.TemporaryDirectory(prefix="suites-", dir=folder) as scratch:
        extract = ["tar", "-x", "-C", scratch, "--wildcards", "-f"]
        if inside.startswith("gcc/"):  # the source archive is in an archive
            subprocess.run([*extract, upstream, "*.tar.xz"], check=True)
            upstream = next(pathlib.Path(scratch).rglob("gcc-*.tar.xz"))
            inside = inside.removeprefix("gcc/")
        subprocess.run([*extract, upstream, f"*/{inside}/*", *(f"*/{header}" for header in headers)], check=True)
        found = next(path for path in pathlib.Path(scratch).rglob(inside.split("/")[-1])
                     if str(path).endswith(inside))
        for header in map(pathlib.PurePath, headers):
            beside = folder / header.parent.name
            beside.mkdir(exist_ok=True)
            shutil.copy(next(pathlib.Path(scratch).rglob(str(header))), beside)
        found.rename(source)
    shutil.rmtree(downloads)
    return source


# ---- LLVM ---------------------------------------------------------------------------------------

LLVM_FLAGS = ["-w", "-D_GNU_SOURCE"]
LLVM_LIBRARIES = ["-lm", "-latomic", "-lpthread", "-ldl"]
# What a RUN line calls a compilation; all but the last get OpenMP and are what %libomp-run runs.
LLVM_COMPILERS = {"%libomp-compile": ["clang-19"], "%libomp-c99-compile": ["clang-19", "-std=c99"],
                  "%libomp-cxx-compile": ["clang++-19"], "%libomp-cxx20-compile": ["clang++-19", "-std=c++20"],
                  "%libomp-cxx-compile-c": ["clang++-19", "-std=c++17", "-x", "c++"],
                  "%libomp-irbuilder-compile": ["clang-19", "-fopenmp-enable-irbuilder"], "%clang": ["clang-19"]}


def llvm_files(source):
    return sorted(path for path in source.rglob("*") if path.suffix in (".c", ".cpp"))


def llvm_test(path, source, binary):
    text = path.read_text(errors="replace")
    for needed in re.findall(r"REQUIRES:(.*)", text):
        if re.search(r"!ompt|ompd|hidden-helper|hwloc|libatomic-missing", needed):
            raise Skip(f"requires {needed.strip()}")
    if re.search(r"UNSUPPORTED:.*\b(clang(?!-)|linux|true)\b", text):
        raise Skip("unsupported with clang on Linux")
    lines = re.sub(r"\\\n\s*//\s*RUN:", " ", text)
    commands = [line.strip() for line in re.findall(r"RUN:(.*)", lines)]
    if not commands:
        raise Skip("no RUN line")
    folder = binary.with_name(binary.name + ".d")
    folder.mkdir(exist_ok=True)
    words = {"%sort-threads": "sort -n -s", "%no-as-needed-flag": "-Wl,--no-as-needed",
             "%python": "python3", "%preload-tool": f"env LD_PRELOAD={folder}/tool.so", "%flags": "",
             "%openmp_flags": "-fopenmp", "%flags-use-compiler-omp-h": "",
             "%S": shlex.quote(str(path.parent)), "%s": shlex.quote(str(path)),
             "%T": shlex.quote(str(folder)), "%t": shlex.quote(str(binary) + ".tmp")}
    # Tool tests compare addresses of code and frames, so nothing may be moved.
    optimization = "-O0" if "ompt" in path.relative_to(source).parts else "-O1"
    test = Test([], [])
    current = binary

    def expand(part):
        part = re.sub(r"%[a-zA-Z_-]+", lambda match: words.get(match[0], match[0]), part)
        if re.search(r"%[a-zA-Z]{2}", part):  # one letter: a field of OMP_AFFINITY_FORMAT
            raise Skip(f"needs {part}")
        return re.sub(r"\bFileCheck\b", "FileCheck-19", part)

    for command in commands:
        command = re.sub(r"(%libomp(-[a-z0-9]+)?-compile)-and-run", r"\1 && %libomp-run", command)
        for part in (part.strip() for part in command.split("&&")):
            compiler, _, rest = part.partition(" ")
            if compiler not in LLVM_COMPILERS:
                words["%libomp-run"] = shlex.quote(str(current))
                test.run.append(expand(part))
                continue
            build = [*LLVM_COMPILERS[compiler], optimization, *LLVM_FLAGS, f"-I{source}", f"-I{source}/ompt"]
            if compiler == "%clang":  # has its source and output among the words
                test.build.append([*build, *shlex.split(expand(rest))])
                if rest.endswith("-o %t"):
                    current = binary.with_name(binary.name + ".tmp")
                continue
            current = binary.with_name(f"{binary.name}.{len(test.build)}") if test.build else binary
            test.build.append([*build, "-fopenmp", *shlex.split(expand(rest)), str(path), "-o", str(current),
                               *LLVM_LIBRARIES])
    if not test.build:
        raise Skip("nothing to compile")
    return test


# ---- libgomp ------------------------------------------------------------------------------------

GOMP_COMPILERS = {".c": ["gcc-12", "-std=gnu17"], ".C": ["g++-12"], ".cc": ["g++-12"], ".f": ["gfortran-12"],
                  ".f90": ["gfortran-12"], ".F90": ["gfortran-12"], ".f03": ["gfortran-12"], ".F": ["gfortran-12"]}
# Effective targets that hold on an ordinary Linux machine without an accelerator.
GOMP_TARGETS = {"tls", "tls_runtime", "pthread", "fopenmp", "c99_runtime", "lto", "int128", "alloca", "mmap",
                "sync_int_long", "sync_char_short", "cas_int", "omp_usm", "hwloc", "c++11", "vect_simd_clones",
                "fortran_large_int", "fortran_large_real", "fortran_real_10", "fortran_real_16", "gomp_hwloc"}
GOMP_FOLDERS = ("libgomp.c", "libgomp.c-c++-common", "libgomp.c++", "libgomp.fortran")


def gomp_files(source):
    return sorted(path for folder in GOMP_FOLDERS for path in (source / folder).iterdir()
                  if path.suffix in GOMP_COMPILERS)


def gomp_test(path, source, binary):
    text = path.read_text(errors="replace")
    flags, variables, sources = ["-O2"], [], [str(path)]
    for name, rest in re.findall(r"\{\s*dg-([a-z-]+)\s+((?:[^{}]|\{[^{}]*\})*)\}", text):
        strings = re.findall(r'"([^"]*)"', rest)
        conditional = "target" in rest
        if name == "do" and not rest.startswith("run"):
            raise Skip(f"dg-do {rest.strip()}")
        if name in ("shouldfail", "skip-if", "xfail-run-if"):
            raise Skip(f"dg-{name}")
        if name == "require-effective-target" and rest.split()[0] not in GOMP_TARGETS:
            raise Skip(f"requires {rest.split()[0]}")
        if name == "options" and strings and not conditional:
            flags = strings[0].split()
        if name == "additional-options" and strings and not conditional:
            flags += strings[0].split()
        if name == "set-target-env-var" and len(rest.split()) > 1:
            variables.append((rest.split()[0], strings[0] if strings else rest.split()[1]))
        if name == "additional-sources":
            sources += [str(path.parent / word) for word in rest.replace('"', "").split()]
    if re.search(r"\bopenacc\b", text):
        raise Skip("OpenACC")
    compiler = GOMP_COMPILERS[path.suffix]
    build = [*compiler, "-fopenmp", "-w", f"-I{source}", f"-I{path.parent}", *flags, *sources, "-o", str(binary),
             "-lm", "-ldl"]
    run = " ".join([*(f"{key}={shlex.quote(value)}" for key, value in variables), shlex.quote(str(binary))])
    return Test([build], [run])


@dataclasses.dataclass
class Suite:
    package: str
    tests: str  # their folder in the package
    headers: list
    find: object  # their files, of the folder
    read: object  # a Test, of a file, the folder and where to put the program


SUITES = {"llvm": Suite("llvm-toolchain-19", "openmp/runtime/test", ["openmp/runtime/src/kmp_platform.h"],
                        llvm_files, llvm_test),
          "libgomp": Suite("gcc-12", "gcc/libgomp/testsuite", [], gomp_files, gomp_test)}


# ---- building -----------------------------------------------------------------------------------

def make(suite, path, source, folder):
    """Build one test; None, or why it is skipped."""
    name = str(path.relative_to(source)).replace("/", ".")
    script = folder / "tests" / name
    if script.exists():
        return None
    try:
        test = suite.read(path, source, folder / "bin" / name)
    except Skip as reason:
        return str(reason)
    for command in test.build:
        with tempfile.TemporaryDirectory(prefix="suites-") as scratch:  # Fortran's module files
            done = subprocess.run(command, cwd=scratch, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
            return f"does not build: {lines[0] if lines else done.returncode}"
    script.write_text("#!/bin/sh\nset -e\n" + "\n".join(test.run) + "\n")
    script.chmod(0o755)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    suite = SUITES[options.suite]
    for program in ("apt-get", "clang-19" if options.suite == "llvm" else "gfortran-12"):
        need(program)
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    source = unpack(suite.package, suite.tests, suite.headers, folder)
    for name in ("bin", "tests"):
        (folder / name).mkdir(exist_ok=True)
    paths = suite.find(source)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reasons = list(pool.map(lambda path: make(suite, path, source, folder), paths))
    skipped = [f"{path.relative_to(source)}: {reason}" for path, reason in zip(paths, reasons) if reason]
    (folder / "skipped.txt").write_text("\n".join(skipped) + "\n")
    kinds = collections.Counter(re.split(r"[:,]", reason)[0][:40] for reason in reasons if reason)
    print(f"{options.suite}: {len(paths) - len(skipped)} of {len(paths)} tests built; left out: "
          + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
