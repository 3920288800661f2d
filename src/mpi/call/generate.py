#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make the exported MPI_* and PMPI_* functions from calls.txt and an MPI's own header.

usage: generate.py --calls calls.txt --header preprocessed-mpi.h --output wrappers.cpp
       generate.py --calls calls.txt --document mpi.md [--check]

The second form writes the list of calls into the user's documentation; with --check it only looks
whether the list there is current.
"""

import argparse
import re
import sys

COLUMNS = ["kind", "name", "twin", "since", "ordered", "notice", "peer", "tag", "status"]


def read_calls(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                yield dict(zip(COLUMNS, line.split(), strict=True))


class Header:
    """What an MPI declares."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as header:
            text = re.sub(r"^#.*$", "", header.read(), flags=re.MULTILINE)
        text = re.sub(r"\s+", " ", text)
        standard = re.search(r"sennit_mpi_standard\[\] = \{ ?(\d+), (\d+)", text)
        self.standard = float(f"{standard.group(1)}.{standard.group(2)}")
        # The standard ABI leaves Fortran to a library of its own.
        self.has_fortran = "sennit_mpi_fortran" in text
        self.is_openmpi = "ompi_communicator_t" in text
        self.is_mpich = "sennit_mpich" in text
        self.collectives = set()  # those that have no row
        self.tampi = set(re.findall(r"\bint TAMPI_(\w+)\(", text))
        self.prototypes = {}  # name without MPI_ -> list of (declaration, argument name)
        for match in re.finditer(r"\bint MPI_(\w+)\(([^()]*)\)", text):
            declarations = [part.strip() for part in match.group(2).split(",")]
            if declarations == ["void"]:
                declarations = []
            if "..." in declarations:
                continue
            names = [re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part).group(1)
                     for part in declarations]
            self.prototypes[match.group(1)] = list(zip(declarations, names))

    def has_by_hand(self, name):
        """See wrap/file_queue.h."""
        return self.is_mpich and re.match(r"File_i(read|write)(_at)?_all", name)

    def makes_request(self, name):
        """Where MPI writes a request: the last argument of many calls. Others are given theirs."""
        arguments = self.prototypes[name]
        if len(arguments) < 2 or not re.match(r"MPI_Request ?\* ?\w+$", arguments[-1][0]):
            return None
        return None if arguments[-1][1].startswith("array") else arguments[-1][1]

    def declares_tampi(self, name):
        return name in self.tampi

    def has(self, name):
        return name in self.prototypes

    def has_wrong(self, name):
        """Open MPI's mix up the blocks of the two neighbors along a periodic dimension of one or two ranks, as
        the blocking forms do not (its issue 14430)."""
        return self.is_openmpi and name.startswith("Ineighbor_alltoall")


PREAMBLE = """// Generated from calls.txt by generate.py: do not edit.
#include "mpi/call/blocked_mark.h"
#include "mpi/call/table.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/attempt.h"
#include "mpi/engine/delegate.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/batch.h"
#include "mpi/extensions/continuation.h"
#include "mpi/quirks/test_all.h"
#include "mpi/quirks/unfit_twins.h"
#include "mpi/record/collective_calls.h"
#include "mpi/record/persistent.h"
#include "mpi/record/request_table.h"
#include "mpi/record/traced.h"
#include "mpi/wrap/collective_form.h"
#include "mpi/wrap/spawn.h"

#include "TAMPI.h"

using namespace sennit::mpi;

"""

EXPORT = """extern "C" SENNIT_EXPORT int MPI_{name}({parameters})
    __attribute__((alias("sennit_MPI_{name}")));
extern "C" SENNIT_EXPORT int PMPI_{name}({parameters})
    __attribute__((alias("sennit_MPI_{name}")));

"""

# Where there are no tasks, nothing stands before the bare call but the mark, and no branch is taken.
ENTRY = """{entry}({parameters}) {{
    static constexpr auto bare = {bare};
    const CallPath path = call_path();
    if (path == CallPath::marked && !is_marked()) [[likely]] {{
        {first_mark}
        return bare({arguments});
    }}
    return path == CallPath::bare ? bare({arguments}) : attended_{name}({arguments});
}}
"""

IN_TASK = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    {traced}
    {numbered}
    if (!{suspends}) {{
        {mark}
        return bare({arguments});
    }}
    const Operation operation{{"MPI_{name}", Notice::{notice}, {peer}, {number}, {object}, {turn},
                              {count}, {requests}, {handles}}};
    if (const int error = chaos::failure(operation))
        return error;
