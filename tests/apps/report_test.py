#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.report.{mpi} mpi=all timeout=300 virtual=1 -- --sennit {sennit} --program {apps}/cholesky-gcc-{mpi}
#     --persistent {build}/tests/mpi/persistent-{paired}-{mpi}
"""`sennit run --trace` and `sennit report` on the Cholesky, from recording to every output.

usage: report_test.py --sennit PATH --program PATH --persistent PATH"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile


def run(*command, environment=None, code=0):
    result = subprocess.run(command, env={**os.environ, **(environment or {})}, text=True,
                            capture_output=True, timeout=240)
    assert result.returncode == code, (command, result.returncode, result.stdout, result.stderr)
    return result.stdout, result.stderr


# Rank 1 in a time namespace, where the clock is ahead as another host's would be.
ELSEWHERE = """\
#!/bin/sh
export SENNIT_LOCAL_RANKS=$LOCAL
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && exec unshare --time --fork --monotonic 1000 "$@"
exec "$@"
"""


def clocks_of_two_hosts(sennit, work):
    """Ranks of several hosts compare their clocks, in MPI_Init and MPI_Finalize."""
    if subprocess.run(["unshare", "--time", "--fork", "true"], capture_output=True).returncode != 0:
        print("time namespaces are not allowed here: clocks of two hosts were not tried")
        return
    with open("elsewhere", "w", encoding="utf-8") as file:
        file.write(ELSEWHERE)
    os.chmod("elsewhere", 0o755)
    mpi = "mpich" if "mpich" in os.path.basename(work[0]) else "openmpi"
    for local, compared in (("2", False), ("1", True)):
        trace = f"clocks-{local}"
        run(sennit, "run", "-n", "2", "--threads", "2", "--mpi", mpi, f"--trace={trace}", "./elsewhere", *work,
            environment={"LOCAL": local})
        out, _ = run(sennit, "report", trace)
        (took,) = re.findall(r"^([0-9.]+ m?s) from the first task to the last", out, re.M)
        longest = re.findall(r"messages: .*, ([0-9.]+ \w+) \(longest\)", out)
        far = took.endswith(" s") and float(took.split()[0]) > 900
        assert far != compared, (local, took)
        assert longest[0].startswith("1000.") != compared, (local, longest)


def persistent_requests(sennit, program):
    """What MPI_Start starts is a message like any other, and who calls it for a send is a send-task."""
    run(sennit, "run", "-n", "2", "--threads", "2", "--policy", "fa", "--trace=persistent", program,
        environment={"SENNIT_STATS": "stats"})
    out, _ = run(sennit, "report", "persistent")
    assert "20 messages:" in out, out  # of 2 ranks: 3 modes, 3 times; once in ready mode
    for name in (name for name in os.listdir(".") if name.startswith("stats")):
        with open(name, encoding="utf-8") as file:
            profiles = json.load(file)["profiles"]
        assert sorted(profile["verdict"] for profile in profiles) == ["computes", "sends"], profiles


def otf2(sennit, trace, tasks, messages):
    """The archive has all tasks, calls and messages, as OTF2's own reader reads it."""
    if not os.path.exists(os.path.join(os.path.dirname(sennit), "..", "lib", "sennit-otf2")):
        _, said = run(sennit, "report", trace, "--otf2", "archive", code=2)
        assert "libotf2-trace-dev" in said and said.count("\n") == 1, said
        return
    out, said = run(sennit, "report", trace, "--otf2", "archive")
    assert "wrote archive/trace.otf2\n" in out and not said, (out, said)
    _, said = run(sennit, "report", trace, "--otf2", "archive", code=2)
    assert said == "sennit: archive is there already: name a folder that is not\n", said
    _, said = run(sennit, "report", trace, "--otf2", "none/archive", code=2)
    assert said == "sennit: cannot make none/archive: No such file or directory\n", said
    if not shutil.which("otf2-print"):
        print("otf2-print is not installed: the archive was not read")
        return
    events, said = run("otf2-print", "archive/trace.otf2")
    assert not said, said
    depth, entered = {}, 0
    for kind, location, name in re.findall(r'^(ENTER|LEAVE) +(\d+) .*?Region: "([^"]*)"', events, re.M):
        inside = depth.setdefault(location, [])
        if kind == "ENTER":
            inside.append(name)
            entered += "MPI_" not in name and name != "program"
        else:
            assert inside.pop() == name, (location, name)
    assert not any(depth.values()) and entered >= tasks, (depth, entered, tasks)
    for kind in ("MPI_SEND", "MPI_RECV"):
        assert len(re.findall(rf"^{kind} ", events, re.M)) == messages, (kind, messages)
    defined, _ = run("otf2-print", "-G", "archive/trace.otf2")
    for words in ("rank 0", "rank 1", "worker 1", "MPI 0", "MPI_COMM_WORLD"):
        assert f'"{words}"' in defined, (words, defined)


