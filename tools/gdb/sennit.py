# SPDX-License-Identifier: Apache-2.0
"""gdb: the tasks that Sennit has suspended, what each waits for, and its backtrace.

    gdb -p PID -batch -x share/sennit/gdb/sennit.py -ex 'sennit tasks'
    gdb ./app core -x share/sennit/gdb/sennit.py

A suspended task has a stack of its own that no kernel thread is on. An unwinder presents it as the
caller of the selected thread's innermost frame, which works in a core file too: nothing is written
or called in the process. The runtime's data is found through its debug information.

Virtual ranks are processes that share memory, each with libraries of its own, so with a runtime of its
own. Which libraries go together, their dynamic linkers tell; whose they are, the runtime's kernel
threads. Attached to a rank, the command is about that one; attached to their host, about all.
"""

import collections
import functools
import os
import re
import struct

import gdb
import gdb.unwinder

NAMESPACE = "sennit::sched::(anonymous namespace)::"

# Which registers jump_fcontext leaves below each other, the last one at the return address, when it
# switches away from a flow of control (src/tasks/fiber/context.h); by architecture.
SAVED_REGISTERS = {"i386:x86-64": ("r12", "r13", "r14", "r15", "rbx", "rbp", "rip")}
LOWERS_STACK = re.compile(rb"\x48\x8d\x64\x24(.)", re.DOTALL)  # lea -N(%rsp),%rsp

TASK_IMPLICIT, TASK_INITIAL, TASK_SPAWNED = 1 << 0, 1 << 1, 1 << 7  # Task::Flag


class NoRuntime(gdb.GdbError):
    """There is nothing of Sennit here, or no debug information of it."""


def show(line):
    """Names, labels and paths are the process's: no control character of theirs reaches the terminal."""
    print("".join(c if c.isprintable() else "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))
                  for c in line))


def lookup(name):
    try:
        return gdb.parse_and_eval(f"'{name}'")
    except gdb.error as error:
        raise NoRuntime(f"sennit: {error}: is Sennit's runtime in this process, with its debug "
                        "information?") from error


def atomic(value):
    """What a std::atomic holds."""
    for field in ("_M_b", "_M_i", "_M_p"):
        names = [f.name for f in value.type.strip_typedefs().fields()] if \
            value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT else []
        if field in names:
            return atomic(value[field])
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:  # the members of a base class
        return atomic(value[value.type.strip_typedefs().fields()[0]])
    return value


def pointed_to(pointer, type_name):
    return pointer.cast(gdb.lookup_type(type_name).pointer()).dereference()


def symbol(address):
    text = gdb.execute(f"info symbol {int(address):#x}", to_string=True).split(" in section")[0]
    return text.strip() if "No symbol" not in text else f"{int(address):#x}"


def plural(count, word):
    return f"{count} {word}" + ("" if count == 1 else "s")


# ---- virtual ranks -------------------------------------------------------------------------------

LOADER = "sennit-loader"
RUNTIME = "libsennit-omp"


class Image:
    """A library or program that is mapped, `bias` above the addresses in its file."""

    def __init__(self, path, low):
        self.path = path
        self.low = low
        self.high = low
        self.bias = low


def is_virtual(process):
    """Is it a virtual rank, or the host of some?"""
    try:
        return os.path.basename(os.readlink(f"/proc/{process}/exe")) == LOADER
    except OSError:
        return False


def parent_of(process):
    with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def ranks_of(host):
    """Processes that the host has started."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and is_virtual(entry) and parent_of(entry) == host:
                found.append(int(entry))
        except OSError:
            continue  # it has ended
    return sorted(found)


def images_of(process):
    """All that is mapped from files, by where it begins. Small ones may lie in holes of others."""
    images = {}
    last = {}
    with open(f"/proc/{process}/maps", encoding="utf-8") as file:
        for line in file:
            words = line.split(None, 5)
            path = words[5].strip() if len(words) == 6 else ""
            if not path.startswith("/"):
                continue
            low, high = (int(word, 16) for word in words[0].split("-"))
            if int(words[2], 16) == 0:
                last[path] = images[low] = Image(path, low)
            if path in last:
                last[path].high = high
    return images


SECTION = collections.namedtuple("SECTION", "name type flags address offset size link info alignment entry")
SHT_DYNSYM = 11


@functools.lru_cache(maxsize=None)
def dynamic_symbol(path, name):
    """Its value in a library's table for the dynamic linker; None: it has none."""
    with open(path, "rb") as file:
        data = file.read()
    offset, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [SECTION(*one) for one in struct.iter_unpack("<IIQQQQIIQQ", data[offset:offset + size * count])]
    for section in sections:
        if section.type != SHT_DYNSYM:
            continue
        for at in range(section.offset, section.offset + section.size, section.entry):
            start = sections[section.link].offset + struct.unpack_from("<I", data, at)[0]
            if data[start:start + len(name) + 1] == name.encode() + b"\0":
                return struct.unpack_from("<Q", data, at + 8)[0]
    return None


