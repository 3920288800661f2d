#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# judge:
"""Programs that hang are explained and, with SENNIT_HANG=abort, ended; programs that are only slow
are left alone. The grace time is the shortest there is, and no test expects anything within a time.
They are several at a time, for they mostly wait.

usage: hang.py --programs FOLDER --lib FOLDER
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 120  # seconds until a test counts as failed
SEVERAL = 4
failures = []


def check(condition, what, output):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}\n{output}", file=sys.stderr)


def environment(options, mode):
    settings = dict(os.environ, LD_LIBRARY_PATH=options.lib, SENNIT_HANG_GRACE="1")
    settings.pop("SENNIT_HANG", None)
    return settings | ({"SENNIT_HANG": mode} if mode else {})


def explained(options, case, *patterns, path=None):
    """The case is ended by abort, after a report in which each pattern is found."""
    settings = environment(options, "abort") | ({"PATH": path} if path else {})
    done = subprocess.run([f"{options.programs}/hang_victim", case], capture_output=True, text=True,
                          env=settings, timeout=LIMIT, check=False)
    check(done.returncode == -signal.SIGABRT, f"{case}: ended by SIGABRT", done)
    check("nobody outside can change that" in done.stderr, f"{case}: is certain", done.stderr)
    for pattern in patterns:
        check(re.search(pattern, done.stderr), f"{case}: the report has '{pattern}'", done.stderr)


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as stat:
            return ") Z " not in stat.read()
    except FileNotFoundError:
        return False


def lines_of_source(options):
    """There is a report at once with addr2line, without it, and soon with one that never ends."""
    place = r"held by #\d+, in .* \[hang_victim\+0x[0-9a-f]+"
    if shutil.which("addr2line"):
        explained(options, "lock_order", place + r", hang_victim\.c:\d+\]\n")
    with tempfile.TemporaryDirectory() as folder:
        explained(options, "lock_order", place + r"\]\n", path=folder)
        tool = os.path.join(folder, "addr2line")
        with open(tool, "w", encoding="utf-8") as script:
            script.write(f"#!/bin/sh\necho $$ >{folder}/begun\nexec sleep 1000\n")
        os.chmod(tool, 0o700)
        explained(options, "lock_order", place + r"\]\n", path=f"{folder}:{os.environ['PATH']}")
        with open(f"{folder}/begun", encoding="utf-8") as begun:
            process = begun.read().strip()
        end = time.monotonic() + LIMIT
        while is_alive(process) and time.monotonic() < end:
            time.sleep(0.01)
        check(not is_alive(process), "an addr2line that never ends is ended", process)


def silent(options, case, mode="abort", **arguments):
    done = subprocess.run([f"{options.programs}/hang_victim", case], capture_output=True, text=True,
                          env=environment(options, mode), timeout=LIMIT, check=False,
                          **arguments)
    check(done.returncode == 0 and done.stdout == "done\n" and done.stderr == "",
          f"{case}: runs to its end without a word", done)


def from_outside(options, case, mode, *patterns):
    """A report that blames nobody. It has the patterns; without any, the program goes on when it is
    helped from outside."""
    with subprocess.Popen([f"{options.programs}/hang_victim", case], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment(options, mode)) as program:
        first = program.stderr.readline()
        check("everything waits for an event from outside" in first, f"{case}: says so", first)
        if patterns:
            program.kill()
            rest = program.stderr.read()
            for pattern in patterns:
                check(re.search(pattern, rest), f"{case}: the report has '{pattern}'", rest)
        else:
            print(file=program.stdin, flush=True)
            output = program.stdout.read()
            check(program.wait(LIMIT) == 0 and output == "done\n", f"{case}: goes on", output)


def slow_input(options, case):
    with subprocess.Popen(["sh", "-c", "sleep 3; echo"], stdout=subprocess.PIPE) as typist:
        silent(options, case, stdin=typist.stdout)


def cases(begin):
    begin(explained, "lock_order",
          r"#(\d+) task '.*': waits for the lock .*, held by #(\d+), in .* \[hang_victim\+0x",
          r"a deadlock: #(\d+) waits for #(\d+) \(which holds the lock\), "
          r"#\2 waits for #\1 \(which holds the lock\)\n")
    begin(explained, "lock_and_taskwait", r": taskwait for 1 child task, in ",
          r"a deadlock: .*\(which holds the lock\)", r"a deadlock: .*\(its child\)")
    begin(explained, "three_want_lock", r"taskwait for 3 child tasks",
          r"(?s)(task '[^']*': waits for the lock.*){3}")
    begin(explained, "lock_twice", r"which it holds itself", r"#(\d+) waits for #\1 ")
    begin(explained, "lock_forgotten", r"held by a task that has ended, or never unset")
    begin(explained, "ordered", r"waits for the lock",
          r"waits for its turn in an ordered or doacross loop")
    begin(explained, "lock_and_mutex", r"waits for the lock .* held by #(\d+)",
          r"#(\d+) the implicit task of thread 1 of 2: thread sleeps for the "
          r"pthread mutex 0x\w+, held by #(\d+), in take_mutex_second \[hang_victim\+0x",
          r"a deadlock: #(\d+) waits for #(\d+) \(which holds the lock\), #\2 waits for #\1 "
          r"\(which holds the lock\)\n")
    begin(from_outside, "raw_futex", "abort", r"waits for the lock .* held by #1, in wake_sleeper",
          r"#1 task '.*' on thread 0 of 2: thread sleeps for the futex 0x\w+, in "
          r"sleep_in_futex \[hang_victim\+0x")
    begin(from_outside, "event_forgotten", "abort",
          r"has ended, waits for an event from outside \(1 not fulfilled",
          r"has not begun, waits for 1 task that it depends on")
    begin(from_outside, "event_late", "report")
    begin(from_outside, "suspended_at_exit", "report",
          r"the initial task: barrier, or the end of the program or thread: tasks are left",
          r"task '.*': suspended by a library, waits for an event from outside "
          r"\(sennit_task_resume\), in suspend_for_ever \[hang_victim\+0x")
    begin(lines_of_source)
    for case in ("slow_task", "slow_thread", "serial", "starved"):
        begin(silent, case)
    begin(silent, "slow_waker", mode=None)
    for case in ("reads_input", "joins"):
        begin(slow_input, case)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--lib", required=True)
    options = parser.parse_args()

    begun = []
    with concurrent.futures.ThreadPoolExecutor(SEVERAL) as several:
        cases(lambda kind, *arguments, **settings: begun.append(several.submit(kind, options, *arguments, **settings)))
    for case in begun:
        case.result()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
