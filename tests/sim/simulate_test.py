#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: sim.command timeout=300 -- {sennit} {file('sennit-simulate')}
"""`sennit simulate`: results for machines, and one clear line for what makes no sense."""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SENNIT, SIMULATOR = sys.argv[1:3]
SMALL = ["--ranks", "2", "--threads", "2", "--quiet"]


def run(*arguments, **environment):
    return subprocess.run([SENNIT, "simulate", *arguments], capture_output=True, text=True, timeout=240,
                          env={**os.environ, **environment})


def results(*arguments):
    done = run(*arguments, *SMALL, "--json", "-")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"]


def refused(text, *arguments, **environment):
    done = run(*arguments, **environment)
    assert done.returncode == 2, (arguments, done.returncode, done.stdout, done.stderr)
    assert text in done.stderr and done.stderr.count("\n") == 1, (arguments, done.stderr)


rows = results("cholesky", "--n", "8192", "--policy", "all")
assert len({row["policy"] for row in rows}) == len(rows) >= 9
for row in rows:
    assert row["compute"] == 16 + 2 * 120 + 560
    assert row["time_s"] >= max(row["critical_path_s"], row["busiest_rank_s"])
assert rows == results("cholesky", "--n", "8192", "--policy", "all"), "not deterministic"

assert "steal" in {row["policy"] for row in rows}

rows = results("cholesky", "--n", "8192", "--policy", "fifo", "--sweep", "bandwidth=1..4*2",
               "--sweep", "block=256,512")
assert [(row["sweep"]["bandwidth"], row["sweep"]["block"]) for row in rows] == [
    (b, s) for b in (1, 2, 4) for s in (256, 512)]

done = run("gauss-seidel", "--cells", "4096", *SMALL, "--csv", "-")
table = list(csv.DictReader(io.StringIO(done.stdout)))
assert [row["policy"] for row in table] == ["fifo", "sa", "fa"], done

with tempfile.TemporaryDirectory() as folder:
    page = pathlib.Path(folder) / "page.html"
    done = run("cholesky", "--n", "4096", *SMALL, "--policy", "fifo,fa", "--sweep", "bandwidth=1,2", "--html", str(page),
               TMPDIR=folder)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    for title in ("bandwidth=1-fifo", "bandwidth=2-fa"):
        assert title in text, title
    assert os.listdir(folder) == ["page.html"], "what was written for the page is still there"
    refused("--html is for at most 16384 threads", "cholesky", "--ranks", "16384", "--threads", "2", "--quiet",
            "--n", "131072", "--html", str(page))
    refused("cannot write", "cholesky", "--n", "2048", "--quiet", "--policy", "fifo", "--html", "/nowhere/x.html")

refused("policy 'best' is unknown", "cholesky", "--policy", "best")
refused("use fa, or steal", "cholesky", "--policy", "fifo,auto")
refused("--ranks 0 is not from", "cholesky", "--ranks", "0")
refused("not a whole number of ranks", "cholesky", "--ranks", "2.5")
refused("not a whole number of ranks", "cholesky", "--ranks-per-card", "1.5")
refused("--bandwidth nan is not from", "cholesky", "--bandwidth", "nan")
refused("there is no such number", "cholesky", "--sweep", "colour=1,2")
refused("never ends", "cholesky", "--sweep", "ranks=1..8*1")
for values in ("8..4*2", "8..4+1", "8..4"):
    refused("has no value", "cholesky", "--sweep", "ranks=" + values)
for ranks in ("0", "-4", "1.5", "x"):
    refused("--weak", "cholesky", "--n", "2048", "--quiet", "--weak", ranks)
refused("'x' is not a number", "cholesky", "--sweep", "ranks=1,x")
refused("no whole tile", "cholesky", "--n", "100")
refused("does not divide", "cholesky", "--ranks", "4", "--grid-rows", "3")
refused("fewer rows of blocks", "gauss-seidel", "--cells", "1024", "--ranks", "4")
refused("--trsm nan is no speed", "cholesky", "--quiet", "--trsm", "nan")
refused("--gflops 0 is no speed", "cholesky", "--quiet", "--sweep", "gflops=1,0")
refused("'nan' is not a number", "front", "--speed", "nan")
refused("'nan' is not a number", "pool", "--move", "nan")

