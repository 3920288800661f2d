# SPDX-License-Identifier: Apache-2.0
# script: loader if=loader timeout=600 labels=virtual,quick
#     user='launcher_made|every_kind|64_ranks|open_files|no_room|says_nothing|ends_as|end_with|killed_host|refused' --
#     {file('sennit-stub')} {bin}/programs
"""Virtual ranks without MPI: what each inherits, that none disturbs another, how each ends.

Usage: loader_test.py STUB FOLDER-OF-PROGRAMS"""
import contextlib
import ctypes
import errno
import os
import platform
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import harness  # pylint: disable=wrong-import-position
import seccomp  # pylint: disable=wrong-import-position
from harness import Running, eventually  # pylint: disable=wrong-import-position

STUB, PROGRAMS = map(os.path.abspath, sys.argv[1:3])
MEETING = tempfile.mkdtemp(prefix="sennit-test-")
MAPPINGS = 40


def command(job, *words, program="rank.gcc", name="rank", mappings=MAPPINGS, options=()):
    path = os.path.join(PROGRAMS, program)
    return [STUB, *options, os.path.join(MEETING, job), str(mappings), path, name, *words]


def rank(job, *words, **how):
    return Running(command(job, *words), stdin=subprocess.PIPE, **how)


def check_end(running, code, text=None):
    if text is None:
        running.process.wait(harness.LIMIT)  # its input stays open until then
    got, _, errors = running.finish(text)
    assert got == code, f"ended with {got}, wanted {code}: {errors}"
    return errors


