#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: omp.sennit_lock_cost timeout=900 if="SENNIT_VALGRIND and not sanitized and not debug" -- --program
#     {bin}/gcc/sennit_lock_cost --lib {omp}
#     --limits before=42,outside=66,task=66,suspended=115,read_before=7,read_outside=14
# script: omp.sennit_accelerators_cost timeout=900 if="SENNIT_VALGRIND and not sanitized and not debug" -- --program
#     {bin}/gcc/sennit_accelerators_cost --lib {omp} --preload {file('sennit-cuda')} --limits outside=9
"""What locking and unlocking a mutex of libc's costs through Sennit, and what a read or a wait for CUDA costs, in
instructions that callgrind counts.

usage: lock_cost.py --program FILE --lib FOLDER [--preload FILE] --limits WHERE=INSTRUCTIONS,...

A limit is for what a pair costs more than in the same place under the stock runtime, or without the library to preload. A stock runtime suspends no
task: there, `suspended` is compared with `task`.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import outside_cost  # noqa: E402  pylint: disable=wrong-import-position


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--preload", help="another library of Sennit's, whose own cost counts")
    parser.add_argument("--limits", required=True)
    options = parser.parse_args()
    over = False
    print("| where | without | with | more |\n| --- | ---: | ---: | ---: |")
    for word in options.limits.split(","):
        where, limit = word.split("=")
        one_thread = {"OMP_NUM_THREADS": "1"}
        with_ours = one_thread | {"LD_LIBRARY_PATH": options.lib}
        without = with_ours if options.preload else one_thread
        if options.preload:
            with_ours = with_ours | {"LD_PRELOAD": options.preload}
        bare = outside_cost.instructions_per_call(options.program, without,
                                                  "task" if where == "suspended" else where)
        ours = outside_cost.instructions_per_call(options.program, with_ours, where)
        print(f"| {where} | {bare:.0f} | {ours:.0f} | {ours - bare:.0f} (limit {limit}) |")
        if bare < 10:
            sys.exit("lock_cost.py: nothing was counted")
        over |= ours - bare > float(limit)
    sys.exit(over)


if __name__ == "__main__":
    main()
