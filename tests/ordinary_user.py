# SPDX-License-Identifier: Apache-2.0
"""Run a test as an ordinary user with an ordinary user's limits, who has nothing but what everybody may read.

Usage: ordinary_user.py FOLDER[;FOLDER...] COMMAND [ARGUMENT...]
FOLDER: what the test reads, at the path where it is. Where others may not enter the folders around it, the user
sees other, empty folders there (in a mount namespace). Who is no root already is such a user: then only the limits
are set. Exit code 77: it cannot be done here."""
import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile

USER = 4242
FILES = 1024
MEMLOCK = 8 << 20
STACK = 8 << 20
SKIPPED = 77
NEW_MOUNTS, PRIVATE, RECURSIVE, BIND = 0x20000, 1 << 18, 1 << 14, 1 << 12
LIBC = ctypes.CDLL(None, use_errno=True)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def mount(source, target, kind=None, flags=0, options=None):
    words = [word.encode() if word else None for word in (source, target, kind, options)]
    if LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]) != 0:
        skip(f"nothing can be mounted here ({os.strerror(ctypes.get_errno())})")


def closed_folder_above(path):
    """The outermost one that others may not enter, or None."""
    parts = path.split("/")
    for end in range(2, len(parts)):
        folder = "/".join(parts[:end])
        if not os.stat(folder).st_mode & 1:
            return folder
    return None


def open_ways_to(folders):
    closed_above = {folder: closed for folder in folders if (closed := closed_folder_above(folder))}
    closed = set(closed_above.values())
    if not closed:
        return
    if LIBC.unshare(NEW_MOUNTS) != 0:
        skip(f"'{closed.pop()}' is closed to others, and there are no mount namespaces")
    mount("none", "/", flags=RECURSIVE | PRIVATE)
    held = {folder: os.open(folder, os.O_PATH | os.O_DIRECTORY) for folder in closed_above}
    for folder in closed:
        mount("none", folder, "tmpfs", options="mode=755")
    for folder, file in held.items():
        os.makedirs(folder, 0o755, exist_ok=True)
        mount(f"/proc/self/fd/{file}", folder, flags=BIND | RECURSIVE)
        os.close(file)


def limit(which, most):
    hard = resource.getrlimit(which)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))


def become_the_user(home):
    os.umask(0o022)
    limit(resource.RLIMIT_NOFILE, FILES)
    limit(resource.RLIMIT_MEMLOCK, MEMLOCK)
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
    os.chdir(home)


def main():
    # With the Python that runs this, which may lie in somebody's home.
    folders = [os.path.realpath(one) for one in [*sys.argv[1].split(";"), sys.base_prefix]]
    command = sys.argv[2:]
    if os.path.basename(command[0]).startswith("python"):
        command[0] = os.path.realpath(sys.executable)
    os.umask(0o022)
    home = tempfile.mkdtemp(prefix="sennit-user-", dir="/tmp")  # short: sockets lie in it
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("SENNIT_BOARD", "XDG_RUNTIME_DIR", "OMPI_ALLOW_RUN_AS_ROOT")}
    environment.update(HOME=home, TMPDIR=home, USER="user", LOGNAME="user", PYTHONDONTWRITEBYTECODE="1")
    try:
        if os.geteuid() == 0:
            os.chown(home, USER, USER)
            open_ways_to(folders)

        def prepare():
            become_the_user(home)
            for word in command:
                if os.path.isabs(word) and not os.access(word, os.R_OK):
                    os.write(1, f"skipped: others may not read '{word}'\n".encode())
                    os._exit(SKIPPED)
        return subprocess.run(command, env=environment, preexec_fn=prepare, check=False).returncode
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    code = main()
    sys.exit(code if code >= 0 else 128 - code)
