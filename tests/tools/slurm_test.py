# SPDX-License-Identifier: Apache-2.0
# whole: tools.slurm if=SENNIT_SLURM skip=77 -- {sennit} {programs} {build}/tests/mpi {with_tasks}
"""sennit exec under srun and sennit run in a batch job, by a Slurm of the test's own: a controller and two
daemons, which play two nodes on this machine.

Usage: slurm_test.py SENNIT FOLDER-OF-PROGRAMS FOLDER-OF-MPI-PROGRAMS MPI=PROGRAM-WITH-TASKS...
Exit status 77: Slurm cannot be started here."""
import contextlib
import functools
import getpass
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import harness
from harness import Running, eventually, own_lines

SENNIT, PROGRAMS, MPI_PROGRAMS = sys.argv[1:4]
TASKS = dict(word.split("=", 1) for word in sys.argv[4:])
HANGS = {mpi: os.path.join(MPI_PROGRAMS, f"hang_plain-{mpi}") for mpi in TASKS}
os.environ["PATH"] += ":/usr/sbin"  # where the daemons are
SKIPPED = 77
# By which of Slurm's services the ranks of an MPI find each other.
SERVICE = {"mpich": "pmi2", "openmpi": "pmix"}
CONFIGURATION = """
ClusterName=sennit
SlurmctldHost=localhost
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=one NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} CPUs=8
NodeName=two NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} CPUs=8
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
"""
# Else daemons want a systemd that gives them control groups. Slurm 22.05 knows no such word, and does without them.
NO_CONTROL_GROUPS = "CgroupPlugin=disabled\n"
KNOWS_NO_CONTROL_GROUPS = 24


