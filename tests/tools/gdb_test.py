#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: tools.gdb timeout=600 skip=77 -- --sennit {sennit} --programs {build}/tests/programs/gcc --lib {omp}
"""`sennit doctor --pid` lists what the tasks of a live process wait for, with their backtraces, and
the same script does so in a core file.

usage: gdb_test.py --sennit COMMAND --programs FOLDER --lib FOLDER
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from harness import GDB

LIMIT = 300
SKIPPED = 77
failures = []


def check(text, *patterns):
    for pattern in patterns:
        if not re.search(pattern, text):
            failures.append(pattern)
            print(f"FAILED: no '{pattern}' in\n{text}", file=sys.stderr)


def expect(text):
    backtrace = r"\n +want_lock at [^\n]*hang_victim\.c:\d+\n +[^\n]*three_want_lock[^\n]*\n"
    check(text,
          r"worker \d+, thread \d+: idle\n",
          r"#\d+ the implicit task of thread 0 of 1: taskwait for 3 child tasks",
          r"sennit: 4 tasks waiting\n",
          # two of the three stacks are on no kernel thread
          r"(?s)(#\d+ task '[^\n]*': waits for the lock \(or critical section\) 0x[0-9a-f]+"
          + backtrace + r".*){3}")


def attach(options, process):
    """Once all tasks wait: the process itself does not tell when."""
    for _ in range(LIMIT):
        done = subprocess.run([options.sennit, "doctor", "--pid", str(process)], text=True,
                              capture_output=True, timeout=LIMIT, check=False)
        if "could not attach" in (done.stdout + done.stderr).lower() or \
                "operation not permitted" in (done.stdout + done.stderr).lower():
            print("skipped: this machine does not let gdb attach to processes")
            sys.exit(SKIPPED)
        if "4 tasks waiting" in done.stdout:
            return done.stdout
        time.sleep(0.1)
    return done.stdout + done.stderr


def is_loader(process):
    try:
        return os.path.basename(os.readlink(f"/proc/{process}/exe")) == "sennit-loader"
    except OSError:
        return False


def ranks_of(folder, count):
    """Virtual ranks are processes of the loader's that a process of the loader's has started."""
    for _ in range(LIMIT * 10):
        found = {}
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/environ", "rb") as file:
                    ours = folder.encode() in file.read()
                with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if ours and is_loader(process) and is_loader(parent):
                found[int(process)] = parent
        if len(found) == count:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{count} ranks were to come, there are {found}")


def virtual_ranks(options, program, environment):
    """Two in one address space, each by its own number, and both by that of their host."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(environment, SENNIT_VIRTUAL_JOB="gdb", TMPDIR=folder)
        stubs = [subprocess.Popen([options.sennit, "exec", "--virtual", program, "three_want_lock"], env=environment)
                 for _ in range(2)]
        try:
            ranks = ranks_of(folder, 2)
            for rank in ranks:
                expect(attach(options, rank))
            host, = set(ranks.values())
            both = attach(options, host)
            for rank in ranks:
                head = f"process {rank}, a virtual rank\n"
                check(both, head)
                expect(both.partition(head)[2].partition("a virtual rank")[0])
        finally:
            for stub in stubs:
                stub.kill()
                stub.wait()
        # the host removes what it has put into the folder
        for _ in range(LIMIT * 10):
            if not is_loader(host):
                break
            time.sleep(0.1)
        left = [file for _, _, files in os.walk(folder) for file in files]
        check(f"left behind: {left}", r"behind: \[\]$")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--sennit", "--programs", "--lib"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        return SKIPPED
    script = os.path.join(os.path.dirname(options.sennit), "../share/sennit/gdb/sennit.py")
    program = f"{options.programs}/hang_victim"
    environment = dict(os.environ, LD_LIBRARY_PATH=options.lib, SENNIT_HANG="off")
    with subprocess.Popen([program, "three_want_lock"], env=environment) as victim, \
            tempfile.TemporaryDirectory() as folder:
        try:
            expect(attach(options, victim.pid))
            core = f"{folder}/core"
            subprocess.run([*GDB, "-p", str(victim.pid), "-ex",
                            f"generate-core-file {core}"], capture_output=True, timeout=LIMIT,
                           check=True)
        finally:
            victim.kill()
        expect(subprocess.run([*GDB, program, core, "-x", script, "-ex",
                               "sennit tasks"], capture_output=True, text=True, timeout=LIMIT,
                              check=False).stdout)
    if os.path.exists(f"{os.path.dirname(options.sennit)}/../lib/sennit-loader"):
        virtual_ranks(options, program, environment)
    none = subprocess.run([options.sennit, "doctor", "--pid", "999999999"], capture_output=True,
                          text=True, timeout=LIMIT, check=False)
    check(none.stderr, "sennit: there is no process 999999999\n")
    other = subprocess.run([*GDB, "/bin/true", "-x", script, "-ex",
                            "sennit tasks"], capture_output=True, text=True, timeout=LIMIT,
                           check=False)
    check(other.stderr, r"sennit: .* is Sennit's runtime in this process")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