class Memory:
    """Of the process that gdb is attached to."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()

    def words(self, address, count):
        return struct.unpack(f"<{count}Q", self.inferior.read_memory(address, 8 * count).tobytes())


def library_sets(images):
    """What each dynamic linker has loaded: lists of images."""
    memory = Memory()
    sets = []
    for linker in images.values():
        if not os.path.basename(linker.path).startswith("ld-"):
            continue
        offset = dynamic_symbol(linker.path, "_r_debug")
        if offset is None:
            continue
        loaded = []
        _, entry = memory.words(linker.low + offset, 2)  # r_debug: version, first
        while entry:
            bias, _, _, entry = memory.words(entry, 4)  # link_map: l_addr, l_name, l_ld, l_next
            if bias in images:
                loaded.append(images[bias])
        if loaded:
            sets.append(loaded)
    return sets


def runtime_in(images):
    return next((one for one in images if os.path.basename(one.path).startswith(RUNTIME)), None)


class Symbols:
    """gdb's, of images of all ranks that were looked at: it does not forget some of them safely."""

    def __init__(self):
        self.loaded = set()
        self.table = None  # of the runtime's workers, by its image
        self.table_type = None

    def load(self, image):
        if image.low not in self.loaded:
            self.loaded.add(image.low)
            path = re.sub(r'(["\\])', r"\\\1", image.path)
            gdb.execute(f'add-symbol-file "{path}" -o {image.bias:#x}', to_string=True)

    def table_of(self, runtime):
        """One name, and as many variables as there are runtimes: so by where it is in the first."""
        if self.table is None:
            self.load(runtime)
            table = lookup(NAMESPACE + "g_table")
            self.table = int(table.address) - runtime.bias
            self.table_type = table.type
        return gdb.Value(self.table + runtime.bias).cast(self.table_type.pointer()).dereference()


SYMBOLS = Symbols()


class VirtualRank:
    """The rank that gdb is attached to: the libraries that are its own."""

    def __init__(self, process):
        self.images = []
        threads = {thread.ptid[1] for thread in gdb.selected_inferior().threads()}
        self.all = images_of(process)
        for one in library_sets(self.all):
            runtime = runtime_in(one)
            if runtime and threads & {int(atomic(worker["thread"]["id_"]))
                                      for _, worker in workers(SYMBOLS.table_of(runtime))}:
                self.images = one
        for image in self.images:
            SYMBOLS.load(image)

    def table(self):
        return SYMBOLS.table_of(runtime_in(self.images))

    def name_of(self, address):
        """gdb finds the frames of tail calls by name, so in whichever rank."""
        return next((one.path for one in self.all.values() if one.low <= address < one.high), None)


ENTERED = None  # the virtual rank that is looked at


def library_name(address):
    """Of the library whose code it is; None: of none that gdb knows."""
    return gdb.solib_name(address) or (ENTERED.name_of(address) if ENTERED else None)


@functools.lru_cache(maxsize=None)
def size_below_return_address():
    """How far jump_fcontext lowers the stack pointer: that of Boost 1.83 keeps a word more than that of 1.74."""
    try:
        start = int(gdb.parse_and_eval("(unsigned long)&jump_fcontext"))
        found = LOWERS_STACK.search(gdb.selected_inferior().read_memory(start, 16).tobytes())
    except gdb.error:
        found = None
    return 256 - found[1][0] if found else 0x38