"""

START = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    static constexpr auto twin = SENNIT_BARE({twin});
    {traced}
    if (!{suspends}) {{
        {mark}
        return bare({arguments});
    }}
    const auto start = [&](MPI_Request *request) {{ return twin({twin_arguments}); }};
    Attempt attempt;
    if (Attempt::is_allowed(Notice::{notice}, {count}) &&
        attempt.is_over(Notice::{notice}, start, {status})) [[likely]]
        return attempt.error;
    const Operation operation{{"MPI_{name}", Notice::{notice}, {peer}, {number}, {object}, {turn},
                              {count}, {requests}, {handles}}};
    if (attempt.started)
        return go_on(attempt, operation, {status});
    if (const int error = chaos::failure(operation))
        return error;
    return start_and_wait(operation, {status}, start);
}}
""" + ENTRY

# A collective: which form it has is decided in one place, for all ranks have to decide alike.
COLLECTIVE = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    static constexpr auto twin = SENNIT_BARE({twin});
    {traced}
    const auto blocking = [&] {{ return bare({arguments}); }};
    const auto start = [&](MPI_Request *request) {{ return twin({twin_arguments}); }};
    const CollectiveForm form = collective_form({has_twin});
    {numbered_by_form}
    if (form == CollectiveForm::blocking) {{
        {mark}
        return blocking();
    }}
    const Operation operation{{"MPI_{name}", Notice::{notice}, {peer}, {number}, {object}, {turn},
                              {count}, {requests}, {handles}}};
    if (form == CollectiveForm::started)
        return start_and_block(operation, start);
    if (const int error = chaos::failure(operation))
        return error;
    return form == CollectiveForm::delegated ? delegate(operation, blocking)
                                             : start_and_wait(operation, {status}, start);
}}
""" + ENTRY

# A wait for the program's requests: some may be continuation requests.
WAIT = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    {test}
    {traced}
    const auto over = [&](int *flag) {{
        const int error = test({twin_arguments});
        {set_flag}
        return error;
    }};
    const Operation operation{{"MPI_{name}", Notice::{notice}, {peer}, {tag}, {object}, {turn},
                              {count}, {requests}, {handles}}};
    if (continuations() && !inside_mpi())
        return wait_attending(operation, {all}, {requests}, {handles}, {statuses}, in_task(), over);
    if (!must_not_block()) {{
        {mark}
        return bare({arguments});
    }}
    if (const int error = chaos::failure(operation))
        return error;
    return poll_and_wait(operation, over);
}}
""" + ENTRY

POLL = IN_TASK + """    {test}
    return poll_and_wait(operation, [&](int *flag) {{
        const int error = test({twin_arguments});
        {set_flag}
        return error;
    }});
}}
""" + ENTRY

# TAMPI's calls without a request: as the blocking call, and the task's completion waits. Those that
# are collective are the non-blocking form everywhere.
BOUND = """extern "C" SENNIT_EXPORT int TAMPI_{twin}({parameters}) {{
    {bound_outside}
    static constexpr auto twin = SENNIT_BARE({twin});
    {numbered_twin}
    const Operation operation{{"TAMPI_{twin}", Notice::{notice}, {peer}, {number}, {object}, {turn},
                              {count}}};
    {bound_blocks}
    if (const int error = chaos::failure(operation))
        return error;
    return start_and_bind(operation, {status},
                          [&](MPI_Request *request) {{ return twin({twin_arguments}); }});
}}

"""

# The same for Fortran.
BOUND_FORTRAN = """extern "C" SENNIT_EXPORT void tampi_{lower}_({fortran_parameters}) {{
    *fortran_error = TAMPI_{twin}({from_fortran});
}}

"""

DELEGATE = IN_TASK + """    return delegate(operation, [&] {{ return bare({arguments}); }});
}}
""" + ENTRY

