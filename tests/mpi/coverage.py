#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: mpi.coverage if="len(fortran_libraries) == 2" -- {source}/src/mpi/call/calls.txt {room}/local_calls.txt
#     {room}/programs {SENNIT_MPICH_CC},{SENNIT_OPENMPI_CC} {fortran_libraries} # the table of calls is of both
"""Every row of the table of calls has test programs in C and in Fortran, and reaches us from Fortran.
Those that test or expose do the same in both languages: a program in C is enough.

usage: coverage.py calls.txt local_calls.txt programs-folder compiler,... fortran-library...

And every function of MPI that the compilers' headers declare is a row, or is known not to wait for others.

From Fortran: the libraries behind mpif.h, use mpi and use mpi_f08 import the C function, MPI_X or
PMPI_X, that Sennit's libraries export.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

# Their programs in C are about processes, ports and sockets, which have no language.
ONLY_IN_C = {"Comm_spawn", "Comm_spawn_multiple", "Comm_accept", "Comm_connect", "Comm_join",
             "Publish_name", "Unpublish_name", "Lookup_name"}
# Of MPI 4.1, which Debian 12's MPIs have not. They are made as their kin, Buffer_detach and Win_flush, are.
NEW = {"Buffer_flush", "Comm_detach_buffer", "Comm_flush_buffer", "Session_detach_buffer", "Session_flush_buffer"}
# Initialization reaches MPI by other ways, which `sennit run` and every Fortran test program show.
NOT_IMPORTED = {"Init", "Init_thread"}


def rows(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            fields = line.split()
            yield fields[1], fields[3], fields[0]


def called(folder, pattern, call):
    return {name for path in pathlib.Path(folder).glob(pattern)
            for name in re.findall(call, path.read_text(encoding="utf-8"))}


def imports(library):
    lines = subprocess.run(["nm", "-D", "--undefined-only", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return {re.sub("^P?MPI_", "", line.split()[-1]) for line in lines if "MPI_" in line}


def declared(compiler):
    header = subprocess.run([compiler, "-E", "-x", "c", "-"], input="#include <mpi.h>\n", check=True,
                            capture_output=True, text=True).stdout
    types = set(re.findall(r"\bMPI_(\w+);", header)) # of functions that convert handles: MPI_Comm (f)(...)
    return {re.sub("_c$", "", name) for name in re.findall(r"\bMPI_([A-Z]\w+)\s*\(", header)
            if not name.startswith("T_") and name not in types}


def unknown(compiler, calls, local):
    """Functions of a header that nobody has judged; and patterns are for those without a row."""
    names = declared(compiler) - {name for name, *_ in calls}
    patterns = [line.split()[0] for line in local.read_text(encoding="utf-8").splitlines()
                if line.strip() and not line.startswith("#")]
    return [f"MPI_{name}: {compiler} has it, and it is neither in calls.txt nor in {local.name}" for name in sorted(names)
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]


def main():
    table, local, programs, compilers, *libraries = sys.argv[1:]
    calls = list(rows(pathlib.Path(table)))
    in_c = called(programs, "*.[ch]", r"\b(MPI_\w+)")
    # COLLECTIVE(X) is MPI_X, and in another program MPI_X_init.
    in_fortran = called(programs, "*.[Fi]*", r"\bcall (MPI_\w+)")
    collectives = called(programs, "*.[Fi]*", r"\bCOLLECTIVE\((\w+)\)")
    in_fortran |= {f"MPI_{name}{suffix}" for name in collectives for suffix in ("", "_init")}
    missing = [f"MPI_{name}: no program of {language} in {programs} calls it" for name, _, kind in calls if name not in NEW
               for language, found in (("C", in_c), ("Fortran", in_fortran | {f"MPI_{x}" for x in ONLY_IN_C}))
               if f"MPI_{name}" not in found and not (language == "Fortran" and kind in ("test", "expose"))]
    for compiler in compilers.split(","):
        missing += unknown(compiler, calls, pathlib.Path(local))
    for library in libraries:
        imported = imports(library)
        newest = "4.0" if "Session_init" in imported else "3.1"
        missing += [f"MPI_{name}: {library} does not import it" for name, since, _ in calls
                    if name not in imported | NOT_IMPORTED and since <= newest]
    print("\n".join(missing) or f"{len(calls)} calls: all there")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