class Switched(gdb.unwinder.Unwinder):
    """Makes a suspended stack the caller of the innermost frame of the selected thread."""

    def __init__(self):
        super().__init__("sennit-suspended")
        self.stack = None  # saved stack pointer
        self.innermost = None  # (sp, pc) of the thread

    def __call__(self, frame):
        if self.stack is None:
            return None
        registers = SAVED_REGISTERS.get(frame.architecture().name())
        if registers is None:
            return None
        sp = int(frame.read_register("rsp"))
        pc = int(frame.read_register("rip"))
        if (sp, pc) != self.innermost:
            return None

        class Id:
            def __init__(self):
                self.sp = gdb.Value(sp)
                self.pc = gdb.Value(pc)
        unwound = frame.create_unwind_info(Id())
        word = gdb.lookup_type("unsigned long")
        end = self.stack + size_below_return_address() + 8
        for name, address in zip(registers, range(end - 8 * len(registers), end, 8)):
            unwound.add_saved_register(name, gdb.Value(address).cast(word.pointer()).dereference())
        unwound.add_saved_register("rsp", gdb.Value(end).cast(word))
        return unwound


SWITCHED = Switched()
gdb.unwinder.register_unwinder(None, SWITCHED, replace=True)


def is_runtime(frame):
    """Frames of Sennit and MPI between a task and its wait are of no interest."""
    name = library_name(frame.pc()) or ""
    return any(part in name for part in ("libsennit", "libgomp", "libomp", "libiomp5"))


def print_backtrace(frame, limit=16):
    """From the wait outwards, without the runtime's frames and what they called."""
    lines = []
    waiting = True  # in what the runtime called to wait
    while frame is not None and len(lines) < limit:
        try:
            if is_runtime(frame):
                if waiting:
                    lines.clear()
                waiting = False
            else:
                if frame.name() is None and library_name(frame.pc()) is None:
                    break  # below the first function of a stack
                where = frame.find_sal()
                place = f" at {where.symtab.filename}:{where.line}" if where.symtab else ""
                lines.append(f"      {frame.name() or hex(frame.pc())}{place}")
            frame = frame.older()
        except gdb.error:
            break
    for line in lines:
        show(line)


class Wait:
    """One sennit::sched::Wait."""

    def __init__(self, value):
        self.kind = str(value["kind"]).rsplit("::", maxsplit=1)[-1]
        self.object = value["object"]
        self.task = value["task"]
        self.slot = value["slot"]
        self.outer = value["outer"]

    def who(self):
        if int(self.task) == 0:
            return "a thread"
        task = self.task.dereference()
        flags = int(task["flags"])
        if flags & TASK_INITIAL:
            return "the initial task"
        if flags & TASK_IMPLICIT:
            slot = self.slot.dereference()
            size = slot["group"].dereference()["size"]
            return f"the implicit task of thread {slot['index']} of {size}"
        if flags & TASK_SPAWNED:
            payload = pointed_to(self.task + 1, "sennit::task::SpawnPayload")
            label = payload["label"].string(errors="replace")
            if label:
                return f"task '{label}'"
        return f"task '{symbol(task['entry'])}'"

    def what(self):
        describe = getattr(self, "what_" + self.kind, None)
        return describe() if describe else self.kind

    def what_children(self):
        task = self.task.dereference()
        left = int(atomic(task["pending"])) // 4 + int(task["spawned"])
        return f"taskwait for {plural(left, 'child task')}"

    def what_taskgroup(self):
        left = int(atomic(pointed_to(self.object, "sennit::Taskgroup")["count"])) // 2
        return f"end of a taskgroup, {plural(left, 'task')} left"

    def what_dependences(self):
        left = int(atomic(pointed_to(self.object, "sennit::DependNode")["missing"]))
        return f"waits for {plural(left, 'task')} that it depends on"

    def what_barrier(self):
        team = pointed_to(self.object, "sennit::omp::Team")
        left = int(team["size"]) - (int(atomic(team["arrived"])) & 0xffffffff)
        if left > 0:
            return f"barrier that {plural(left, 'thread')} of the team did not reach"
        return "barrier, all threads are there, tasks of the team are left"

    def what_lock(self):
        return f"waits for the lock (or critical section) {int(self.object):#x}"

    def what_time(self):
        return "waits for a point in time"

    def what_turn(self):
        return "waits for its turn in an ordered or doacross loop"

    def what_resumption(self):
        if int(self.object) == 0:
            return "suspended by a library, waits for an event from outside"
        wait = pointed_to(self.object, "sennit_wait")
        text = wait["call"].string(errors="replace")
        if int(wait["direction"]) != 0:
            way = "to" if int(wait["direction"]) == 1 else "from"
            peer = int(wait["peer"])
            text += f" {way} rank {peer} of its communicator" if peer >= 0 else f" {way} any rank"
            if int(wait["tag"]) >= 0:
                text += f", tag {wait['tag']}"
        if int(wait["count"]) >= 0:
            text += f", count {wait['count']}"
        return text


