#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write what the MPI's header and calls.txt say of each call, for the templates of src/mpi/wrap.

usage: generate.py --calls calls.txt --header preprocessed-mpi.h --output mpi-calls.inc --names blocking-calls.inc

For each call: a struct with its arguments and its row (wrap/row.h says what is in it), and a line that exports it.
--names: the calls that may block, for extensions/callbacks.cpp.
"""

import argparse
import re
import sys

from calls import COLUMNS, read_calls
from header import Header

OBJECTS = {"MPI_Comm": "communicator", "MPI_Win": "window", "MPI_File": "file_object"}
NOTICES = {"-": "none", "send": "send", "receive": "receive"}
DIRECTIONS = {"-": "0", "send": "SENNIT_NOTICE_SEND", "receive": "SENNIT_NOTICE_RECEIVE"}
ORDERS = {"-": "none", "yes": "collective", "files": "files"}
KINDS = {"notify": "message", "trace": "message", "post": "request"}
BLOCKING = {"start", "poll", "delegate", "custom"}

# What most messages take.
OFTEN = {"Send", "Recv", "Isend", "Irecv", "Waitall", "Barrier", "Bcast", "Reduce", "Allreduce"}

# See Row in wrap/row.h.
ASSEMBLES = {"Barrier", "Allreduce", "Reduce", "Bcast"}
AT_ONCE = {"Send", "Rsend", "Isend", "Irsend"}
ADOPTS = {"Comm_dup", "Comm_dup_with_info", "Comm_create", "Comm_split", "Comm_split_type", "Cart_create",
          "Cart_sub", "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent"}

# They make a communicator; and calls that do so without a parent that all of its ranks have in common.
MAKES = ADOPTS | {"Intercomm_create", "Intercomm_merge", "Comm_create_group", "Comm_create_from_group",
                  "Intercomm_create_from_groups"}

# One-sided calls: what completes whatever was put before.
FLUSHES = {"Win_flush", "Win_flush_all", "Win_flush_local", "Win_flush_local_all"}

# Calls whose task sends, beside those with a message: at the root of a collective, elsewhere, or always.
SENDS = {
    "at_root": {"Bcast", "Scatter", "Scatterv"},
    "elsewhere": {"Gather", "Gatherv", "Reduce"},
    "always": {"Rput", "Raccumulate", "Rget_accumulate", "Win_complete", "Win_unlock", "Win_unlock_all"} | FLUSHES,
}

# What collective calls move: at the root, and elsewhere; or at each rank. Of neighbours each counts
# as one.
TO_ALL, FROM_ALL = (f"volume_of_all({way}count, {way}type, comm)" for way in ("send", "recv"))
TO_EACH, FROM_EACH = (f"volume_of_each({way}counts, {way}type, comm)" for way in ("send", "recv"))
TO_ONE, FROM_ONE = (f"message_length({way}count, {way}type)" for way in ("send", "recv"))
ONE = "message_length(count, datatype)"
VOLUMES = {
    "Bcast": (ONE, ONE), "Reduce": (ONE, ONE),
    "Allreduce": (ONE, None), "Scan": (ONE, None), "Exscan": (ONE, None),
    "Gather": (FROM_ALL, TO_ONE), "Gatherv": (FROM_EACH, TO_ONE),
    "Scatter": (TO_ALL, FROM_ONE), "Scatterv": (TO_EACH, FROM_ONE),
    "Allgather": (FROM_ALL, None), "Allgatherv": (FROM_EACH, None),
    "Alltoall": (FROM_ALL, None), "Alltoallv": (FROM_EACH, None),
    "Alltoallw": ("volume_of_each(recvcounts, recvtypes, comm)", None),
    "Reduce_scatter": ("volume_of_each(recvcounts, datatype, comm)", None),
    "Reduce_scatter_block": ("volume_of_all(recvcount, datatype, comm)", None),
    "Neighbor_allgather": (FROM_ONE, None), "Neighbor_alltoall": (FROM_ONE, None),
    "Neighbor_allgatherv": (TO_ONE, None),
}


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


def object_of(arguments):
    """What the call works on: its first communicator, window or file; its only argument may be the
    address of one."""
    for declaration, name in arguments:
        kind = re.match(r"(MPI_\w+) (\*?)", declaration)
        if kind and kind.group(1) in OBJECTS and (not kind.group(2) or len(arguments) == 1):
            return f"{OBJECTS[kind.group(1)]}({name})"
    return None


def member(declaration):
    """An argument as a member of a struct: an array is the address of its first element."""
    return re.sub(r"(\w+) ?\[\]$", r"*\1", declaration) + ";"


class Call:
    """Of a row, or of its form with large counts, where suffix is _c."""

    def __init__(self, row, header, suffix):
        self.row = row
        self.header = header
        self.base = row["name"]
        self.name = row["name"] + suffix
        self.twin = row["twin"] + suffix
        self.arguments = header.prototypes[self.name]
        self.names = [argument for _, argument in self.arguments]
        self.object = object_of(self.arguments)
        self.request = header.makes_request(self.name)
        # The requests that it is given, and how many.
        length = "incount" if "incount" in self.names else "count"
        handles = [n for n in self.names if n.startswith("array_of_req") or n == "requests"]
        self.requests = (length, handles[0]) if length in self.names and handles else None
        self.kind = self.find_kind()
        # See record/record.h. The initialization of a persistent one is such a call, too.
        self.is_counted = (self.object or "").startswith("communicator") and (
            row["ordered"] == "yes" or self.kind == "request" and self.name in header.collectives)
        self.is_bound = row["kind"] == "start" and self.kind != "delegate" and header.declares_tampi(self.twin)

    def find_kind(self):
        kind = self.row["kind"]
        if kind == "start" and (not self.header.has(self.twin) or self.header.has_wrong(self.twin)):
            return "delegate"
        if kind == "start" and self.row["ordered"] != "-":
            return "collective"
        if kind == "poll" and self.requests:
            return "wait"
        return KINDS.get(kind, kind)

    def find_sends(self):
        if self.kind == "expose":
            return "always"
        blocking = self.base[1:].capitalize() if self.name in self.header.collectives else self.base
        return next((where for where, names in SENDS.items() if blocking in names), None)

    def is_among(self, names):
        return self.base in names

    def argument(self, column):
        """The argument that the row names there, or None."""
        value = self.row[column]
        if value != "-" and value not in self.names:
            sys.exit(f"generate.py: MPI_{self.name} has no argument '{value}'")
        return None if value == "-" else value

    def call(self, function, arguments):
        return f"SENNIT_BARE({function})({', '.join(arguments)})"

    def facts(self):
        elements = next((n for n in ("count", "sendcount", "recvcount") if n in self.names), None)
        types = {"count": "datatype", "sendcount": "sendtype", "recvcount": "recvtype"}
        typed = elements and types[elements] in self.names
        facts = {
            "object": self.object,
            "peer": self.argument("peer"),
            "tag": self.argument("tag"),
            "root": "root" if "root" in self.names else None,
            "target": "rank" if self.is_among(FLUSHES) and "rank" in self.names else None,
            "count": None if self.requests else elements,
            "type": types[elements] if typed else None,
            "typed": "true" if typed else None,
            "requests": self.requests and self.requests[0],
            "handles": self.requests and self.requests[1],
            "request": self.request,
            "parts": "partitions" if self.request and self.name.startswith("Psend") else None,
        }
        return ", ".join(f".{fact} = {value}" for fact, value in facts.items() if value)

    def row_text(self):
        notice = self.row["notice"]
        direction = "kExchange" if {"source", "dest"} <= set(self.names) else DIRECTIONS[notice]
        row = [f'.call = {{"MPI_{self.name}", {direction}, {int(bool(self.requests))}}}', f".kind = CallKind::{self.kind}"]
        if notice != "-":
            row.append(f".notice = Notice::{NOTICES[notice]}")
        if self.row["ordered"] != "-":
            row.append(f".order = CallOrder::{ORDERS[self.row['ordered']]}")
        if self.kind == "collective" and self.is_among(ASSEMBLES):
            row.append(f".assembles = Assembles::{self.base.lower()}")
        if sends := self.find_sends():
            row.append(f".sends = Sends::{sends}")
        flags = {
            "often": self.name in OFTEN,
            "counted": self.is_counted,
            "has_peer": self.row["peer"] != "-",
            "on_file": self.name.startswith("File_"),
            "at_once": self.is_among(AT_ONCE),
            "all": self.name == "Waitall",
            "merges": self.is_among(FLUSHES),
            "whole": self.is_among(FLUSHES) and "local" not in self.name,
            "alone": self.header.is_alone(self.twin),
            "makes_request": self.request,
            "stays": self.base.endswith("_init"),
            "adopts": self.name in ADOPTS,
            "parts_with_data": self.is_among({"Alltoallv", "Alltoallw"}) and self.header.is_openmpi,
        }
        row += [f".{flag} = true" for flag, is_set in flags.items() if is_set]
        if self.kind == "collective":
            row.append(f'.name_in_task = "MPI_{self.name}" SENNIT_IN_A_TASK')
        if self.is_bound:
            row.append(f'.twin_name = "MPI_{self.twin}", .bound_name = "TAMPI_{self.twin}"')
        return ", ".join(row)

    def test(self):
        """The testing form. The tests have the arguments of the waits, and all but Testsome a flag."""
        tested = [argument for _, argument in self.header.prototypes[self.twin]]
        if self.twin == "Testall":
            return "TestAll test_all{};", f"int test(int *flag) {{ return test_all({', '.join(tested)}); }}"
        call = self.call(self.twin, tested)
        if "flag" in tested:
            return (f"int test(int *flag) const {{ return {call}; }}",)
        return (f"int test(int *flag) const {{ const int error = {call}; *flag = *outcount != 0; return error; }}",)

    def volume(self):
        """Of a collective: what it moves at this rank, by the arguments that are significant there."""
        base = self.base.removesuffix("_init")
        if base not in VOLUMES and base.startswith("I"):
            base = base[1:].capitalize()
        at_root, elsewhere = VOLUMES.get(base, ("0", None))
        if elsewhere is None:
            return at_root
        return f"volume_by_root(root, comm, [&] {{ return {at_root}; }}, [&] {{ return {elsewhere}; }})"

    def unfit(self):
        """When the twin cannot stand for the call (quirks/arguments.h); None: it always can."""
        if "op" in self.names:
            return "is_user_defined(op)"
        if self.header.is_openmpi:
            return "has_no_neighbors(comm)" if self.base == "Neighbor_allgather" else None
        if self.twin.startswith("Comm_idup"):
            return "has_group_of_one_rank(comm)"
        return "is_between_groups(comm)" if self.base == "Bcast" else None

    def awaits(self):
        """Who has to look, and somebody is going to wait for the request (crowd/rings.h)."""
        if self.is_counted:
            root = "root" if "root" in self.names else "-1"
            types = "".join(f", {n}" for n in self.names if re.fullmatch("(send|recv|data)types?", n))
            return f"awaits_partners(comm, {root}, error, [&] {{ return volume(); }}{types})"
        if self.object == "window(win)" and "target_rank" in self.names:
            return "rings_target(win, target_rank, error)"
        return None

    def methods(self):
        """What a struct has beside arguments, row and facts."""
        own = self.row["twin"] if self.row["kind"] == "delegate" and self.row["twin"] != "-" else None
        bare = f"{own}({', '.join(self.names)})" if own else self.call(self.name, self.names)
        yield f"int bare() const {{ return {bare}; }}"
        if self.is_among(FLUSHES) and not self.header.is_openmpi:
            whole = self.call("Win_flush", self.names) if "rank" in self.names else f"flush_targets(win, SENNIT_BARE({self.name}))"
            yield f"int bare_for_task() const {{ return {whole}; }}"
        if self.base in ("Win_lock", "Win_lock_all"):
            mode = self.names[-2] # in front of the window: `assert`, and in Open MPI 5 `mpi_assert`
            yield f"bool is_local() const {{ return ({mode} & MPI_MODE_NOCHECK) != 0; }}"
        status = self.argument("status")
        if self.kind in ("start", "collective"):
            arguments = [n for n in self.names if n != status] + ["request"]
            yield f"int start(MPI_Request *request) const {{ return {self.call(self.twin, arguments)}; }}"
        if self.kind in ("wait", "poll"):
            yield from self.test()
        if self.kind == "wait":
            statuses = next(n for n in self.names if "status" in n)
            yield f"MPI_Status *statuses() const {{ return {statuses}; }}"
        if status:
            yield f"MPI_Status *&received() {{ return {status}; }}"
        if self.is_counted and (self.kind == "collective" or self.request):
            yield f"std::int64_t volume() const {{ return {self.volume()}; }}"
        if self.kind == "collective" and self.unfit():
            yield f"bool has_twin() const {{ return !{self.unfit()}; }}"
        if self.kind in ("request", "delegate") and self.request and self.awaits():
            yield f"void awaits(int error) const {{ {self.awaits()}; }}"
        if self.name in ADOPTS:
            yield f"MPI_Comm *made() const {{ return {self.names[-1]}; }}"
        if self.name in MAKES:
            yield f"MPI_Comm *makes() const {{ return {self.names[-1]}; }}"
        if self.name.startswith("Comm_idup"):
            yield f"MPI_Comm *duplicate() const {{ return {self.names[-2]}; }}"

    def struct(self):
        facts = self.facts()
        yield f"struct {self.name} {{"
        yield f"    static constexpr Row row{{{self.row_text()}}};"
        if self.arguments:
            yield "    " + " ".join(member(declaration) for declaration, _ in self.arguments)
        yield f"    {'Facts facts() const' if facts else 'static Facts facts()'} {{ return {{{facts}}}; }}"
        yield from (f"    {method}" for method in self.methods())
        yield "};"

    def exports(self):
        parameters = ", ".join(declaration for declaration, _ in self.arguments)
        arguments = ", ".join(self.names)
        define = "SENNIT_DEFINE_OFTEN" if self.name in OFTEN else "SENNIT_DEFINE"
        yield f"{define}({self.name}, {parameters or 'void'}) {{ return wrapped<calls::{self.name}>({arguments}); }}"
        if not self.is_bound:
            return
        yield (f'extern "C" SENNIT_EXPORT int TAMPI_{self.twin}({parameters}) '
               f"{{ return bound<calls::{self.name}, sennit_MPI_{self.name}>({arguments}); }}")
        if self.header.has_fortran:
            pairs = [from_fortran(*argument) for argument in self.arguments]
            parameters = ", ".join([parameter for parameter, _ in pairs] + ["MPI_Fint *fortran_error"])
            yield (f'extern "C" SENNIT_EXPORT void tampi_{self.twin.lower()}_({parameters}) '
                   f"{{ *fortran_error = TAMPI_{self.twin}({', '.join(argument for _, argument in pairs)}); }}")
            yield self.fortran_with_request()

    def fortran_with_request(self):
        """TAMPI 1 to 3's form: the request comes before the status."""
        pairs = [(from_fortran(*argument), argument[1] == self.argument("status")) for argument in self.arguments]
        given = [pair for pair, is_status in pairs if not is_status]
        status = next((pair for pair, is_status in pairs if is_status), None)
        parameters = [p for p, _ in given] + ["MPI_Fint *fortran_request"] + ([status[0]] if status else [])
        arguments = [a for _, a in given] + ["&request"]
        received = status[1] if status else "MPI_STATUS_IGNORE"
        return (f'extern "C" SENNIT_EXPORT void tampi_{self.twin.lower()}_internal_('
                f"{', '.join(parameters)}, MPI_Fint *fortran_error) {{ "
                "*fortran_error = start_from_fortran(fortran_request, "
                f"{received}, [&](MPI_Request &request) {{ return MPI_{self.twin}({', '.join(arguments)}); }}); }}")


