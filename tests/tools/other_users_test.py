#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# whole: tools.other_users skip=77 -- {sennit} {SENNIT_GCC} {omp} {build}/apps {programs} {mpis[0]}
"""Two users of one machine: one runs Sennit, the other one attacks. docs/soundness.md ("Other users") says what holds.

usage: other_users_test.py SENNIT COMPILER LIB_OMP APPS PROGRAMS MPI

Needs root, to be both of them; else it is skipped. The numbers belong to nobody."""
import errno
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

import harness
from harness import LIMIT

VICTIM, ATTACKER = 61233, 61234
SKIPPED = 77
SENNIT, COMPILER, LIB_OMP, APPS, PROGRAMS, MPI = sys.argv[1:7]

OMP_PROGRAM = """
#include <stdio.h>
#include <unistd.h>
int main(int count, char **arguments) {
    char go;
    int sum = 0;
    if (count > 1) { /* tells its number and waits */
        printf("%d\\n", getpid());
        fflush(stdout);
        if (read(0, &go, 1) < 0)
            return 1;
    }
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; ++i)
        sum += i;
    #pragma omp parallel
    #pragma omp single
    for (int i = 0; i < 100; ++i)
        #pragma omp task
        __asm__ volatile("");
    return sum != 499500;
}
"""

TOOL = """
#include <fcntl.h>
#include <unistd.h>
void *ompt_start_tool(unsigned version, const char *runtime) {
    close(open("OWNED", O_CREAT | O_WRONLY, 0600));
    return 0;
}
"""

# gdb runs what is in this section, if it trusts the file.
SCRIPT_FOR_GDB = r"""
#include <stdio.h>
#include <unistd.h>
asm(".pushsection \".debug_gdb_scripts\", \"MS\",@progbits,1\n"
    ".byte 4\n.ascii \"evil\\n\"\n.ascii \"open('OWNED','w').close()\\n\"\n.byte 0\n.popsection\n");
int main(void) { char go; puts("here"); fflush(stdout); return read(0, &go, 1) < 0; }
"""


