#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packages of a build: the command, the runtime and a library for each MPI that the build knows, stripped.

    sennit-X.Y.Z-x86_64.tar.gz             may be unpacked anywhere
    sennit-X.Y.Z-x86_64-debug.tar.gz       its debug symbols, to be unpacked in the same place
    sennit-X.Y.Z-py3-none-manylinux_*.whl  for pip
    sennit_X.Y.Z_amd64.deb                 for Debian and Ubuntu

usage: package.py --build FOLDER --output FOLDER"""
import argparse
import gzip
import os
import pathlib
import platform
import re
import subprocess
import sys
import tarfile
import tempfile

import debian
import elf
import python_wheel

SOURCE = pathlib.Path(__file__).parent.parent


def of_cache(build, name):
    text = (build / "CMakeCache.txt").read_text()
    return re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)[1]


def install(build, prefix):
    """All but what needs libraries that other machines may not have (SimGrid)."""
    subprocess.run([of_cache(build, "CMAKE_COMMAND"), "--install", build, "--component", "Unspecified", "--strip",
                    "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    for path in prefix.rglob("*.a"):
        subprocess.run(["strip", "--strip-debug", path], check=True)


def anonymous(entry):
    """The same files give the same archive, whoever has packed them and when."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    return entry


def pack(archive, prefix, wanted, level=9):
    """The files below a prefix that are wanted, under its name."""
    with open(archive, "wb") as raw, gzip.GzipFile("", "wb", level, raw, 0) as packed, \
            tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(prefix.rglob("*")):
            if (path.is_symlink() or path.is_file()) and wanted(path):
                tar.add(path, path.relative_to(prefix.parent), filter=anonymous)
    print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    options = parser.parse_args()
    version = of_cache(options.build, "CMAKE_PROJECT_VERSION")
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / f"sennit-{version}"
        install(options.build, prefix)
        for path in elf.shipped(prefix):
            if strange := elf.strange_libraries(path):
                sys.exit(f"{path.name} needs {', '.join(strange)}, which other machines may not have")
        name = f"sennit-{version}-{platform.machine()}"
        pack(options.output / f"{name}.tar.gz", prefix, lambda path: ".debug" not in path.parts)
        pack(options.output / f"{name}-debug.tar.gz", prefix, lambda path: ".debug" in path.parts,
             level=1) # SennitDebugSymbols.cmake has compressed them
        floor, because = elf.floor(prefix)
        if floor > elf.OLDEST_GLIBC:
            sys.exit(f"glibc {'.'.join(map(str, floor))} is needed by {because}")
        glibc = elf.OLDEST_GLIBC
        machine = platform.machine()
        wheel = python_wheel.make(prefix, version, machine, glibc, options.output, SOURCE / "README.md",
                                  SOURCE / "LICENSE")
        cpack = pathlib.Path(of_cache(options.build, "CMAKE_COMMAND")).with_name("cpack")
        deb = debian.make(prefix, version, machine, glibc, options.output, SOURCE / "CHANGELOG.md", cpack,
                          pathlib.Path(folder) / "debian")
        for path in (wheel, deb):
            print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    print(f"needs glibc {'.'.join(map(str, glibc))} or later")


if __name__ == "__main__":
    main()
