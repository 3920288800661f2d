# SPDX-License-Identifier: Apache-2.0
"""A package for Debian and Ubuntu of an installation, made by CPack: what Debian's policy wants else is added here.

Sennit's libraries are its own: they lie in /usr/lib/sennit, where no program looks without `sennit run`. So they
need neither versions in their names nor an entry in /etc/ld.so.conf."""
import gzip
import os
import re
import shutil
import subprocess
import textwrap

import elf

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
MAINTAINER = "Sennit's maintainers <maintainers@sennit.invalid>" # DEBFULLNAME and DEBEMAIL say another

COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Sennit

Files: *
Copyright: 2026 the authors of Sennit
License: Apache-2.0
 On Debian systems the full text of this licence is in /usr/share/common-licenses/Apache-2.0.
"""

OVERRIDES = """# Programs that become or hold other programs' address spaces: libraries there would be in the way.
sennit: shared-library-lacks-prerequisites [usr/lib/sennit/sennit-loader]
sennit: statically-linked-binary [usr/lib/sennit/sennit-stub]
"""

CPACK = """set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sennit)
set(CPACK_PACKAGE_VERSION {version})
set(CPACK_PACKAGE_FILE_NAME sennit)
set(CPACK_PACKAGE_CONTACT "{maintainer}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs MPI + OpenMP programs as one")
set(CPACK_PACKAGE_DESCRIPTION "An OpenMP runtime with the interfaces of libgomp and libomp,
and a layer on MPI. Unmodified programs are started by `sennit run`:
a task that waits for a message is suspended, and its thread runs
other tasks.")
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE {architecture})
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= {glibc})")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "mpich | openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, gdb")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_INSTALLED_DIRECTORIES "{root};.")
set(CPACK_PACKAGE_DIRECTORY {output})
set(CPACK_STRIP_FILES OFF)
"""


def maintainer():
    name, address = os.environ.get("DEBFULLNAME"), os.environ.get("DEBEMAIL")
    return f"{name} <{address}>" if name and address else MAINTAINER


def changelog(version, text):
    """Debian's form of the first section of CHANGELOG.md."""
    section = re.split(r"^## ", text, flags=re.MULTILINE)[1]
    items = re.findall(r"^- (.+(?:\n  .+)*)", section, re.MULTILINE)
    lines = "\n".join(textwrap.fill(" ".join(item.split()), 78, initial_indent="  * ", subsequent_indent="    ")
                      for item in items)
    date = subprocess.run(["date", "-Ru", "-d", "@" + os.environ.get("SOURCE_DATE_EPOCH", "0")], check=True, text=True,
                          capture_output=True).stdout.strip()
    return f"sennit ({version}) unstable; urgency=medium\n\n{lines}\n\n -- {maintainer()}  {date}\n"


def write(path, text, packed=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    path.write_bytes(gzip.compress(content, 9, mtime=0) if packed else content)


def stage(prefix, usr, version, changes):
    """The files as Debian has them: links stay, what a debugger needs is left out."""
    shutil.copytree(prefix, usr, symlinks=True, ignore=shutil.ignore_patterns(".debug", "LICENSE", "CHANGELOG.md"))
    for page in list((usr / "share" / "man").rglob("*.[1-9]")):
        write(page.with_name(page.name + ".gz"), page.read_text(), packed=True)
        page.unlink()
    # This module would put /usr/bin in front of the rest of PATH.
    shutil.rmtree(usr / "share" / "sennit" / "modulefiles" / "sennit")
    zsh = usr / "share" / "zsh"
    (zsh / "site-functions").rename(zsh / "vendor-completions")
    documents = usr / "share" / "doc" / "sennit"
    write(documents / "copyright", COPYRIGHT)
    write(documents / "changelog.gz", changelog(version, changes.read_text()), packed=True)
    write(usr / "share" / "lintian" / "overrides" / "sennit", OVERRIDES)
    for path in usr.rglob("*"):
        if not path.is_symlink():
            is_program = path.is_file() and os.access(path, os.X_OK) and ".so" not in path.name and elf.is_elf(path)
            path.chmod(0o755 if path.is_dir() or is_program else 0o644)


def make(prefix, version, machine, glibc, folder, changes, cpack, work):
    root = work / "root"
    stage(prefix, root / "usr", version, changes)
    config = work / "CPackConfig.cmake"
    config.write_text(CPACK.format(version=version, maintainer=maintainer(), architecture=MACHINES.get(machine, machine),
                                   glibc=".".join(map(str, glibc)), root=root, output=folder.absolute()))
    subprocess.run([cpack, "--config", config, "-B", work / "cpack"], check=True, stdout=subprocess.DEVNULL, cwd=work)
    path, = (work / "cpack").glob("*.deb") or [None]
    return shutil.move(path, folder / path.name)