# The runtime's policies are told of sends. Without tasks, no more is to be done than to note the request.
POSTS = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    if (call_path() == CallPath::marked) {{
        const int error = bare({arguments});
        {noted}
        return error;
    }}
    {begins}
    const int error = outside_task([&] {{ return bare({arguments}); }});
    {noted}
    trace_post({facts}, {request}, {bytes});
    {receive_posted}
    return error;
}}
extern "C" int sennit_MPI_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    return request_call_path() == CallPath::attended ? attended_{name}({arguments}) : bare({arguments});
}}
"""

# Other calls that make a request: those without a row, and those with an entry of their own.
POST = """extern "C" int sennit_MPI_{name}({parameters}) {{
    static constexpr auto bare = {posts};
    {numbered_post}
    const int error = bare({arguments});
    {noted}
    {remembered}
    return error;
}}
"""

# A test that finds nothing, again and again, must not keep the thread from tasks that are suspended on it.
TEST = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    {own_status}
    const int error = outside_task([&] {{ return bare({arguments}); }});
    if (error == MPI_SUCCESS && *flag == 0)
        note_test_in_vain();
    {found}
    return error;
}}
extern "C" int sennit_MPI_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    return call_path() == CallPath::attended ? attended_{name}({arguments}) : bare({arguments});
}}
"""

# What MPI_Start will not say.
PERSISTENT = """[[gnu::noinline]] static int attended_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    const int error = outside_task([&] {{ return bare({arguments}); }});
    if (error == MPI_SUCCESS)
        remember(Notice::{notice}, {facts}, *request, {bytes});
    {noted}
    return error;
}}
extern "C" int sennit_MPI_{name}({parameters}) {{
    static constexpr auto bare = {bare};
    return call_path() == CallPath::bare ? bare({arguments}) : attended_{name}({arguments});
}}
"""


def from_fortran(declaration, name):
    """An argument of a Fortran binding, and the C argument that it becomes."""
    handles = {"MPI_Comm": "MPI_Comm_f2c", "MPI_Datatype": "MPI_Type_f2c", "MPI_Op": "MPI_Op_f2c"}
    kind = re.match(r"(?:const )?(\w+)", declaration).group(1)
    if kind == "void":
        return f"void *{name}", f"buffer_from_fortran({name})"
    if kind == "MPI_Status":
        return f"MPI_Fint *{name}", f"status_from_fortran({name})"
    if kind == "MPI_Datatype" and "[" in declaration:
        return f"MPI_Fint *{name}", f"datatypes_from_fortran({name}, MPI_Comm_f2c(*comm))"
    if kind in handles:
        return f"MPI_Fint *{name}", f"{handles[kind]}(*{name})"
    return f"MPI_Fint *{name}", name if "[" in declaration else f"*{name}"


OBJECTS = {"MPI_Comm": "communicator", "MPI_Win": "window", "MPI_File": "file_object"}


def object_of(arguments):
    """What the call works on: its first communicator, window or file; its only argument may be the
    address of one."""
    for declaration, name in arguments:
        kind = re.match(r"(MPI_\w+) (\*?)", declaration)
        if kind and kind.group(1) in OBJECTS and (not kind.group(2) or len(arguments) == 1):
            return f"{OBJECTS[kind.group(1)]}({name})"
    return "Object{}"


