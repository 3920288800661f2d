# SPDX-License-Identifier: Apache-2.0
"""A wheel of an installation: `pip install` puts the command into an environment's bin/, and the rest into its lib/,
include/ and share/. A wheel has no links; the command makes those that it needs (tools/sennit/common/links.h). There are
none with the names of launchers, so the module that would put them into PATH is left out."""
import base64
import hashlib
import os
import zipfile

METADATA = """Metadata-Version: 2.1
Name: sennit
Version: {version}
Summary: Runs unmodified MPI + OpenMP programs as one: tasks that block in MPI give their core away
License: Apache-2.0
Requires-Python: >=3.9
Description-Content-Type: text/markdown

{description}"""

WHEEL = """Wheel-Version: 1.0
Generator: packaging/python_wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def files_of(prefix):
    """(path in the wheel's folder of data, path on the disk)"""
    for path in sorted(prefix.rglob("*")):
        inner = path.relative_to(prefix)
        left_out = ".debug" in path.parts or "doc" in inner.parts[:2] or "sennit-launchers" in inner.parts
        if path.is_symlink() or not path.is_file() or left_out:
            continue
        if inner.parts[0] == "bin":
            yield "scripts/" + inner.name, path
        else:
            yield "data/" + inner.as_posix(), path


class Wheel:
    """A zip file whose last member lists the others with their hashes."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record = ""

    def add(self, name, content, mode=0o644):
        entry = zipfile.ZipInfo(name)  # of 1980: the same files give the same wheel
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record += f"{name},sha256={digest},{len(content)}\n"

    def close(self, name):
        self.zip.writestr(zipfile.ZipInfo(name), f"{self.record}{name},,\n")
        self.zip.close()


def make(prefix, version, machine, glibc, folder, readme, licence):
    """`glibc`: the version that it needs, which is also the platform's name."""
    tag = f"py3-none-manylinux_{glibc[0]}_{glibc[1]}_{machine}"
    path = folder / f"sennit-{version}-{tag}.whl"
    wheel = Wheel(path)
    for inner, file in files_of(prefix):
        wheel.add(f"sennit-{version}.data/{inner}", file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
    info = f"sennit-{version}.dist-info"
    wheel.add(f"{info}/METADATA", METADATA.format(version=version, description=readme.read_text()).encode())
    wheel.add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
    wheel.add(f"{info}/licenses/LICENSE", licence.read_bytes())
    wheel.close(f"{info}/RECORD")
    return path