def settings(folder, **more):
    """A fresh environment: nothing of root's."""
    return {"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder, "OMP_NUM_THREADS": "2", **more}


def run_as(user, words, folder, text=None, **more):
    return subprocess.run([str(word) for word in words], user=user, group=user, extra_groups=[], cwd=folder,
                          env=settings(folder, **more), input=text, text=True, capture_output=True, timeout=LIMIT,
                          check=False)


def start_as(user, words, folder, **more):
    return subprocess.Popen([str(word) for word in words], user=user, group=user, extra_groups=[], cwd=folder,
                            env=settings(folder, **more), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True)


class Room:
    """A folder that everybody can enter, with one of each user, and one that both write to."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="sennit-other-users-")
        os.chmod(self.top, 0o755)
        for name, user, mode in (("victim", VICTIM, 0o755), ("attacker", ATTACKER, 0o755), ("shared", ATTACKER, 0o777)):
            os.mkdir(f"{self.top}/{name}")
            os.chown(f"{self.top}/{name}", user, user)
            os.chmod(f"{self.top}/{name}", mode)
        self.victim, self.attacker, self.shared = (f"{self.top}/{name}" for name in ("victim", "attacker", "shared"))
        self.precious = f"{self.victim}/precious"
        with open(self.precious, "w", encoding="utf-8") as file:
            file.write("precious\n")
        os.chown(self.precious, VICTIM, VICTIM)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top)

    def compile(self, text, name, *flags):
        source = f"{self.top}/{os.path.basename(name)}.c"
        with open(source, "w", encoding="utf-8") as file:
            file.write(text.replace("OWNED", f"{self.top}/owned"))
        subprocess.run([COMPILER, source, "-o", f"{self.top}/{name}", *flags], check=True)
        return f"{self.top}/{name}"

    def omp_program(self, name="omp"):
        return self.compile(OMP_PROGRAM, name, "-fopenmp", "-O1", f"-Wl,-rpath,{LIB_OMP}", "-Wl,--disable-new-dtags")

    def is_untouched(self):
        with open(self.precious, encoding="utf-8") as file:
            assert file.read() == "precious\n", "another user's link was followed"
        assert not os.path.exists(f"{self.top}/owned"), "a stranger's code was run"

    def traps(self, path):
        """What the attacker may put where somebody else is going to write."""
        return {"link": lambda: os.symlink(self.precious, path),
                "pipe": lambda: os.mkfifo(path, 0o666),
                "file": lambda: os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666)),
                "hard link": lambda: os.link(self.precious, path)}


def as_attacker(action):
    """In a child. False: the kernel does not let him."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(ATTACKER)
            os.setuid(ATTACKER)
            os.umask(0)
            action()
            code = 0
        except OSError as error:
            code = 2 if error.errno in (errno.EPERM, errno.EACCES, errno.EXDEV) else 1
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code != 1, "the attack itself is broken"
    return code == 0


def remove(path):
    if os.path.lexists(path):
        os.remove(path)


# ---- programs with more rights than their caller --------------------------------------------------


def test_a_set_uid_program_does_not_obey_its_caller():
    with Room() as room:
        if os.statvfs(room.top).f_flag & os.ST_NOSUID:
            print("skipped: this file system knows no set-uid programs")
            return
        target = f"{room.top}/target"
        os.mkdir(target, 0o777)
        tool = room.compile(TOOL, "tool.so", "-shared", "-fPIC")
        wishes = {"SENNIT_STATS": f"{target}/stats", "SENNIT_TRACE": f"{target}/trace", "OMP_TOOL_LIBRARIES": tool,
                  "OMP_TOOL_VERBOSE_INIT": f"{target}/log", "SENNIT_SYSTEM_FILES": room.attacker}
        program = room.omp_program()
        for mode in (0o4755, 0o2755):
            os.chmod(program, mode)
            done = run_as(ATTACKER, [program], room.attacker, **wishes)
            assert done.returncode == 0 and done.stderr == "", done
            assert not os.listdir(target), os.listdir(target)
            room.is_untouched()
        os.chmod(program, 0o755)  # its own user's wishes are fulfilled: so the above shows something
        os.chmod(target, 0o777)
        done = run_as(ATTACKER, [program], room.attacker, **wishes)
        written = sorted(os.path.splitext(name)[0].split(".")[0] for name in os.listdir(target))
        assert done.returncode == 0 and written == ["log", "stats", "trace"], (written, done)


# ---- files in folders where others write, too -----------------------------------------------------


def attack_files_of(room, names, setting, expected):
    """A program that waits tells its number. Then the attacker knows the names of what it is going to write."""
    program = room.omp_program()
    for name in names:
        for kind in room.traps(""):
            with start_as(VICTIM, [program, "wait"], room.victim, **setting) as victim:
                path = f"{room.shared}/{name}".replace("PID", victim.stdout.readline().strip())
                planted = as_attacker(room.traps(path)[kind])
                _, errors = victim.communicate("\n", timeout=LIMIT)
                assert victim.returncode == 0, (name, kind, victim.returncode, errors)
                assert planted or kind == "hard link", (name, kind)
                room.is_untouched()
                assert re.fullmatch(expected if planted else "", errors), (name, kind, errors)
            as_attacker(lambda: [remove(one) for one in glob.glob(f"{room.shared}/*")])


def test_statistics_follow_no_link_of_others():
    with Room() as room:
        attack_files_of(room, ["stats.PID.json", "stats.PID.json.part.PID"],
                        {"SENNIT_STATS": f"{room.shared}/stats"}, "")


def test_traces_follow_no_link_of_others():
    with Room() as room:
        attack_files_of(room, ["rank-PID.sennit"], {"SENNIT_TRACE": room.shared}, "(sennit: [^\n]*\n)?")


def test_logs_follow_no_link_of_others():
    with Room() as room:
        attack_files_of(room, ["log"], {"OMP_TOOL_VERBOSE_INIT": f"{room.shared}/log"},
                        "sennit: OMP_TOOL_VERBOSE_INIT=[^\n]* cannot be written[^\n]*\n")


def simulate(room, *options):
    return run_as(VICTIM, [SENNIT, "simulate", "cholesky", "--n", "2048", "--quiet", "--policy", "fifo", *options],
                  room.victim)


def test_what_the_command_writes_follows_no_link_of_others():
    with Room() as room:
        trace = f"{room.victim}/trace"
        assert simulate(room, "--trace", trace).returncode == 0
        orders = {"out.json": [SENNIT, "simulate", "cholesky", "--n", "2048", "--quiet", "--json", f"{room.shared}/out.json"],
                  "out.html": [SENNIT, "report", trace, "--html", f"{room.shared}/out.html"],
                  "out.html.part": [SENNIT, "report", trace, "--html", f"{room.shared}/out.html"],
                  "rank-0.sennit": [SENNIT, "simulate", "cholesky", "--n", "2048", "--quiet", "--policy", "fifo", "--trace",
                                    room.shared]}
        for name, words in orders.items():
            for kind, plant in room.traps(f"{room.shared}/{name}").items():
                if not as_attacker(plant):
                    assert kind == "hard link", kind
                    continue
                done = run_as(VICTIM, words, room.victim)
                room.is_untouched()
                assert done.returncode in (0, 2), (name, kind, done)
                if done.returncode == 2:
                    assert re.fullmatch("sennit: [^\n]*another user's\n", done.stderr), (name, kind, done)
                as_attacker(lambda: [remove(one) for one in glob.glob(f"{room.shared}/*")])


def test_own_links_pipes_and_devices_are_written_to():
    with Room() as room:
        os.symlink("target.json", f"{room.victim}/link.json")
        os.lchown(f"{room.victim}/link.json", VICTIM, VICTIM)
        for _ in range(2):  # made, then overwritten
            assert simulate(room, "--json", f"{room.victim}/link.json").returncode == 0
            with open(f"{room.victim}/target.json", encoding="utf-8") as file:
                assert json.load(file)["workload"] == "cholesky"
        # Who reads a pipe has to have made it, for /dev/stdout: so it is made there.
        done = run_as(VICTIM, ["sh", "-c", f"{SENNIT} simulate cholesky --n 2048 --quiet --policy fifo --json /dev/stdout | cat"],
                      room.victim)
        assert done.returncode == 0 and '"workload": "cholesky"' in done.stdout, done
        assert simulate(room, "--json", "/dev/null").returncode == 0
        os.mkfifo(f"{room.victim}/pipe")
        os.chown(f"{room.victim}/pipe", VICTIM, VICTIM)
        with subprocess.Popen(["cat", f"{room.victim}/pipe"], stdout=subprocess.PIPE, text=True) as reader:
            assert simulate(room, "--json", f"{room.victim}/pipe").returncode == 0
            assert '"workload": "cholesky"' in reader.communicate(timeout=LIMIT)[0]
        assert simulate(room, "--trace", f"{room.victim}/trace").returncode == 0
        done = run_as(VICTIM, ["sh", "-c", f"{SENNIT} report {room.victim}/trace --html /dev/stdout | cat"], room.victim)
        assert done.returncode == 0 and "<!doctype html>" in done.stdout, done.stderr


# ---- traces of others -----------------------------------------------------------------------------


EVIL = "\x1b]0;owned\x07\x1b[31m\r\u202e\x9b"
EVIL_BYTES = EVIL.encode("latin-1", "replace")


def make_evil(trace, needle, evil):
    """Writes `evil` over each name that begins with `needle` and is as long."""
    assert len(needle) == len(evil)
    count = 0
    for path in glob.glob(f"{trace}/*.sennit"):
        with open(path, "r+b") as file:
            data = file.read()
            count += data.count(needle)
            file.seek(0)
            file.write(data.replace(needle, evil))
    assert count > 0, needle


def has_controls(data, kept=b"\n"):
    text = data.decode("utf-8", "strict")
    return [c for c in text if (ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or c in "\u202e\u2066\u2028") and c.encode() not in kept]


def test_names_in_traces_of_others_do_nothing():
    with Room() as room:
        trace = f"{room.attacker}/trace\x1b[7m"
        done = run_as(ATTACKER, [SENNIT, "simulate", "cholesky", "--n", "2048", "--quiet", "--policy", "fifo", "--trace",
                                 trace], room.attacker)
        assert done.returncode == 0, done
        make_evil(trace, b"sennit simulate cholesky", b"x\x1b[31m\x07\r\xc2\x9b31m\n\xff<!--<scri")
        make_evil(trace, b"receive\0", b"\x1b]0;y\x07\n\0")
        make_evil(trace, b"potrf\0", b"<!--<\0")
        make_evil(trace, b"syrk\0", b"</sc\0")
        out = f"{room.victim}/out"
        done = subprocess.run([SENNIT, "report", trace, "--html", f"{out}.html", "--perfetto", f"{out}.json", "--paraver",
                               out], user=VICTIM, group=VICTIM, extra_groups=[], env=settings(room.victim),
                              capture_output=True, timeout=LIMIT, check=False)
        assert done.returncode == 0, done
        for data in (done.stdout, done.stderr):
            assert not has_controls(data), (has_controls(data), data)
        for name, kept in (("json", b"\n"), ("prv", b"\n"), ("pcf", b"\n"), ("row", b"\n")):
            with open(f"{out}.{name}", "rb") as file:
                assert not has_controls(file.read(), kept), name
        with open(f"{out}.html", "rb") as file:
            page = file.read()
        data = re.search(rb"const DATA = (.*);\n", page)[1]
        assert b"<" not in data and b"\\u003c!--" in data and not has_controls(data), data[:400]
        assert b"\\\\x1b[31m" in data
        # A damaged one is refused in one line, whatever its name.
        bad = f"{room.attacker}/bad"
        os.mkdir(bad)
        with open(f"{bad}/rank-0\x1b[31m\nsennit: all is well\n.sennit", "wb") as file:
            file.write(b"nothing")
        done = run_as(VICTIM, [SENNIT, "report", bad], room.victim)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and not has_controls(done.stderr.encode()), done


def test_a_trace_of_others_names_no_files_that_are_read():
    """addr2line is told to read what the trace names. A pipe would keep it for ever."""
    with Room() as room:
        program = room.omp_program("a_program_with_a_long_name")
        trace = f"{room.attacker}/trace"
        done = run_as(ATTACKER, [program], room.attacker, SENNIT_TRACE=trace)
        assert done.returncode == 0 and os.listdir(trace), done
        pipe = f"{room.attacker}/pipe".encode()
        os.mkfifo(pipe, 0o666)
        needle = program.encode() + b"\0"
        make_evil(trace, needle, pipe + bytes(len(needle) - len(pipe)))
        done = run_as(VICTIM, [SENNIT, "report", trace], room.victim)
        assert done.returncode == 0, done


# ---- programs of others ---------------------------------------------------------------------------


def test_names_in_programs_of_others_do_nothing():
    """Looking at an ELF file: its libraries' names and its folders."""
    with Room() as room:
        library = room.compile("int five(void) { return 5; }", "libhere.so", "-shared", "-fPIC",
                               "-Wl,-soname,lib\x1b[31m\n\x07.so")
        program = room.compile("int five(void); int main(void) { return five() != 5; }", "looked-at", library,
                               "-Wl,-rpath,/nowhere\x1b]0;owned\x07")
        link = f"{room.top}/\x1b[7mname"
        os.symlink(program, link)
        for words in (["doctor"], ["run", "--dry-run"], ["run"]):
            for path in (program, link):
                done = run_as(VICTIM, [SENNIT, *words, path], room.victim)
                assert not has_controls((done.stdout + done.stderr).encode()), (words, path, done)
        os.mkfifo(f"{room.attacker}/pipe", 0o777)
        os.chmod(f"{room.attacker}/pipe", 0o777)
        for words in (["doctor"], ["run", "--dry-run"], ["run"]):
            done = run_as(VICTIM, [SENNIT, *words, f"{room.attacker}/pipe"], room.victim)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, (words, done)


# ---- processes of others --------------------------------------------------------------------------


def test_doctor_runs_no_code_of_the_process():
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        return
    with Room() as room:
        program = room.compile(SCRIPT_FOR_GDB, "evil", "-g")
        for user, options, words in ((ATTACKER, [], "belongs to user 61234.*--other-user"), (ATTACKER, ["--other-user"], ""),
                                     (0, [], "")):
            with start_as(user, [program], room.attacker) as process:
                process.stdout.readline()
                done = subprocess.run([SENNIT, "doctor", f"--pid={process.pid}", *options], cwd=room.top, text=True,
                                      capture_output=True, timeout=LIMIT, check=False)
                if not words:
                    assert "is Sennit's runtime in this process" in done.stderr or "ptrace" in done.stderr.lower(), done
                else:
                    assert done.returncode == 2 and re.fullmatch(f"sennit: process .* {words}.*\n", done.stderr), done
                gdb = subprocess.run([SENNIT, "doctor", f"--gdb={process.pid}"], capture_output=True, text=True, check=False)
                assert gdb.returncode == 2, gdb
                room.is_untouched()
                process.communicate("\n")
        with start_as(ATTACKER, [program], room.attacker) as process:
            process.stdout.readline()
            done = run_as(VICTIM, [SENNIT, "doctor", f"--pid={process.pid}", "--other-user"], room.victim)
            assert done.returncode == 2 and "only this user, or root" in done.stderr, done
            process.communicate("\n")


# ---- jobs -----------------------------------------------------------------------------------------


def sockets_of_sennit():
    """Names in the kernel's list, which everybody may read."""
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as file:
        return [line.split()[-1] for line in file if "sennit" in line]


def poke(room, open_ends):
    """All that the attacker can reach of the victim's jobs."""
    datagrams = [struct.pack("<iiQ", rank, tag, 0) for rank in (-1, 0, 1, 1 << 30) for tag in (-1, 1, 3, 4)]
    datagrams += [b"", b"x", bytes(4096)]
    for name in sockets_of_sennit():
        address = "\0" + name[1:] if name.startswith("@") else name
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            try:
                with socket.socket(socket.AF_UNIX, kind | socket.SOCK_NONBLOCK) as end:
                    end.connect(address)
                    for data in datagrams:
                        end.send(data)
                    socket.send_fds(end, [b"x"], open_ends)
            except OSError:
                pass
    places = ["/dev/shm/sennit*", f"{room.victim}/board*", f"{room.victim}/sennit*/*", f"{room.victim}/sennit*/*/*",
              "/proc/[0-9]*/fd/*"]
    for path in (path for place in places for path in glob.glob(place)):
        if os.lstat(path.split("/fd/")[0]).st_uid != VICTIM:
            continue
        for mode in ("rb", "r+b"):
            try:
                with open(path, mode, buffering=0) as file:
                    if mode == "r+b":
                        file.write(b"attacked")
                print(f"REACHED {path}", flush=True)
            except OSError:
                pass


class Attack:
    """While the block runs, another user pokes at everything; no file of the victim's was reached."""

    def __init__(self, room):
        self.room = room
        self.mark = f"{room.top}/stopped"
        self.child = 0
        self.said = f"{room.top}/attacker-said"

    def __enter__(self):
        self.child = os.fork()
        if self.child == 0:
            os.dup2(os.open(self.said, os.O_CREAT | os.O_WRONLY, 0o666), 1)
            os.setgroups([])
            os.setgid(ATTACKER)
            os.setuid(ATTACKER)
            open_ends = [os.open(self.room.attacker, os.O_RDONLY)]
            while not os.path.exists(self.mark):
                try:
                    poke(self.room, open_ends)
                except OSError:
                    pass  # what it looked at has ended
            os._exit(0)
        return self

    def __exit__(self, *_):
        os.close(os.open(self.mark, os.O_CREAT))
        os.waitpid(self.child, 0)
        os.remove(self.mark)
        with open(self.said, encoding="utf-8") as file:
            said = file.read()
        assert said == "", said


def run_job(room, words, **more):
    board = f"{room.victim}/board"
    with start_as(VICTIM, words, room.victim, SENNIT_BOARD=board, **more) as job:
        try:
            out, errors = job.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            raise
    return job.returncode, out, errors


def test_notices_of_the_network_are_of_this_user():
    with Room() as room, Attack(room):
        for _ in range(3):
            code, out, errors = run_job(room, [SENNIT, "run", "-n", "2", "--threads", "1", f"{APPS}/rendezvous-{MPI}"],
                                        SENNIT_NETWORK="latency:100,bandwidth:1000,eager:1000,patience:60")
            assert code == 0 and "in vain" not in errors and "left before" not in errors, (code, out, errors)


def test_a_job_is_not_reached_by_others():
    ways = [[], ["--virtual"]] if os.path.exists(f"{os.path.dirname(SENNIT)}/../lib/sennit-loader") else [[]]
    with Room() as room, Attack(room):
        for way in ways:
            for hang in ("off", "report"):
                code, out, errors = run_job(room, [SENNIT, "run", *way, "-n", "2", f"{PROGRAMS}/ranks.{MPI}", "exit", "1", "7"],
                                            SENNIT_HANG=hang)
                assert "attacked" not in out + errors, (way, out, errors)
                assert code == 7, (way, hang, code, out, errors)


# ---- names that somebody else has taken -----------------------------------------------------------


def board_name(user):
    """That of the node's board (src/node/segment.cpp)."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/node/segment.h"), encoding="utf-8") as file:
        version = re.search(r"kBoardVersion = (\d+)", file.read())[1]
    return f"/dev/shm/sennit-{user}-{os.stat('/proc/self/ns/pid').st_ino:x}-{version}"


def test_a_board_that_others_have_made_is_not_used():
    name = board_name(VICTIM)
    with Room() as room:
        for kind, plant in room.traps(name).items():
            remove(name)
            if not as_attacker(plant):
                continue
            try:
                done = run_as(VICTIM, [SENNIT, "run", "-n", "2", f"{PROGRAMS}/ranks.{MPI}", "exit", "1", "7"], room.victim)
                room.is_untouched()
                assert done.returncode == 7, (kind, done)
                done = run_as(VICTIM, [SENNIT, "top", "--once"], room.victim)
                room.is_untouched()
                assert done.returncode in (0, 2) and done.stderr.count("\n") <= 1, (kind, done)
            finally:
                remove(name)


def test_a_pool_that_others_have_made_is_not_used():
    name = f"{board_name(VICTIM)}-pool-evil"
    orders = ["pool start evil", "pool ls", "pool stop evil", "top --once --pool evil",
              f"run --pool evil -n 1 {PROGRAMS}/ranks.{MPI} exit 0 7"]
    with Room() as room:
        for kind, plant in room.traps(name).items():
            remove(name)
            if not as_attacker(plant):
                continue
            holder = os.open(name, os.O_RDWR)  # as if a keeper were at work
            fcntl.flock(holder, fcntl.LOCK_EX)
            try:
                for order in orders:
                    done = run_as(VICTIM, [SENNIT, *order.split()], room.victim)
                    room.is_untouched()
                    assert os.path.lexists(name), (kind, order)
                    assert done.returncode == (0 if order == "pool ls" else 2), (kind, order, done)
                    assert done.stdout == "" and done.stderr.count("\n") == (order != "pool ls"), (kind, order, done)
            finally:
                os.close(holder)
                remove(name)


def test_a_folder_of_virtual_ranks_that_others_have_made_is_not_used():
    if not os.path.exists(f"{os.path.dirname(SENNIT)}/../lib/sennit-loader"):
        return
    with Room() as room:
        os.chmod(room.shared, 0o1777)
        name = f"{room.shared}/sennit-virtual-{VICTIM}"
        for mode in (0o777, 0o700):
            as_attacker(lambda mode=mode: os.mkdir(name, mode))
            os.chmod(name, mode)
            code, _, errors = run_job(room, [SENNIT, "run", "--virtual", "-n", "2", f"{PROGRAMS}/ranks.{MPI}", "exit", "1", "7"],
                                      TMPDIR=room.shared)
            refused = [line for line in errors.splitlines() if "is not a folder of yours alone" in line]
            assert code != 0 and refused, (mode, code, errors)
            assert os.listdir(name) == [], os.listdir(name)
            os.rmdir(name)
        as_attacker(lambda: os.symlink(room.victim, name))
        code, _, errors = run_job(room, [SENNIT, "run", "--virtual", "-n", "2", f"{PROGRAMS}/ranks.{MPI}", "exit", "1", "7"],
                                  TMPDIR=room.shared)
        assert code != 0 and "is not a folder of yours alone" in errors, (code, errors)


def test_links_for_the_loader_are_where_others_cannot_replace_them():
    """What the dynamic loader is told by LD_PRELOAD, it looks at when any program starts."""
    squatted = f"/tmp/sennit-links-{VICTIM}"
    with Room() as room:
        home = f"{room.victim}/my sennit"  # a name that the loader cannot take
        os.mkdir(home)
        os.symlink(os.path.join(os.path.dirname(os.path.dirname(SENNIT)), "lib"), f"{home}/lib")
        os.mkdir(f"{room.victim}/tmp", 0o700)
        os.chown(f"{room.victim}/tmp", VICTIM, VICTIM)
        as_attacker(lambda: os.symlink(f"{room.victim}/tmp", f"{room.shared}/link"))
        as_attacker(lambda: os.mkdir(squatted))

        def look(**more):
            return run_as(VICTIM, [SENNIT, "run", "--dry-run", "-n", "2", f"{PROGRAMS}/ranks.{MPI}"], room.victim,
                          SENNIT_HOME=home, **more)

        try:
            for cache in ("", room.shared):
                done = look(HOME="", XDG_CACHE_HOME=cache, TMPDIR=room.shared)
                refused = done.returncode == 2 and "safe from others" in done.stderr and done.stderr.count("\n") == 1
                assert refused and not done.stdout, (cache, done)
            places = ((f"{room.victim}/.cache/sennit/links", {"TMPDIR": room.shared}),
                      (f"{room.victim}/tmp/sennit-links-{VICTIM}", {"HOME": "", "TMPDIR": f"{room.shared}/link"}),
                      (f"{room.victim}/tmp/sennit/links", {"XDG_CACHE_HOME": f"{room.victim}/tmp"}))
            for place, more in places:
                done = look(XDG_RUNTIME_DIR=f"{room.victim}/tmp", **more)
                link = [os.path.join(place, name) for name in os.listdir(place)]
                assert done.returncode == 0 and len(link) == 1 and link[0] in done.stdout, (place, link, done)
                assert room.shared not in done.stdout, done
        finally:
            os.rmdir(squatted)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: only root can be two users")
        sys.exit(SKIPPED)
    if subprocess.run([SENNIT, "--version"], user=VICTIM, group=VICTIM, extra_groups=[], capture_output=True,
                      cwd="/", check=False).returncode != 0:
        print("skipped: this build lies in a folder that other users cannot enter")
        sys.exit(SKIPPED)
    harness.run_tests(sys.modules[__name__])