# Each number of each workload, with a senseless value: a result, or one line; never a crash.
numbers = {"cholesky": ["--n", "1024", "--ranks", "2", "--threads", "2"], "gauss-seidel": ["--cells", "2048", "--ranks", "2"],
           "front": ["--nodes", "2", "--pes", "2", "--side", "4", "--steps", "2"], "pool": ["--program", "a:work=1"]}
for workload, small in numbers.items():
    options = set(re.findall(r"^ +--([a-z-]+)[ ,].*(?:FLOAT|INT)", run(workload, "--help").stdout, re.MULTILINE))
    assert len(options) >= 5, (workload, options)
    for option in sorted(options):
        for value in ("nan", "inf", "-1", "0", "1e300", "1e-300"):
            given = [word for pair in zip(small[::2], small[1::2]) if pair[0] != f"--{option}" for word in pair]
            quiet = [] if workload in ("front", "pool") else ["--quiet", "--policy", "fifo"]
            done = run(workload, *given, *quiet, f"--{option}={value}")
            good = done.returncode == 0 and done.stderr == "" and "nan" not in done.stdout
            assert good or done.returncode == 2 and re.fullmatch("sennit: [^\n]+\n", done.stderr), (workload, option, value, done)

# What is no trace is refused at once, however long it is and whatever would be waited for.
with tempfile.TemporaryDirectory() as folder:
    os.mkfifo(f"{folder}/rank-0.sennit")
    refused("it is no regular file", "trace", folder)
    os.remove(f"{folder}/rank-0.sennit")
    os.mkdir(f"{folder}/rank-0.sennit")
    refused("it is no regular file", "trace", folder)
    os.rmdir(f"{folder}/rank-0.sennit")
    pathlib.Path(f"{folder}/rank-0.sennit").touch()
    for size, reason in ((1 << 30, "not a trace of Sennit"), (5 << 40, "are more than the memory of this machine")):
        os.truncate(f"{folder}/rank-0.sennit", size)
        refused(reason, "trace", folder)

refused("cannot be written", "cholesky", "--n", "2048", "--quiet", "--json", "/nowhere/x.json")

# SimGrid's network.
refused("'best' is unknown", "cholesky", "--network", "best")
refused("--switch-bandwidth is for --network simgrid", "cholesky", "--switch-bandwidth", "1")
refused("--platform is for --network simgrid", "cholesky", "--platform", "x.xml")
with tempfile.TemporaryDirectory() as folder:
    refused("lib/sennit-simulate cannot be started", "cholesky", SENNIT_HOME=folder)
    (pathlib.Path(folder) / "lib").mkdir()
    shutil.copy(SIMULATOR, f"{folder}/lib/sennit-simulate")
    refused("without SimGrid: install libsimgrid-dev", "cholesky", "--network", "simgrid", SENNIT_HOME=folder)