def host_of(pid):
    """Its parent."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def kill_host_of(pid):
    os.kill(host_of(pid), signal.SIGKILL)


def check_folder_is_gone(job):
    """The job's last host has ended, and has left nothing. To be called before the `with` block of the
    rank that came first ends: that kills what the rank has started, the host too, if it still lives."""
    assert eventually(lambda: not os.path.exists(os.path.join(MEETING, job))), "the folder is left"


def test_a_rank_is_what_the_launcher_made_of_its_stub():
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        read, write = os.pipe()
        os.write(write, b"hello")
        os.close(write)
        os.dup2(read, 77)

        def prepare():
            os.umask(0o31)
            resource.setrlimit(resource.RLIMIT_NOFILE, (123, 200))
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        line = command("inherit", "inheritance", "an argument", folder, name="another name")
        end = subprocess.run(line, cwd=folder, pass_fds=[77], preexec_fn=prepare, timeout=280,
                             env={**os.environ, "GIVEN": "a value"}, stdin=subprocess.DEVNULL,
                             check=False)
        os.close(read)
        os.close(77)
        assert end.returncode == 0
    check_folder_is_gone("inherit")


def test_programs_of_every_kind_are_ranks():
    for program in sorted(os.listdir(PROGRAMS)):
        if program.startswith(("rank.", "nested_function.")) and "fixed" not in program:
            line = command("kinds", "memory", program=program)
            end = subprocess.run(line, timeout=280, stdin=subprocess.DEVNULL, check=False)
            assert end.returncode == 0, (program, end)


def test_a_rank_does_all_that_a_process_does():
    for what in ("all", "children", "fences"):
        with rank("does", what) as one:
            check_end(one, 0)
            check_folder_is_gone("does")
    with rank("does", "exec") as one:
        check_end(one, 8)
        check_folder_is_gone("does")


def test_ranks_and_their_children_have_other_allocators():
    for library, function in harness.allocators().items():
        environment = {**os.environ, "LD_PRELOAD": library}
        all_end_well([subprocess.Popen(command("allocators", "allocator", function), env=environment)
                      for _ in range(4)])


def all_end_well(starts):
    for one in starts:
        assert one.wait(timeout=harness.LIMIT) == 0, (one.args, one.returncode)


def test_fortran_ranks_have_units_and_commons_of_their_own():
    if not os.path.exists(os.path.join(PROGRAMS, "fortran.gcc")):
        return  # no gfortran
    with tempfile.TemporaryDirectory() as folder:
        all_end_well([subprocess.Popen(command("fortran", str(number + 1), program="fortran.gcc"), cwd=folder)
                      for number in range(8)])
        assert not os.listdir(folder), os.listdir(folder)


def test_ranks_in_cxx_have_objects_of_their_own():
    for compiler in ("gcc", "clang"):
        if os.path.exists(os.path.join(PROGRAMS, f"cxx.{compiler}")):
            ranks = [subprocess.Popen(command("cxx", str(code), program=f"cxx.{compiler}"), stdout=subprocess.PIPE, text=True)
                     for code in range(8)]
            for code, one in enumerate(ranks):
                said, _ = one.communicate(timeout=harness.LIMIT)
                assert one.returncode == code and said.startswith("rank in C++, process "), (compiler, code, one.returncode, said)
            check_folder_is_gone("cxx")


def do_not_randomize():
    addr_no_randomize = 0x0040000
    if ctypes.CDLL(None).personality(addr_no_randomize) < 0:
        raise OSError("personality")


def test_addresses_need_not_be_random():
    all_end_well([subprocess.Popen(command("addresses", "memory"), preexec_fn=do_not_randomize) for _ in range(4)])


def limit_stack_to(size):
    return lambda: resource.setrlimit(resource.RLIMIT_STACK, (size, resource.RLIM_INFINITY))


def test_a_rank_has_the_stack_that_a_process_would_have():
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        print("the stack's hard limit is not unlimited: nothing is tested")
        return
    with open("/proc/sys/vm/overcommit_memory", encoding="utf-8") as file:
        counted = file.read().strip() == "2"
    for limit, mib in ((resource.RLIM_INFINITY, "20" if counted else "200"), (64 << 20, "60"), (1 << 30, "200")):
        end = subprocess.run(command("stacks", "deep", mib), preexec_fn=limit_stack_to(limit), timeout=harness.LIMIT,
                             check=False)
        assert end.returncode == 0, (limit, end)
    many = [subprocess.Popen(command("stacks", "memory"), preexec_fn=limit_stack_to(resource.RLIM_INFINITY))
            for _ in range(32)]
    all_end_well(many)


def test_ranks_may_have_huge_pages():
    all_end_well([subprocess.Popen(command("huge", "huge-pages")) for _ in range(4)])


def test_64_ranks_share_an_address_space_and_nothing_else():
    ranks = [rank("many", "ready") for _ in range(64)]
    try:
        pids = [one.rank_pids(1)[0] for one in ranks]
        hosts = set(map(host_of, pids))
        assert len(hosts) == 1 and len(set(pids)) == 64, (hosts, pids)
        for one in ranks:
            one.process.stdin.write("go\n")
            one.process.stdin.flush()
        for one in ranks:
            check_end(one, 0, "")
    except AssertionError:
        for one in ranks:
            one.__exit__()
        raise
    check_folder_is_gone("many")


def test_ranks_bring_more_open_files_than_a_user_may_have_under_way():
    """For root there is no such limit: this is for loader.user."""
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]
    line = command("files", "exit", "0")
    ranks = [subprocess.Popen(line, pass_fds=files, stdin=subprocess.DEVNULL) for _ in range(48)]
    for file in files:
        os.close(file)
    all_end_well(ranks)
    check_folder_is_gone("files")


def test_ranks_for_which_the_host_has_no_room_are_refused_in_one_line():
    def may_open_few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
    with contextlib.ExitStack() as stack:
        ranks = [stack.enter_context(rank("few", "ready", prepare=may_open_few)) for _ in range(40)]
        ready = [one for one in ranks if one.process.stdout.readline()]
        refused = [one for one in ranks if one not in ready]
        assert len(ready) > 10 and len(refused) > 10, (len(ready), refused[0].finish())
        for one in refused:
            errors = check_end(one, 2)
            assert len(errors) == 1 and "32 open files: raise ulimit -Hn" in errors[0], errors
        for one in ready:
            check_end(one, 0, "go\n")
        check_folder_is_gone("few")


def test_a_stub_that_says_nothing_holds_up_nobody():
    with rank("silent", "ready") as witness, contextlib.ExitStack() as stack:
        witness.rank_pids(1)
        for _ in range(2):
            silent = stack.enter_context(socket.socket(socket.AF_UNIX))
            silent.connect(os.path.join(MEETING, "silent", "host-0"))
        with rank("silent", "exit", "3") as one:
            check_end(one, 3)
        check_end(witness, 0, "go\n")
        stack.close()
        check_folder_is_gone("silent")


def test_ranks_that_come_as_the_last_one_ends_are_ranks():
    """Each finds the host as it ends, or none."""
    line = command("turns", "exit", "7")
    ends = []

    def come_and_go():
        for _ in range(60):
            ends.append(subprocess.run(line, stdin=subprocess.DEVNULL, timeout=harness.LIMIT, check=False).returncode)
    threads = [threading.Thread(target=come_and_go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == [7] * 240, ends
    assert eventually(lambda: not os.path.exists(os.path.join(MEETING, "turns"))), "the folder is left"


def test_the_stub_ends_as_the_rank_and_the_others_go_on():
    ends = {("exit", "7"): 7, ("exit-in-atexit",): 6, ("segfault",): -signal.SIGSEGV,
            ("overflow",): -signal.SIGSEGV, ("abort",): -signal.SIGABRT,
            ("raise", "15"): -signal.SIGTERM, ("raise", "9"): -signal.SIGKILL,
            ("raise", "10"): -signal.SIGUSR1}
    with rank("ends", "ready") as witness:
        witness.rank_pids(1)
        for words, code in ends.items():
            with rank("ends", *words) as one:
                check_end(one, code)
        check_end(witness, 0, "go\n")
        check_folder_is_gone("ends")


def test_a_rank_that_dumps_core_leaves_the_others():
    if tuple(int(part) for part in platform.release().split(".")[:2]) < (5, 16):
        return  # older kernels end all that share the memory: docs/user/virtual.md

    def may_dump():
        size = min(1 << 20, resource.getrlimit(resource.RLIMIT_CORE)[1])
        resource.setrlimit(resource.RLIMIT_CORE, (size, size))
    with tempfile.TemporaryDirectory() as folder, rank("core", "ready") as witness:
        witness.rank_pids(1)
        for way, number in (("segfault", signal.SIGSEGV), ("abort", signal.SIGABRT)):
            end = subprocess.run(command("core", way), cwd=folder, preexec_fn=may_dump, timeout=harness.LIMIT, check=False)
            assert end.returncode == -number, end
        check_end(witness, 0, "go\n")
        check_folder_is_gone("core")


def test_signals_to_the_stub_reach_the_rank():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGQUIT):
        with rank("signals", "ready") as one:
            one.rank_pids(1)
            one.process.send_signal(number)
            check_end(one, -number)
            check_folder_is_gone("signals")


def test_a_stopped_rank_is_a_stopped_stub():
    with rank("stop", "ready") as one:
        pid = one.rank_pids(1)[0]
        for _ in range(3):
            one.process.send_signal(signal.SIGTSTP)
            assert eventually(lambda: harness.state_of(pid) == "T"), "the rank is not stopped"
            assert eventually(lambda: harness.state_of(one.process.pid) == "T"), "nor its stub"
            one.process.send_signal(signal.SIGCONT)
            assert eventually(lambda: harness.state_of(pid) != "T"), "the rank is not resumed"
        check_end(one, 0, "go\n")
        check_folder_is_gone("stop")


def test_a_rank_ends_with_its_stub_alone():
    with rank("killed", "ready") as witness, rank("killed", "ready") as one:
        witness.rank_pids(1)
        pid = one.rank_pids(1)[0]
        one.process.kill()
        one.process.wait()
        assert eventually(lambda: not os.path.exists(f"/proc/{pid}")), "the rank lives on"
        check_end(witness, 0, "go\n")
        check_folder_is_gone("killed")


def test_ranks_end_with_their_host():
    with rank("host", "ready") as one, rank("host", "ready") as other:
        pids = [one.rank_pids(1)[0], other.rank_pids(1)[0]]
        kill_host_of(pids[0])
        for each in (one, other):
            errors = check_end(each, -signal.SIGKILL)  # as its rank
            assert len(errors) == 1 and "the host of process" in errors[0], errors
        assert eventually(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))
    with rank("host", "memory") as one:  # on what the dead one has left
        check_end(one, 0)
        check_folder_is_gone("host")


def test_a_host_whose_folder_was_removed_ends_with_its_last_rank():
    os.makedirs(os.path.join(MEETING, "around", "user"), 0o700)
    with rank("around/user/removed", "ready") as one:
        host = host_of(one.rank_pids(1)[0])
        shutil.rmtree(os.path.join(MEETING, "around"))
        check_end(one, 0, "go\n")
        assert eventually(lambda: not os.path.exists(f"/proc/{host}")), "the host lives on"


def test_what_a_killed_host_has_left_goes_with_the_next_start():
    with rank("dead", "ready") as one:
        kill_host_of(one.rank_pids(1)[0])
        check_end(one, -signal.SIGKILL)
    lock = os.path.join(MEETING, "dead", "lock")
    with rank("alive", "ready") as living:
        living.rank_pids(1)
        assert not os.path.exists(lock), "the dead one's folder is left"
        with rank("elsewhere", "ready") as one:
            kill_host_of(one.rank_pids(1)[0])
            check_end(one, -signal.SIGKILL)
        lock = os.path.join(MEETING, "elsewhere", "lock")
        with open(lock, "w", encoding="utf-8") as file:
            file.write("another machine's")
        with rank("third", "memory") as one:
            check_end(one, 0)
            check_folder_is_gone("third")
        assert os.path.exists(lock), "the folder of another machine is gone"
        shutil.rmtree(os.path.dirname(lock))
        assert os.path.exists(os.path.join(MEETING, "alive", "host-0")), "a living host's is gone"
        check_end(living, 0, "go\n")
        check_folder_is_gone("alive")


def test_who_does_not_fit_goes_to_another_address_space():
    with open("/proc/sys/vm/max_map_count", encoding="utf-8") as file:
        half = int(file.read()) * 2 // 5
    with Running(command("spaces", "ready", mappings=half), stdin=subprocess.PIPE) as first, \
            Running(command("spaces", "ready", mappings=half), stdin=subprocess.PIPE) as second, \
            Running(command("spaces", "ready", mappings=half), stdin=subprocess.PIPE) as third:
        for one in (first, second, third):
            one.rank_pids(1)
        hosts = sorted(os.listdir(os.path.join(MEETING, "spaces")))
        assert hosts == ["host-0", "host-1", "lock"], hosts
        for one in (first, second, third):
            check_end(one, 0, "go\n")
        check_folder_is_gone("spaces")


def test_128_ranks_have_all_mappings_that_they_need():
    """Together more than the kernel's limit for one address space. They all are there before any ends."""
    with open("/proc/sys/vm/max_map_count", encoding="utf-8") as file:
        limit = int(file.read())
    if limit > 1 << 18:
        print(f"vm.max_map_count is {limit}, far above the default: nothing is tested")
        return
    own = limit // 110
    line = command("many", "mappings", str(own), mappings=own + MAPPINGS)
    with contextlib.ExitStack() as stack:
        ranks = [stack.enter_context(subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
                 for _ in range(128)]
        for one in ranks:
            stack.callback(one.kill)
        assert all(" pid " in one.stdout.readline() for one in ranks)
        hosts = sorted(os.listdir(os.path.join(MEETING, "many")))
        assert hosts == ["host-0", "host-1", "lock"], hosts
        for one in ranks:
            one.communicate("go\n", timeout=harness.LIMIT)
        assert [one.returncode for one in ranks] == [0] * 128
        check_folder_is_gone("many")


def ways():
    """How a rank can be one: options of the stub."""
    return ((), ("--fiber",)) if platform.machine() == "x86_64" else ((),)


def test_a_rank_finds_itself_and_starts_itself_again():
    for options in ways():
        for program in ("oneself.gcc", "oneself.clang"):
            path = os.path.join(PROGRAMS, program)
            if os.path.exists(path):
                # By its path, and by another name; with and without libraries in front of it.
                for name, preload in ((path, None), ("oneself", ""), (path, "libm.so.6")):
                    environment = {**os.environ, "ONESELF": path, "EMPTY": ""}
                    environment.pop("LD_PRELOAD", None)
                    if preload is not None:
                        environment["LD_PRELOAD"] = preload
                    environment["PATH"] = PROGRAMS + ":" + environment["PATH"]
                    os.makedirs(os.path.join(MEETING, "names"), exist_ok=True)
                    link = os.path.join(MEETING, "names", "oneself")
                    if not os.path.lexists(link):
                        os.symlink(path, link)
                    environment["PATH"] = os.path.dirname(link) + ":" + environment["PATH"]
                    end = subprocess.run(command("oneself", "all", program=program, name=name, options=options),
                                         env=environment, stdin=subprocess.DEVNULL, timeout=harness.LIMIT, check=False)
                    assert end.returncode == 0, (options, name, preload, end)
    if os.path.exists(os.path.join(PROGRAMS, "fortran_oneself.gcc")):
        for options in ways():
            path = os.path.join(PROGRAMS, "fortran_oneself.gcc")
            end = subprocess.run(command("oneself", path, program="fortran_oneself.gcc", name=path, options=options),
                                 stdin=subprocess.DEVNULL, timeout=harness.LIMIT, check=False)
            assert end.returncode == 0, (options, end)


def test_a_rank_replaces_its_own_memory_and_no_others():
    at = "0x123400000000"
    for options in ways():
        for library in (None, *harness.allocators()):
            environment = {**os.environ, **({"LD_PRELOAD": library} if library else {})}
            all_end_well([subprocess.Popen(command("fixed", "own", program="fixed_addresses.gcc", options=options),
                                           env=environment) for _ in range(3)])
        with Running(command("fixed", "hold", at, program="fixed_addresses.gcc", options=options),
                     stdin=subprocess.PIPE) as holder:
            holder.rank_pids(1)
            for _ in range(2):
                with Running(command("fixed", "meet", at, program="fixed_addresses.gcc", options=options)) as other:
                    errors = check_end(other, 0)
                    assert len(errors) == 1 and at in errors[0] and "mmap with MAP_FIXED" in errors[0], errors
            check_end(holder, 0, "go\n")
            check_folder_is_gone("fixed")


def test_what_cannot_be_a_rank_is_refused_in_one_line():
    for program, word in (("rank-fixed.gcc", "-pie"), ("no-such-file", "No such file")):
        with Running(command("refused", program=program)) as one:
            errors = check_end(one, 2)
            check_folder_is_gone("refused")
        assert len(errors) == 1 and word in errors[0], errors


def refuse_dispatch():
    """As a kernel before Linux 5.11: prctl(PR_SET_SYSCALL_USER_DISPATCH) fails with EINVAL."""
    seccomp.deny_first_argument("prctl", 59, errno.EINVAL)


def test_where_there_can_be_no_rank_fibers_they_are_refused_in_one_line():
    if not seccomp.is_possible():
        return
    with Running(command("fibers", "memory", options=["--fiber"]), prepare=refuse_dispatch) as one:
        errors = check_end(one, 2)
        check_folder_is_gone("fibers")
    assert len(errors) == 1 and "Linux 5.11" in errors[0] and "--virtual alone" in errors[0], errors
    with Running(command("fibers", "memory"), prepare=refuse_dispatch) as one:
        check_end(one, 0)


if __name__ == "__main__":
    try:
        harness.run_tests(sys.modules[__name__])
    finally:
        shutil.rmtree(MEETING)
