#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run MPICH's own test programs, from Debian's source package, three times: bare, under Sennit, and
under Sennit with the whole program inside a task, where every blocking call suspends. With
`--ways bare,virtual,fibers`: bare, as virtual ranks, as rank fibers.

usage: upstream.py --build build/release --folder build/upstream [--mpi mpich,openmpi] [--jobs N]
                   [--only pt2pt,coll/bcast] [--ways bare,sennit,task] [--limit SECONDS] [--output mpi-suite.md]

A program passes when it ends with 0 and says " No Errors". One that passes in one way and not in
another is run twice more in each. One that takes three times as long as bare is named at once: what
else runs on the machine may be why, so run it again alone. Results are kept in the folder: a run of
some tests replaces theirs, a run of all begins anew; the page tells all that are kept.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
import suites

FOLDERS = ["attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "io", "part", "pt2pt", "rma", "spawn",
           "threads/coll", "threads/comm", "threads/init", "threads/part", "threads/pt2pt", "threads/rma", "threads/spawn",
           "topo"]
MPIS = {"mpich": "MPICH", "openmpi": "Open MPI"}
WAYS = {"bare": "bare", "sennit": "Sennit", "task": "Sennit, in a task", "virtual": "virtual ranks",
        "fibers": "rank fibers"}
USUAL_WAYS = ("bare", "sennit", "task")
RUN = {"virtual": "--virtual", "fibers": "--virtual=fibers"}
MOST_RANKS = 4
TRIES = 3
NO_END = "no end"
SLOW = 3.0  # times as long as bare, and longer than a start
START_SECONDS = 1.0


@dataclasses.dataclass(frozen=True, order=True)
class Test:
    folder: str
    name: str
    ranks: int
    arguments: tuple

    @property
    def label(self):
        return " ".join((f"{self.folder}/{self.name}", *self.arguments))


def prepare(folder):
    """MPICH's test/mpi, unpacked."""
    source = folder / "source"
    if not source.exists():
        downloads = folder / "downloads"
        suites.download("mpich", downloads)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            # MPICH's archive has another test/mpi, in a module: the pattern's * must not match a slash.
            subprocess.run(["tar", "-x", "-C", scratch, "--strip-components=2", "--wildcards", "--no-wildcards-match-slash",
                            "-f", next(downloads.glob("*.orig.tar.*")), "mpich-*/test/mpi"], check=True)
            (pathlib.Path(scratch) / "mpi").rename(source)
    return source


def make(folder, targets, log, jobs):
    return subprocess.run(["make", "-k", "-C", folder, f"-j{jobs}", *targets], stdout=log, stderr=log, check=False)