def wrapper(call, header, suffix):
    """The wrapper of a row, or of its form with large counts, where suffix is _c."""
    name = call["name"] + suffix
    twin = call["twin"] + suffix
    arguments = header.prototypes[name]
    names = [argument for _, argument in arguments]

    def argument_or(value, default):
        if value == "-":
            return default
        if value not in names:
            sys.exit(f"generate.py: MPI_{name} has no argument '{value}'")
        return value

    kind = call["kind"]
    fields = {
        "name": name,
        "twin": twin,
        # The MPI's own, or what is to be called in its place.
        "bare": call["twin"] if call["kind"] == "delegate" and call["twin"] != "-"
                else f"SENNIT_BARE({name})",
        "parameters": ", ".join(declaration for declaration, _ in arguments) or "void",
        "arguments": ", ".join(names),
        "notice": {"-": "none"}.get(call["notice"], call["notice"]),
        "peer": argument_or(call["peer"], "-1"),
        "tag": argument_or(call["tag"], "-1"),
        "object": object_of(arguments),
        "turn": {"-": "Object{{}}", "yes": "{}", "files": "file_turn({})"}[call["ordered"]].format(
            object_of(arguments)),
        # A message to or from nobody never blocks, and bare MPI knows what its status is.
        "never_blocks": "" if call["notice"] == "-" or call["peer"] == "-"
                        else call["peer"] + " == MPI_PROC_NULL",
        "test": "TestAll test;" if twin == "Testall"
                else f"static constexpr auto test = SENNIT_BARE({twin});",
        "status": argument_or(call["status"], "MPI_STATUS_IGNORE"),
    }
    # For reports of hangs: see call/blocked_mark.h. What takes long in a file waits for no other rank.
    direction = {"send": "SENNIT_NOTICE_SEND", "receive": "SENNIT_NOTICE_RECEIVE"}
    number = "incount" if "incount" in names else "count"
    of_requests = number in names and any(n.startswith("array_of_req") or n == "requests" for n in names)
    elements = next((n for n in ("count", "sendcount", "recvcount") if n in names), "-1")
    fields["count"] = "-1" if of_requests else elements
    fields["requests"] = number if of_requests else "0"
    fields["handles"] = next((n for n in names if of_requests and "req" in n), "nullptr")
    # See record/collective_calls.h. The initialization of a persistent one is such a call, too.
    collective = fields["object"].startswith("communicator") and (
        call["ordered"] == "yes" or call["kind"] == "post" and name in header.collectives)
    root = "root" if "root" in names else "-1"
    counted = f'{fields["object"]}, "MPI_{name}", {root}'
    fields["number"] = "number" if collective else fields["tag"]
    count = f"const int number = count_unless_inside({counted});" if collective else ""
    fields["numbered"] = count
    fields["numbered_by_form"] = count.replace(
        f'"MPI_{name}"', f'SENNIT_COLLECTIVE_NAME(form, "MPI_{name}")')
    fields["numbered_post"] = count if call["kind"] == "post" else ""
    fields["numbered_twin"] = count.replace(f'"MPI_{name}"', f'"MPI_{twin}"')
    if name.startswith("File_"):
        fields["mark"] = fields["first_mark"] = "const Inside inside;"
    else:
        said = (f'static constexpr sennit_call call{{"MPI_{name}", {direction.get(call["notice"], "0")}, '
                f'{int(of_requests)}}};')
        where = f'handle_bits({fields["handles"]})' if of_requests else f'group_of({fields["object"]})'
        peer = fields["requests"] if of_requests else fields["peer"]
        first = f"count_collective({counted})" if collective else fields["tag"]
        fields["mark"] = f'{said}\n        const Blocking mark(call, {peer}, {fields["number"]}, {where});'
        fields["first_mark"] = f"{said}\n        const BlockedMark mark(call, {peer}, {first}, {where});"
    # On the timeline.
    of_count = next(((c, t) for c, t in (("count", "datatype"), ("sendcount", "sendtype"),
                                         ("recvcount", "recvtype"))
                     if c in names and t in names), None)
    fields["bytes"] = ("[&] { return message_bytes(%s, %s); }" % of_count if of_count
                       else "[] { return std::uint64_t{0}; }")
    on_timeline = "Start" if kind == "persistent" else name
    fields["facts"] = (
        f'{{"MPI_{on_timeline}", {direction.get(call["notice"], "0")}, {fields["peer"]}, '
        f'{fields["tag"]}, {fields["object"]}, {fields["requests"]}, {fields["handles"]}}}')
    request = header.makes_request(name)
    fields["request"] = request or "nullptr"
    about = (("kExchange", "source", "recvtag") if {"source", "dest"} <= set(names)
             else (direction.get(call["notice"], "0"), root if call["kind"] == "post" and collective
                   else fields["peer"],
                   fields["number"] if call["kind"] == "post" else fields["tag"]))
    sends = ", dest, sendtag" if about[0] == "kExchange" else ""
    fields["noted"] = "" if not request else (
        f'static constexpr sennit_call call{{"MPI_{name}", {about[0]}, 0}};\n'
        f'    note_request(error, {request}, {{&call, {about[1]}, {about[2]}, '
        f'group_of({fields["object"]}){sends}}});')
    fields["remembered"] = f"remember(error, {request});" if call["name"].endswith("_init") else ""
    fields["begins"] = (f'g_engine.begin_send({fields["peer"]}, {fields["tag"]}, {fields["object"]});'
                        if kind == "notify" else "")
    behind = request and kind == "delegate"
    fields["entry"] = f'static int entry_{name}' if behind else f'extern "C" int sennit_MPI_{name}'
    fields["posts"] = f"entry_{name}" if behind else fields["bare"]
    watched = call["status"] != "-"
    # What it receives has the same request.
    receives = {"source", "dest"} <= set(names) and request
    fields["receive_posted"] = "" if not receives else (
        f'trace_post({{"MPI_{name}", SENNIT_NOTICE_RECEIVE, source, recvtag, {fields["object"]}}}, '
        f'{request}, [&] {{ return message_bytes(%s, %s); }});' % (
            ("recvcount", "recvtype") if "recvcount" in names else ("count", "datatype")))
    # A test that finds a message which nobody else can receive any more.
    finds = kind == "test" and watched
    fields["own_status"] = "" if not finds else (
        f'MPI_Status own;\n    if (g_tracing && {call["status"]} == MPI_STATUS_IGNORE)\n'
        f'        {call["status"]} = &own;')
    fields["found"] = "" if not finds else (
        f'else if (error == MPI_SUCCESS && g_tracing)\n        trace_found({fields["facts"]}, *{call["status"]});')
    fields["traced"] = (f'Traced traced([&] {{ return CallFacts{fields["facts"]}; }}, '
                        f'{fields["bytes"]});')
    if watched:
        fields["traced"] += f'\n    {call["status"]} = traced.status({call["status"]});'
    if kind == "start" and (not header.has(twin) or header.has_wrong(twin)):
        kind = "delegate"
    together = kind == "start" and call["ordered"] != "-"
    told = f"Notice::{fields['notice']}" if fields["notice"] == "send" or fields["never_blocks"] else ""
    fields["suspends"] = f"must_not_block({', '.join(filter(None, (told, fields['never_blocks'])))})"
    if kind == "start":
        fields["twin_arguments"] = ", ".join([n for n in names if n != call["status"]]
                                             + ["request"])
    # See quirks/unfit_twins.h.
    unfit = ("is_user_defined(op)" if "op" in names
             else "is_between_groups(comm)" if call["name"] == "Bcast" and not header.is_openmpi
             else "")
    fields["has_twin"] = f"!{unfit}" if unfit else "true"
    outside = f"if (!in_task({fields['never_blocks']}))\n        return "
    fields["bound_outside"] = "" if together else f"{outside}sennit_MPI_{name}({fields['arguments']});"
    fields["bound_blocks"] = "" if not together else (
        f"{outside}start_and_block(operation, [&](MPI_Request *request) {{ "
        f"return twin({fields.get('twin_arguments')}); }});")
    if together:
        kind = "collective"
    if kind == "poll":
        # The tests have the arguments of the waits, and all but Testsome a flag.
        tested = [argument for _, argument in header.prototypes[twin]]
        fields["twin_arguments"] = ", ".join(tested)
        fields["set_flag"] = "" if "flag" in tested else "*flag = *outcount != 0;"
    if kind == "poll" and of_requests:
        fields["all"] = "true" if name == "Waitall" else "false"
        fields["statuses"] = next(n for n in names if "status" in n)
        kind = "wait"
    template = {"wait": WAIT, "start": START, "collective": COLLECTIVE, "poll": POLL, "delegate": DELEGATE, "notify": POSTS,
                "trace": POSTS, "test": TEST, "persistent": PERSISTENT, "post": POST}[kind]
    if behind:
        template += POST
    bound = BOUND if kind in ("start", "collective") and header.declares_tampi(twin) else ""
    if bound and header.has_fortran:
        bound += BOUND_FORTRAN
        pairs = [from_fortran(*argument) for argument in arguments]
        fields["lower"] = twin.lower()
        fields["fortran_parameters"] = ", ".join([parameter for parameter, _ in pairs]
                                                 + ["MPI_Fint *fortran_error"])
        fields["from_fortran"] = ", ".join(argument for _, argument in pairs)
    return (template + EXPORT + bound).format(**fields)