def waits_of(fiber):
    """Innermost first."""
    pointer = atomic(fiber["waits"])
    while int(pointer) != 0:
        wait = Wait(pointer.dereference())
        if wait.kind != "nobody":
            yield wait
        pointer = wait.outer


def fibers_of(worker):
    yield worker["fibers"]["root"]
    fiber = worker["fibers"]["all_"]
    while int(fiber) != 0:
        yield fiber.dereference()
        fiber = fiber.dereference()["listed_next"]


def workers(table):
    for i in range(int(atomic(table["count_"]))):
        worker = atomic(table["workers_"][i])
        if int(worker) != 0 and not bool(atomic(worker.dereference()["activity"]["away_"])):
            yield i, worker.dereference()


class Tasks(gdb.Command):
    """List the tasks that wait, what each waits for, and where: sennit tasks [no-backtrace]"""

    def __init__(self):
        super().__init__("sennit tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        process = gdb.selected_inferior().pid
        if not is_virtual(process):
            self.tell("no-backtrace" not in argument)
        elif is_virtual(parent_of(process)):
            self.tell_rank(process, "no-backtrace" not in argument)
        else:
            gdb.execute("detach", to_string=True)
            for rank in ranks_of(process):
                show(f"process {rank}, a virtual rank")
                gdb.execute(f"attach {rank}", to_string=True)
                self.tell_rank(rank, "no-backtrace" not in argument)
                gdb.execute("detach", to_string=True)

    def tell_rank(self, process, backtraces):
        global ENTERED  # pylint: disable=global-statement
        rank = VirtualRank(process)
        if not rank.images:
            show("sennit: no OpenMP runtime at work in it")
            return
        ENTERED = rank
        try:
            self.tell(backtraces)
        finally:
            ENTERED = None

    def tell(self, backtraces):
        chosen = gdb.selected_thread()
        try:
            number = self.list_tasks(backtraces)
        finally:
            self.present(None)
            if chosen is not None:
                chosen.switch()
        show(f"sennit: {plural(number, 'task')} waiting" if number else
              "sennit: no task waits")

    def list_tasks(self, backtraces):
        threads = {thread.ptid[1]: thread for thread in gdb.selected_inferior().threads()}
        number = 0
        for index, worker in workers(ENTERED.table() if ENTERED else lookup(NAMESPACE + "g_table")):
            thread = threads.get(int(atomic(worker["thread"]["id_"])))
            state = "idle" if int(atomic(worker["activity"]["idle_since_"])) else "at work"
            show(f"worker {index}, {'thread %d' % thread.num if thread else 'no thread'}: {state}")
            current = int(atomic(worker["fibers"]["current_"]))
            for fiber in fibers_of(worker):
                innermost = True
                for wait in waits_of(fiber):
                    number += 1
                    show(f"  #{number} {wait.who()}: {wait.what()}"
                          + ("" if innermost else " (under the one above, on its stack)"))
                    if backtraces and innermost and thread is not None:
                        self.show(thread, fiber, int(fiber.address) == current)
                    innermost = False
            task = worker["events"]["first"]
            while int(task) != 0:
                number += 1
                left = int(atomic(task.dereference()["events"]))
                show(f"  #{number} task '{symbol(task.dereference()['entry'])}': has ended, waits "
                      f"for an event from outside ({left} not fulfilled)")
                task = task.dereference()["listed_next"]
        return number

    def show(self, thread, fiber, running):
        thread.switch()
        if not running:
            if gdb.newest_frame().architecture().name() not in SAVED_REGISTERS:
                show("      (no backtraces of suspended tasks on this architecture)")
                return
            self.present(int(fiber["context"]["pointer"]))
        frame = gdb.newest_frame()
        print_backtrace(frame if running else frame.older())
        self.present(None)

    @staticmethod
    def present(stack):
        SWITCHED.stack = None
        gdb.invalidate_cached_frames()
        if stack is not None:
            frame = gdb.newest_frame()
            SWITCHED.innermost = (int(frame.read_register("sp")), int(frame.pc()))
            SWITCHED.stack = stack
            gdb.invalidate_cached_frames()


class Prefix(gdb.Command):
    """Commands for Sennit's runtime."""

    def __init__(self):
        super().__init__("sennit", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


Prefix()
Tasks()
