#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs may rely on: what the public headers declare, and which library has each function, in which version of
symbols. interfaces.txt has it as of the last change. What is there stays as it is until a version of Sennit whose first
number is another; what is new is added, in a version of symbols of its own once the last one is released.

usage: interfaces.py --build FOLDER [--compiler CC] [--write]      exit code: 0 nothing has changed, 1 it has"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).parent.parent
LIST = pathlib.Path(__file__).with_name("interfaces.txt")
# What has the functions of a header. Of those for an MPI there may be several, which all have them.
MPI = {"libsennit-MPI.so": "libsennit-[mo]p*.so", "libsennit-balance-MPI.so": "libsennit-balance-*.so"}
HEADERS = {"sennit.h": ("libsennit-omp.so", "libsennit-MPI.so"), "alpi.h": ("libsennit-omp.so",),
           "nanos6.h": ("libsennit-omp.so",), "sennit_export.h": ("libsennit-export.so",),
           "sennit_balance.h": ("libsennit-balance-MPI.so",), "sennit_worlds.h": ("libsennit-MPI.so",)}


def own_text(header, compiler):
    """a header without comments and without what it includes"""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "mpi.h").touch() # an MPI's types are names here
        said = subprocess.run([compiler, "-E", "-dD", f"-I{folder}", "-xc", header], check=True, capture_output=True,
                              text=True).stdout
    lines, is_own = [], False
    for line in said.splitlines():
        if marker := re.match(r'# \d+ "(.*)"', line):
            is_own = pathlib.Path(marker[1]) == header
        elif is_own:
            lines.append(line)
    return lines


def declarations(header, compiler):
    """types, functions and constants, a line each"""
    text = ""
    for line in own_text(header, compiler):
        if not line.startswith("#"):
            text += line + "\n"
        elif len(line.split()) > 2: # a constant
            yield " ".join(line.split())
    start = depth = 0
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == ";" and depth == 0:
            yield " ".join(text[start:at].split())
            start = at + 1


def function_of(declaration):
    """its name, if it declares a function"""
    name = re.match(r"(?!typedef|struct \w+ \{|enum|#)[\w \*]*?(\w+) ?\(", declaration)
    return name and name[1]


def exported(library):
    """name -> version of symbols, empty if it has none"""
    said = subprocess.run(["readelf", "--dyn-syms", "-W", library], check=True, capture_output=True, text=True).stdout
    return dict(re.findall(r" (?:GLOBAL|WEAK) +DEFAULT +(?!UND)\d+ (\w+)(?:@@(\S+))?", said))


def interfaces(build, compiler, headers=SOURCE / "include"):
    """what there is now, a line each, and complaints about functions that no library has"""
    lines, missing = set(), []
    for header, names in HEADERS.items():
        symbols = {}
        for name in names:
            for library in (build / "lib").glob(MPI.get(name, name)):
                symbols.update({function: f"{name}: {function}@{version}" for function, version in
                                exported(library).items()})
        for declaration in declarations(headers / header, compiler):
            lines.add(f"{header}: {declaration}")
            if function := function_of(declaration):
                lines.add(symbols.get(function, ""))
                missing += [] if function in symbols else [f"{header} declares {function}, and no library has it"]
    return sorted(lines - {""}), missing


def differences(before, now):
    """what makes programs fail, and what is only new"""
    lost = [f"gone or changed: {line}" for line in sorted(set(before) - set(now))]
    return lost, [f"new: {line}" for line in sorted(set(now) - set(before))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    now, missing = interfaces(options.build, options.compiler)
    if options.write:
        LIST.write_text("".join(line + "\n" for line in now))
    lost, new = differences(LIST.read_text().splitlines(), now)
    for line in (*missing, *lost, *new):
        print(line)
    if lost:
        print("Programs that are linked with it would fail. Until 0.1 is released: interfaces.py --write")
    elif new:
        print("interfaces.py --write adds it")
    sys.exit(1 if missing or lost or new else 0)


if __name__ == "__main__":
    main()
