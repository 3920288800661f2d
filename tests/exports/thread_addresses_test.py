#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: exports.thread_addresses if="x86 and not sanitized" -- {file('sennit-omp')}
#     {[file('sennit-mpich')] if 'mpich' in mpis else []} {[file('sennit-openmpi')] if 'openmpi' in mpis else []}
"""A task that is suspended in a library of ours may go on on another thread (src/tasks/task/roaming.h). So no function
that waits for it may keep the address of a thread-local word: such words are reached by the thread's register each time.
Those that form an address are named here, and are not on the stack of such a task.

    thread_addresses_test.py LIBRARY...
"""
import pathlib
import re
import subprocess
import sys

# By the demangled name without its arguments.
KNOWN = {
    "__kmpc_push_num_threads_list", "__kmpc_push_num_threads_list_strict", "__kmpc_serialized_parallel", "opal_progress",
    "sennit::mpi::Hops::wake", "sennit::mpi::Neighbours::arm", "sennit::mpi::Neighbours::sleep", # the thread waits
    "sennit::mpi::Spins::rest", "sennit::mpi::Vigil::rest", # likewise
    "sennit::mpi::Blocking::Blocking", "sennit::mpi::Blocking::may_mark", "sennit::mpi::Hops::begin",
    "sennit::mpi::rest_between_tests", "sennit::omp::tell_flush", "sennit::ompt::initial_thread_begin",
    "sennit::ompt::initial_thread_end", "sennit::ompt::worker_begin", "sennit::ompt::worker_end",
    "sennit::ompt::(anonymous namespace)::get_thread_data", "sennit::ompt::(anonymous namespace)::goodbye",
    "sennit::ompt::(anonymous namespace)::Goodbye::~Goodbye",
    "sennit::poll::run", # a task does not leave its thread within
    "sennit::runtime::let_flows_leave_home", "sennit::sched::Thread::enter_flow", "ucp_worker_progress",
    "sennit::trace::count", # an event of the thread: it is counted, and nothing waits
    "sennit::trace::read_counters", "sennit::trace::close_counters", "sennit::trace::forget_counters", # likewise
    "sennit::trace::(anonymous namespace)::open_all", "sennit::trace::(anonymous namespace)::read_all", # likewise
}


def forming(library):
    """The functions of the library that read the thread's own address."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-C", library], check=True, capture_output=True,
                          text=True).stdout
    found, function = set(), ""
    for line in text.splitlines():
        if head := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = re.sub(r"( \[clone [^]]*\])+$", "", head[1])
            function = re.sub(r"\((?!anonymous).*$", "", function)
        elif re.search(r"%fs:0x0(,|\s|$)", line):
            found.add(function)
    return found


def main():
    found = {path: forming(path) for path in sys.argv[1:] if pathlib.Path(path).is_file()}
    bad = [f"{path}: {name} keeps the thread's address: may a suspended task be in it?"
           for path, names in found.items() for name in sorted(names - KNOWN)]
    if not any(found.values()):
        bad.append("no function forms such an address: does objdump write it otherwise?")
    print("\n".join(bad or [f"{sum(map(len, found.values()))} functions, all known"]))
    return 1 if bad else 0


sys.exit(main())
