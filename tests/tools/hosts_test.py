# SPDX-License-Identifier: Apache-2.0
# whole: tools.hosts.{mpi} mpi=all skip=77 -- {sennit} {mpi} {mpiexec} {build}/tests/mpi/hang_plain-{mpi}
"""sennit run and sennit exec on two hosts: each has a name, a network, a folder for temporary files and a /dev/shm of
its own. What a launcher takes for ssh goes from one to the other. Nothing else does but TCP.

Usage: hosts_test.py SENNIT mpich|openmpi MPIEXEC PROGRAM-THAT-HANGS
Exit status 77: the machine does not allow namespaces."""
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import harness
from harness import BARE_OPENMPI, Running, eventually, own_lines

SENNIT, MPI, MPIEXEC, HANGS = sys.argv[1:5]
SKIPPED = 77
os.environ.pop("SENNIT_BOARD", None)  # of this host: both have boards of their own
ADDRESSES = "127.0.0.1 localhost\n10.78.0.1 one\n10.78.0.2 two\n"
# The second host has processes of its own, too. The first one has not: a process enters the processes of a space below
# its own only.
SPACES = {"one": ["-n", "-m", "-u", "-i"], "two": ["-n", "-m", "-u", "-i", "-p"]}
BEGIN = """set -e
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs {folder}/own
mount --bind {folder}/addresses /etc/hosts
hostname {host}
ip link set lo up
echo ready
exec sleep infinity
"""
# agent [options] host command...
AGENT = """#!/bin/sh
while case "$1" in -*) true ;; *) false ;; esac; do shift; done
host=$1
shift
exec env -i PATH="$PATH" HOME="$HOME" TMPDIR={folder}/own nsenter -t "$(cat {folder}/$host)" -n -m -u -i -p sh -c "$*"
"""


class Refused(Exception):
    pass


