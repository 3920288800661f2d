#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: clocks labels=quick -- {source}
"""Does nothing of Sennit's wait by the time of day? That clock may be set while somebody waits: by a person,
by the network, after a laptop has slept. Waits and time limits are by CLOCK_MONOTONIC.

Each place in the sources that reads or names the time of day is listed here, with its reason. A new one, and
one that is gone, is an error.

usage: clocks.py SOURCE
"""

import pathlib
import re
import sys
import tempfile

# Reads or names it, or waits until a time of it.
WALL = re.compile(r"\bCLOCK_REALTIME\b|\bFUTEX_CLOCK_REALTIME\b|\bgettimeofday\s*\(|\bsystem_clock\b|"
                  r"\bhigh_resolution_clock\b|\btime\((?:nullptr|NULL|0)\)|\bmtx_timedlock\s*\(|"
                  r"\bpthread_(?:mutex_timedlock|cond_timedwait|rwlock_timed\w+)\s*\(|\bsem_timedwait\s*\(")

ALLOWED = {
    "src/tasks/trace/trace_output.cpp": "a trace says when it was begun",
    "src/ranks/fibers/trap.cpp": "system calls of the program's",
    "src/tasks/pthread/futex.cpp": "waits of the program's, until the time that it names",
    "src/tasks/pthread/condition.cpp": "the same",
    "src/tasks/pthread/exports/exports.cpp": "the same",
    "src/tasks/pthread/clock_calls.cpp": "the same",
    "src/base/guard.h": "a condition whose clock is CLOCK_MONOTONIC",
    "src/tasks/libc/time.cpp": "the same",
    "src/tasks/libc/queues.cpp": "waits of the program's, until the time that it names",
    "tools/report/paraver.cpp": "the format has the date",
    "tools/sennit/launch/job_folder.cpp": "how old a file is; nothing waits",
}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def findings(source):
    found = {}
    for folder in ("src", "addons", "tools", "include", "pass"):
        for path in sorted((source / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".c"):
                continue
            text = path.read_text(encoding="utf-8")
            if WALL.search(without_comments(text)):
                found[str(path.relative_to(source))] = text
    wrong = [f"{place}: the time of day, which may jump: wait by CLOCK_MONOTONIC, or tell why in clocks.py"
             for place in found.keys() - ALLOWED.keys()]
    wrong += [f"{place}: knows nothing of the time of day any more: take it out of clocks.py"
              for place in ALLOWED.keys() - found.keys()]
    return sorted(wrong)


def self_test():
    """Each kind of place is found."""
    for line in ("clock_gettime(CLOCK_REALTIME, &now);", "gettimeofday(&now, nullptr);", "x = std::time(nullptr);",
                 "std::chrono::system_clock::now();", "pthread_cond_timedwait(&a, &b, &c);", "sem_timedwait(&a, &b);"):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "src" / "tasks" / "poll" / "new.cpp"
            place.parent.mkdir(parents=True)
            place.write_text(f"// CLOCK_REALTIME\n{line}\n", encoding="utf-8")
            assert any(wrong.startswith("src/tasks/poll/new.cpp") for wrong in findings(pathlib.Path(folder))), line
            place.write_text(f"// {line}\n/* {line} */\n", encoding="utf-8")
            assert not any(wrong.startswith("src/tasks/poll/new.cpp") for wrong in findings(pathlib.Path(folder))), line


def main():
    source = pathlib.Path(sys.argv[1])
    self_test()
    wrong = findings(source)
    print("\n".join(wrong) or "nothing waits by the time of day")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