def build(source, mpi, folder, names, jobs):
    """The programs, by the MPI's own wrapper; what it cannot compile is not there afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "build.log", "a", encoding="utf-8") as log:
        if not (folder / "config.status").exists():
            # dtpools names constants that MPI 3.0 has removed.
            options = ["--disable-cxx", "--disable-fortran", "CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"]
            subprocess.run([source / "configure", f"MPICC=/usr/bin/mpicc.{mpi}", *options], cwd=folder, stdout=log, stderr=log,
                           check=True)
        for library in ("util", "dtpools"):
            make(folder / library, [], log, jobs)
        for part, programs in names.items():
            make(folder / part, sorted(programs), log, jobs)
    for preload, options in {"main_in_task": ["-fopenmp"], "yielding": []}.items():
        subprocess.run(["gcc", "-O1", *options, "-shared", "-fPIC", HERE / f"programs/{preload}.c",
                        "-o", folder / f"{preload}.so"], check=True)


def read_tests(source):
    """Entries of the lists that are about the standard: those that set variables of MPICH are not."""
    for folder in FOLDERS:
        path = next(p for p in (source / folder / "testlist.in", source / folder / "testlist") if p.exists())
        seen = set()
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if len(words) < 2 or line.startswith(("#", "@")) or not words[1].isdigit():
                continue
            name = words[0].split("/")[-1]
            if not (source / folder / f"{name}.c").exists() or any(w.startswith(("env=", "xfail=")) for w in words):
                continue
            arguments = tuple(w.removeprefix("arg=") for w in words if w.startswith("arg="))
            test = Test(folder, name, min(int(words[1]), MOST_RANKS), arguments)
            if test not in seen:
                seen.add(test)
                yield test


def command(test, mpi, way, programs, sennit):
    folder = programs / test.folder
    if way in RUN:
        return [sennit / "bin" / "sennit", "run", RUN[way], "--mpi", mpi, "-n", str(test.ranks), "--threads", "1",
                folder / test.name, *test.arguments]
    settings = {"OMP_NUM_THREADS": "1"}
    preload = [programs / "yielding.so"] if mpi == "mpich" else []
    if way == "task":
        preload.append(programs / "main_in_task.so")
    if way != "bare":
        preload.append(sennit / "lib" / f"libsennit-{mpi}.so")
        settings["LD_LIBRARY_PATH"] = sennit / "lib" / "omp"
    if preload:
        settings["LD_PRELOAD"] = ":".join(map(str, preload))
    launcher = {"mpich": ["mpiexec.mpich"],
                "openmpi": ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]}[mpi]
    return [*launcher, "-n", str(test.ranks), "env", *(f"{k}={v}" for k, v in settings.items()),
            folder / test.name, *test.arguments]


def run(test, mpi, way, programs, sennit, limit):
    """What went wrong, or nothing."""
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("OMP_", "SENNIT_", "LD_")) or k == "SENNIT_BOARD"}
    work = programs / "work" / f"{test.folder}-{test.name}-{way}".replace("/", "-")
    work.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(["timeout", "-k", "5", str(limit), *command(test, mpi, way, programs, sennit)],
                              env=environment, cwd=work, capture_output=True, text=True, errors="replace",
                              timeout=limit + 20, check=False)
    except subprocess.TimeoutExpired:
        return NO_END
    if done.returncode == 124:
        return NO_END
    if done.returncode == 0 and "no errors" in done.stdout.lower():
        return ""
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip("-= ")]
    return f"exit status {done.returncode}: {said[0].strip()[:100] if said else 'no message'}"


def judge(test, mpi, ways, programs, sennit, limit):
    """The ways' failures, a try each or more, and the least seconds of each way."""
    failures = collections.defaultdict(list)
    seconds = {}

    def attempt(way):
        begin = time.monotonic()
        failures[way].append(run(test, mpi, way, programs, sennit, limit))
        seconds[way] = min(seconds.get(way, limit), time.monotonic() - begin)

    attempt("bare")
    if failures["bare"] == [NO_END]:  # nor would it end in another way
        return {way: [NO_END] for way in ways}, {}
    for way in ways[1:]:
        attempt(way)
    if len({bool(tries[0]) for tries in failures.values()}) > 1:
        for _ in range(TRIES - 1):
            for way in ways:
                attempt(way)
    return dict(failures), seconds


def is_slow(seconds):
    return max(seconds.values(), default=0) > SLOW * seconds.get("bare", 0) + START_SECONDS


def passed(tries):
    return not all(tries)


def load(path):
    """Of each test: the ways' failures, or None where the program does not compile."""
    if not path.exists():
        return {}
    return {Test(*test, tuple(arguments)): failures
            for *test, arguments, failures in json.loads(path.read_text(encoding="utf-8"))}


def save(path, results):
    rows = [(*dataclasses.astuple(test), failures) for test, failures in sorted(results.items())]
    path.write_text(json.dumps(rows, indent=0), encoding="utf-8")


