#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: mpi.bound_ranks.{mpi} mpi=all if="not sanitized" timeout=600 processors=2 -- {['--virtual'] if
#     loader else []} --sennit {sennit} --mpiexec {mpiexec} --mpi {mpi} --lib {omp} {bound}
"""The variables that bind threads, in jobs whose launcher has bound no rank: each rank binds its threads
to a share of the processors of its own.

usage: bound_ranks.py --sennit COMMAND --mpiexec COMMAND --mpi mpich|openmpi --lib FOLDER gcc=PROGRAM [clang=PROGRAM]
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

LIMIT = 300
CPUS = sorted(os.sched_getaffinity(0))
ALL = " ".join(map(str, CPUS))
EACH = ",".join(f"{{{cpu}}}" for cpu in CPUS)
failures = []


def run(command, expect_lines=0, **variables):
    """{(rank, thread): processors}"""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("OMP_", "GOMP_", "KMP_"))}
    done = subprocess.run(command, env={**clean, **variables}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=LIMIT, check=False)
    said = [line for line in done.stderr.splitlines() if "sennit: " in line]
    if done.returncode != 0 or len(said) != expect_lines:
        failures.append(f"{variables} {command}: exit code {done.returncode}, {done.stdout}{done.stderr}")
    return {(int(rank), int(thread)): [int(cpu) for cpu in cpus.split()] for rank, thread, cpus in
            re.findall(r"^rank (\d+) thread (\d+) of \d+ cpus((?: \d+)*)$", done.stdout, re.M)}


def check(what, good, seen):
    print(f"{what}: {'ok' if good else 'FAILED'}", flush=True)
    if not good:
        failures.append(f"{what}: {seen}")


def spread(seen, threads):
    """Each of the threads is on one processor, and as few as can be are on the same one."""
    users = collections.Counter(cpu for cpus in seen.values() for cpu in cpus)
    return len(seen) == threads and all(len(cpus) == 1 for cpus in seen.values()) and \
        max(users.values()) == -(-threads // len(CPUS))


def one_variable_after_the_other(run_of, compiler, program):
    variables = [{"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}, {"OMP_PLACES": EACH}]
    if compiler == "gcc":
        variables.append({"GOMP_CPU_AFFINITY": ALL})
    else:
        variables += [{"KMP_AFFINITY": "granularity=fine,compact"},
                      {"KMP_AFFINITY": f"explicit,proclist=[{ALL.replace(' ', ',')}]"}]
    for some in variables:
        seen = run(run_of(2, program), OMP_NUM_THREADS="1", **some)
        check(f"{compiler}, two ranks, {some}", spread(seen, 2), seen)
    more = len(CPUS) + 2
    seen = run(run_of(more, program), OMP_NUM_THREADS="1", OMP_PROC_BIND="true")
    check(f"{compiler}, {more} ranks", spread(seen, more), seen)


def of_the_user(run_of, program):
    """What says more than that threads are bound."""
    last = f"{{{CPUS[-1]}}}"
    if len(CPUS) > 1:
        seen = run(run_of(2, program), OMP_NUM_THREADS="1", OMP_PLACES=last)
        check("a list of some processors is taken as it is",
              seen == {(0, 0): CPUS[-1:], (1, 0): CPUS[-1:]}, seen)
    for some, lines in (({"OMP_PROC_BIND": "false", "OMP_PLACES": "cores"}, 0),
                        ({"OMP_PROC_BIND": "true", "SENNIT_LENDING": "on"}, 1)):
        seen = run(run_of(2, program), lines, OMP_NUM_THREADS="1", **some)
        check(f"{some} binds nothing", seen == {(0, 0): CPUS, (1, 0): CPUS}, seen)


def by_domains(run_of, program):
    """On a machine of several NUMA domains a rank keeps to those of its share, if nobody says where threads run."""
    if len(CPUS) < 2:
        return
    with tempfile.TemporaryDirectory() as folder:
        halves = (CPUS[:len(CPUS) // 2], CPUS[len(CPUS) // 2:])
        files = {"cpu/online": ",".join(map(str, CPUS)), "node/online": "0-1"}
        for node, half in enumerate(halves):
            files[f"node/node{node}/cpulist"] = ",".join(map(str, half))
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
        for settings, wanted in (({}, halves), ({"OMP_PROC_BIND": "false"}, (CPUS, CPUS)),
                                 ({"SENNIT_LENDING": "on"}, (CPUS, CPUS)),
                                 ({"OMP_NUM_THREADS": str(len(CPUS))}, (CPUS, CPUS))):
            seen = run(run_of(2, program), SENNIT_SYSTEM_FILES=folder, **settings)
            check(f"{settings} on two domains", all(cpus == wanted[rank] for (rank, _), cpus in seen.items()) and
                  len(seen) >= 2, seen)


def by_mpiexec(options, program):
    """Started by mpiexec itself: with its binding, and without, by `sennit exec` or by the folder alone."""
    bind = {"mpich": "-bind-to", "openmpi": "--bind-to"}[options.mpi]
    line = [options.mpiexec] + (["--oversubscribe"] if options.mpi == "openmpi" else [])
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    places = {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "close", **allowed}
    for how in ["none"] + (["core"] if len(CPUS) > 1 else []):
        seen = run([*line, bind, how, "-n", "2", options.sennit, "exec", program], **places)
        check(f"mpiexec {bind} {how}", spread(seen, 2), seen)
    path = {"LD_LIBRARY_PATH": options.lib}
    seen = run([*line, bind, "none", "-n", "2", program], **places, **path)
    check("mpiexec without `sennit exec`", spread(seen, 2), seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--sennit", "--mpiexec", "--mpi", "--lib"):
        parser.add_argument(name, required=True)
    parser.add_argument("--virtual", action="store_true")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    programs = dict(argument.split("=", 1) for argument in options.programs)

    def run_of(ranks, program, *how):
        return [options.sennit, "run", *how, "-n", str(ranks), program]

    for compiler, program in programs.items():
        one_variable_after_the_other(run_of, compiler, program)
    program = programs["gcc"]
    of_the_user(run_of, program)
    by_domains(run_of, program)
    by_mpiexec(options, program)
    if options.virtual:
        seen = run(run_of(2, program, "--virtual"), OMP_NUM_THREADS="1", OMP_PROC_BIND="true")
        check("virtual ranks", spread(seen, 2), seen)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
