#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make the exported MPI_* and PMPI_* functions from calls.txt and an MPI's own header.

usage: generate.py --calls calls.txt --header preprocessed-mpi.h --output wrappers.cpp
"""

import argparse
import re
import sys


def read_calls(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                kind, name, twin, notice, peer, tag, status = line.split()
                yield {"kind": kind, "name": name, "twin": twin, "notice": notice, "peer": peer,
                       "tag": tag, "status": status}


def read_prototypes(path):
    """name without MPI_ -> list of (declaration, argument name)"""
    with open(path, encoding="utf-8") as header:
        text = re.sub(r"^#.*$", "", header.read(), flags=re.MULTILINE)
    text = re.sub(r"\s+", " ", text)
    found = {}
    for match in re.finditer(r"\bint MPI_(\w+)\(([^()]*)\)", text):
        declarations = [part.strip() for part in match.group(2).split(",")]
        if declarations == ["void"]:
            declarations = []
        if "..." in declarations:
            continue
        names = [re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part).group(1) for part in declarations]
        found[match.group(1)] = list(zip(declarations, names))
    return found


PREAMBLE = """// Generated from calls.txt by generate.py: do not edit.
#include "mpi/engine.h"

using namespace sennit::mpi;

"""

EXPORT = """extern "C" SENNIT_MPI_EXPORT int MPI_{name}({parameters})
    __attribute__((alias("sennit_MPI_{name}")));
extern "C" SENNIT_MPI_EXPORT int PMPI_{name}({parameters})
    __attribute__((alias("sennit_MPI_{name}")));
"""

START = """extern "C" int sennit_MPI_{name}({parameters}) {{
    static const auto bare = SENNIT_BARE({name});
    if (!in_task({never_blocks}))
        return outside_task([&] {{ return bare({arguments}); }});
    static const auto twin = SENNIT_BARE({twin});
    const Operation operation{{"MPI_{name}", Notice::{notice}, {peer}, {tag}}};
    return start_and_wait(operation, {status},
                          [&](MPI_Request *request) {{ return twin({twin_arguments}); }});
}}
"""

NOTIFY = """extern "C" int sennit_MPI_{name}({parameters}) {{
    static const auto bare = SENNIT_BARE({name});
    notify(Notice::{notice}, {peer});
    return outside_task([&] {{ return bare({arguments}); }});
}}
"""

CUSTOM = """extern "C" int sennit_MPI_{name}({parameters});
"""


def wrapper(call, prototypes):
    name = call["name"]
    if name not in prototypes:
        sys.exit(f"generate.py: MPI_{name} is not in this MPI's header")
    arguments = prototypes[name]
    names = [argument for _, argument in arguments]

    def argument_or(value, default):
        if value == "-":
            return default
        if value not in names:
            sys.exit(f"generate.py: MPI_{name} has no argument '{value}'")
        return value

    fields = {
        "name": name,
        "twin": call["twin"],
        "parameters": ", ".join(declaration for declaration, _ in arguments) or "void",
        "arguments": ", ".join(names),
        "twin_arguments": ", ".join([n for n in names if n != call["status"]] + ["request"]),
        "notice": {"-": "none"}.get(call["notice"], call["notice"]),
        "peer": argument_or(call["peer"], "-1"),
        "tag": argument_or(call["tag"], "-1"),
        # A message to or from nobody never blocks, and bare MPI knows what its status is.
        "never_blocks": "" if call["notice"] == "-" or call["peer"] == "-"
                        else call["peer"] + " == MPI_PROC_NULL",
        "status": argument_or(call["status"], "MPI_STATUS_IGNORE"),
    }
    body = {"start": START, "notify": NOTIFY, "custom": CUSTOM}[call["kind"]]
    # The alias must be in the same file as its target: custom calls export themselves.
    export = "" if call["kind"] == "custom" else EXPORT
    return (body + export).format(**fields)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", required=True)
    parser.add_argument("--header", required=True)
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    prototypes = read_prototypes(options.header)
    with open(options.output, "w", encoding="utf-8") as out:
        out.write(PREAMBLE)
        for call in read_calls(options.calls):
            out.write(wrapper(call, prototypes) + "\n")


if __name__ == "__main__":
    main()
