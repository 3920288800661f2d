# SPDX-License-Identifier: Apache-2.0
"""Describes the machine and the software of a run, and starts what must not be late on it; names no host."""

import ctypes
import os
import pathlib
import platform
import re
import resource
import struct
import subprocess


def processor_seconds():
    """Of all child processes that were waited for. (os.times() counts in ticks of 10 ms.)"""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def plain_environment():
    """This process's, without settings of OpenMP and Sennit."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("SENNIT_", "OMP_"))}


def run_promptly():
    """In the child: emulated kernels are sleeps that have to end in time, whatever else the machine
    does. Higher priority and short slices where that is allowed; else as it is."""
    # struct sched_attr: size, policy, flags, nice, priority, runtime (the slice, ns), deadline, period
    attributes = struct.pack("IIQiIQQQ", 48, 0, 0, -15, 0, 100_000, 0, 0)
    if os.uname().machine != "x86_64" or ctypes.CDLL(None).syscall(314, 0, attributes, 0):
        try:
            os.nice(-15)
        except OSError:
            pass


def run_at_once():
    """In a child: before all ordinary threads of the machine. A pity for these."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))


def start_of_runs(options):
    """What a child does that has --real-time, or has it not."""
    return run_at_once if options.real_time else run_promptly


def first_line(*argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    except OSError:
        return "not found"
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip() if lines else "unknown"


def cpu_model():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match.group(1) if match else platform.machine()


def distribution():
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    return match.group(1) if match else "unknown"


def distinct_cores(wanted):
    """Up to `wanted` allowed CPUs, no two of them on one core."""
    chosen, taken = [], set()
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        core = siblings.read_text() if siblings.exists() else str(cpu)
        if core not in taken:
            taken.add(core)
            chosen.append(cpu)
    return chosen[:wanted]


def package_version(path):
    """Version of the Debian package that owns a file, '' when none does."""
    for name in (path, path.resolve()):
        owner = first_line("dpkg-query", "-S", str(name))
        if ": " in owner and "no path" not in owner:
            package = owner.split(": ")[0]
            return first_line("dpkg-query", "-W", "-f", "${Package} ${Version}", package)
    return ""


def switch_facts(build):
    """What limits parallel regions; see switch.c."""
    yields, line = (first_line(str(build / "bench" / "switch")).split() + ["unknown"] * 2)[:2]
    return [
        ("two threads on one core", f"{yields} ns for sched_yield there and back; nested regions whose threads share "
         "cores take no less"),
        ("two threads on two cores", f"{line} ns for a cache line there and back; no region takes less"),
    ]


def print_facts(mpis):
    """For benchmarks of their own: where they run, on the processors that they may use."""
    for name, text in describe(sorted(os.sched_getaffinity(0)), pathlib.Path(__file__).parent.parent, mpis):
        print(f"- {name}: {text}")


def commit(source):
    """Of the sources, and whether more than pages was changed since; "" if they are no repository."""
    found = first_line("git", "-C", str(source), "rev-parse", "--short", "HEAD")
    if not re.fullmatch(r"[0-9a-f]{7,40}", found):
        return ""
    changed = first_line("git", "-C", str(source), "status", "--porcelain", "--untracked-files=no", "--", ":(top,exclude)docs")
    return found + ("" if changed == "unknown" else ", with changes")


def describe(cpus, source, mpis):
    facts = [
        ("CPU", f"{cpu_model()}, {os.cpu_count()} CPUs, measured on {len(cpus)} cores"),
        ("system", f"{distribution()}, Linux {platform.release()}"),
        ("load average before", ", ".join(f"{load:.2f}" for load in os.getloadavg())),
    ]
    if "mpich" in mpis:
        facts.append(("MPICH", " ".join(first_line("mpichversion").split())))
    if "openmpi" in mpis:
        facts.append(("Open MPI", first_line("mpiexec.openmpi", "--version")))
    if known := commit(source):
        facts.append(("commit", known))
    return facts
