#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: lint.guards labels=quick skip=77 -- {source}
"""Does clang refuse what breaks a lock's annotations (src/base/guard.h)? Each wrong line of the file below is put
among right ones; alone these must be accepted, or the refusals would say nothing. 77: there is no clang.

usage: guards_test.py SOURCE
"""

import shutil
import subprocess
import sys

COMPILER = shutil.which("clang++-19")

CODE = """
#include "base/spin.h"
using namespace sennit;
SpinLock g_second;
SpinLock g_first SENNIT_BEFORE(g_second);
struct Counter {
    LOCK lock;
    int value SENNIT_GUARDED_BY(lock) = 0;
    int *far SENNIT_POINTS_TO_GUARDED_BY(lock) = nullptr;
    void count() SENNIT_REQUIRES(lock) { ++value; }
    void take_part() SENNIT_EXCLUDES(lock) { const Guard guard(lock); count(); }
    SpinLock &spin() SENNIT_RETURNS_LOCK(g_first) { return g_first; }
    void before_fork() SENNIT_ACROSS_FORK { lock.lock(); }
};
template <class Function> void call(Function function) { function(); }
void right(Counter &counter) {
    counter.take_part();
    {
        const Guard guard(counter.lock);
        counter.count();
        *counter.far = 1;
        call([&counter] {
            counter.lock.assert_held();
            counter.count();
        });
    }
    counter.lock.lock();
    counter.count();
    counter.lock.unlock();
    if (g_first.try_lock()) {
        const Guard first(g_first, AlreadyHeld{});
        const Guard second(g_second);
    }
}
void wrong([[maybe_unused]] Counter &counter) {
    WRONG
}
"""

WRONG = (
    "++counter.value;",
    "*counter.far = 1;",
    "counter.count();",
    "counter.lock.unlock();",
    "counter.lock.lock();",
    "counter.lock.lock(); if (counter.far) return; counter.lock.unlock();",
    "const Guard guard(counter.lock); counter.take_part();",
    "const Guard guard(counter.lock); const Guard again(counter.lock);",
    "const Guard guard(counter.lock); call([&counter] { counter.count(); });",
    "const Guard guard(counter.lock, AlreadyHeld{});",
    "const Guard guard(g_first); counter.count();",
    "const Guard second(g_second); const Guard first(g_first);",
)


def refusal(source, lock, wrong):
    """What clang says of the code with this line in it."""
    code = CODE.replace("LOCK lock;", f"{lock} lock;").replace("WRONG", wrong)
    done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-Wno-everything", "-Werror", "-Wthread-safety",
                           "-Wthread-safety-beta", f"-I{source}/src", "-x", "c++", "-"],
                          input=code, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def main():
    if not COMPILER:
        print("skipped: no clang++-19")
        return 77
    for lock in ("SpinLock", "Mutex"):
        said = refusal(sys.argv[1], lock, "")
        if said:
            print(f"{lock}: the right code is refused:\n{said}")
            return 1
        for wrong in WRONG:
            if "-Wthread-safety" not in refusal(sys.argv[1], lock, wrong):
                print(f"{lock}: accepted: {wrong}")
                return 1
    print(f"{2 * len(WRONG)} wrong accesses are refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
