# SPDX-License-Identifier: Apache-2.0
# whole: tools.mpiexec_options.{mpi} mpi=all -- {sennit} {mpi} {programs} {source}
"""`sennit run` takes what this MPI's own mpiexec takes: each row of the table, and what it does to the ranks.

Usage: mpiexec_options_test.py SENNIT mpich|openmpi FOLDER-OF-PROGRAMS SOURCE"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import harness

SENNIT, MPI, PROGRAMS, SOURCE = sys.argv[1:5]
RANKS = os.path.join(PROGRAMS, f"ranks.{MPI}")
BARE = f"mpiexec.{MPI}"
VERSION = subprocess.run([BARE, "--version"], capture_output=True, text=True, check=True).stdout
COLUMN = 0 if MPI == "mpich" else 2 if "OpenRTE" in VERSION else 3
ROW = re.compile(r'SENNIT_MPIEXEC\((\w+), "([^"]*)", "([^"]*)",\s*' + r'"([^"]*)", ' * 4)
# A value that is right here for each name of one, or for the option itself.
VALUES = {"HOST,...": "localhost", "CORES": "1", "CORE,...": "0", "NAME VALUE": "A b", "NAME=VALUE": "A=b",
          "NAME": "HOME", "NAME,...": "HOME,PATH", "FOLDER": "/", "PATTERN": "%r", "RANKS": "4", "RANK": "0",
          "SECONDS": "100", "TIMES": "1", "RANKS:WHAT": "4:node",
          "bind-to": "none", "map-by": "core", "rank-by": "slot", "membind": "none", "gpus-per-proc": "AUTO",
          "order-nodes": "ascending", "launcher": "fork", "launcher-exec": "/bin/true", "launch-agent": "prted" if COLUMN == 3 else "orted",
          "rmk": "user", "iface": "lo", "localhost": "localhost", "nameserver": "localhost:1", "mca": "mpi_warn_on_fork 0",
          "gmca": "mpi_warn_on_fork 0", "report-uri": "-", "report-pid": "-", "personality": "ompi",
          "display": "map", "output": "tag", "with-ft": "mpi", "runtime-options": "recoverable",
          "mpiexec": {"mpich": "-genvall", "openmpi": "--oversubscribe"}[MPI]}
# Their meaning needs another machine, a screen, a server.
NOT_HERE = {"nolocal", "xterm", "ompi-server", "prefix", "preload-files"}


def sennit(*words, **how):
    return subprocess.run([SENNIT, "run", *words], capture_output=True, text=True, timeout=harness.LIMIT,
                          stdin=subprocess.DEVNULL, check=False, **how)


def rows():
    """(effect, name, values, what it is here) of each."""
    text = pathlib.Path(SOURCE, "tools/sennit/launch/launcher_options.def").read_text(encoding="utf-8")
    for effect, names, values, *calls in ROW.findall(text):
        yield effect, names.split()[0], values, calls[COLUMN]


def test_each_row_is_an_option_of_this_mpiexec():
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        hosts = os.path.join(folder, "hosts")
        pathlib.Path(hosts).write_text("localhost" + (":2\n" if MPI == "mpich" else " slots=2\n"), encoding="utf-8")
        rank_file = os.path.join(folder, "ranks")
        pathlib.Path(rank_file).write_text("rank 0=localhost slot=0\n", encoding="utf-8")
        empty = os.path.join(folder, "empty")
        pathlib.Path(empty).write_text("", encoding="utf-8")
        special = {"rankfile": rank_file, "am": empty, "tune": empty, "output-filename": os.path.join(folder, "out"),
                   "outfile-pattern": os.path.join(folder, "o.%r"), "errfile-pattern": os.path.join(folder, "e.%r")}
        for effect, name, values, call in rows():
            if effect == "refused" or not call or name in NOT_HERE:
                continue
            name, _, value = name.partition("=")
            value = value or special.get(name) or VALUES.get(name) or VALUES.get(values) or (hosts if values == "FILE" else "")
            assert bool(value) == bool(values), (name, values)
            option = ("-" if len(name) == 1 else "--") + name
            words = value.split(" ") if " " in values else [value] if values else []
            done = sennit(option, *words, "-n", "1", RANKS, "print", "HOME")
            well = done.returncode == 0 and ("file" in name or "rank 0 of 1" in done.stdout)
            assert well or is_broken(call, words), (option, words, done)
            found += well
    assert found > 40, found


def is_broken(call, values):
    """Does this mpiexec know the option, and start no rank with it, bare, too?"""
    for at, value in enumerate(values, 1):
        call = call.replace(f"%{at}", value)
    done = subprocess.run([BARE, *call.split(), "-n", "1", "echo", "one rank"], capture_output=True, text=True, check=False,
                          env={**os.environ, **harness.BARE_OPENMPI}, timeout=harness.LIMIT)
    broken = "one rank" not in done.stdout and not re.search("recogni[sz]ed|unknown", done.stderr)
    if broken:
        print(f"{BARE} starts no rank with {call}: {done.stderr.splitlines()[:1]}")
    return broken


def test_what_this_mpiexec_does_not_have_is_one_line():
    for effect, name, values, call in rows():
        if effect == "refused" or call:
            continue
        words = ["x=1" if "=" in values else "/dev/null"] * (len(values.split()))
        done = sennit("--" + name, *words, "-n", "1", RANKS)
        assert done.returncode == 2 and "has nothing like it" in done.stderr, (name, done)
        assert done.stderr.count("\n") == 1, done


def masks(*options):
    """Of the shell that a rank starts; a shell counts as a program of any MPI if one is named."""
    done = sennit("--mpi", MPI, *options, "sh", "-c", "grep Cpus_allowed_list /proc/self/status")
    assert done.returncode == 0, done
    return sorted(line.split()[-1] for line in done.stdout.splitlines() if "Cpus_allowed_list" in line)


def test_ranks_are_bound_as_mpiexec_is_told():
    if len(os.sched_getaffinity(0)) < 2:
        return
    free = masks("-n", "2")
    assert free[0] == free[1], free
    for options in (("--bind-to", "core"), ("-bind-to=core",), ("--bind-to-core",)):
        bound = masks(*options, "-n", "2")
        assert len(set(bound)) == 2 and free[0] not in bound, (options, bound)


def value_in_rank(name, *options, **how):
    done = sennit(*options, "-n", "1", RANKS, "print", name, **how)
    assert done.returncode == 0, done
    return re.search(rf"^0 {name}=(.*)$", done.stdout, re.MULTILINE).group(1)


def test_variables_reach_the_ranks_in_the_words_of_both_mpis():
    for options in (("-x", "A=1 b"), ("-genv", "A", "1 b"), ("-env", "A", "1 b"), ("--genv=A=1 b",)):
        assert value_in_rank("A", *options) == "1 b", options
    assert value_in_rank("OMP_NUM_THREADS", "-x", "OMP_NUM_THREADS=7", env={**os.environ, "OMP_NUM_THREADS": "3"}) == "7"
    # What Sennit is told reaches the ranks also where other variables do not.
    assert value_in_rank("SENNIT_POLICY", "-genvlist", "HOME", env={**os.environ, "SENNIT_POLICY": "lifo"}) == "lifo"


def test_a_path_begins_in_the_folder_of_the_ranks():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(RANKS, os.path.join(folder, "app"))
        done = sennit("-wdir", folder, "-n", "1", "./app", "print", "PWD", cwd="/")
        assert done.returncode == 0 and "rank 0 of 1" in done.stdout, done
        done = sennit("-n", "1", RANKS, ":", "--wdir", folder, "-np", "1", "./app", cwd="/")
        assert done.returncode == 0, done


def test_each_program_has_its_own_options():
    done = sennit("-n", "1", RANKS, "print", "A", ":", "-env", "A", "2", "--np=1", RANKS, "print", "A")
    assert done.returncode == 0 and "1 A=2" in done.stdout and "0 A=2" not in done.stdout, done
    done = sennit("--apart", "-l", "-n", "1", RANKS, "print", "A", ":", "-x", "A=2", "-n", "1", RANKS, "print", "A")
    assert done.returncode == 0 and done.stdout.count("rank 0 of 1") == 2 and done.stdout.count("A=2") == 1, done


def test_a_limit_of_time_ends_the_job():
    start = time.monotonic()
    done = sennit("--mpi", MPI, "--timeout", "1", "-n", "1", "sh", "-c", "sleep 600")
    assert time.monotonic() - start < harness.LIMIT, done
    if done.returncode == 0 and MPI == "mpich":
        bare = subprocess.run([BARE, "-n", "1", "sleep", "600"], capture_output=True, text=True, check=False,
                              env={**os.environ, "MPIEXEC_TIMEOUT": "1"}, timeout=harness.LIMIT)
        assert bare.returncode == 0 and bare.stdout == done.stdout, (done, bare)
        print("mpiexec.mpich calls it success that a job ran out of time, bare, too: its exit code is not tested")
    else:
        assert done.returncode != 0, done


def test_the_alias_is_the_same():
    done = subprocess.run([SENNIT, "mpiexec", "-np", "2", RANKS, "print", "HOME"], capture_output=True, text=True, check=True)
    assert "rank 1 of 2" in done.stdout, done


def refused(reason, *words, **how):
    done = sennit(*words, **how)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and reason in done.stderr, (words, done)


def test_what_cannot_be_under_sennit_is_one_line():
    refused("would start without Sennit", "-configfile", "f", RANKS)
    refused("attach it to a rank", "-gdb", "-n", "2", RANKS)
    refused("say how many ranks there are in all", "-ppn", "2", RANKS)
    refused("--hostfile /nowhere: it cannot be read (No such file", "--hostfile", "/nowhere", "-n", "2", RANKS)
    refused("it is a folder", "-f", "/", "-n", "2", RANKS)
    refused("-hosts needs HOST", "-hosts")
    refused("unknown option '--bogus'", "--bogus", RANKS)
    if os.geteuid() != 0:
        with tempfile.NamedTemporaryFile() as file:
            os.chmod(file.name, 0)
            refused("Permission denied", "--hostfile", file.name, "-n", "2", RANKS)


def test_more_ranks_than_there_is_room_for():
    done = sennit("--nooversubscribe", "-n", "500", RANKS, "exit", "1", "0")
    said = {"mpich": "has nothing like it", "openmpi": "not enough slots"}[MPI]
    assert done.returncode in (1, 2) and said in done.stderr and " pid " not in done.stdout, done


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
