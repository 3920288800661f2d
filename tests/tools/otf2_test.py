# SPDX-License-Identifier: Apache-2.0
# whole: tools.otf2 if="mpis" -- {sennit} {wrappers}
"""`sennit report --otf2` of a program with many requests under way at once, and where it cannot write.

Usage: otf2_test.py SENNIT MPI=MPICC... (compiler wrappers)"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import harness

SENNIT = sys.argv[1]
MPI, WRAPPER = sys.argv[2].split("=", 1)
MESSAGES = 300  # in each direction
PROGRAM = f"""
#include <mpi.h>
int main(void) {{
    static int to[{MESSAGES}], from[{MESSAGES}];
    static MPI_Request requests[2 * {MESSAGES}];
    int rank;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < {MESSAGES}; ++i)
        MPI_Irecv(&from[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < {MESSAGES}; ++i)
        MPI_Isend(&to[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[{MESSAGES} + i]);
    MPI_Waitall(2 * {MESSAGES}, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
}}
"""


def ran(*words, code=0):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=harness.LIMIT)
    assert done.returncode == code, (words, done)
    return done.stdout, done.stderr


def test_a_rank_has_few_locations():
    out, said = ran(SENNIT, "report", "trace", "--otf2", "archive")
    shortened = re.search(r"^(\d+) operations of MPI have no length there, in 'MPI 63' of their ranks", out, re.M)
    assert shortened and 2 * (MESSAGES - 64) <= int(shortened[1]) <= 4 * MESSAGES and not said, (out, said)
    files = os.listdir("archive/trace")
    assert len(files) <= 2 * 2 * (64 + os.cpu_count()), len(files)
    if not shutil.which("otf2-print"):
        print("otf2-print is not installed: the archive was not read")
        return
    events, said = ran("otf2-print", "archive/trace.otf2")
    assert not said, said
    inside, sent, received = {}, {}, {}
    for kind, location, time, rest in re.findall(r"^(ENTER|LEAVE|MPI_SEND|MPI_RECV) +(\d+) +(\d+) +(.*)", events, re.M):
        if kind in ("ENTER", "LEAVE"):
            inside[location] = inside.get(location, 0) + (1 if kind == "ENTER" else -1)
            assert inside[location] in (0, 1), (location, time)
            continue
        peer, tag = re.search(r'(?:Receiver|Sender): (\d+) .*, Tag: (\d+)', rest).groups()
        (sent if kind == "MPI_SEND" else received)[int(peer), int(tag)] = int(time)
    assert len(sent) == len(received) == 2 * MESSAGES, (len(sent), len(received))
    assert all(sent[1 - peer, tag] <= time for (peer, tag), time in received.items()), (sent, received)


def test_what_cannot_be_written_is_not_left_behind():
    limited = ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", SENNIT, "report", "trace", "--otf2", "none"]
    _, said = ran(*limited, code=2)
    assert said.startswith("sennit: cannot write none: ") and said.count("\n") == 1, said
    assert not os.path.exists("none"), os.listdir("none")


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(SENNIT), "..", "lib", "sennit-otf2")):
        print("libotf2 is not installed: nothing is tested with it")
        sys.exit()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        with open("many.c", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        ran(WRAPPER, "many.c", "-o", "many")
        ran(SENNIT, "run", "-n", "2", "--trace=trace", "./many")
        harness.run_tests({name: test for name, test in globals().items() if name.startswith("test_")})
