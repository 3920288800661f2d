# SPDX-License-Identifier: Apache-2.0
"""What a shipped file needs of the machine: libraries, and versions of glibc's symbols."""
import pathlib
import re
import subprocess

# The oldest glibc that Sennit runs with. Its files are linked for it (older_glibc.py), and where it lacks a function
# that they stand in front of, they have one (src/tasks/pthread/clock_calls.cpp).
OLDEST_GLIBC = (2, 28)
# Sennit's own, and what comes with every glibc. The plug-in is loaded by Clang, which has the C++ library.
PLUG_IN = "libsennit-pass.so"
OF_CLANG = re.compile(r"libstdc\+\+\.so\.6|libgcc_s\.so\.1")
EVERYWHERE = re.compile(r"(ld-linux-.*|lib(c|m|dl|pthread|rt))\.so\.\d+|libsennit-.*\.so")


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def shipped(folder):
    """Programs and libraries below a folder; links and files of symbols are not."""
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink() and ".debug" not in path.parts and is_elf(path):
            yield path


def strange_libraries(path):
    """those that not every machine has"""
    said = subprocess.run(["readelf", "-dW", path], check=True, capture_output=True, text=True).stdout
    return [name for name in re.findall(r"\(NEEDED\).*\[(.+)\]", said) if not EVERYWHERE.fullmatch(name)
            and not (path.name == PLUG_IN and OF_CLANG.fullmatch(name))]


def versions(path):
    """version of glibc, as numbers -> the symbols that need it"""
    said = subprocess.run(["readelf", "--dyn-syms", "-W", path], check=True, capture_output=True, text=True).stdout
    found = {}
    for symbol, version in re.findall(r" UND (\w+)@GLIBC_([\d.]+)", said):
        found.setdefault(tuple(map(int, version.split("."))), []).append(symbol)
    return found


def floor(folder):
    """(version, {file: its symbols of that version}) of the oldest glibc that all files below a folder start with"""
    needs = {path: versions(path) for path in shipped(folder)}
    version = max(max(found, default=(0,)) for found in needs.values())
    return version, {path: found[version] for path, found in needs.items() if version in found}
