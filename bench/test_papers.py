#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/papers.py: the rules of the verdicts on made-up numbers, and a page in which each figure stands with its numbers."""
import json
import pathlib
import tempfile

import paper_runs
import papers
from paper_figures import FIGURES, PAPERS, Tables, number, quotient
from paper_verdicts import BETTER, NOT_SHOWN, QUICK, REPRODUCED, Claim, contradicted, judge, verdict


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
assert quotient("a", "b")({"a": [2, 9], "b": [1, 3]}) == [2, 3]
assert (number("33.11 (9.2)"), number("33.11 (9.2)", 1), number("-15.7%")) == (33.11, 9.2, -15.7)

assert len({figure.key for figure in FIGURES}) == len(FIGURES) and {figure.paper for figure in FIGURES} == set(PAPERS)
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    papers.main(["--only", "recorded", "--output", scratch])
    page, web = (folder / "papers.md").read_text(), (folder / "papers.html").read_text()
    results = json.loads((folder / "papers.json").read_text())
    for figure in FIGURES:
        table = next(one for one in results if one["heading"] == f"{figure.paper}, {figure.name}")
        assert f"### {figure.name}\n" in page and table["heading"] in web.replace("&#x27;", "'"), figure.name
        for claim, row in zip(figure.claims, table["rows"], strict=True):
            assert row[0] == claim.says and (row[2] == "–") == (not figure.recorded), (figure.name, row)
    shown = Tables(papers.results_folder(), "simulation").row("Paper 1, Figure 4: 16 nodes, ranks x threads", "32-24")
    assert f"| {number(shown['fa'])} |" in page, "a simulated time is not on the page"
    # What was measured before stays, unless by a quick run.
    for table in results:
        if table.get("figure", {}).get("key") == "aware-5":
            table["figure"]["quick"] = True
    (folder / "papers.json").write_text(json.dumps(results))
    kept = paper_runs.kept(folder / "papers.json")
    assert "aware-4" in kept and "aware-5" not in kept, sorted(kept)