def free_ports(count):
    """None of those that the system gives to whoever asks for any: jobs beside this one get those all the time."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="utf-8") as file:
        others = list(range(1024, int(file.read().split()[0])))
    random.shuffle(others)
    ports = []
    for port in others:
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    print("no free ports")
    sys.exit(SKIPPED)


def slurm_version():
    shown = subprocess.run(["slurmd", "-V"], capture_output=True, text=True, check=True).stdout  # slurm-wlm 24.11.5
    return int(shown.split()[1].split(".")[0])


def nodes_are_idle():
    shown = subprocess.run(["sinfo", "-h", "-o", "%T %D"], capture_output=True, text=True, check=False)
    return shown.stdout.split() == ["idle", "2"]


@contextlib.contextmanager
def cluster():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("state", "one", "two"):
            os.mkdir(os.path.join(folder, name))
        file = os.path.join(folder, "slurm.conf")
        with open(file, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION.format(ports=free_ports(3), user=getpass.getuser(), folder=folder))
        if slurm_version() >= KNOWS_NO_CONTROL_GROUPS:
            with open(os.path.join(folder, "cgroup.conf"), "w", encoding="utf-8") as out:
                out.write(NO_CONTROL_GROUPS)
        os.environ["SLURM_CONF"] = file
        with contextlib.ExitStack() as daemons:
            for command in ("slurmctld", "slurmd -N one", "slurmd -N two"):
                # They have logs; nobody would read a pipe.
                daemons.enter_context(Running(["sh", "-c", f"exec {command} -D >/dev/null 2>&1"]))
            if not eventually(nodes_are_idle, 120):
                logs = [open(os.path.join(folder, name), encoding="utf-8").read()[-2000:]
                        for name in sorted(os.listdir(folder)) if name.endswith(".log")]
                print("no Slurm:", *logs, sep="\n")
                sys.exit(SKIPPED)
            yield folder


class Step(Running):
    """A step of a job: srun with the service of an MPI."""

    def __init__(self, mpi, *words, options=("-n", "4"), **how):
        super().__init__(["srun", f"--mpi={SERVICE[mpi]}", "--quit-on-interrupt", *options, *words], **how)

    def check(self, code=0):
        got, out, errors = self.finish()
        assert got == code, f"exit code {got}, wanted {code}; output {out!r}, errors {errors}"
        assert not self.left_behind(), "processes were left behind"
        return out, errors


def ranks(mpi):
    return os.path.join(PROGRAMS, f"ranks.{mpi}")


@functools.cache
def ways(mpi):
    """As processes, as virtual ranks, as rank fibers: the options. Virtual ranks need PMIx's store `hash`, and with it a
    bare program of three ranks may not start (docs/mpi-faults.md)."""
    if mpi == "openmpi":
        with Step(mpi, ranks(mpi), "print", "A", options=("-n", "3"), environment={"PMIX_MCA_gds": "hash"}) as step:
            code, _, errors = step.finish()
        if code != 0:
            print("bare, three ranks of this Open MPI do not start with PMIX_MCA_gds=hash: no virtual ranks are tested "
                  "with it:", *errors[:2])
            return [[]]
    return [[], ["--virtual"], ["--virtual=fibers"]]


def each_way(mpi):
    for option in ways(mpi):
        yield mpi, [SENNIT, "exec", *option, ranks(mpi)]


def test_a_step_knows_its_ranks(mpi):
    for _, command in each_way(mpi):
        with Step(mpi, *command, "print", "SENNIT_LOCAL_RANKS", "SENNIT_DOORBELLS") as step:
            out, _ = step.check()
        lines = out.splitlines()
        assert out.count(" of 4 pid ") == 4, out
        for rank in range(4):
            assert f"{rank} SENNIT_LOCAL_RANKS=4" in lines and f"{rank} SENNIT_DOORBELLS=auto" in lines, out


def test_codes_of_ranks_are_those_of_the_step(mpi):
    for _, command in each_way(mpi):
        with Step(mpi, *command, "exit", "2", "7") as step:
            step.check(7)


def test_a_rank_that_is_killed_or_aborts_ends_the_step(mpi):
    for _, command in each_way(mpi):
        for words in (["raise", "1", "9"], ["abort", "1", "5"]):
            with Step(mpi, *command, *words, options=("-n", "4", "--kill-on-bad-exit=1")) as step:
                code, out, errors = step.finish()
                assert code != 0, (words, out, errors)
                assert not step.left_behind(), (words, "processes were left behind")


def test_a_step_is_cancelled(mpi):
    for _, command in each_way(mpi):
        with Step(mpi, *command, "wait") as step:
            step.rank_pids(4)
            step.process.send_signal(signal.SIGINT)  # --quit-on-interrupt
            step.finish()
            assert not step.left_behind(), "processes were left behind"


def of_step(what):
    """The number of the job that runs (%A), or of its step (%i)."""
    shown = subprocess.run(["squeue", "-h", *(["-s"] if what == "%i" else []), "-o", what], capture_output=True,
                           text=True, check=True).stdout.split()
    return next(number for number in shown if number.endswith(".0") or what == "%A")


def test_a_signal_of_scancel_reaches_each_rank_once(mpi):
    with Step(mpi, SENNIT, "exec", ranks(mpi), "wait", options=("-n", "2")) as step:
        step.rank_pids(2)
        subprocess.run(["scancel", "--signal=USR1", of_step("%i")], check=True)
        step.check()


def test_a_job_is_cancelled_by_scancel(mpi):
    with Step(mpi, SENNIT, "exec", ranks(mpi), "wait", options=("-n", "2")) as step:
        step.rank_pids(2)
        subprocess.run(["scancel", of_step("%A")], check=True)
        code, _, errors = step.finish()
        assert code != 0 and not own_lines(errors), (code, errors)
        assert not step.left_behind(), "processes were left behind"


def test_a_job_that_hangs_is_told_and_ended(mpi):
    settings = {"SENNIT_HANG": "abort", "SENNIT_HANG_GRACE": "1", "SENNIT_DOORBELLS": "on"}
    with Step(mpi, SENNIT, "exec", HANGS[mpi], "both_receive", options=("-n", "2"), environment=settings) as step:
        code, _, errors = step.finish()
        said = "\n".join(errors)
        assert code != 0 and "the job hangs: none of its 2 ranks has moved" in said, (code, errors)
        assert "a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0" in said, errors
        assert not step.left_behind(), "processes were left behind"


def test_ranks_that_srun_binds_stay_so(mpi):
    two = sorted(os.sched_getaffinity(0))[:2]
    with Step(mpi, SENNIT, "exec", TASKS[mpi], options=("-n", "2", f"--cpu-bind=map_cpu:{two[0]},{two[-1]}"),
              environment={"OMP_DISPLAY_AFFINITY": "true", "OMP_AFFINITY_FORMAT": "%n of %N at %A"}) as step:
        out, errors = step.check()
    shown = {line for line in [*out.splitlines(), *errors] if " of 1 at " in line}
    assert shown == {f"0 of 1 at {cpu}" for cpu in two}, (out, errors)


def test_ranks_that_are_alone_are_told(mpi):
    other = next(service for service in SERVICE.values() if service != SERVICE[mpi])
    with Step(mpi, SENNIT, "exec", ranks(mpi), options=("-n", "2", f"--mpi={other}")) as step:
        code, out, errors = step.finish()
    if mpi == "openmpi" and code != 0:  # version 4 says so itself; version 5 goes on, as MPICH does
        assert "was not built with SLURM's PMI support" in " ".join(errors), (code, errors)
        return
    assert code == 0 and out.count("rank 0 of 1 ") == 2, (out, errors)
    assert [line for line in errors if "each is alone" in line] == [
        "sennit: the launcher has started 2 ranks, but in MPI each is alone: start them by this MPI's mpiexec; "
        "by srun with --mpi=pmi2 (MPICH) or --mpi=pmix (Open MPI)"], errors


def test_ranks_on_two_nodes(mpi):
    if mpi == "openmpi":
        return  # the two nodes' PMIx servers are in each other's way on one machine
    for _, command in each_way(mpi):
        with Step(mpi, *command, "print", "SENNIT_LOCAL_RANKS", options=("-N", "2", "-n", "4",
                                                                         "--ntasks-per-node=2")) as step:
            out, _ = step.check()
        assert out.count(" of 4 pid ") == 4 and out.count(" SENNIT_LOCAL_RANKS=2") == 4, out


def test_tasks_wait_in_mpi(mpi):
    for option in ([], ["--virtual"], ["--virtual=fibers"]):
        with Step(mpi, SENNIT, "exec", *option, TASKS[mpi], options=("-n", "2"),
                  environment={"OMP_NUM_THREADS": "2"}) as step:
            step.check()


class Batch(Running):
    """A batch job; its output goes to a file."""

    def __init__(self, lines, **how):
        self.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        script = os.path.join(self.folder.name, "job")
        with open(script, "w", encoding="utf-8") as out:
            out.write(f"#!/bin/sh\n#SBATCH -n 4\n{lines}\n")
        super().__init__(["sbatch", "--parsable", "-o", self.output(), script], **how)
        self.number = self.process.stdout.read().strip()

    def __exit__(self, *_):
        super().__exit__(*_)
        self.folder.cleanup()

    def output(self):
        return os.path.join(self.folder.name, "out")

    def said(self):
        if not os.path.exists(self.output()):
            return ""
        with open(self.output(), encoding="utf-8") as out:
            return out.read()

    def ranks_have_begun(self, count):
        assert eventually(lambda: self.said().count(" pid ") == count or self.has_ended())
        found = {int(rank): int(pid) for rank, pid in re.findall(r"rank (\d+) of \d+ pid (\d+)", self.said())}
        assert len(found) == count, self.said()
        return found

    def shown(self):
        return subprocess.run(["scontrol", "show", "job", self.number], capture_output=True, text=True,
                              check=True).stdout

    def has_ended(self):
        return not re.search("JobState=(PENDING|CONFIGURING|RUNNING|COMPLETING)", self.shown())

    def check(self, code=0):
        assert eventually(self.has_ended), self.shown()
        got, said = int(re.search(r"ExitCode=(\d+):", self.shown())[1]), self.said()
        assert got == code, f"exit code {got}, wanted {code}: {said!r}"
        assert not self.left_behind(), "processes were left behind"
        return said


def test_a_batch_job_starts_ranks_of_its_own(mpi):
    with Batch(f"{SENNIT} run -n 3 {ranks(mpi)} print SENNIT_LOCAL_RANKS") as job:
        said = job.check()
    assert said.count(" of 3 pid ") == 3 and said.count(" SENNIT_LOCAL_RANKS=3") == 3, said


def test_a_batch_job_gets_its_signals_before_the_time_limit(mpi):
    """Slurm sends what --signal says in the same way as `scancel --signal`: to the job's steps, which mpiexec has
    begun, or to the batch script (B:)."""
    ways_to = [["--batch"], []] if mpi == "mpich" else [["--batch"]]  # Open MPI's daemon would hand it on once more
    for options in ways_to:
        with Batch(f"exec {SENNIT} run -n 2 {ranks(mpi)} wait") as job:
            job.ranks_have_begun(2)
            subprocess.run(["scancel", "--signal=USR1", *options, job.number], check=True)
            said = job.check()
        assert not own_lines(said.splitlines()), said


def test_a_batch_job_names_the_rank_that_is_killed(mpi):
    """Slurm's daemon has started it: it does not come from `sennit run`."""
    with Batch(f"{SENNIT} run -n 2 {ranks(mpi)} wait") as job:
        victim = job.ranks_have_begun(2)[1]
        os.kill(victim, signal.SIGKILL)
        said = job.check(128 + signal.SIGKILL)
    assert own_lines(said.splitlines()) == [
        f"sennit: rank 1 (process {victim}) was ended by signal 9 (SIGKILL): somebody killed it, or the kernel for want "
        "of memory; the job has ended"], said


def test_a_batch_job_that_hangs_is_told_and_ended(mpi):
    settings = {"SENNIT_HANG": "abort", "SENNIT_HANG_GRACE": "1", "SENNIT_DOORBELLS": "on"}
    with Batch(f"{SENNIT} run -n 2 {HANGS[mpi]} both_receive", environment=settings) as job:
        said = job.check(128 + signal.SIGABRT)
    assert "a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0" in said, said


if __name__ == "__main__":
    if not shutil.which("slurmctld") or not shutil.which("slurmd"):
        print("no Slurm is installed")
        sys.exit(SKIPPED)
    with cluster():
        harness.run_tests({f"{name} ({mpi})": functools.partial(test, mpi)
                           for name, test in list(globals().items()) if name.startswith("test_")
                           for mpi in TASKS})
