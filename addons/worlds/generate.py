#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a line for each call that is given a communicator: MPI_COMM_WORLD is exchanged for the program's own.

usage: PYTHONPATH=src/mpi/call generate.py --header preprocessed-mpi.h --output world-calls.inc

The line is WORLD_CALL(prefix, name, parameters...) { the call behind, with its arguments }; calls.cpp has the macros.
"""

import argparse
import re

from header import Header

# Written by hand: calls.cpp, process_sets.cpp.
BY_HAND = {"MPI_Attr_get", "MPI_Comm_get_attr", "MPI_Comm_get_info", "MPI_Comm_get_name", "MPI_Comm_set_errhandler",
           "MPI_Errhandler_get", "MPI_Errhandler_set"}
# They mean the handle, or the whole job: calls.cpp says why.
AS_THEY_ARE = {"MPI_Abort", "MPI_Comm_c2f", "MPI_Comm_call_errhandler", "MPI_Comm_toint"}


def passed_on(declaration, name):
    return f"own_world({name})" if re.fullmatch(r"MPI_Comm \w+", declaration) else name


def lines(header):
    yield "// Generated from the MPI's header by generate.py: do not edit."
    for prefix in ("MPI", "MPIX", "TAMPI"):
        for base, arguments in header.declared(prefix).items():
            words = [passed_on(*argument) for argument in arguments]
            name = f"{prefix}_{base}"
            if name in BY_HAND | AS_THEY_ARE or words == [argument for _, argument in arguments]:
                continue
            parameters = ", ".join(declaration for declaration, _ in arguments)
            yield f"WORLD_CALL({prefix}, {name}, {parameters}) {{ return BEHIND_{prefix}({name})({', '.join(words)}); }}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("header", "output"):
        parser.add_argument(f"--{option}", required=True)
    options = parser.parse_args()
    with open(options.output, "w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines(Header(options.header)))


if __name__ == "__main__":
    main()