if (pathlib.Path(SENNIT).parent.parent / "lib/sennit-simgrid").exists():
    # One message at a time has the network to itself: LogGP without a gap says the same, but for
    # the rounding of each message's times.
    alone = ["cholesky", "--n", "1024", "--policy", "fifo", "--gap", "0"]
    [loggp], [simgrid] = results(*alone), results(*alone, "--network", "simgrid")
    assert simgrid["sends"] == 1 and abs(simgrid["time_s"] - loggp["time_s"]) < 20e-9, (loggp, simgrid)
    refused("--rank-bandwidth is for --network loggp", *alone, "--network", "simgrid", "--rank-bandwidth", "1", "--quiet")
    # Everything in turn, each in the state that it would have alone; a narrow switch costs time.
    shared = ["cholesky", "--n", "8192", "--network", "simgrid", "--policy", "all"]
    rows = results(*shared, "--sweep", "switch-bandwidth=0,0.2")
    assert rows[:len(rows) // 2] == results(*shared, "--sweep", "switch-bandwidth=0")
    for wide, narrow in zip(rows, rows[len(rows) // 2:]):
        assert wide["policy"] == narrow["policy"] and wide["sends"] == narrow["sends"]
        assert narrow["time_s"] > wide["time_s"] * 1.02, (wide, narrow)
        assert wide["time_s"] >= wide["busiest_rank_s"] and "critical_path_s" not in wide
    # A platform of one's own.
    with tempfile.TemporaryDirectory() as folder:
        platform = pathlib.Path(folder) / "pair.xml"
        platform.write_text("""<?xml version='1.0'?>
            <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
            <platform version="4.1"><zone id="pair" routing="Full">
              <host id="one" speed="1Gf"/><host id="two" speed="1Gf"/>
              <link id="cable" bandwidth="1GBps" latency="1500ns"/>
              <route src="one" dst="two"><link_ctn id="cable"/></route>
            </zone></platform>""")
        pair = ["cholesky", "--n", "8192", "--network", "simgrid", "--platform", str(platform)]
        rows = results(*pair, "--policy", "fifo,sa")
        # Both directions share the cable, as all messages share a switch between faster cards.
        assert rows == results(*shared[:-2], "--policy", "fifo,sa", "--switch-bandwidth", "1"), rows
        refused("has 2 hosts, this machine has 4 network cards", *pair, "--ranks", "4", "--quiet")
        platform.write_text("<platform")
        refused("pair.xml:1", *pair, "--quiet")
        os.mkfifo(f"{folder}/pipe.xml")
        for none in ("nowhere.xml", "pipe.xml", "."):
            refused("cannot be read", *pair[:-1], f"{folder}/{none}", "--quiet")

# What is simulated has to be said; a folder alone is taken for a trace that somebody has recorded.
refused("use cholesky, gauss-seidel, trace FOLDER, pool or front")
refused("'frobnicate' is unknown: use", "frobnicate")
refused("by: sennit simulate trace /tmp", "/tmp")
refused("sennit: ", "/tmp", "cholesky", "--bogus")

# A simulated run is a trace, and the report's numbers are the simulation's.
with tempfile.TemporaryDirectory() as folder:
    for row in results("cholesky", "--n", "8192", "--policy", "fifo,fa", "--tied", "0", "--trace", folder):
        trace = f"{folder}/{row['policy']}"
        assert sorted(os.listdir(trace)) == ["rank-0.sennit", "rank-1.sennit"]
        said = subprocess.run([SENNIT, "report", trace], capture_output=True, text=True, timeout=240)
        assert said.returncode == 0 and said.stderr == "", said
        assert f"policy {row['policy']}" in said.stdout and f"; {row['tasks']} tasks," in said.stdout, said
        assert f"{row['sends']} messages:" in said.stdout, said
        time, in_task, idle = re.search(r"^  all +([0-9.]+) s +([0-9.]+)% +([0-9.]+)%", said.stdout,
                                        re.M).groups()
        parts = [row["in_task_s"], row["idle_s"], row["overhead_s"]]
        assert abs(float(time) - sum(parts)) <= 0.002, (time, row)
        assert abs(float(in_task) - 100 * parts[0] / sum(parts)) <= 0.1, (in_task, row)
        assert abs(float(idle) - 100 * parts[1] / sum(parts)) <= 0.5, (idle, row)
    said = subprocess.run([SENNIT, "report", f"{folder}/fifo", f"{folder}/fa", "--html",
                           f"{folder}/page.html"], capture_output=True, text=True, timeout=240)
    assert "What changed from" in said.stdout, said
    assert os.path.getsize(f"{folder}/page.html") > 10000
    results("cholesky", "--n", "4096", "--policy", "sa", "--sweep", "latency=1,2", "--trace", f"{folder}/many")
    assert sorted(os.listdir(f"{folder}/many")) == ["latency=1-sa", "latency=2-sa"]
    results("cholesky", "--n", "4096", "--policy", "sa", "--trace", f"{folder}/one")
    assert sorted(os.listdir(f"{folder}/one")) == ["rank-0.sennit", "rank-1.sennit"]
    # One rank calls nobody: whoever replays it is told.
    done = run("cholesky", "--n", "4096", "--ranks", "1", "--policy", "fifo", "--quiet", "--trace", f"{folder}/alone")
    assert done.returncode == 0 and done.stderr == "", done
    done = run("trace", f"{folder}/alone", "--policy", "fifo", "--quiet")
    assert done.returncode == 0, done
    assert done.stderr == "sennit: note: no call of MPI was recorded: every rank runs on its own\n", done
    # A folder's name may be no text; what was simulated is written all the same.
    odd = f"{folder}/alone\udcff"
    os.rename(f"{folder}/alone", odd)
    done = run("trace", odd, "--policy", "fifo", "--json", "-")
    assert done.returncode == 0 and json.loads(done.stdout)["options"]["trace"].endswith("/alone\ufffd"), done
    # Cut behind its first chunk, which has names, a trace has no task.
    os.rename(odd, f"{folder}/alone")
    with open(f"{folder}/alone/rank-0.sennit", "r+b") as file:
        file.truncate(sum(struct.unpack_from("=II", file.read(20), 12)))
    done = run("trace", f"{folder}/alone", "--policy", "fifo")
    assert done.returncode == 0 and "nothing to simulate" in done.stderr and "nan" not in done.stdout, done
refused("cannot be made", "cholesky", "--n", "2048", "--quiet", "--trace", "/proc/nowhere")
refused("at most 16384 threads", "cholesky", "--n", "8192", "--ranks", "4096", "--threads", "24",
        "--no-path", "--quiet", "--trace", "/tmp/nowhere")

# Traces: what is none is refused with the file, the place and the reason.
with tempfile.TemporaryDirectory() as folder:
    refused(folder, "trace", folder)
    file = pathlib.Path(folder) / "rank-0.sennit"
    file.write_bytes(b"no trace at all" * 1000)
    refused("rank-0.sennit", "trace", folder)
refused("required", "trace")

# Programs that share the cores of a node.
done = run("pool", "--splits", "12", "--json", "-")
assert done.returncode == 0, done.stderr
pool = json.loads(done.stdout)
spans = {row["policy"]: row["makespan_s"] for row in pool["results"]}
assert [name for name in spans if "split" not in name] == ["static", "lend", "fair", "moldable"]
assert spans["fastest split 12/12/12/12"] > spans["moldable"] > pool["ideal_s"]
done = run("pool", "--program", "a:work=48", "--program", "b:work=48,share=3", "--policy", "lend", "--split", "12/36")
assert done.returncode == 0 and done.stderr == "", done
assert re.search(r"^lend +2\.000 +1\.000 +1\.000 +48\.0 .* 2\.000 +1\.333$", done.stdout, re.MULTILINE), done.stdout
assert re.search(r"^split 12/36 +4\.000 ", done.stdout, re.MULTILINE), done.stdout
refused("no such program", "pool", "--program", "ep.D")
refused("'speed' is unknown", "pool", "--program", "a:speed=2")
refused("work is 1e-09 to", "pool", "--program", "a:work=-1")
refused("--policy 'fifo' is unknown", "pool", "--policy", "fifo")
refused("is for 2 programs, there are 4", "pool", "--split", "24/24")
refused("there are 48 cores only", "pool", "--split", "24/24/24/24")
for cores in ("0.5/47", "12.5/35.5", "0/48", "x/48"):
    refused(f"--split {cores}", "pool", "--program", "a:work=1", "--program", "b:work=1", "--split", cores)
refused("--splits 24: 4 programs", "pool", "--splits", "24")
refused("more programs (4) than cores (3)", "pool", "--cores", "3")
refused("all programs are services", "pool", "--program", "a:leftover=1")
