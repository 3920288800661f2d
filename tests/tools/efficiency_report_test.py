# SPDX-License-Identifier: Apache-2.0
# whole: tools.efficiency_report.{mpi} mpi=all processors=2 -- {sennit} {mpi} {programs}
"""`sennit report` and `sennit run --trace` on a program whose efficiency is known: text, JSON, page and hints. TALP's
calls say the same of the same run.

Usage: efficiency_report_test.py SENNIT mpich|openmpi FOLDER-OF-PROGRAMS"""
import json
import os
import subprocess
import sys
import tempfile

import harness

SENNIT, MPI, PROGRAMS = sys.argv[1:4]
PROGRAM = os.path.join(PROGRAMS, f"known_efficiency.{MPI}")
# A busy machine wakes a sleeper late. How late, the program's own clocks tell: its efficiency is known from these.
CLOSELY = 0.01
# It may also take a processor away between a reading of these clocks and the runtime's. That is rare, and what is wrong
# with a formula is wrong in each run.
ATTEMPTS = 5


def command(*words):
    return subprocess.run([SENNIT, *words], check=True, timeout=harness.LIMIT, text=True, capture_output=True)


def report(*arguments):
    """What the run said, the report's text, its numbers and its page, and what TALP said."""
    with tempfile.TemporaryDirectory() as folder:
        trace, numbers, page = (os.path.join(folder, name) for name in ("trace", "numbers.json", "page.html"))
        ran = command("run", "-n", "2", "--threads", "2", "--talp", f"--trace={trace}", PROGRAM, *arguments)
        text = command("report", trace, "--json", numbers, "--html", page).stdout
        with open(numbers, encoding="utf-8") as file:
            (run,) = json.load(file)["runs"]
        with open(page, encoding="utf-8") as file:
            return ran.stderr, text, run, file.read(), json.loads(ran.stdout)


def near(value, wanted):
    assert abs(value - wanted) < CLOSELY, (value, wanted)


def compare_own(own, steps):
    """What follows from the times that the program has measured itself, by the formulas of docs/user/see.md."""
    longest = max(rank["elapsed"] for rank in own)
    whole = 4 * longest  # of two threads of two ranks
    useful = sum(rank["held"] for rank in own)
    near(steps["parallel"], useful / whole)
    if any(rank["in_mpi"] for rank in own):
        # Both threads count for a call of MPI that none of them works beside.
        outside = [2 * (rank["elapsed"] - rank["in_mpi"]) for rank in own]
        near(steps["mpi"], sum(outside) / whole)
        near(steps["mpi_load_balance"], sum(outside) / (2 * max(outside)))
        near(steps["mpi_communication"], max(outside) / (2 * longest))
        near(steps["openmp"], useful / sum(outside))


def report_of_known_run(*arguments):
    """The report of a run whose efficiencies are those that its own clocks tell."""
    for attempt in range(ATTEMPTS):
        _, _, run, _, talp = made = report(*arguments)
        (steps,) = run["efficiency"]["phases"]
        try:
            compare_own(talp["own"], steps)
            return made
        except AssertionError as unlike:
            print(f"attempt {attempt + 1} of {ATTEMPTS}: {unlike}, of {talp['own']}")
            last = unlike
    raise last


def compare_talp(talp, steps, job):
    # The region and the phase begin and end by calls of their own. A rank may lose its processor between these, and
    # its two of the four threads have that time in one of the two only. The quotients are of half of the time or more,
    # and of two such sums.
    bound = 0.02 + 2 * talp["between"] / talp["elapsed"]
    for name in ("parallel", "mpi", "mpi_load_balance", "mpi_communication", "openmp", "openmp_serial",
                 "openmp_load_balance", "openmp_scheduling"):
        assert abs(talp[name] - steps[name]) < bound, (name, talp, steps)
    assert talp["name"] == "steps" and talp["cpus"] == 4 and talp["ranks"] == talp["node"] == 2, talp
    assert talp["nodes"] == 1 and talp["measured"] == 2 and talp["parallels"] == 20, talp
    assert abs(talp["balance_in"] * talp["balance_out"] - talp["mpi_load_balance"]) < 1e-4, talp
    assert abs(talp["node_useful"] - talp["useful"]) < 1e-6, talp
    assert 0 < talp["run_mpi"] and talp["useful"] / 4 < talp["run_useful"] < 100, (talp, job)


def test_ranks_and_threads_of_unequal_work():
    said, text, run, page, talp = report_of_known_run()
    (steps,) = run["efficiency"]["phases"]
    assert steps["name"] == "phase steps", steps
    compare_talp(talp, steps, run["efficiency"]["job"])
    assert talp["tasks"] == 0 and talp["calls"] == 20, talp
    job = run["efficiency"]["job"]
    assert abs(job["parallel"] - job["mpi"] * job["openmp"]) < 1e-6, job
    assert abs(job["mpi"] - job["mpi_load_balance"] * job["mpi_communication"]) < 1e-6, job
    assert run["efficiency"]["undivided"] == "" and job["mpi_transfer"] <= 1, run["efficiency"]
    assert abs(job["mpi_communication"] - job["mpi_serialization"] * job["mpi_transfer"]) < 1e-6, job
    assert [rank["name"] for rank in run["efficiency"]["ranks"]] == ["rank 0", "rank 1"], run["efficiency"]
    assert len(run["shares"]) == 2 and run["shares"][0]["program"] > 0, run["shares"]
    assert "\nEfficiency (parallel: MPI x OpenMP" in text and "  phase steps " in text, text
    assert '"efficiency":{' in page and 'id="efficiency"' in page
    # The same hints at the end of the run, in the report and in its numbers: at least of MPI_Init, or else of ranks.
    assert 0 < len(run["hints"]) <= 3, run["hints"]
    hints = [line.removeprefix("sennit: hint: ") for line in said.splitlines() if "sennit: hint: " in line]
    assert hints == run["hints"], (said, run["hints"])
    for line in hints:
        assert f"\n  {line}\n" in text, text


def test_a_task_that_waits_leaves_its_thread_to_others():
    _, text, run, _, talp = report_of_known_run("tasks")
    (steps,) = run["efficiency"]["phases"]
    # For 40 ms a receive keeps one thread of rank 1 from work, and both once the other task is over.
    assert steps["mpi"] < 0.9, steps
    compare_talp(talp, steps, run["efficiency"]["job"])
    assert talp["tasks"] == 40 and talp["calls"] == 20, talp
    assert run["efficiency"]["job"]["mpi_transfer"] is None, run["efficiency"]
    assert "not divided into serialization and transfer: MPI is called in tasks" in text, text


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