def do(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def first_process(host, folder):
    """Of a new host, and the one that has made it."""
    new = ["-f", "--kill-child", "--mount-proc"] if "-p" in SPACES[host] else []
    maker = Running(["unshare", *SPACES[host], *new, "sh", "-c", BEGIN.format(host=host, folder=folder)])
    if maker.process.stdout.readline() != "ready\n":
        with maker:
            raise Refused(f"no host: {maker.finish()}")
    pid = maker.process.pid
    if new:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            pid = int(file.read())
    return pid, maker


@contextlib.contextmanager
def two_hosts():
    """The folder with what they share, and the process number of each in it."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as hosts:
        os.mkdir(f"{folder}/own")
        for name, text in (("addresses", ADDRESSES), ("agent", AGENT.format(folder=folder))):
            with open(f"{folder}/{name}", "w", encoding="utf-8") as out:
                out.write(text)
        os.chmod(f"{folder}/agent", 0o755)
        first = {}
        for host in SPACES:
            first[host], maker = first_process(host, folder)
            hosts.enter_context(maker)
            with open(f"{folder}/{host}", "w", encoding="utf-8") as out:
                out.write(str(first[host]))
        do("ip", "link", "add", "cable", "netns", str(first["one"]), "type", "veth", "peer", "name", "cable", "netns",
           str(first["two"]))
        for number, pid in enumerate(first.values(), 1):
            there = ("nsenter", "-t", str(pid), "-n", "ip")
            do(*there, "address", "add", f"10.78.0.{number}/24", "dev", "cable")
            do(*there, "link", "set", "cable", "up")
        if not eventually(lambda: "state UP" in do(*there, "link", "show", "cable"), 60):
            raise Refused("the cable does not come up")
        yield folder, first


def inside(host, processes):
    """For a command there."""
    return ["nsenter", "-t", str(processes[host]), *SPACES[host]]


# TCP is all that ranks may use between the two.
NETWORK = {"UCX_TLS": "tcp,self"} if MPI == "mpich" else {
    **BARE_OPENMPI, "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "cable",
    "OMPI_MCA_oob_tcp_if_include": "cable"}
REPORTS = {"SENNIT_HANG": "report", "SENNIT_HANG_GRACE": "1", "SENNIT_DOORBELLS": "on"}


def on_first_host(hosts, *command, **settings):
    folder, processes = hosts
    return Running([*inside("one", processes), *command],
                   environment={**NETWORK, "TMPDIR": f"{folder}/own", "XDG_RUNTIME_DIR": "", **settings})


def run(hosts, ranks, *words, **settings):
    """sennit run, so many ranks on each host."""
    by = ["--launcher", "rsh"] if MPI == "mpich" else []
    return on_first_host(hosts, SENNIT, "run", "--mpi", MPI, *by, "--launcher-exec", f"{hosts[0]}/agent", "-H",
                         f"one:{ranks},two:{ranks}", "-n", str(2 * ranks), "-ppn", str(ranks), *words, **settings)


def exec_by_mpiexec(hosts, *words, **settings):
    """sennit exec, a rank on each host."""
    agent = f"{hosts[0]}/agent"
    how = ["-launcher", "rsh", "-launcher-exec", agent, "-hosts"]
    if MPI == "openmpi":
        as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        handed_on = [word for name in settings for word in ("-x", name)]
        how = [*as_root, "--mca", "plm_rsh_agent", agent, *handed_on, "--host"]
    return on_first_host(hosts, MPIEXEC, *how, "one:1,two:1", "-n", "2", SENNIT, "exec", *words, **settings)


def process_on(host, hosts, command):
    """That of this command there."""
    own = os.readlink(f"/proc/{hosts[1][host]}/ns/uts")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
                if file.read().startswith(command) and os.readlink(f"/proc/{pid}/ns/uts") == own:
                    return int(pid)
    return None


def test_ranks_start_on_both_hosts(hosts):
    with run(hosts, 2, "sh", "-c", "echo $(hostname) $SENNIT_LOCAL_RANKS $LD_PRELOAD") as job:
        code, out, errors = job.finish()
    assert code == 0, (out, errors)
    for host in "one", "two":
        assert len(re.findall(f"^{host} 2 .*/libsennit-{MPI}.so:", out, re.MULTILINE)) == 2, (out, errors)


def test_each_host_has_a_board_and_tells_of_its_ranks(hosts):
    check_a_job_that_hangs(hosts, run(hosts, 1, HANGS, "both_receive", **REPORTS))
    check_a_job_that_hangs(hosts, exec_by_mpiexec(hosts, HANGS, "both_receive", **REPORTS))


def check_a_job_that_hangs(hosts, running):
    with running as job:
        said = ""
        while not all(f"node {host}: rank {rank} has not moved" in said for rank, host in enumerate(hosts[1])):
            line = job.process.stderr.readline()
            assert line, f"the job ended early: {said}"
            said += line
        for host in hosts[1]:
            boards = do(*inside(host, hosts[1]), "ls", "/dev/shm").split()
            assert len([name for name in boards if name.startswith("sennit-")]) == 1, (host, boards)
        os.kill(process_on("two", hosts, HANGS), signal.SIGKILL)
        code, _, errors = job.finish()
        named = [line for line in errors if re.match(r"sennit: rank 1 \(process \d+\) was ended by signal 9 ", line)]
        assert code != 0 and len(named) == 1, (code, errors)
        assert "the job hangs" not in said + "\n".join(errors), (said, errors)
        assert not job.left_behind(), "processes were left behind"
    assert eventually(lambda: not process_on("two", hosts, SENNIT)), "processes were left behind on the second host"


def end_by(hosts, host, number):
    """Of a job that waits: what is said if a rank on this host is ended so. SENNIT_HANG=off: nobody hears it there."""
    with run(hosts, 1, HANGS, "both_receive", SENNIT_HANG="off", SENNIT_DOORBELLS="on") as job:
        assert eventually(lambda: all(process_on(name, hosts, HANGS) for name in hosts[1]))
        os.kill(process_on(host, hosts, HANGS), number)
        code, _, errors = job.finish()
    assert code != 0, errors
    return own_lines(errors)


def test_a_rank_that_is_killed_is_named_where_no_hangs_are_looked_for(hosts):
    lines = end_by(hosts, "two", signal.SIGKILL)
    assert len([line for line in lines if re.match(r"sennit: rank 1 \(.* was ended by signal 9 ", line)]) == 1, lines


def test_a_rank_that_is_asked_to_end_is_named(hosts):
    lines = end_by(hosts, "one", signal.SIGTERM)
    said = r"sennit: rank 0 \(.* was ended by signal 15 .*, perhaps by mpiexec because "
    assert len(lines) == 1 and re.match(said, lines[0]), lines


@contextlib.contextmanager
def hidden_on_second_host(hosts, file):
    there = [*inside("two", hosts[1])]
    do(*there, "mount", "-t", "tmpfs", "tmpfs", os.path.dirname(file))
    try:
        yield
    finally:
        do(*there, "umount", os.path.dirname(file))


def test_a_host_without_sennit_or_the_program_is_named(hosts):
    program = os.path.join(hosts[0], "programs", "program")
    os.mkdir(os.path.dirname(program))
    shutil.copy(HANGS, program)
    for missing, line in ((SENNIT, f"sennit: '{SENNIT}' is not there on two: install Sennit there in the same folder"),
                          (program, f"sennit: '{program}': No such file or directory, on two")):
        with hidden_on_second_host(hosts, missing), run(hosts, 1, program, "both_receive") as job:
            code, _, errors = job.finish()
        # That mpiexec has ended the rank here is said, too, as something that may be so.
        sure = [said for said in own_lines(errors) if "perhaps by mpiexec" not in said]
        assert code != 0 and sure == [line], (code, errors)


if __name__ == "__main__":
    with contextlib.ExitStack() as made:
        try:
            both = made.enter_context(two_hosts())
        except (Refused, FileNotFoundError) as reason:
            print(f"skipped: {reason}")
            sys.exit(SKIPPED)
        harness.run_tests({name: functools.partial(test, both)
                           for name, test in list(globals().items()) if name.startswith("test_")})
