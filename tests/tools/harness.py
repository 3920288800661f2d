# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: run it, and find every process that it left behind.

Each started command carries a token in its environment, which all of its processes inherit."""
import ctypes.util
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
import uuid

# Seconds that anything may take, on a busy machine. It ends a wait that is in vain, and decides nothing.
LIMIT = 200


def processes_with(token):
    """Processes, not zombies, whose environment has the token."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if token.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def kill_all_with(token):
    for pid in processes_with(token):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


def eventually(condition, limit=LIMIT):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


# gdb as tests start it: what it reads of a program runs nothing.
GDB = ["gdb", "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"]


def is_here(program):
    """False, after a line that says so: it is not installed."""
    if not shutil.which(program):
        print(f"{program} is not installed: nothing is tested with it")
        return False
    return True


# Open MPI's own mpiexec wants to be asked for this: as root, and more ranks than cores, in the words of versions 4 and 5.
# Debian 13's crashes at ':' without the last one (docs/mpi-faults.md).
BARE_OPENMPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe",
                "PMIX_MCA_mca_base_param_files": "none"}

# Of the packages libjemalloc2 and libtcmalloc-minimal4, with a function that no other library has.
ALLOCATORS = {"jemalloc": "mallctl", "tcmalloc_minimal": "tc_malloc"}


def allocators():
    """Libraries that are installed, and their functions; the others are named."""
    found = {}
    for name, function in ALLOCATORS.items():
        if library := ctypes.util.find_library(name):
            found[library] = function
        else:
            print(f"{name} is not installed: nothing is tested with it")
    return found


class Running:
    """A started command; its output so far; nothing of it survives the `with` block."""

    def __init__(self, command, stdin=subprocess.DEVNULL, environment=None, new_session=True, prepare=None):
        self.token = f"SENNIT_TEST_{uuid.uuid4().hex}"
        values = {**os.environ, **(environment or {}), self.token: "1"}
        self.process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=values, start_new_session=new_session, preexec_fn=prepare)
        self.seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill_all_with(self.token)
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def rank_pids(self, count):
        """Wait for the lines in which the ranks tell their process numbers."""
        pids = {}
        while len(pids) < count:
            line = self.process.stdout.readline()
            assert line, f"the job ended early: {self.seen}{self.process.stderr.read()}"
            self.seen += line
            for rank, pid in re.findall(r"rank (\d+) of \d+ pid (\d+)", line):
                pids[int(rank)] = int(pid)
        return pids

    def finish(self, text=None):
        """Wait for the end: exit code, output, error lines."""
        out, err = self.process.communicate(text, timeout=LIMIT)
        return self.process.returncode, self.seen + out, err.splitlines()

    def left_behind(self):
        return [] if eventually(lambda: not processes_with(self.token)) else processes_with(self.token)


def check_ctrl_c(argv, settings=None):
    """Starts argv at a terminal, gives it Ctrl-C when two ranks have told their pid, and checks that all end."""
    token = f"SENNIT_TEST_TERMINAL_{os.getpid()}"
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ[token] = "1"
        os.environ.update(settings or {})
        os.execv(argv[0], argv)
    seen = ""
    while seen.count(" pid ") < 2:
        seen += os.read(terminal, 4096).decode(errors="replace")
    os.write(terminal, b"\x03")
    try:  # the terminal has to be read, or they cannot write their last words
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    code = os.waitstatus_to_exitcode(status)
    assert code == 128 + signal.SIGINT, f"exit code {code}: {seen}"
    assert eventually(lambda: not processes_with(token)), "processes were left behind"


def own_lines(errors):
    """The lines that the command itself wrote."""
    return [line for line in errors if line.startswith("sennit: ")]


def run_to_end(command, environment=None, prepare=None):
    """Exit code, output, and the lines of the command's own. What it leaves behind, such as the keeper of a pool,
    stays, unless the command does not come to its end."""
    token = f"SENNIT_TEST_{uuid.uuid4().hex}"
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                              env={**os.environ, **(environment or {}), token: "1"}, start_new_session=True,
                              preexec_fn=prepare, check=False)
    except subprocess.TimeoutExpired:
        kill_all_with(token)
        raise
    return done.returncode, done.stdout, own_lines(done.stderr.splitlines())


def passes(name, test):
    start = time.monotonic()
    verdict = "ok"
    try:
        test()
    except (AssertionError, subprocess.TimeoutExpired) as error:
        verdict = f"FAILED: {error}"
    sys.stdout.write(f"{name} ({time.monotonic() - start:.1f} s): {verdict}\n")
    sys.stdout.flush()
    return verdict == "ok"


def passes_in_a_child(name, test):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if passes(name, test) else 1
        except BaseException:  # pylint: disable=broad-except
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def run_tests(tests, at_once=1):
    """Run every function test_* of a module, or of a dictionary, in its order; exit with 1 if one failed.
    SENNIT_TEST_ONLY: those whose names match this expression. `at_once`: so many at a time, each in a process of
    its own, for tests that mostly wait and share nothing."""
    only = os.environ.get("SENNIT_TEST_ONLY", "")
    tests = [(name, test) for name, test in (tests if isinstance(tests, dict) else vars(tests)).items()
             if name.startswith("test_") and re.search(only, name)]
    assert tests, f"no test matches '{only}'"
    if at_once == 1:
        sys.exit(0 if all([passes(name, test) for name, test in tests]) else 1)
    running, failed = set(), 0
    while tests or running:
        if tests and len(running) < at_once:
            running.add(passes_in_a_child(*tests.pop(0)))
            continue
        pid, status = os.wait()
        running.discard(pid)
        failed += status != 0
    sys.exit(1 if failed else 0)
