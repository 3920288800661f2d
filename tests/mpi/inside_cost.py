#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# inside: mpi=mpich policy=fa
#     limits=chain=1820,independent=1680,suspended=6800,bound=6950,bound_chain=2310,detached_chain=3115,turns_blocking=16800,turns_bound=15580,turns_detached=16600
# inside: mpi=mpich policy=steal limits=chain=1370,independent=1570,suspended=6300,turns_bound=13850
# inside: mpi=openmpi policy=fa limits=chain=1850,independent=1370,suspended=2600,bound_chain=1910,turns_bound=11700
# inside: mpi=openmpi policy=steal limits=chain=1380,independent=1280,suspended=2000
"""What a message round trip inside tasks costs beyond one outside of them with the bare MPI, in instructions.

usage: inside_cost.py --program FILE --limits HOW=INSTRUCTIONS,... --policy NAME --mpi-library FILE --omp-folder FOLDER
"""

import argparse
import sys

import outside_cost


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--limits", required=True)
    parser.add_argument("--policy", required=True)
    parser.add_argument("--mpi-library", required=True)
    parser.add_argument("--omp-folder", required=True)
    options = parser.parse_args()
    settings = {"LD_PRELOAD": options.mpi_library, "LD_LIBRARY_PATH": options.omp_folder,
                "SENNIT_POLICY": options.policy,
                "SENNIT_POLL_US": "0"}  # as often as it may, or the machine's speed would be counted
    bare = outside_cost.instructions_per_call(options.program, {}, "outside")
    if bare < 10:
        sys.exit("inside_cost.py: nothing was counted")
    over = False
    for word in options.limits.split(","):
        how, limit = word.split("=")
        ours = outside_cost.instructions_per_call(options.program, settings, how)
        over |= ours - bare > float(limit)
        print(f"instructions per trip: {bare:.0f} bare and outside, {ours:.0f} {how} under {options.policy}, "
              f"{ours - bare:.0f} more (limit {limit})")
    sys.exit(over)


if __name__ == "__main__":
    main()