def unlisted(name, header):
    """A row for a call that has none and makes a request."""
    names = [argument for _, argument in header.prototypes[name]]
    peer = next((peer for peer in ("dest", "source") if peer in names), "-")
    return dict.fromkeys(COLUMNS, "-") | {
        "kind": "post", "name": name, "peer": peer, "tag": "tag" if "tag" in names else "-",
        # MPICH's MPI_Precv_init has a `dest`, too.
        "notice": "receive" if name.startswith("Precv")
                  else {"dest": "send", "source": "receive", "-": "-"}[peer]}


def calls_of(rows, header):
    header.collectives = {row["twin"] + suffix for row in rows for suffix in ["", "_c"]
                          if row["kind"] == "start" and row["ordered"] == "yes"}
    for row in rows:
        name = row["name"]
        if not header.has(name):
            if header.standard >= float(row["since"]):
                sys.exit(f"generate.py: MPI_{name} is not in this MPI's header")
            continue
        for suffix in ["", "_c"]:
            if row["kind"] != "custom" and header.has(name + suffix):
                yield Call(row, header, suffix)
    with_row = {row["name"] + suffix for row in rows for suffix in ["", "_c"]}
    for name in sorted(header.prototypes.keys() - with_row):
        if header.makes_request(name) and not header.has_by_hand(name):
            yield Call(unlisted(name, header), header, "")


def lines(calls):
    yield "// Generated from calls.txt by generate.py: do not edit."
    yield "namespace calls {\nnamespace {"
    for call in calls:
        yield from call.struct()
    yield "} // namespace\n} // namespace calls"
    for call in calls:
        yield from call.exports()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("calls", "header", "output", "names"):
        parser.add_argument(f"--{option}", required=True)
    options = parser.parse_args()
    rows = list(read_calls(options.calls))
    with open(options.output, "w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines(list(calls_of(rows, Header(options.header)))))
    with open(options.names, "w", encoding="utf-8") as out:
        out.writelines(f'"{row["name"]}",\n' for row in rows if row["kind"] in BLOCKING)


if __name__ == "__main__":
    main()