def report(results, ways, out):
    described = ("bare, under Sennit, and under Sennit with `main` inside an OpenMP task, where "
                 "every blocking call suspends" if ways == USUAL_WAYS else ", ".join(WAYS[way] for way in ways))
    print("# MPICH's test programs\n", file=out)
    print("Each program of Debian's source package `mpich` for C that its lists name without variables of MPICH's own, "
          f"on at most {MOST_RANKS} ranks: {described}. MPICH, which waits without giving a "
          f"processor away, is made to yield{', in all three' if ways == USUAL_WAYS else ' where it is bare'}. docs/mpi-faults.md says why results differ. "
          "`./dev mpi-suite` makes this page.\n", file=out)
    for mpi, kept in results.items():
        outcomes = {test: failures for test, failures in sorted(kept.items()) if failures}
        absent = {(test.folder, test.name) for test in kept if not kept[test]}
        print(f"## {MPIS[mpi]}\n\n| folder | tests | {' | '.join(WAYS[way] for way in ways)} |\n|---|---:|{'---:|' * len(ways)}", file=out)
        groups = collections.defaultdict(list)
        for test, failures in outcomes.items():
            groups[test.folder].append(failures)
            groups["all"].append(failures)
        for folder in [*FOLDERS, "all"]:
            if folder in groups:
                counts = [sum(passed(failures[way]) for failures in groups[folder]) for way in ways]
                print(f"| {folder} | {len(groups[folder])} | {' | '.join(map(str, counts))} |", file=out)
        endless = [test.label for test, failures in outcomes.items() if failures["bare"] == [NO_END]]
        print(f"\n{len(absent)} programs do not compile with this MPI. {len(endless)} did not end bare in their time, and "
              f"were not run under Sennit{': ' if endless else ''}{', '.join(endless)}.\n", file=out)
        differing = {test: failures for test, failures in outcomes.items()
                     if len({passed(tries) for tries in failures.values()}) > 1
                     or len({sum(map(bool, tries)) for tries in failures.values()}) > 1}
        if not differing:
            print("No test has another result under Sennit.\n", file=out)
            continue
        print(f"| test | {' | '.join(WAYS[way] for way in ways)} | failure |\n|---|{'---|' * len(ways)}---|", file=out)
        for test, failures in differing.items():
            counts = [f"{sum(not t for t in tries)} of {len(tries)}" for tries in failures.values()]
            why = next((t for way in reversed(ways) for t in failures[way] if t), "").replace("|", "/")
            print(f"| {test.label} | {' | '.join(counts)} | {why} |", file=out)
        print(file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", default=",".join(USUAL_WAYS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=30, help="seconds for a test")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder.resolve()
    ways = tuple(options.ways.split(","))
    if ways[0] != "bare" or any(way not in WAYS for way in ways):
        parser.error(f"--ways: bare, and some of {', '.join(list(WAYS)[1:])}")
    kept_in = "results.json" if ways == USUAL_WAYS else f"results-{'-'.join(ways)}.json"
    source = prepare(folder)
    wanted = [word for word in options.only.split(",") if word]
    tests = [test for test in read_tests(source)
             if not wanted or any(re.match(rf"{re.escape(w)}(/|$)", f"{test.folder}/{test.name}") for w in wanted)]
    names = collections.defaultdict(set)
    for test in tests:
        names[test.folder].add(test.name)
    for mpi in options.mpi.split(","):
        programs = folder / mpi
        build(source, mpi, programs, names, options.jobs)
        kept = programs / kept_in
        results = load(kept) if wanted else {}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            jobs = {}
            for test in tests:
                if (programs / test.folder / test.name).exists():
                    jobs[pool.submit(judge, test, mpi, ways, programs, options.build.resolve(), options.limit)] = test
                else:
                    results[test] = None
            for job in concurrent.futures.as_completed(jobs):
                failures, seconds = job.result()
                results[jobs[job]] = failures
                save(kept, results)
                if any(map(any, failures.values())):
                    print(f"{mpi} {jobs[job].label}: {failures}", flush=True)
                if is_slow(seconds):
                    took = ", ".join(f"{way} {least:.1f} s" for way, least in seconds.items())
                    print(f"{mpi} {jobs[job].label} is slow: {took}", flush=True)
    results = {mpi: load(folder / mpi / kept_in) for mpi in MPIS}
    if options.output:
        with open(options.output, "w", encoding="utf-8") as out:
            report(results, ways, out)
    report(results, ways, sys.stdout)


if __name__ == "__main__":
    main()
