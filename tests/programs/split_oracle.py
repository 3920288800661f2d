#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: omp.split_oracle labels=programs,quick if="group('printing') and not sanitized" -- --lib {omp}
#     {group('printing')}
"""Programs on threads that are split print what they print on as many threads that are not, and nothing is refused.

usage: split_oracle.py --lib FOLDER PROGRAM...
"""

import argparse
import itertools
import os
import pathlib
import subprocess
import sys

MOST = 16  # threads that are not split: beside other programs, many on few processors take long


def run(program, lib, settings):
    environment = os.environ | {"LD_LIBRARY_PATH": lib} | settings
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{program} with {settings} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lib", required=True)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    for program in options.programs:
        for workers, split in itertools.product((1, 2, 4), (1, 2, 4, 8)):
            threads = workers * split
            if threads <= MOST:
                one_each = run(program, options.lib, {"OMP_NUM_THREADS": f"{threads},{workers}"})
                found = run(program, options.lib, {"OMP_NUM_THREADS": f"{workers}", "SENNIT_SPLIT": f"{split}"})
                if found != one_each:
                    sys.exit(f"{program} on {workers} workers, split by {split}, prints\n{found}and on {threads}\n{one_each}")
                if found.count("thread ") != threads:
                    sys.exit(f"{program}: not a line for each of {threads} threads:\n{found}")
        print(f"{pathlib.Path(program).name}: the same on up to {MOST} threads")


if __name__ == "__main__":
    main()
