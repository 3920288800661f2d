#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: mpi.newer_mpich timeout=600 if="'mpich' in mpis" -- --compiler {CMAKE_CXX_COMPILER} --source {source}
#     {mpich_includes}
"""Does Sennit's library for MPICH also build with MPICH 4.2 and later? There the conversions of Fortran's handles
are functions, and before that macros. The library links no MPI, so it may not call them: it would not link. With
the given MPICH's header, and with that header made to look like a later one, what converts handles is compiled.

usage: newer_mpich.py --compiler g++ --source FOLDER --include FOLDER [--include FOLDER ...]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

CONVERSIONS = {"Comm": "MPI_Comm", "Op": "MPI_Op", "Request": "MPI_Request", "Type": "MPI_Datatype"}
# Of the generated wrappers.
USER = """#include "mpi/extensions/fortran.h"
MPI_Fint use(MPI_Fint *handle) {
    const MPI_Comm comm = MPI_Comm_f2c(*handle);
    const MPI_Op op = MPI_Op_f2c(*handle);
    const MPI_Datatype type = MPI_Type_f2c(*handle);
    const MPI_Request request = MPI_Request_f2c(*handle);
    return comm == MPI_COMM_NULL && op == MPI_OP_NULL && type == MPI_DATATYPE_NULL ? 0 : MPI_Request_c2f(request);
}
"""


def later_header():
    lines = ["#pragma once", "#include_next <mpi.h>", 'extern "C" {']
    for name, kind in CONVERSIONS.items():
        lines += [f"#undef MPI_{name}_f2c", f"#undef MPI_{name}_c2f", f"{kind} MPI_{name}_f2c(MPI_Fint);",
                  f"MPI_Fint MPI_{name}_c2f({kind});"]
    return "\n".join(lines + ["}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the root of the sources")
    parser.add_argument("--include", action="append", default=[], help="of MPICH")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "user.cpp").write_text(USER, encoding="utf-8")
        (folder / "later").mkdir()
        (folder / "later" / "mpi.h").write_text(later_header(), encoding="utf-8")
        own = [f"-I{options.source / 'src'}", f"-I{options.source / 'include'}"]
        given = [argument for include in options.include for argument in ("-isystem", include)]
        for header, more in ("given", []), ("later", ["-isystem", str(folder / "later")]):
            for source in (options.source / "src/mpi/extensions/fortran.cpp", folder / "user.cpp"):
                made = folder / f"{header}-{source.stem}.o"
                subprocess.run([options.compiler, "-std=c++20", "-O1", "-fPIC", "-DMPICH_SKIP_MPICXX", "-Werror", *own,
                                *more, *given, "-c", source, "-o", made], check=True)
                symbols = subprocess.run(["nm", made], check=True, stdout=subprocess.PIPE, text=True).stdout
                wrong += [f"{header} header, {source.name}: {line.strip()}" for line in symbols.splitlines()
                          if "_f2c" in line or "_c2f" in line and "Status_c2f" not in line]
    print("\n".join(["a function of MPICH 4.2 is called:", *wrong] if wrong else ["no conversion is called"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