def unlisted(name, header):
    """A row for a call that has none and makes a request."""
    names = [argument for _, argument in header.prototypes[name]]
    peer = next((peer for peer in ("dest", "source") if peer in names), "-")
    return dict.fromkeys(COLUMNS, "-") | {
        "kind": "post", "name": name, "peer": peer, "tag": "tag" if "tag" in names else "-",
        # MPICH's MPI_Precv_init has a `dest`, too.
        "notice": "receive" if name.startswith("Precv")
                  else {"dest": "send", "source": "receive", "-": "-"}[peer]}


BLOCKING = {"start", "poll", "delegate", "custom"}

MAY_BLOCK = """#include <strings.h>

int sennit::mpi::is_blocking(const char *symbol) {{
    static constexpr struct {{
        const char *name;
        std::size_t length;
    }} calls[] = {{{rows}}};
    symbol += *symbol == 'P' || *symbol == 'p';
    if (strncasecmp(symbol, "mpi_", 4) != 0)
        return 0;
    // What follows is Fortran's: _, _f08_; or stands for large counts: _c.
    for (const auto &call : calls)
        if (strncasecmp(symbol + 4, call.name, call.length) == 0 &&
            (symbol[4 + call.length] == 0 || symbol[4 + call.length] == '_'))
            return 1;
    return 0;
}}

"""


