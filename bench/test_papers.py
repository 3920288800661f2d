#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/papers.py: the rules of the verdicts on made-up numbers, and a page in which each figure stands with its numbers and
its plots. With a build and an MPI: the programs together and the ping-pong, for real, at tiny sizes.

usage: test_papers.py [BUILD MPI]"""
import base64
import json
import pathlib
import struct
import sys
import tempfile
import xml.etree.ElementTree

import coscheduling
import message_sizes
import paper_plots
import paper_runs
import papers
import timelines
import priorities
from paper_figures import FIGURES, PAPERS, Tables, number, quotient
from paper_verdicts import BETTER, NOT_EXAMINED, NOT_SHOWN, QUICK, REPRODUCED, Claim, contradicted, judge, verdict


def of(rule, numbers, theirs=10.0):
    return judge(Claim("", lambda values: values, rule, theirs), numbers)


EXPECTED = (("less", [9.0], BETTER), ("less", [10.4], REPRODUCED), ("less", [9.6], REPRODUCED), ("less", [10.6], NOT_SHOWN),
            ("more", [11.0], BETTER), ("more", [9.6], REPRODUCED), ("more", [9.4], NOT_SHOWN),
            ("same", [10.4], REPRODUCED), ("same", [9.4], NOT_SHOWN), ("same", [10.6], NOT_SHOWN),
            # An outlier decides nothing, an even half of the rounds is no order.
            ("less", [9.0, 9.0, 99.0], BETTER), ("order", [.9, .9, .9, 1.1], REPRODUCED), ("order", [.9, .9, 1.1, 1.1], NOT_SHOWN),
            ("order", [1.0], NOT_SHOWN), ("order", [], NOT_SHOWN))
for rule, numbers, wanted in EXPECTED:
    assert of(rule, numbers).verdict == wanted, (rule, numbers, of(rule, numbers))
assert of("drawback", [1.2], 1.0).verdict == REPRODUCED and of("drawback", [1.04], 1.0).verdict == BETTER
try:
    of("other", [1.0])
    raise SystemExit("an unknown rule is taken")
except ValueError:
    pass

ahead, same, behind, absent = of("less", [9.0]), of("less", [10.0]), of("less", [12.0]), of("less", None)
quick = judge(Claim("", lambda values: values, "less", 10.0), [9.0], quick=True)
assert verdict([ahead, same]) == BETTER and verdict([same]) == REPRODUCED and verdict([ahead, behind]) == NOT_SHOWN
assert verdict([ahead, absent]) == verdict([ahead, quick]) == verdict([]) == NOT_SHOWN and quick.why == QUICK
assert contradicted([ahead, same, behind, absent, quick]) == [behind]
# What ours contradicts is listed with the reason, or with the word that there is none.
known, unknown = (judge(Claim(says, lambda values: values, "less", 10.0, because=why), [12.0]) for says, why in (("known", "snow"), ("unknown", "")))
listed = papers.contradictions([(FIGURES[0], [ahead, known, unknown])])
assert [line.rpartition("Why: ")[2] for line in listed] == ["snow", NOT_EXAMINED] and "“known”" in listed[0], listed
table = papers.results_of([(FIGURES[0], [ahead, known, unknown])], {}, [])[1]
assert table["because"] == {"known": "snow", "unknown": NOT_EXAMINED}, table
assert quotient("a", "b")({"a": [2, 9], "b": [1, 3]}) == [2, 3]
assert (number("33.11 (9.2)"), number("33.11 (9.2)", 1), number("-15.7%")) == (33.11, 9.2, -15.7)

# A law of speed comes back from its times, and nothing is faster than ideal.
law = {cores: (1 + .05 * (cores - 1) + .002 * cores * (cores - 1)) / cores for cores in range(1, 9)}
assert all(abs(a - b) < 1e-9 for a, b in zip(coscheduling.speed_up(law), (.05, .002)))
assert coscheduling.speed_up({1: 1.0, 2: 0.4}) == (0, 0) and coscheduling.speed_up({1: 1.0}) == (0, 0)
assert sorted(coscheduling.splits_of(4, 3)) == [(1, 1, 2), (1, 2, 1), (2, 1, 1)]
spans = {"a, 1": [9.0], "a/b: in turn": [4.0], "a/b: split 1/3": [3.0], "a/b: split 2/2": [2.0], "a/b: lend": [1.0],
         "a/b: lend, simulated": [9.0]}
assert coscheduling.by("best split", "in turn")(spans) == [.5] and coscheduling.by("lend", "best split")(spans) == [.5]
# The columns of IMB-MPI1 PingPong, without what is no row.
assert message_sizes.sizes_of("#bytes #repetitions t[usec] Mbytes/sec\n  0  1000  0.25  0.00\n 4194304 10 168.50 24892.01\n"
                              "# 2 processes\n") == {0: .25, 4194304: 168.5}
pings = {"MPICH, bare, packed: 64": [1.0], "MPICH, bare, packed: 128": [4.0], "MPICH, --virtual, packed: 64": [2.0],
         "MPICH, --virtual, packed: 128": [2.0]}
assert message_sizes.greatest("MPICH", "--virtual", "packed", lambda size: True)(pings) == [2.0]
assert message_sizes.mean("MPICH", "--virtual", "packed", lambda size: size > 64)(pings) == [.5]
assert message_sizes.greatest("Open MPI", "--virtual", "packed", lambda size: True)(pings) == []

# Two ranks between two barriers, 100 to 1100. Without tasks, what is neither a call nor before the first message: the end of 40 is
# another's, and what is shorter than a block does not count. With tasks, those of the function that takes longest.
NAMES = "EVENT_TYPE\n0    60000001    Task\nVALUES\n0    End\n1    solve\n2    talk\n\n" \
        "EVENT_TYPE\n0    50000001    MPI call\nVALUES\n0    End\n1    MPI_Barrier\n2    MPI_Recv\n\n"
CALLS = "#Paraver\n" + "".join(f"2:{cpu}:1:{cpu}:1:{at}:50000001:{value}\n" for at, cpu, value in (
    (90, 1, 1), (95, 2, 1), (98, 1, 0), (100, 2, 0), (100, 1, 2), (100, 2, 2), (200, 1, 0), (500, 2, 0), (600, 1, 2), (700, 1, 0),
    (1000, 1, 1), (1050, 2, 1), (1100, 1, 0), (1100, 2, 0)))
PLAIN = CALLS + "1:1:1:1:1:0:2000:15\n1:2:1:2:1:0:2000:15\n3:2:1:2:1:90:90:1:1:1:1:100:200:8:0\n3:1:1:1:1:450:450:2:1:2:1:100:500:8:0\n"
told = timelines.Timeline(PLAIN, NAMES)
assert (told.length, told.rows) == (1000, {(0, 0): [(100, 500), (600, 900)], (1, 0): [(400, 950)]}), (told.length, told.rows)
assert (told.last_rank_starts(), told.first_rank_pauses(), told.together()) == (400, 500, .4)
TASKS = PLAIN + "".join(f"2:{cpu}:1:{cpu}:1:{begin}:60000001:{name}:60000002:0\n2:{cpu}:1:{cpu}:1:{end}:60000001:0:60000002:0\n"
                        for begin, end, cpu, name in ((50, 150, 1, 1), (150, 160, 1, 2), (160, 300, 1, 1), (400, 800, 2, 1)))
told = timelines.Timeline(TASKS, NAMES)
assert told.rows == {(0, 0): [(0, 50), (60, 200)], (1, 0): [(300, 700)]} and told.first_rank_pauses() == 200, told.rows
# Two rounds of: a leads to the sends b and d by c, e leads nowhere. Task 0 is the program, without a name.
def packed(numbers):
    return base64.b64encode(struct.pack(f"<{len(numbers)}i", *numbers)).decode()


process = {"tasks": {"name": packed([0, 1, 2, 1, 2, 1] + [1, 2, 1, 2, 1]),
                     "priority": packed([0] * 6 + [1022, 1023, 1022, 1023, 0])},
           "edges": {"from": packed([1, 1, 3, 6, 6, 8]), "to": packed([2, 3, 4, 7, 8, 9])}}
tasks = priorities.second_round(process, ["", "work", "send_data"])
assert priorities.algorithm_1(tasks) == [1022, 1023, 1022, 1023, 0] == [task.priority for task in tasks], tasks
assert priorities.RULES["ma1"](tasks) == [0, 1, 0, 1, 0] and priorities.RULES["ma2"](tasks) == [1, 1, 1, 1, 0]

# Emulated kernels last 2 s in each of 4 threads, and 0.4 s longer in all.
told = paper_runs.calculation_in('cholesky: 3 s\n{"seconds":3.0,"bound_work":2.0,"late":0.4,"ranks":2,"threads":2}\n')
assert told == {"": 3.0, " calc": 2.1, " noncalc": 3.0 - 2.1, " calc, all": 8.4, " noncalc, all": (3.0 - 2.1) * 4}, told
assert paper_runs.calculation_in("nothing") == {}
whole = {f"detach{what}": [value, 2 * value] for what, value in told.items()}
assert paper_plots.table_of_calculations(whole)[1] == [["detach", "3.1500", "1.3500", "12.6000", "5.4000"]]
assert sorted(paper_plots.calculations(whole)) == ["sum", "thread"]
assert list(paper_plots.calculations({"detach": [1.0]})) == ["times"]
columns, rows = paper_plots.table_of_runtimes({"a, libgomp": [1.0], "a, Sennit": [2.0, 4.0], "b, Sennit": [1.0]})
assert columns == ["seconds", "libgomp", "Sennit"] and [row[0] for row in rows] == ["a", "b"] and rows[1][1] == "–", (columns, rows)
assert rows[0][2].startswith("3 [2"), rows
# A case that an older measurement has not.
assert judge(Claim("", quotient("a", "b"), "order"), {"a": [1.0]}).why == "not measured yet"

assert len({figure.key for figure in FIGURES}) == len(FIGURES) and {figure.paper for figure in FIGURES} == set(PAPERS)
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    (folder / "papers").mkdir()
    (folder / "papers/aware-4-old.svg").write_text("")
    papers.main(["--only", "recorded", "--output", scratch])
    page, web = (folder / "papers.md").read_text(), (folder / "papers.html").read_text()
    results = json.loads((folder / "papers.json").read_text())
    for figure in FIGURES:
        table = next(one for one in results if one["heading"] == f"{figure.paper}, {figure.name}")
        assert f"### {figure.name}\n" in page and table["heading"] in web.replace("&#x27;", "'"), figure.name
        for claim, row in zip(figure.claims, table["rows"], strict=True):
            assert row[0] == claim.says and (row[2] == "–") == (not figure.recorded), (figure.name, row)
        # Every number has its commit; those of this call are of other benches' files.
        assert ("figure" in table) == figure.recorded, figure.name
        assert not figure.recorded or table["figure"]["measured"]["from"].startswith("docs/results/"), table["figure"]
    assert page.count("; commit: ") == web.count("; commit: ") == sum(figure.recorded for figure in FIGURES)
    shown = Tables(papers.results_folder(), "simulation").row("Paper 1, Figure 4: 16 nodes, ranks x threads", "32-24")
    assert f"| {number(shown['fa'])} |" in page, "a simulated time is not on the page"
    for key in ("aware-4", "aware-5", "tampi-9", "virtual-3"):
        names = [name for name in page.split("(papers/")[1:] if name.startswith(f"{key}-")]
        assert names, f"{key} has no plot"
        for name in names:
            xml.etree.ElementTree.parse(folder / "papers" / name.partition(")")[0])
    assert page.count("(papers/") == len(list((folder / "papers").iterdir())) == web.count("<svg")
    # What was measured before stays, unless by a quick run.
    for table in results:
        if table.get("figure", {}).get("key") == "aware-5":
            table["figure"]["quick"] = True
    (folder / "papers.json").write_text(json.dumps(results))
    kept = paper_runs.kept(folder / "papers.json")
    assert "aware-4" in kept and "aware-5" not in kept, sorted(kept)

if len(sys.argv) > 2:
    values = paper_runs.traces(paper_runs.Run(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(), sys.argv[2], 1, True),
                               ("pure", "interop-blk"))
    for version in ("pure", "interop-blk") if values else ():
        for rank in (0, 1):
            ends = values[f"{version}, rank {rank}"]
            assert ends and ends == sorted(ends), (version, ends)
        assert 0 < values[f"{version}, last rank, ms"][0] and 0 <= values[f"{version}, together"][0] <= 1, values
    with tempfile.TemporaryDirectory() as scratch:
        wanted = "aware-3,virtual-3-here,virtual-4-sizes"
        papers.main(["--quick", "--home", sys.argv[1], "--mpi", sys.argv[2], "--only", wanted, "--output", scratch])
        results = json.loads((pathlib.Path(scratch) / "papers.json").read_text())
        found = {one["figure"]["key"]: one["figure"] for one in results if "figure" in one}
        assert found["aware-3"]["values"] == {policy: [0] for policy in priorities.RULES}, found["aware-3"]
        assert {"commit", "machine", "MPI", "rounds", "load"} == set(found["virtual-4-sizes"]["measured"])
        here = found["virtual-4-sizes"]["values"]
        assert found["virtual-4-sizes"]["quick"]
        for line, took in message_sizes.lines_of(here).items():
            assert sorted(took) == [0, *(1 << power for power in range(23))], line  # 4 MiB is the last
        columns, rows = paper_plots.table_of("virtual-3-here", found) or ([], [])
        if rows:  # not on one core
            assert {"in turn", "lend", "moldable"} < {row[1] for row in rows}, rows
            assert all(float(row[3]) > 0 for row in rows if not row[0].endswith("alone")), rows
        page = (pathlib.Path(scratch) / "papers.md").read_text()
        assert "a quick run" in page and len(list((pathlib.Path(scratch) / "papers").iterdir())) >= 2
