#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make the exported MPI_* and PMPI_* functions from calls.txt and an MPI's own header.

usage: generate.py --calls calls.txt --header preprocessed-mpi.h --output wrappers.cpp
"""

import argparse
import re
import sys

import templates
from calls import COLUMNS, read_calls
from header import Header

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


ADOPTIONS = ("Comm_dup", "Comm_dup_with_info", "Comm_create", "Comm_split", "Comm_split_type", "Cart_create",
             "Cart_sub", "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent")

DIRECTIONS = {"send": "SENNIT_NOTICE_SEND", "receive": "SENNIT_NOTICE_RECEIVE"}


def assembled_unless_longer(call, condition):
    """See crowd/assembled.h."""
    most = "sennit::node::Assembly::kMostBytes"
    return (f"    if (crowded && ({call}.fits({most}) || {call}.is_longer({most})))\n"
            f"        if (Assembled *const assembled = g_crowd.assembled_of(comm); assembled{condition}) {{\n"
            f"            if (!{call}.is_longer({most}))\n"
            f"                return assemble(*assembled, operation, {call});\n"
            f"            longer.begin(*assembled, {call}.longer_number());\n"
            "        }")


class Wrapper:
    """Of a row, or of its form with large counts, where suffix is _c."""

    def __init__(self, call, header, suffix):
        self.call = call
        self.header = header
        self.name = call["name"] + suffix
        self.twin = call["twin"] + suffix
        self.kind = call["kind"]
        if self.kind == "start" and (not header.has(self.twin) or header.has_wrong(self.twin)):
            self.kind = "delegate"
        self.arguments = header.prototypes[self.name]
        self.names = [argument for _, argument in self.arguments]
        self.object = object_of(self.arguments)
        self.request = header.makes_request(self.name)
        self.direction = DIRECTIONS.get(call["notice"], "0")
        self.root = "root" if "root" in self.names else "-1"
        # See record/record.h. The initialization of a persistent one is such a call, too.
        self.is_collective = self.object.startswith("communicator") and (
            call["ordered"] == "yes" or self.kind == "post" and self.name in header.collectives)
        # Of a communicator's collective calls, in which all ranks have to decide alike.
        self.is_together = self.kind == "start" and call["ordered"] != "-"
        # The requests that it is given, and how many.
        self.length = "incount" if "incount" in self.names else "count"
        self.of_requests = self.length in self.names and any(
            n.startswith("array_of_req") or n == "requests" for n in self.names)
        # It makes a communicator, and all ranks of its first argument make the call.
        self.is_adoption = self.name in ADOPTIONS
        # An entry of its own is called by what notes the request that it makes.
        self.is_behind = self.request and self.kind == "delegate"
        self.fields = {}

    def argument_or(self, column, default):
        value = self.call[column]
        if value == "-":
            return default
        if value not in self.names:
            sys.exit(f"generate.py: MPI_{self.name} has no argument '{value}'")
        return value

    def text(self):
        self.describe_call()
        self.describe_mark()
        self.describe_timeline()
        self.describe_request()
        self.describe_test()
        self.describe_twin()
        self.describe_parts()
        self.describe_rings()
        self.describe_assembled()
        template = self.template()
        if self.is_behind:
            template += templates.POST
        if self.is_adoption:
            held = "[&] {{ return adoption.hold([&] {{ return bare({arguments}); }}); }})"
            template = template.replace("attended_{name}(", "made_{name}([[maybe_unused]] Adoption &adoption, ", 1).replace(
                templates.DELEGATED, "delegate(operation, " + held).replace(
                    "delegate(operation", "delegate(adoption.gathering(operation)").replace(
                        "{entry}(", templates.ADOPTION + "{entry}(", 1)
        template += templates.EXPORT
        if self.name in templates.FREQUENT:
            template = templates.hot(template)
        return (template + self.bound()).format(**self.fields)

    def volume(self):
        """Of a collective: what it moves at this rank, by the arguments that are significant there (crowd/volume.h)."""
        base = self.name.removesuffix("_c").removesuffix("_init")
        if base not in VOLUMES and base.startswith("I"):
            base = base[1:].capitalize()
        at_root, elsewhere = VOLUMES.get(base, ("0", None))
        if elsewhere is None:
            return at_root
        return f"volume_by_root(root, comm, [&] {{ return {at_root}; }}, [&] {{ return {elsewhere}; }})"

    def describe_call(self):
        """What the call does, for Operation."""
        call = self.call
        elements = next((n for n in ("count", "sendcount", "recvcount") if n in self.names), "-1")
        handles = next((n for n in self.names if self.of_requests and "req" in n), "nullptr")
        self.fields |= {
            "name": self.name,
            "twin": self.twin,
            # The MPI's own, or what is to be called in its place.
            "bare": call["twin"] if call["kind"] == "delegate" and call["twin"] != "-"
                    else f"SENNIT_BARE({self.name})",
            "parameters": ", ".join(declaration for declaration, _ in self.arguments) or "void",
            "arguments": ", ".join(self.names),
            "notice": {"-": "none"}.get(call["notice"], call["notice"]),
            "peer": self.argument_or("peer", "-1"),
            "tag": self.argument_or("tag", "-1"),
            "status": self.argument_or("status", "MPI_STATUS_IGNORE"),
            "object": self.object,
            "turn": {"-": "Object{{}}", "yes": "{}", "files": "file_turn({})"}[call["ordered"]].format(
                self.object),
            "count": "-1" if self.of_requests else elements,
            "requests": self.length if self.of_requests else "0",
            "handles": handles,
        }

    def describe_mark(self):
        """For reports of hangs: see call/blocked_mark.h."""
        fields = self.fields
        counted = f'{self.object}, "MPI_{self.name}", {self.root}'
        count = f"const int number = g_record.collectives.count_unless_inside({counted});" if self.is_collective else ""
        fields["number"] = "number" if self.is_collective else fields["tag"]
        fields["numbered"] = count
        fields["numbered_by_form"] = count.replace(
            f'"MPI_{self.name}"', f'SENNIT_COLLECTIVE_NAME(form, crowded, "MPI_{self.name}")')
        fields["numbered_post"] = count if self.kind == "post" else ""
        fields["numbered_twin"] = count.replace(f'"MPI_{self.name}"', f'"MPI_{self.twin}"')
        if self.name.startswith("File_"): # what takes long in a file waits for no other rank
            fields["mark"] = fields["first_mark"] = "const Inside inside;"
            return
        said = (f'static constexpr sennit_call call{{"MPI_{self.name}", {self.direction}, '
                f'{int(self.of_requests)}}};')
        where = f'handle_bits({fields["handles"]})' if self.of_requests else f"group_of({self.object})"
        peer = fields["requests"] if self.of_requests else fields["peer"]
        first = f"g_record.collectives.count({counted})" if self.is_collective else fields["tag"]
        fields["mark"] = f'{said}\n        const Blocking mark(call, {peer}, {fields["number"]}, {where});'
        fields["first_mark"] = f"{said}\n        const BlockedMark mark(call, {peer}, {first}, {where});"

    def describe_timeline(self):
        fields = self.fields
        of_count = next(((c, t) for c, t in (("count", "datatype"), ("sendcount", "sendtype"),
                                             ("recvcount", "recvtype"))
                         if c in self.names and t in self.names), None)
        fields["type"] = f"handle_bits({of_count[1]})" if of_count else "0"
        fields["of_count"] = "%s, %s" % of_count if of_count else "0, MPI_DATATYPE_NULL"
        fields["bytes"] = ("[&] { return message_bytes(%s, %s); }" % of_count if of_count
                           else "[] { return std::uint64_t{0}; }")
        on_timeline = "Start" if self.kind == "persistent" else self.name
        fields["facts"] = (
            f'{{"MPI_{on_timeline}", {self.direction}, {fields["peer"]}, '
            f'{fields["tag"]}, {self.object}, {fields["requests"]}, {fields["handles"]}}}')
        fields["traced"] = (f'Traced traced([&] {{ return CallFacts{fields["facts"]}; }}, '
                            f'{fields["bytes"]});')
        if self.call["status"] != "-":
            fields["traced"] += f'\n    {self.call["status"]} = traced.status({self.call["status"]});'

    def describe_request(self):
        """Of a call that makes one."""
        fields = self.fields
        is_exchange = {"source", "dest"} <= set(self.names)
        if is_exchange:
            about = "kExchange, 0", "source", "recvtag"
        elif self.kind == "post":
            about = (f"{self.direction}, 0", self.root if self.is_collective else fields["peer"],
                     fields["number"])
        else:
            about = f"{self.direction}, 0", fields["peer"], fields["tag"]
        said, peer, tag = about
        sends = (", dest, sendtag" if is_exchange else ", -1, -1, partitions" if self.name.startswith("Psend")
                 else "")
        fields["request"] = self.request or "nullptr"
        fields["noted"] = "" if not self.request else (
            f'static constexpr sennit_call call{{"MPI_{self.name}", {said}}};\n'
            f"    g_record.requests.note(error, {self.request}, {{&call, {peer}, {tag}, "
            f"group_of({self.object}){sends}}});")
        fields["remembered"] = (f"g_record.remember(error, {self.request});"
                                if self.call["name"].endswith("_init") else "")
        fields["begins"] = (f'g_engine.begin_send({fields["peer"]}, {fields["tag"]}, {self.object});'
                            if self.kind == "notify" else "")
        fields["entry"] = (f"static int entry_{self.name}" if self.is_behind
                           else f'extern "C" int sennit_MPI_{self.name}')
        fields["posts"] = f"entry_{self.name}" if self.is_behind else fields["bare"]
        posted = f"bare({fields['arguments']})"
        fields["posted"] = (f"start_behind_turns({self.object}, [&] {{ return {posted}; }})"
                            if self.kind == "post" and self.is_collective else posted)
        # What it receives has the same request.
        fields["receive_posted"] = "" if not (is_exchange and self.request) else (
            f'g_record.timeline.post({{"MPI_{self.name}", SENNIT_NOTICE_RECEIVE, source, recvtag, {self.object}}}, '
            f"{self.request}, [&] {{ return message_bytes(%s, %s); }});" % (
                ("recvcount", "recvtype") if "recvcount" in self.names else ("count", "datatype")))

    def describe_test(self):
        """One that finds a message which nobody else can receive any more."""
        status = self.call["status"]
        finds = self.kind == "test" and status != "-"
        self.fields["own_status"] = "" if not finds else (
            f"MPI_Status own;\n    if (g_record.timeline.on() && {status} == MPI_STATUS_IGNORE)\n"
            f"        {status} = &own;")
        self.fields["found"] = "" if not finds else (
            f'else if (error == MPI_SUCCESS && g_record.timeline.on())\n        trace_found({self.fields["facts"]}, *{status});')

    def describe_twin(self):
        """How a task makes the call."""
        fields = self.fields
        # A message to or from nobody never blocks, and bare MPI knows what its status is.
        never_blocks = ("" if self.call["notice"] == "-" or self.call["peer"] == "-"
                        else self.call["peer"] + " == MPI_PROC_NULL")
        told = f'Notice::{fields["notice"]}' if fields["notice"] == "send" or never_blocks else ""
        fields["suspends"] = f"must_not_block({', '.join(filter(None, (told, never_blocks)))})"
        fields["test"] = ("TestAll test;" if self.twin == "Testall"
                          else f"static constexpr auto test = SENNIT_BARE({self.twin});")
        if self.kind == "start":
            fields["twin_arguments"] = ", ".join([n for n in self.names if n != self.call["status"]]
                                                 + ["request"])
        # See quirks/unfit_twins.h.
        unfit = ("is_user_defined(op)" if "op" in self.names
                 else "is_between_groups(comm)" if self.call["name"] == "Bcast" and not self.header.is_openmpi
                 else "has_no_neighbors(comm)" if self.call["name"] == "Neighbor_allgather" and self.header.is_openmpi
                 else "has_group_of_one_rank(comm)" if self.twin.startswith("Comm_idup") and not self.header.is_openmpi
                 else "")
        fields["has_twin"] = f"!{unfit}" if unfit else "true"
        fields["start_and_wait"] = "start_and_wait_alone" if self.header.is_alone(self.twin) else "start_and_wait"
        outside = f"if (!in_task({never_blocks}))\n        return "
        fields["bound_outside"] = ("" if self.is_together
                                   else f'{outside}sennit_MPI_{self.name}({fields["arguments"]});')
        fields["bound_blocks"] = f"{outside}start_and_stay(operation, start);" if self.is_together else ""
        if self.kind == "poll":
            # The tests have the arguments of the waits, and all but Testsome a flag.
            tested = [argument for _, argument in self.header.prototypes[self.twin]]
            fields["twin_arguments"] = ", ".join(tested)
            fields["set_flag"] = "" if "flag" in tested else "*flag = *outcount != 0;"
        if self.kind == "poll" and self.of_requests:
            fields["all"] = "true" if self.name == "Waitall" else "false"
            fields["statuses"] = next(n for n in self.names if "status" in n)

    def describe_parts(self):
        """See quirks/parts_with_data.h."""
        arguments = self.fields.get("twin_arguments", "")
        self.fields |= {"parts": "", "form_arguments": arguments}
        if self.call["name"] not in ("Alltoallv", "Alltoallw") or not self.header.is_openmpi:
            return
        types = "types" if "recvtypes" in self.names else "type"
        self.fields["parts"] = (
            f"const PartsWithData sent(sendbuf != MPI_IN_PLACE, sendcounts, send{types}, comm);\n"
            f"    const PartsWithData received(true, recvcounts, recv{types}, comm);")
        self.fields["form_arguments"] = arguments.replace("sendcounts", "sent.counts()").replace(
            "recvcounts", "received.counts()")

    def describe_assembled(self):
        """See crowd/assembled.h."""
        self.fields["assembled"] = {
            "Barrier": "if (Assembled *const assembled = crowded ? g_crowd.assembled_of(comm) : nullptr)\n"
                       "        return assemble(*assembled, operation, {});",
            "Allreduce": "Reduction reduction{sendbuf, recvbuf, count, datatype, op};\n"
                         + assembled_unless_longer("reduction", ""),
            "Reduce": "if (Reduction reduction{sendbuf, recvbuf, count, datatype, op, root};\n"
                      "        crowded && root >= 0 && reduction.fits(sennit::node::Assembly::kMostBytes))\n"
                      "        if (Assembled *const assembled = g_crowd.assembled_of(comm);\n"
                      "            assembled && assembled->has_member(root)) {\n"
                      "            if (assembled->may_reduce(reduction))\n"
                      "                return assemble(*assembled, operation, reduction);\n"
                      "            if (assembled->is_root(reduction) && lacks_result(reduction))\n"
                      "                take_in_vain(*assembled, operation, reduction);\n"
                      "        }",
            "Bcast": "Broadcast broadcast{buffer, count, datatype, root};\n"
                     + assembled_unless_longer("broadcast", " && assembled->has_member(root)")}.get(self.call["name"], "")
        has_length = self.call["name"] in ("Allreduce", "Bcast")
        self.fields["longer"] = "LongerCall longer;" if has_length else ""
        self.fields["longer_started"] = "longer.started(error);" if has_length else ""
        if self.is_adoption:
            # describe_twin() has said when its twin is none
            has_twin = "false" if self.kind == "delegate" else self.fields["has_twin"]
            self.fields["gathers"] = {"true": "false", "false": "true"}.get(has_twin, has_twin.removeprefix("!"))
            self.fields["parent"] = self.names[0]
            self.fields["child"] = self.names[-1]

    def describe_rings(self):
        """Who has to look: see crowd/rings.h."""
        fields = self.fields
        comm = next((n for d, n in self.arguments if re.match(r"MPI_Comm \w", d)), None)
        fields["communicator"] = comm or "MPI_COMM_NULL"
        fields["rings"] = ""
        fields["rings_post"] = ""
        if comm and self.is_collective:
            started = f"{comm}, {self.root}, error, [&] {{ return std::int64_t{{{self.volume()}}}; }}"
            types = "".join(f", {n}" for n in self.names if re.fullmatch("(send|recv|data)types?", n))
            fields["rings"] = f"operation.bytes = rings_partners({started});"
            fields["rings_post"] = f"awaits_partners({started}{types});"
        elif comm and fields["peer"] != "-1":
            told = "rings" if self.call["notice"] == "send" else "awaits"
            # Of a send that MPI does not copy aside: was it over at once?
            learns = f', {self.request or "request"}' if self.call["name"] in ("Send", "Rsend", "Isend", "Irsend") else ""
            fields["rings"] = f'{told}({comm}, {fields["peer"]}, {fields["of_count"]}, error{learns});'
        elif self.request and self.object == "window(win)" and "target_rank" in self.names:
            fields["rings_post"] = "rings_target(win, target_rank, error);"

    def template(self):
        if self.kind == "start":
            return templates.COLLECTIVE if self.is_together else templates.START
        if self.kind == "poll" and self.of_requests:
            return templates.WAIT
        return {"poll": templates.POLL, "delegate": templates.DELEGATE, "notify": templates.POSTS,
                "trace": templates.POSTS, "test": templates.TEST, "persistent": templates.PERSISTENT,
                "post": templates.POST}[self.kind]

    def bound(self):
        """TAMPI's form of the call, and Fortran's of that."""
        if self.kind != "start" or not self.header.declares_tampi(self.twin):
            return ""
        if not self.header.has_fortran:
            return templates.BOUND
        pairs = [from_fortran(*argument) for argument in self.arguments]
        self.fields |= {
            "lower": self.twin.lower(),
            "fortran_parameters": ", ".join([parameter for parameter, _ in pairs]
                                            + ["MPI_Fint *fortran_error"]),
            "from_fortran": ", ".join(argument for _, argument in pairs),
        }
        return templates.BOUND + templates.BOUND_FORTRAN


def unlisted(name, header):
    """A row for a call that has none and makes a request."""
    names = [argument for _, argument in header.prototypes[name]]
    peer = next((peer for peer in ("dest", "source") if peer in names), "-")
    return dict.fromkeys(COLUMNS, "-") | {
        "kind": "post", "name": name, "peer": peer, "tag": "tag" if "tag" in names else "-",
        # MPICH's MPI_Precv_init has a `dest`, too.
        "notice": "receive" if name.startswith("Precv")
                  else {"dest": "send", "source": "receive", "-": "-"}[peer]}


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

BLOCKING = {"start", "poll", "delegate", "custom"}


def wrappers(calls, header):
    yield templates.PREAMBLE
    calls = list(calls)
    names = [call["name"] for call in calls if call["kind"] in BLOCKING]
    header.collectives = {call["twin"] + suffix for call in calls for suffix in ["", "_c"]
                          if call["kind"] == "start" and call["ordered"] == "yes"}
    yield templates.MAY_BLOCK.format(rows=", ".join(f'{{"{name}", {len(name)}}}' for name in names))
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
                yield Wrapper(call, header, suffix).text()
    with_row = {call["name"] + suffix for call in calls for suffix in ["", "_c"]}
    for name in sorted(header.prototypes.keys() - with_row):
        if header.makes_request(name) and not header.has_by_hand(name):
            yield Wrapper(unlisted(name, header), header, "").text()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", required=True)
    parser.add_argument("--header", required=True)
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    with open(options.output, "w", encoding="utf-8") as out:
        out.writelines(wrappers(read_calls(options.calls), Header(options.header)))


if __name__ == "__main__":
    main()
