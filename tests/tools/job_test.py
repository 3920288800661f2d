# SPDX-License-Identifier: Apache-2.0
# whole: tools.job.{mpi} mpi=all -- {sennit} {mpi} {mpiexec} {programs}
# whole: tools.job.{mpi}.virtual mpi=all labels=virtual -- {sennit} {mpi} {mpiexec} {programs} --virtual
"""Whole jobs under one MPI: environment of the ranks, exit codes, signals, nothing left behind.

Usage: job_test.py SENNIT mpich|openmpi MPIEXEC FOLDER-OF-PROGRAMS [--virtual]
--virtual: the ranks are virtual ones, and all that a job shows is the same."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import harness
from harness import Running, eventually, own_lines

SENNIT, MPI, MPIEXEC, PROGRAMS = sys.argv[1:5]
VIRTUAL = sys.argv[5:]
RANKS = os.path.join(PROGRAMS, f"ranks.{MPI}")
MPIEXEC_OPTIONS = []
if MPI == "openmpi":
    MPIEXEC_OPTIONS = ["--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])


def run(*words, options=("-n", "2"), **how):
    return Running([SENNIT, "run", *VIRTUAL, *options, RANKS, *words], **how)


def check(result, code, job):
    got, out, errors = result
    assert got == code, f"exit code {got}, wanted {code}; output {out!r}, errors {errors}"
    assert not job.left_behind(), "processes were left behind"
    return out, errors


def printed(out):
    """The variables that `ranks print` shows: {(rank, name): value}."""
    found = {}
    for line in out.splitlines():
        head, equals, value = line.partition("=")
        if equals:
            found[tuple(head.split(" ", 1))] = value
    return found


PROCESSORS = len(os.sched_getaffinity(0))
NAMES = ["LD_PRELOAD", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "SENNIT_POLICY", "SENNIT_TRACE",
         "SENNIT_LOCAL_RANKS"]


def test_each_rank_gets_the_environment():
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "deep", "trace")
        options = ["-n", "2", "--threads", "3", "--policy", "lifo", "--trace", trace]
        with run("print", *NAMES, options=options) as job:
            out, _ = check(job.finish(), 0, job)
        assert os.path.isdir(trace)
    seen = printed(out)
    for rank in "01":
        assert seen[rank, "LD_PRELOAD"].split(":")[0].endswith(f"/lib/libsennit-{MPI}.so"), seen
        assert seen[rank, "LD_LIBRARY_PATH"].split(":")[0].endswith("/lib/omp"), seen
        assert seen[rank, "OMP_NUM_THREADS"] == "3", seen
        assert seen[rank, "SENNIT_POLICY"] == "lifo", seen
        assert seen[rank, "SENNIT_TRACE"] == trace, seen
        assert seen[rank, "SENNIT_LOCAL_RANKS"] == "2", seen


def test_a_trace_has_the_mpi_calls_of_a_program_without_openmp():
    with tempfile.TemporaryDirectory() as folder:
        with run("print", "A", options=["-n", "2", f"--trace={folder}"]) as job:
            check(job.finish(), 0, job)
        assert sorted(os.listdir(folder)) == ["rank-0.sennit", "rank-1.sennit"]
        with Running([SENNIT, "report", folder]) as job:
            out, _ = check(job.finish(), 0, job)
    assert "2 ranks" in out and "MPI_Gather" in out, out


def test_ranks_of_a_pool_take_part_in_it():
    names = ["SENNIT_POOL", "SENNIT_SHARE", "SENNIT_PRIORITY", "SENNIT_DOORBELLS", "OMP_NUM_THREADS",
             "SENNIT_LOCAL_RANKS"]
    with tempfile.TemporaryDirectory() as folder:
        environment = {"SENNIT_BOARD": os.path.join(folder, "board")}
        pool = ["--pool", "job", "--share", "1/2", "--priority", "3"]
        with run("print", *names, options=["-n", "2", *pool], environment=environment) as job:
            code, _, errors = job.finish()
        assert code == 2 and "no pool 'job'" in errors[0], errors
        for words in (["pool", "start", "job"], None, ["pool", "stop", "job"]):
            if words:
                subprocess.run([SENNIT, *words], env={**os.environ, **environment}, check=True,
                               stdout=subprocess.DEVNULL)
                continue
            with run("print", *names, options=["-n", "2", *pool], environment=environment) as job:
                out, _ = check(job.finish(), 0, job)
            # It has no OpenMP of its own: its ranks own cores all the same.
            with run("wait", options=["-n", "2", *pool], environment=environment) as job:
                pids = job.rank_pids(2).values()
                top = subprocess.run([SENNIT, "top", "--pool", "job", "--json"], check=True,
                                     env={**os.environ, **environment}, stdout=subprocess.PIPE)
                seen = {one["pid"]: one["shares_cores"] for one in json.loads(top.stdout)["processes"]}
                assert [seen.get(pid) for pid in pids] == [True, True], (pids, seen)
                job.process.send_signal(signal.SIGUSR1)
                check(job.finish(), 0, job)
        assert os.listdir(folder) == []
    for rank in "01":
        assert [printed(out)[rank, name] for name in names] == [
            "job", "1/2", "3", "on", str(PROCESSORS), "2"], out


def test_without_n_it_is_one_rank():
    with run(options=()) as job:
        out, _ = check(job.finish(), 0, job)
    assert "rank 0 of 1 " in out, out


def test_several_programs_are_one_job():
    second = ["-n", "1", "A=7", RANKS, "print", "A"]
    with run("print", "A", ":", *second, options=("-n", "2")) as job:
        out, _ = check(job.finish(), 0, job)
    seen = printed(out)
    assert out.count(" of 3 pid ") == 3, out
    assert [seen[rank, "A"] for rank in "012"] == ["(unset)", "(unset)", "7"], out


def test_input_reaches_rank_0():
    with run("cat", stdin=subprocess.PIPE) as job:
        out, _ = check(job.finish("strands\nof a rope\n"), 0, job)
    assert "strands\nof a rope\n" in out, out


def test_the_exit_code_is_that_of_the_rank_that_failed():
    for code in (1, 9, 11, 77):
        with run("exit", "1", str(code)) as job:
            _, errors = check(job.finish(), code, job)
        assert not own_lines(errors), errors


def test_the_code_of_mpi_abort_is_the_exit_code():
    with run("abort", "1", "5") as job:
        check(job.finish(), 5, job)


def test_a_rank_that_dies_of_a_signal_is_named_in_one_line():
    # Where ranks may be on other nodes, too, and are not, nobody else can have ended this one.
    for number, nodes in ((signal.SIGKILL, "1"), (signal.SIGTERM, "1"), (signal.SIGFPE, "1"), (signal.SIGTERM, "2")):
        with run("raise", "1", str(int(number)), environment={"SLURM_JOB_NUM_NODES": nodes}) as job:
            _, errors = check(job.finish(), 128 + number, job)
        lines = own_lines(errors)
        assert len(lines) == 1 and "rank 1 " in lines[0] and lines[0].endswith("; the job has ended"), errors
        assert number.name in lines[0] and "perhaps" not in lines[0], errors


def test_a_rank_killed_from_outside_ends_the_job():
    with run("wait") as job:
        os.kill(job.rank_pids(2)[1], signal.SIGKILL)
        _, errors = check(job.finish(), 128 + signal.SIGKILL, job)
    assert len(own_lines(errors)) == 1, errors


def test_a_signal_to_sennit_ends_the_job():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        with run("wait") as job:
            job.rank_pids(2)
            job.process.send_signal(number)
            check(job.finish(), 128 + number, job)


def test_a_signal_to_the_whole_process_group_ends_the_job():
    for number in (signal.SIGINT, signal.SIGTERM):
        with run("wait") as job:
            job.rank_pids(2)
            os.killpg(job.process.pid, number)
            check(job.finish(), 128 + number, job)


def test_an_mpiexec_that_locks_itself_up_is_given_up():
    if MPI != "openmpi":  # MPICH's waits for ranks that take their time
        return
    with tempfile.TemporaryDirectory() as folder:
        stuck = os.path.join(folder, "mpiexec.openmpi")
        with open(stuck, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ntrap '' INT TERM\n{MPIEXEC} \"$@\" &\nwait\n")
        os.chmod(stuck, 0o755)
        with run("wait", environment={"PATH": f"{folder}:{os.environ['PATH']}"}) as job:
            job.rank_pids(2)
            begin = time.monotonic()
            job.process.send_signal(signal.SIGTERM)
            check(job.finish(), 128 + signal.SIGTERM, job)
            assert time.monotonic() - begin < 50, "the ranks ended by themselves, after a minute"


def test_a_background_job_of_nohup_survives_hangup():
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", SENNIT, "run", *VIRTUAL, "-n", "2", RANKS, "wait"]
    with Running(command) as job:
        job.rank_pids(2)
        job.process.send_signal(signal.SIGHUP)
        assert not eventually(lambda: job.process.poll() is not None, 1), "SIGHUP ended it"
        job.process.send_signal(signal.SIGUSR1)
        check(job.finish(), 0, job)


def test_ranks_meet_in_the_launchers_memory_where_dev_shm_is_read_only():
    alone = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o ro none /dev/shm && exec \"$@\"", "sh"]
    if VIRTUAL or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
        return
    environment = {name: value for name, value in os.environ.items() if name != "SENNIT_BOARD"}
    done = subprocess.run([*alone, SENNIT, "run", "-n", "2", f"--mpi={MPI}", "sh", "-c",
                           "echo $SENNIT_BOARD; readlink $SENNIT_BOARD"],
                          env=environment, capture_output=True, text=True, timeout=harness.LIMIT, check=False)
    lines = sorted(done.stdout.splitlines())
    assert done.returncode == 0 and lines[0] == lines[1] and lines[0].startswith("/memfd:sennit-board"), done
    assert lines[2] == lines[3] and lines[2].startswith("/proc/"), done


def test_usr1_reaches_each_rank_once():
    with run("wait") as job:
        job.rank_pids(2)
        job.process.send_signal(signal.SIGUSR1)
        check(job.finish(), 0, job)


def test_stop_and_continue_reach_the_ranks():
    with run("wait") as job:
        ranks = job.rank_pids(2).values()
        job.process.send_signal(signal.SIGTSTP)
        assert eventually(lambda: all(harness.state_of(pid) == "T" for pid in ranks)), "not stopped"
        assert eventually(lambda: harness.state_of(job.process.pid) == "T"), "sennit not stopped"
        job.process.send_signal(signal.SIGCONT)
        assert eventually(lambda: all(harness.state_of(pid) != "T" for pid in ranks)), "not resumed"
        job.process.send_signal(signal.SIGUSR1)
        check(job.finish(), 0, job)


def test_ctrl_c_at_a_terminal_leaves_nothing_behind():
    harness.check_ctrl_c([SENNIT, "run", *VIRTUAL, "-n", "2", RANKS, "wait"])


def test_nothing_survives_when_sennit_is_killed():
    with run("wait") as job:
        job.rank_pids(2)
        job.process.kill()
        job.process.wait()
        assert eventually(lambda: not harness.processes_with(job.token)), "processes survived"


def test_nothing_survives_when_mpiexec_is_killed():
    # A signal without a name; ranks that end in another way than by the signal that ends them.
    for number, ranks in ((signal.SIGKILL, "wait"), (signal.SIGRTMIN, "wait"), (signal.SIGKILL, "leave")):
        with run(ranks) as job:
            job.rank_pids(2)
            with open(f"/proc/{job.process.pid}/task/{job.process.pid}/children",
                      encoding="utf-8") as file:
                os.kill(int(file.read().split()[0]), number)
            code, _, errors = job.finish()
            assert code >= 128, f"exit code {code}: {errors}"
            assert len(own_lines(errors)) == 1, errors
            assert not job.left_behind(), "processes were left behind"


def test_commands_are_those_of_the_callers_path():
    tell = "import sys; print(sys.prefix)"
    both = f"import subprocess; {tell}; sys.stdout.flush(); subprocess.run(['python3', '-c', '{tell}'])"
    with tempfile.TemporaryDirectory() as folder:
        environment = os.path.join(folder, "environment")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        path = f"{environment}/bin:{os.environ['PATH']}"
        command = [SENNIT, "run", "--mpi", MPI, "-n", "1", "python3", "-c", both]
        with Running(command, environment={"PATH": path}) as job:
            out, errors = check(job.finish(), 0, job)
    assert out.split() == [environment, environment], (out, errors)


def write_script(folder, text):
    path = os.path.join(folder, "script")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def test_scripts_and_programs_that_start_others_are_followed():
    end = [RANKS, "print", "LD_PRELOAD", "A"]
    with tempfile.TemporaryDirectory() as folder:
        commands = [["A=1", *end], ["env", "A=1", *end], ["A=1", "nice", "-n", "1", *end],
                    ["sh", "-c", f"A=1 exec {' '.join(end)}"]]
        for number, first in enumerate(["#!/bin/sh\n", "#!/usr/bin/env bash\n", ""]):
            os.mkdir(os.path.join(folder, str(number)))
            commands.append([write_script(os.path.join(folder, str(number)),
                                          f"{first}export A=1\n{RANKS} \"$@\"\n"), *end[1:]])
        for command in commands:
            with Running([SENNIT, "run", "-n", "2", *command]) as job:
                out, errors = check(job.finish(), 0, job)
            seen = printed(out)
            for rank in "01":
                preload = seen[rank, "LD_PRELOAD"].split(":")[0]
                assert preload.endswith(f"/lib/libsennit-{MPI}.so"), (command, seen)
                assert seen[rank, "A"] == "1", (command, seen)
            assert not errors, errors


def test_a_script_may_start_the_ranks_itself():
    with tempfile.TemporaryDirectory() as folder:
        script = write_script(folder, f"{MPIEXEC} {' '.join(MPIEXEC_OPTIONS)} -n 2 {RANKS} \"$@\"\n")
        with Running([SENNIT, "run", script, "print", "LD_PRELOAD"]) as job:
            out, _ = check(job.finish(), 0, job)
        with Running([SENNIT, "run", "-n", "2", script]) as job:
            code, _, errors = job.finish()
    assert code == 2 and "leave -n away" in errors[0], errors
    assert out.count(" of 2 pid ") == 2, out
    assert f"/lib/libsennit-{MPI}.so" in printed(out)["1", "LD_PRELOAD"], out


def inside_mpiexec(*words, options=()):
    return Running([MPIEXEC, *MPIEXEC_OPTIONS, *options, "-n", "2", SENNIT, *words])


def test_mpi_that_an_interpreter_loads_is_that_of_the_launcher():
    # One write a line: the launcher puts what ranks write together as it comes.
    tell = "import os; os.write(1, os.environ['LD_PRELOAD'].encode() + b'\\n')"
    with inside_mpiexec("exec", sys.executable, "-c", tell) as job:
        out, _ = check(job.finish(), 0, job)
    for line in out.splitlines():
        assert f"/lib/libsennit-{MPI}.so:" in line and "/lib/libsennit-omp.so" in line, out
        assert ("libmpi.so.40" in line) == (MPI == "openmpi"), out
    assert out.count("libsennit-omp") == 2, out


def test_ranks_that_are_not_bound_share_the_processors():
    share = str(max(1, PROCESSORS // 2))
    with run("print", "OMP_NUM_THREADS") as job:
        out, _ = check(job.finish(), 0, job)
    assert printed(out)["1", "OMP_NUM_THREADS"] == share, out
    for binding, threads in (("none", share), ("core", "(unset)")):
        if binding == "core" and PROCESSORS < 2:
            continue
        options = ("-bind-to" if MPI == "mpich" else "--bind-to", binding)
        with inside_mpiexec("exec", *VIRTUAL, RANKS, "print", "OMP_NUM_THREADS", options=options) as job:
            out, _ = check(job.finish(), 0, job)
        assert printed(out)["1", "OMP_NUM_THREADS"] == threads, (binding, out)


def test_ranks_on_several_nodes_see_for_themselves_how_many_they_are():
    lists = ("PBS_NODEFILE", "LSB_HOSTS", "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", "PE_HOSTFILE", "HYDRA_HOST_FILE")
    for name, value, is_one in (("SLURM_JOB_NUM_NODES", "1", True), ("SLURM_JOB_NUM_NODES", "2", False),
                                ("PBS_NODEFILE", "", True), *((name, "nodes", False) for name in lists)):
        with Running([SENNIT, "run", "--dry-run", "-n", "4", RANKS], environment={name: value}) as job:
            out, _ = check(job.finish(), 0, job)
        assert ("OMP_NUM_THREADS=" in out) == is_one, (name, value, out)
    # As in a batch script; an mpiexec that stays on this node has all ranks here.
    with run("print", "OMP_NUM_THREADS", environment={"SLURM_JOB_NUM_NODES": "2"}) as job:
        out, _ = check(job.finish(), 0, job)
    assert printed(out)["1", "OMP_NUM_THREADS"] == str(max(1, PROCESSORS // 2)), out


def test_ranks_on_several_nodes_have_variables_whose_names_shells_do_not_know():
    odd = {"BASH_FUNC_module%%": "() { echo $*; }", "a.b": "c d"}
    environment = {**odd, "SLURM_JOB_NUM_NODES": "2", "BASH_FUNC_test%%": "() { false; }"}
    with run("print", *odd, environment=environment) as job:
        out, errors = check(job.finish(), 0, job)
    assert {name: printed(out)["1", name] for name in odd} == odd, (out, errors)


def test_threads_are_as_many_as_the_processor_time_is_enough_for():
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "cgroup"))
        for name, text in (("self", "0::/"), ("cpu.max", "100000 100000")):
            with open(os.path.join(folder, "cgroup", name), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        with run("print", "OMP_NUM_THREADS", environment={"SENNIT_SYSTEM_FILES": folder}) as job:
            out, _ = check(job.finish(), 0, job)
        assert printed(out)["1", "OMP_NUM_THREADS"] == "1", out
        doctor = subprocess.run([SENNIT, "doctor"], env={**os.environ, "SENNIT_SYSTEM_FILES": folder}, check=True,
                                text=True, capture_output=True).stdout
        assert PROCESSORS == 1 or "of which 1 can run at once" in doctor, doctor


def test_exec_and_run_inside_mpiexec_only_set_the_environment():
    for words in (["exec"], ["run"], ["run", "-n", "2"]):
        with inside_mpiexec(*words, *VIRTUAL, "--threads", "2", RANKS, "print", *NAMES) as job:
            out, _ = check(job.finish(), 0, job)
        assert out.count(" of 2 pid ") == 2, out
        seen = printed(out)
        for rank in "01":
            assert seen[rank, "LD_PRELOAD"].split(":")[0].endswith(f"/lib/libsennit-{MPI}.so"), seen
            assert seen[rank, "OMP_NUM_THREADS"] == "2", seen
            assert seen[rank, "SENNIT_LOCAL_RANKS"] == "2", seen


def test_run_with_another_number_of_ranks_inside_mpiexec_is_refused():
    with inside_mpiexec("run", "-n", "3", RANKS) as job:
        code, _, errors = job.finish()
    assert code == 2 and any("leave -n away" in line for line in errors), (code, errors)


def test_a_rank_started_by_the_other_mpi_is_refused():
    other = {"mpich": "openmpi", "openmpi": "mpich"}[MPI]
    with inside_mpiexec("exec", os.path.join(PROGRAMS, f"ranks.{other}")) as job:
        code, _, errors = job.finish()
    assert code == 2 and any("its own" in line for line in errors), (code, errors)


def test_doctor_says_what_would_happen():
    with Running([SENNIT, "doctor", RANKS]) as job:
        out, _ = check(job.finish(), 0, job)
    for words in ("complete", "tasks       none: it has no OpenMP",  f"libsennit-{MPI}.so", f"mpiexec.{MPI}", "would set", "and start"):
        assert words in out, out


def test_doctor_takes_arguments_and_says_what_a_script_starts():
    own = ["print", "-n", "5", "--mpi", "none", "A"]  # the program's, whatever they look like
    with tempfile.TemporaryDirectory() as folder:
        script = write_script(folder, f"#!/bin/sh\nexec {RANKS} \"$@\"\n")
        for command, ways in (([RANKS], []),
                              (["A=1", "env", "B=2", RANKS], [f"env' starts '{RANKS}'"]),
                              ([script], ["is a script, which /bin/sh runs", f"starts '{RANKS}'"])):
            with Running([SENNIT, "doctor", *command, *own]) as job:
                out, _ = check(job.finish(), 0, job)
            for words in (*ways, f"libsennit-{MPI}.so", f"mpiexec.{MPI}"):
                assert words in out, (command, out)
            last = [word for word in command if word != "A=1"][-1]
            assert out.splitlines()[-1].endswith(" ".join([last, *own])), (command, out)
            assert ("  A=1\n" in out) == (command[0] == "A=1"), (command, out)


def test_gdb_finds_the_symbols_of_virtual_ranks():
    if not VIRTUAL:
        with Running([SENNIT, "doctor", "--gdb", str(os.getpid())]) as one:
            code, _, errors = one.finish()
        assert code == 2 and "neither a virtual rank nor the host" in errors[0], errors
        return
    with run("wait") as job, tempfile.TemporaryDirectory() as folder:
        pids = list(job.rank_pids(2).values())
        with open(f"/proc/{pids[0]}/stat", encoding="utf-8") as file:
            host = file.read().rpartition(")")[2].split()[1]
        commands = [subprocess.run([SENNIT, "doctor", "--gdb", str(pid)], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout for pid in (pids[0], host)]
        program = os.path.realpath(RANKS)
        counts = [one.count(f"add-symbol-file {program} -o 0x") for one in commands]
        assert counts == [2, 2], counts
        symbols = os.path.join(folder, "symbols")
        with open(symbols, "w", encoding="utf-8") as file:
            file.write(commands[0])
        for pid in pids if shutil.which("gdb") else []:
            seen = subprocess.run([*harness.GDB, "-p", str(pid), "-x", symbols, "-ex", "bt"],
                                  text=True, capture_output=True, timeout=harness.LIMIT, check=False)
            if "ptrace" in seen.stderr.lower():
                continue  # this machine does not let gdb attach to processes
            assert " main (" in seen.stdout and "usleep" in seen.stdout, (seen.stdout, seen.stderr)
        job.process.send_signal(signal.SIGUSR1)
        check(job.finish(), 0, job)


def test_valgrind_is_refused_in_one_line():
    if not VIRTUAL or not shutil.which("valgrind"):
        return
    with Running(["valgrind", "-q", "--tool=none", SENNIT, "run", *VIRTUAL, "-n", "2", RANKS]) as job:
        code, _, errors = job.finish()
    assert code == 2 and "valgrind cannot follow virtual ranks" in errors[-1], (code, errors)


def test_a_rank_counts_the_mappings_of_its_neighbours():
    """One of so many ranks on a node that it alone needs more than the kernel allows."""
    if not VIRTUAL:
        return
    with open("/proc/sys/vm/max_map_count", encoding="utf-8") as file:
        ranks = file.read().strip()
    names = {"mpich": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"),
             "openmpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")}[MPI]
    with Running([SENNIT, "exec", *VIRTUAL, RANKS], environment=dict(zip(names, ("0", ranks, ranks)))) as job:
        code, _, errors = job.finish()
    assert code == 2 and "raise vm.max_map_count" in errors[-1], (code, errors)


def python_of_fixed_addresses():
    """The system's python3, if it is one, with its shared library, which is what is tried here."""
    for path in glob.glob("/usr/bin/python3.*[0-9]"):
        with open(path, "rb") as file:
            header = file.read(18)
        library = glob.glob(f"/usr/lib/*/lib{os.path.basename(path)}.so.1.0")
        if header[:4] == b"\x7fELF" and header[16] == 2 and library:
            return path
    return None


