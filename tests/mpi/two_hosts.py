#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: mpi.two_hosts.openmpi mpi=openmpi if="not sanitized" timeout=1200 processors=2 skip=77 -- --sennit {sennit}
#     --mpi openmpi --latency 200 {there}
"""Programs on two hosts: two network namespaces, a cable between them, a rank in each. TCP is all that
they share, and completions are late by a latency of Sennit's own making (SENNIT_CHAOS).

usage: two_hosts.py --sennit FILE --mpi mpich|openmpi --latency MICROSECONDS PROGRAM...

Exit status 77: the machine does not allow namespaces.
"""

import argparse
import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
TIMEOUT_S = 200 # of a program, on a busy machine
# What a launcher takes for ssh: agent [options] address command...
AGENT = """#!/bin/sh
while case "$1" in -*) true ;; *) false ;; esac; do shift; done
address=$1
shift
exec ip netns exec {prefix}${{address##*.}} sh -c "$*"
"""


class Refused(Exception):
    pass


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


@contextlib.contextmanager
def two_hosts():
    """The prefix of their names, which end in 1 and 2 as their addresses do."""
    prefix = f"sn{os.getpid()}h"
    try:
        for host in "12":
            ip("netns", "add", prefix + host)
        ip("link", "add", prefix + "a", "netns", prefix + "1", "type", "veth",
           "peer", "name", prefix + "b", "netns", prefix + "2")
        for host, end in (("1", "a"), ("2", "b")):
            ip("-n", prefix + host, "address", "add", f"10.77.0.{host}/24", "dev", prefix + end)
            ip("-n", prefix + host, "link", "set", prefix + end, "up")
            ip("-n", prefix + host, "link", "set", "lo", "up")
        deadline = time.monotonic() + 60
        while any("state UP" not in ip("-n", prefix + host, "link", "show", prefix + end)
                  for host, end in (("1", "a"), ("2", "b"))):
            if time.monotonic() > deadline:
                raise Refused("the cable does not come up")
            time.sleep(0.05)
        yield prefix
    finally:
        for host in "12":
            subprocess.run(["ip", "netns", "delete", prefix + host], capture_output=True, check=False)


def launcher(mpi, agent):
    hosts = "10.77.0.1,10.77.0.2"
    if mpi == "mpich":
        return ["mpiexec.mpich", "-launcher", "rsh", "-launcher-exec", agent, "-hosts", hosts, "-n", "2",
                "-ppn", "1", "env", "MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self"]
    cable = "10.77.0.0/24"
    # Open MPI 5 knows its own machine by its name alone.
    hosts = f"{socket.gethostname()},10.77.0.2"
    return ["mpiexec.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent", agent, "--mca", "btl",
            "tcp,self", "--mca", "btl_tcp_if_include", cable, "--mca", "oob_tcp_if_include", cable,
            "--host", hosts, "-n", "2", "env"]


def received(prefix):
    """Bytes that the first host got from the second."""
    shown = ip("-n", prefix + "1", "-s", "link", "show", prefix + "a")
    return int(re.search(r"RX:[^\n]*\n\s*(\d+)", shown).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--mpi", required=True, choices=("mpich", "openmpi"))
    parser.add_argument("--latency", type=int, required=True)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    settings = ["OMP_NUM_THREADS=2", f"SENNIT_CHAOS=seed:1,latency:{options.latency}"]
    with two_hosts() as prefix, tempfile.TemporaryDirectory() as scratch:
        agent = pathlib.Path(scratch) / "agent"
        agent.write_text(AGENT.format(prefix=prefix), encoding="utf-8")
        agent.chmod(0o755)
        for program in options.programs:
            before = received(prefix)
            argv = ["ip", "netns", "exec", prefix + "1", *launcher(options.mpi, str(agent)), *settings,
                    options.sennit, "exec", program]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            if done.returncode != 0:
                sys.exit(f"two_hosts.py: {program}: {done.returncode}\n{done.stdout}{done.stderr}")
            print(f"{pathlib.Path(program).name}: {received(prefix) - before} bytes came by the cable")


if __name__ == "__main__":
    try:
        main()
    except (Refused, FileNotFoundError) as reason:
        print(f"two_hosts.py: skipped: {reason}")
        sys.exit(SKIPPED)
