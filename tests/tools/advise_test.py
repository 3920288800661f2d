# SPDX-License-Identifier: Apache-2.0
# whole: tools.advise -- {sennit}
"""`sennit advise` on runs whose best change is known, because they were simulated.

Usage: advise_test.py SENNIT"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

SENNIT = sys.argv[1]
NETWORK = ["--latency", "100000", "--bandwidth", "1", "--ranks-per-card", "1"]
CHOLESKY = ["--block", "512", "--known", "1", "--quiet", "--no-path", *NETWORK]


def sennit(*words):
    return subprocess.run([SENNIT, *words], text=True, capture_output=True, timeout=300, check=False)


def works(*words):
    done = sennit(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def simulated(folder, order, *words):
    """The times of some policies; the first one's trace is in the folder."""
    command = ["simulate", "cholesky", "--n", str(order), *CHOLESKY, *words]
    works(*command, "--policy", "fifo", "--trace", folder)
    rows = json.loads(works(*command, "--policy", "fifo,fa,steal", "--json", "-"))
    return {row["policy"]: row["time_s"] for row in rows["results"]}


def test_the_best_is_said_first(folder):
    times = simulated(f"{folder}/trace", 16384)
    found = json.loads(works("advise", f"{folder}/trace", *NETWORK, "--json", "-"))
    assert abs(found["replayed_s"] / found["recorded_s"] - 1) < 0.01, found
    changes = {change["what"]: change for change in found["changes"]}
    change = changes["policy fa"] # as good as that policy is for the program itself
    assert abs(change["gain"] - (1 - times["fa"] / times["fifo"])) < 0.03, (change, times)
    change = changes["policy steal"]
    assert change["least"] <= 1 - times["steal"] / times["fifo"] <= change["most"], (change, times)
    for change in found["changes"]:
        assert change["least"] <= change["gain"] <= change["most"], change
    gains = [change["gain"] for change in found["changes"]]
    assert gains == sorted(gains, reverse=True), gains
    assert found["advice"] and found["advice"][0] in ("policy sa", "policy fa"), found["advice"]
    assert changes[found["advice"][0]]["confidence"] == "likely", changes[found["advice"][0]]
    assert len({what.split()[0] for what in found["advice"]}) == len(found["advice"]), found["advice"] # of each family one
    text = works("advise", f"{folder}/trace", *NETWORK, "--html", f"{folder}/page.html")
    assert found["advice"][0] in text and "Not tried" not in text, text
    assert "lending and pools" in works("advise", f"{folder}/trace", *NETWORK, "--all"), text
    with open(f"{folder}/page.html", encoding="utf-8") as page:
        html = page.read()
    assert "as it was" in html and found["advice"][0] in html, len(html)


def test_where_nothing_helps_it_says_so(folder):
    simulated(f"{folder}/alone", 4096, "--ranks", "1", "--threads", "1")
    text = works("advise", f"{folder}/alone")
    assert "Nothing that was tried makes this run surely more than 1% shorter." in text, text


def test_a_replay_that_is_far_off_is_a_guess(folder):
    simulated(f"{folder}/slow", 4096)
    text = works("advise", f"{folder}/slow", "--latency", "1e9", "--ranks-per-card", "1")
    assert "all below is a guess" in text and "likely" not in text, text


def test_bad_input_is_refused_in_a_line(folder):
    os.mkdir(f"{folder}/empty")
    with open(f"{folder}/empty/rank-0.sennit", "wb") as file:
        file.write(b"SENNITxx" + bytes(5000))
    shutil.copytree(f"{folder}/trace", f"{folder}/part")
    os.remove(f"{folder}/part/rank-2.sennit")
    for words, reason in ((["advise"], "folder"), (["advise", f"{folder}/none"], "none"),
                          (["advise", f"{folder}/empty"], "rank-0.sennit"),
                          (["advise", f"{folder}/part"], "1 of 4 ranks left no trace here (2)"),
                          (["advise", f"{folder}/trace", "--ranks", "7"], "the trace has 4 ranks"),
                          (["advise", f"{folder}/trace", "--threads", "0"], "threads"),
                          (["advise", f"{folder}/trace", "--what"], "--what")):
        done = sennit(*words)
        assert done.returncode == 2 and reason in done.stderr, (words, done)
        assert len(done.stderr.splitlines()) == 1, (words, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test(folder)
                print(f"ok {name}", flush=True)


main()