def test_a_python_of_fixed_addresses_is_a_virtual_rank():
    python = python_of_fixed_addresses()
    if not VIRTUAL or not python:
        return
    tell = ("import os, sys, ssl, ctypes, subprocess\n"
            "child = subprocess.run([sys.executable, '-c', 'print(5)'], capture_output=True).stdout.strip()\n"
            "os.write(1, f'{os.getppid()} {sys.executable} {child} {sys.argv[1:]}\\n'.encode())\n"
            "sys.exit(3 if 'SENNIT_PYTHON' in os.environ else 0)")
    options = ["--mpi", MPI, "-n", "2"]
    with Running([SENNIT, "run", *VIRTUAL, *options, python, "-c", tell, "a b"]) as job:
        out, _ = check(job.finish(), 0, job)
    lines = out.splitlines()
    assert len(lines) == 2 and lines[0] == lines[1], out
    assert lines[0].endswith(f" {python} b'5' ['a b']"), out


def test_python_is_a_word_of_its_own():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "tell.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("import os, sys\nos.write(1, f'{len(os.environ[\"OMP_NUM_THREADS\"])} {sys.argv[1:]}\\n'.encode())\n")
        options = [*VIRTUAL, "--mpi", MPI, "-n", "2", "--threads", "3"]
        for words in ([script, "a b", "-n", "1"], ["--", "-u", script, "a b", "-n", "1"]):
            with Running([SENNIT, "python", *options, *words]) as job:
                out, _ = check(job.finish(), 0, job)
            assert out.splitlines() == ["1 ['a b', '-n', '1']"] * 2, out


# Scripts and interpreters are no virtual ranks, and doctor starts none.
NEVER_VIRTUAL = ["test_commands_are_those_of_the_callers_path",
                 "test_scripts_and_programs_that_start_others_are_followed",
                 "test_a_script_may_start_the_ranks_itself",
                 "test_mpi_that_an_interpreter_loads_is_that_of_the_launcher",
                 "test_doctor_says_what_would_happen"]

if __name__ == "__main__":
    for name in NEVER_VIRTUAL if VIRTUAL else []:
        del globals()[name]
    harness.run_tests(sys.modules[__name__], at_once=4)
