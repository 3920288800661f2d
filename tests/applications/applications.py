#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Debian's applications, unchanged, with small inputs: by their MPI's own mpiexec, and by sennit run as processes,
as virtual ranks and as rank fibers. The results have to be the same. (Opt-in: ./dev applications)

usage: applications.py --sennit FILE --output FILE [--match REGEX] [--ranks N,N] [--threads N,N] [--limit SECONDS]

Exit status 1: a result differs from the one of the bare MPI."""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

DECKS = pathlib.Path(__file__).resolve().parent / "decks"
PYTHON = "/usr/bin/python3"  # Debian's, whose modules these are
WAYS = {"bare": None, "processes": [], "virtual ranks": ["--virtual"], "rank fibers": ["--virtual=fibers"]}


@dataclasses.dataclass
class Application:
    """result: what of the output, or of the file `out`, has to be the same whoever runs it."""
    name: str
    mpi: str
    command: list
    result: str
    out: str = ""
    threads: bool = False  # does it use OpenMP?
    prepare: object = None
    environment: dict = dataclasses.field(default_factory=dict)


def call(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"applications.py: {command}: {done.stdout[-1500:]}{done.stderr[-1500:]}")


def pseudopotential(folder, _ranks):
    data = "/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz"
    with open(folder / "Si.UPF", "wb") as out:
        out.write(subprocess.run(["zcat", data], stdout=subprocess.PIPE, check=True).stdout)


def box_of_water(folder, _ranks):
    call(["gmx", "solvate", "-cs", "spc216.gro", "-box", "2.2", "2.2", "2.2", "-o", "box.gro", "-p", "topol.top"], folder)
    call(["gmx", "grompp", "-f", "run.mdp", "-c", "box.gro", "-p", "topol.top", "-o", "run.tpr", "-maxwarn", "3"],
         folder)


def grid_of_processes(folder, ranks):
    file = folder / "hpccinf.txt"
    rows = 2 if ranks % 2 == 0 else 1
    file.write_text(file.read_text(encoding="utf-8").replace("@P", str(rows)).replace("@Q", str(ranks // rows)),
                    encoding="utf-8")


APPLICATIONS = [
    Application("LAMMPS", "openmpi", ["lmp", "-in", "melt.in"], r"^ +100 +\S+ +\S+ +\S+ +\S+", threads=True),
    Application("Quantum ESPRESSO pw.x", "openmpi", ["pw.x", "-in", "si.in"], r"^! .*", prepare=pseudopotential),
    Application("CP2K", "openmpi", ["cp2k.psmp", "water.inp"], r"ENERGY\| Total FORCE_EVAL .*\.\d{8}", threads=True),
    # How far it came: the trajectory depends on the order of sums.
    Application("GROMACS", "openmpi", ["gmx_mpi", "mdrun", "-s", "run.tpr", "-reprod", "-dlb", "no", "-notunepme",
                                       "-pin", "off", "-deffnm", "run"], r"^Statistics over \d+ steps.*|^Finished mdrun",
                out="run.log", threads=True, prepare=box_of_water),
    Application("HPCC", "openmpi", ["hpcc"], r"^Success=\d|^\w*ErrorsFraction=.*|\d+ tests completed and failed.*",
                out="hpccoutf.txt", prepare=grid_of_processes),
    Application("FreeFEM", "openmpi", ["FreeFem++-mpi", "-v", "0", "heat.edp"], r"integral \S{6}"),
    Application("mpi4py", "openmpi", [PYTHON, "messages.py"], r"final .*"),
    Application("petsc4py", "openmpi", [PYTHON, "ksp.py"], r"iterations \d+ norm \d+\.\d{4}",
                environment={"PETSC_DIR": "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real"}),
]


def launch(way, options, application, ranks):
    if way == "bare":
        more = ["--allow-run-as-root", "--oversubscribe"] if application.mpi == "openmpi" else []
        return [f"mpiexec.{application.mpi}", *more, "-n", str(ranks), *application.command]
    return [options.sennit, "run", "--mpi", application.mpi, *WAYS[way], "-n", str(ranks), *application.command]


def run(application, way, ranks, threads, options):
    """The result, or why there is none; and the seconds that it took."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(DECKS, folder, dirs_exist_ok=True)
        if application.prepare:
            application.prepare(folder, ranks)
        environment = {**os.environ, **application.environment, "OMP_NUM_THREADS": str(threads)}
        begin = time.monotonic()
        try:
            done = subprocess.run(launch(way, options, application, ranks), cwd=folder, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=options.limit, check=False)
        except subprocess.TimeoutExpired:
            return "no end", options.limit
        seconds = time.monotonic() - begin
        text = done.stdout
        if application.out and (folder / application.out).exists():
            text = (folder / application.out).read_text(encoding="utf-8", errors="replace")
        if done.returncode != 0:
            return f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}", seconds
        return "\n".join(re.findall(application.result, text, re.MULTILINE)) or "no result", seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--match", default="")
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--limit", type=float, default=120)
    options = parser.parse_args()
    options.sennit = os.path.abspath(options.sennit)
    lines = ["| application | MPI | ranks | threads | " + " | ".join(f"{way}, s" for way in WAYS) + " | results |",
             "| --- | --- | ---: | ---: |" + " ---: |" * len(WAYS) + " --- |"]
    differ = 0
    for application in APPLICATIONS:
        if not re.search(options.match, application.name):
            continue
        for ranks in map(int, options.ranks.split(",")):
            for threads in map(int, options.threads.split(",")) if application.threads else [1]:
                found = {way: run(application, way, ranks, threads, options) for way in WAYS}
                expected = found["bare"][0]
                others = [way for way in WAYS if found[way][0] != expected]
                if not re.search(application.result, expected, re.MULTILINE):
                    others = list(WAYS)  # nothing to compare with
                differ += bool(others)
                for way in others:
                    print(f"{application.name}, {way}: {found[way][0]!r}, bare: {expected!r}", flush=True)
                lines.append(f"| {application.name} | {application.mpi} | {ranks} | {threads} | " +
                             " | ".join(f"{seconds:.1f}" for _, seconds in found.values()) +
                             f" | {'differ: ' + ', '.join(others) if others else 'the same'} |")
                print(lines[-1], flush=True)
    pathlib.Path(options.output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
