#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the list of calls in calls.txt into the user's documentation.

usage: list_calls.py --calls calls.txt --document reference.md [--check]

With --check it only looks whether the list there is current.
"""

import argparse
import re
import sys

from calls import parse_row

BEHAVIOUR = {
    "start": "starts the non-blocking form and tests it; suspends the task until the operation is complete",
    "poll": "suspends the task until the testing form succeeds",
    "delegate": "a helper thread makes the call; the task is suspended until the call returns",
    "notify": "does not block; the runtime notes that the task sends",
    "expose": "does not block; the runtime notes that the task sends",
    "trace": "does not block; a trace shows it",
    "test": "does not block; after many calls in vain, it lets suspended tasks of the same thread go on",
    "persistent": "does not block; later MPI_Start tells the runtime and the trace what it starts",
    "custom": "",
}
CUSTOM = {
    "Sendrecv": "starts both directions; suspends the task until both are complete",
    "Sendrecv_replace": "as Sendrecv, with a copy of the data to send; for more than 2 GiB a helper thread makes the call",
    "Wait": "suspends the task until the program's request is complete",
    "Init": "asks for MPI_THREAD_MULTIPLE",
    "Init_thread": "asks for MPI_THREAD_MULTIPLE; `provided` may be MPI_TASK_MULTIPLE",
    "Query_thread": "gives the level that MPI_Init_thread has given",
    "Session_init": "asks for MPI_THREAD_MULTIPLE",
    "Session_finalize": "the last one waits for pending operations",
    "Finalize": "waits for pending operations; after 10 s a line says for which",
}
BEGIN = "<!-- list of calls: made by src/mpi/call/list_calls.py -->\n"
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
            elif call := parse_row(row):
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
            sys.exit(f"list_calls.py: the list of calls in {path} is not that of {calls}: make it "
                     "anew with --document")
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(current)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", required=True)
    parser.add_argument("--document", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    write_document(options.calls, options.document, options.check)


if __name__ == "__main__":
    main()