def wrappers(calls, header):
    yield PREAMBLE
    calls = list(calls)
    names = [call["name"] for call in calls if call["kind"] in BLOCKING]
    header.collectives = {call["twin"] + suffix for call in calls for suffix in ["", "_c"]
                          if call["kind"] == "start" and call["ordered"] == "yes"}
    yield MAY_BLOCK.format(rows=", ".join(f'{{"{name}", {len(name)}}}' for name in names))
    if header.has_fortran:
        yield '#include "mpi/extensions/fortran.h"\n\n'
    for call in calls:
        name = call["name"]
        if not header.has(name):
            if header.standard >= float(call["since"]):
                sys.exit(f"generate.py: MPI_{name} is not in this MPI's header")
            continue
        for suffix in ["", "_c"]:
            if call["kind"] != "custom" and header.has(name + suffix):
                yield wrapper(call, header, suffix)
    with_row = {call["name"] + suffix for call in calls for suffix in ["", "_c"]}
    for name in sorted(header.prototypes.keys() - with_row):
        if header.makes_request(name) and not header.has_by_hand(name):
            yield wrapper(unlisted(name, header), header, "")


BEHAVIOUR = {
    "start": "starts the non-blocking form, tests it, suspends the task until it is complete",
    "poll": "suspends the task until the testing form succeeds",
    "delegate": "a helper thread makes the call, the task is suspended until it returns",
    "notify": "does not block; the runtime notes that the task sends",
    "trace": "does not block; seen on the timeline",
    "test": "does not block; after many calls in vain, tasks that are suspended on the same thread go on",
    "persistent": "does not block; MPI_Start tells the runtime and the timeline what it starts",
    "custom": "",
}
CUSTOM = {
    "Sendrecv": "both directions are started, the task is suspended until both are complete",
    "Sendrecv_replace": "the same, with a copy of what is sent; for more than 2 GiB a helper thread makes the call",
    "Wait": "suspends the task until the program's request is complete",
    "Init": "asks for MPI_THREAD_MULTIPLE",
    "Init_thread": "asks for MPI_THREAD_MULTIPLE; `provided` may be MPI_TASK_MULTIPLE",
    "Query_thread": "gives the level that MPI_Init_thread has given",
    "Session_init": "asks for MPI_THREAD_MULTIPLE",
    "Session_finalize": "the last one waits for operations that are pending",
    "Finalize": "waits for operations that are pending; after 10 s it says for which",
}
BEGIN = "<!-- list of calls: made by src/mpi/call/generate.py --document -->\n"
END = "<!-- end of the list -->\n"


def document(path):
    """The list of calls: a table a section of calls.txt, a line a behaviour."""
    lines = []
    section = []

    def flush():
        if not section:
            return
        lines.extend(["| call | inside a task |", "|---|---|"])
        lines.extend(f"| {', '.join(names)} | {behaviour} |" for behaviour, names in section)
        lines.append("")
        section.clear()

    with open(path, encoding="utf-8") as rows:
        for row in rows:
            title = re.match(r"## ([^:\n]+)", row)
            if title:
                flush()
                lines.extend([f"**{title.group(1)}**", ""])
            elif row.strip() and not row.startswith("#"):
                call = dict(zip(COLUMNS, row.split(), strict=True))
                behaviour = CUSTOM.get(call["name"]) or BEHAVIOUR[call["kind"]]
                name = call["name"] + (" (4.0)" if call["since"] == "4.0" else "")
                if section and section[-1][0] == behaviour:
                    section[-1][1].append(name)
                else:
                    section.append((behaviour, [name]))
    flush()
    return "\n".join(lines)


def write_document(calls, path, check):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    current = head + BEGIN + document(calls) + END + tail
    if check:
        if current != text:
            sys.exit(f"generate.py: the list of calls in {path} is not that of {calls}: make it "
                     "anew with --document")
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(current)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", required=True)
    parser.add_argument("--header")
    parser.add_argument("--output")
    parser.add_argument("--document")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.document:
        write_document(options.calls, options.document, options.check)
        return
    with open(options.output, "w", encoding="utf-8") as out:
        out.writelines(wrappers(read_calls(options.calls), Header(options.header)))


if __name__ == "__main__":
    main()
