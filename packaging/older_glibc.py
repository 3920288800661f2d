#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a linker reads instead of this machine's libc.so and libm.so, so that what it links starts with an older glibc,
too. A function that has changed since, or has moved to another library, is in several versions in glibc's libraries. A
linker takes the newest. Here it meets first, in a library with nothing else in it, the newest one that the older glibc
has, under the name of the library in which that glibc has it. What is not in the table comes from the real library.

What an older glibc has not at all is in libc_floor.c. A test looks what the files need (tests/tools/package_test.py).

usage: older_glibc.py --compiler CC --output FOLDER [--readelf READELF]     Link with -LFOLDER then."""
import argparse
import pathlib
import re
import subprocess

import elf

# In which library of an older glibc a function is, and in which one of a newer glibc, whose name a linker asks for. A
# linker reads one library of a name only: so libm has all of its functions here.
PLACES = (
    ("libpthread.so.0", "libc.so", r"(__)?pthread_\w+|sem_\w+"),
    ("libdl.so.2", "libc.so", r"dl\w+"),
    ("libm.so.6", "libm.so", r"\w+"),
)
FUNCTION = re.compile(r" (?:FUNC|IFUNC|NOTYPE) +(?:GLOBAL|WEAK) +\w+ +(?!UND)\w+ (\w+)@@?GLIBC_([\d.]+)")


def numbers(version):
    return tuple(map(int, version.split(".")))


def functions(library, readelf):
    """name -> its versions, of a library or, if it is a linker's script, of the first one that this names"""
    text = library.read_bytes()
    if text[:4] != b"\x7fELF":
        library = pathlib.Path(re.search(rb"(?:GROUP|INPUT) *\( *(\S+)", text)[1].decode())
    said = subprocess.run([readelf, "--dyn-syms", "-W", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for name, version in FUNCTION.findall(said):
        found.setdefault(name, set()).add(version)
    return found


def older(found, pattern, complete):
    """name -> version, of those functions whose newest version the older glibc has not, but another; or of all"""
    table = {}
    for name, versions in sorted(found.items()):
        had = [version for version in versions if numbers(version) <= elf.OLDEST_GLIBC]
        if re.fullmatch(pattern, name) and (complete or 0 < len(had) < len(versions)):
            table[name] = max(had or versions, key=numbers)
    return table


def make(name, table, compiler, folder):
    """a library that has these functions and no code: nothing but a linker ever reads it"""
    path = folder / name
    code = "".join(f".globl {function}\n.type {function}, %function\n{function}:\n" for function in table)
    source = path.with_suffix(".s")
    source.write_text(f".text\n{code}.byte 0\n.section .note.GNU-stack,\"\",%progbits\n")
    nodes = "".join(f"GLIBC_{version} {{ {'; '.join(f for f in table if table[f] == version)}; }};\n"
                    for version in sorted(set(table.values()), key=numbers))
    script = path.with_suffix(".map")
    script.write_text(nodes)
    subprocess.run([compiler, "-shared", "-nostdlib", f"-Wl,-soname,{name}", f"-Wl,--version-script={script}", source,
                    "-o", path], check=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for asked in sorted({asked for _, asked, _ in PLACES}):
        real = subprocess.run([options.compiler, f"-print-file-name={asked}"], check=True, capture_output=True,
                              text=True).stdout.strip()
        found = functions(pathlib.Path(real), options.readelf)
        made, rest = [], real
        for name, of, pattern in PLACES:
            complete = name[:-1].startswith(asked)
            if of == asked and (table := older(found, pattern, complete)):
                made.append(str(make(name, table, options.compiler, options.output).absolute()))
                rest = "" if complete else real
        (options.output / asked).write_text(f"GROUP(AS_NEEDED({' '.join(made)}) {rest})\n")


if __name__ == "__main__":
    main()
