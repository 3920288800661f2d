#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every row of the table of calls has a test program in C, and reaches us from Fortran.

usage: coverage.py calls.txt programs-folder fortran-library...

From Fortran: the libraries behind mpif.h, use mpi and use mpi_f08 import the C function, MPI_X or
PMPI_X, that Sennit's libraries export.
"""

import pathlib
import re
import subprocess
import sys

# Initialization reaches MPI by other ways, which `sennit run` and every Fortran test program show.
NOT_IMPORTED = {"Init", "Init_thread"}


def rows(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            fields = line.split()
            yield fields[1], fields[3]


def imports(library):
    lines = subprocess.run(["nm", "-D", "--undefined-only", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return {re.sub("^P?MPI_", "", line.split()[-1]) for line in lines if "MPI_" in line}


def main():
    table, programs, *libraries = sys.argv[1:]
    sources = "\n".join(path.read_text(encoding="utf-8")
                        for path in pathlib.Path(programs).glob("*.c"))
    calls = list(rows(pathlib.Path(table)))
    missing = [f"MPI_{name}: no program in {programs} calls it" for name, _ in calls
               if not re.search(rf"\bMPI_{name}\b", sources)]
    for library in libraries:
        imported = imports(library)
        newest = "4.0" if "Session_init" in imported else "3.1"
        missing += [f"MPI_{name}: {library} does not import it" for name, since in calls
                    if name not in imported | NOT_IMPORTED and since <= newest]
    print("\n".join(missing) or f"{len(calls)} calls: all there")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