def ranks_of_other_jobs(sennit):
    """A rank that is missing is said; ranks of two jobs in one folder are refused."""
    os.mkdir("part")
    shutil.copy("fa/rank-0.sennit", "part")
    out, said = run(sennit, "report", "part")
    assert said == "sennit: part: 1 of 2 ranks left no trace here (1): what is said is about the others\n", said
    assert "\n  rank 0 " in out and "\n  rank 1 " not in out, out
    _, said = run(sennit, "advise", "part", code=2)
    assert said.count("\n") == 1 and "part: 1 of 2 ranks left no trace here (1): advice is" in said, said
    shutil.copy("by/rank-1.sennit", "part")
    for command in ("report", "advise"):
        _, said = run(sennit, command, "part", code=2)
        assert said.count("\n") == 1 and "part: ranks of two jobs: rank-0.sennit is of '" in said, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--persistent", required=True)
    options = parser.parse_args()
    sennit = options.sennit
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        work = [options.program, "--n", "768", "--block", "64", "--json", "numbers.json"]
        traces = []
        # Without a folder, with one, and by the environment.
        run(sennit, "run", "-n", "2", "--threads", "2", "--policy", "fifo", "--trace", *work)
        traces.append("sennit-trace")
        run(sennit, "run", "-n", "2", "--threads", "2", "--policy", "fa", "--trace=fa", *work)
        traces.append("fa")
        run(sennit, "run", "-n", "2", "--threads", "2", *work, environment={"SENNIT_TRACE": "by"})
        traces.append("by")
        with open("numbers.json", encoding="utf-8") as file:
            numbers = json.load(file)
        tasks = sum(numbers[k] for k in ("potrf", "trsm", "syrk", "gemm", "send", "receive"))
        for trace in traces:
            assert sorted(os.listdir(trace)) == ["rank-0.sennit", "rank-1.sennit"], trace
            out, said = run(sennit, "report", trace, "--threads")
            assert said == "", said
            assert re.search(rf"\b{tasks} tasks,", out), (tasks, out)
            assert f"{numbers['receive']} messages:" in out, out
            if trace != "sennit-trace" and platform.machine() == "x86_64":
                assert ", policy fa\n" in out, out  # also where none is chosen, for its tasks send
            for word in ("rank 0", "rank 1", "thread 1", "Critical path:", "MPI_Recv", "MPI_Send",
                         "in-task", "idle", "overhead"):
                assert word in out, (word, out)
        out, _ = run(sennit, "report", traces[0], traces[1], "--html", "page.html", "--perfetto",
                     "perfetto.json", "--paraver", "paraver")
        assert "What changed from sennit-trace to fa" in out, out
        assert "..1023" in out, out  # fa's priorities
        # Only fa learns; what its passes took is told.
        passes = re.findall(r"Policy: all priorities were computed anew (\d+) times.*; .*, ([0-9.]+)% of", out)
        assert len(passes) == 1 and int(passes[0][0]) > 0 and float(passes[0][1]) < 100, out
        with open("perfetto.json", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        ran = {(e["pid"], e["args"]["id"]) for e in events if e.get("cat") == "task"}
        assert len(ran) == tasks, (len(ran), tasks)
        for phase in "sf":
            assert sum(e["ph"] == phase for e in events) == numbers["receive"]
        with open("paraver.prv", encoding="utf-8") as file:
            lines = file.read().splitlines()
        assert re.match(r"#Paraver \(.*\):\d+_ns:1\(4\):1:2\(2:1,2:1\)$", lines[0]), lines[0]
        assert sum(line.startswith("3:") for line in lines) == numbers["receive"]
        for line in lines[1:]:
            fields = [int(field) for field in line.split(":")]
            assert fields[0] in (1, 2, 3) and len(fields) >= 8, line
        assert os.path.exists("paraver.pcf") and os.path.exists("paraver.row")
        otf2(sennit, traces[0], tasks, numbers["receive"])
        with open("page.html", encoding="utf-8") as file:
            page = file.read()
        data = json.loads(re.search(r"const DATA = (.*);\n", page).group(1).replace("<\\/", "</"))
        assert len(data["runs"]) == 2 and data["changes"], page[:200]
        # A send-task has the highest priority; where fa reads in the code who sends, from the first one on.
        (sender,) = [kind for kind in data["runs"][1]["kinds"] if kind["sends"]]
        assert sender["high"] == 1023 and (sender["low"] == 1023 or platform.machine() != "x86_64"), sender
        assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org)|@import|fetch\(", page.replace(
            json.dumps(data), "")), "the page needs the network"

        persistent_requests(sennit, options.persistent)

        # What cannot be read is one line.
        _, said = run(sennit, "report", "nowhere", code=2)
        assert said.startswith("sennit: ") and said.count("\n") == 1, said
        ranks_of_other_jobs(sennit)
        with open("fa/rank-1.sennit", "r+b") as file:
            file.write(b"nonsense")
        _, said = run(sennit, "report", "fa", code=2)
        assert "rank-1.sennit: byte 0: not a trace of Sennit" in said, said
        # A file that was cut is read up to there, and says so.
        size = os.path.getsize("by/rank-1.sennit")
        os.truncate("by/rank-1.sennit", size - 100_000)
        _, said = run(sennit, "report", "by", "--check")
        assert "rank-1.sennit: " in said or said == "", said

        clocks_of_two_hosts(sennit, work)
    print("all right")


if __name__ == "__main__":
    main()
