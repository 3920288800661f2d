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
# A busy machine wakes a sleeper late. Each figure is a quotient of times that are all late.
LOOSELY = 0.12


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
    assert abs(value - wanted) < LOOSELY, (value, wanted)


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
    said, text, run, page, talp = report()
    (steps,) = run["efficiency"]["phases"]
    assert steps["name"] == "phase steps", steps
    near(steps["mpi"], 0.75)
    near(steps["mpi_load_balance"], 0.75)
    near(steps["mpi_communication"], 1)
    near(steps["openmp"], 110 / 120)
    near(steps["openmp_load_balance"], 110 / 120)
    near(steps["parallel"], 110 / 160)
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
    _, text, run, _, talp = report("tasks")
    (steps,) = run["efficiency"]["phases"]
    # Rank 1 works for 20 of 80 ms of its threads; for the rest its receive keeps one of them from work, and both
    # once the other task is over.
    near(steps["parallel"], 100 / 160)
    near(steps["mpi"], 100 / 160)
    near(steps["openmp"], 1)
    compare_talp(talp, steps, run["efficiency"]["job"])
    assert talp["tasks"] == 40 and talp["calls"] == 20, talp
    assert run["efficiency"]["job"]["mpi_transfer"] is None, run["efficiency"]
    assert "not divided into serialization and transfer: MPI is called in tasks" in text, text


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
