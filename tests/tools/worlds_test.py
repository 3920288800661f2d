# SPDX-License-Identifier: Apache-2.0
# whole: tools.worlds.{mpi} mpi=all -- {sennit} {mpi} {mpiexec} {programs}
"""sennit run --worlds: what the command starts, refuses and says; tests/mpi/programs/worlds.c has what MPI does then.

Usage: worlds_test.py SENNIT mpich|openmpi MPIEXEC FOLDER-OF-PROGRAMS"""
import os
import sys

import harness
from harness import Running, own_lines

SENNIT, MPI, MPIEXEC, PROGRAMS = sys.argv[1:5]
RANKS = os.path.join(PROGRAMS, f"ranks.{MPI}")
OTHER = os.path.join(PROGRAMS, "ranks.openmpi" if MPI == "mpich" else "ranks.mpich")
PLAIN = os.path.join(PROGRAMS, "pool_works.gcc")


def run(*words, options=("--worlds",), **how):
    return Running([SENNIT, "run", *options, *words], **how)


def finished(job, code):
    got, out, errors = job.finish()
    assert got == code, f"exit code {got}, wanted {code}; output {out!r}, errors {errors}"
    assert not job.left_behind(), "processes were left behind"
    return out, errors


def refused(reason, *words, **how):
    with run(*words, **how) as job:
        out, errors = finished(job, 2)
    assert not out and len(errors) == 1 and reason in errors[0], (out, errors)


def test_each_program_has_its_world():
    with run("-n", "2", RANKS, ":", "-n", "1", "A=7", RANKS, "print", "A") as job:
        out, _ = finished(job, 0)
    assert out.count(" of 2 pid ") == 2 and out.count(" of 1 pid ") == 1 and "0 A=7" in out, out


def test_children_of_a_rank_have_none():
    with run("-n", "2", RANKS, "print", "SENNIT_WORLDS", ":", "-n", "1", RANKS) as job:
        out, _ = finished(job, 0)
    assert out.count("SENNIT_WORLDS=(unset)") == 2, out


def test_of_one_program_it_is_that_of_the_job():
    with run("-n", "2", RANKS, "print", "SENNIT_WORLDS", "LD_PRELOAD", environment={"SENNIT_WORLDS": "4,5"}) as job:
        out, _ = finished(job, 0)
    assert out.count(" of 2 pid ") == 2 and out.count("SENNIT_WORLDS=(unset)") == 2 and "worlds" not in out, out


def test_a_job_without_worlds_inherits_none():
    with run("-n", "2", RANKS, ":", "-n", "1", RANKS, options=(), environment={"SENNIT_WORLDS": "2,1"}) as job:
        out, _ = finished(job, 0)
    assert out.count(" of 3 pid ") == 3, out


def told(worlds, ranks=2):
    """A job of one program whose ranks are told about worlds by hand."""
    preload = f"{os.path.dirname(SENNIT)}/../lib/libsennit-worlds-{MPI}.so"
    return run("-n", str(ranks), "env", f"LD_PRELOAD={preload}", f"SENNIT_WORLDS={worlds}", RANKS, options=("--mpi", MPI))


def test_what_is_no_list_of_numbers_is_said():
    for worlds in ("1,x", "1,0", "1 1", "1, 1", "1,1,", "1,,1", "+1,1", "-1,3", "1,4294967297"):
        with told(worlds) as job:
            out, errors = finished(job, 0)
        lines = own_lines(errors)
        assert out.count(" of 2 pid ") == 2 and len(lines) == 1 and f"'{worlds}' is ignored" in lines[0], (worlds, out, errors)


def test_another_number_of_ranks_ends_the_job():
    for worlds, names in (("1,1,1", "3 ranks"), ("1", "1 rank"), ("2147483647,2147483647,4", "4294967298 ranks")):
        with told(worlds) as job:
            code, out, errors = job.finish()
        said = [line for line in errors if "SENNIT_WORLDS" in line]
        assert code != 0 and " pid " not in out, (worlds, code, out, errors)
        assert said == [f"sennit: SENNIT_WORLDS={worlds} names {names}, but the job has 2: correct it"], (worlds, errors)
    with told("4,2", ranks=1) as job:
        out, errors = finished(job, 0)
    assert " of 1 pid " in out and own_lines(errors) == [
        "sennit: SENNIT_WORLDS=4,2 names 6 ranks, but the job has 1: it is ignored"], (out, errors)


def by_mpiexec(worlds, *words, parts=(2, 1)):
    """Three ranks, two of the first program, started by something else."""
    line = [MPIEXEC]
    for number, ranks in enumerate(parts):
        line += [*([":"] if number else []), "-n", str(ranks), SENNIT, *words, RANKS]
    return Running(line, environment={**harness.BARE_OPENMPI, "SENNIT_WORLDS": worlds})


def test_another_launcher_is_told_by_the_variable():
    with by_mpiexec("2,1", "exec") as job:
        out, _ = finished(job, 0)
    assert out.count(" of 2 pid ") == 2 and out.count(" of 1 pid ") == 1, out
    with by_mpiexec("", "run", "--worlds") as job:
        code, _, errors = job.finish()
    assert code == 2 and any("--worlds starts a job, leave it away" in line for line in errors), errors


def test_another_order_ends_the_job_with_one_line():
    for worlds, parts, number in (("1,2", (2, 1), 0), ("1,1,1", (2, 1), 0), ("2,1", (1, 2), 1)):
        with by_mpiexec(worlds, "exec", parts=parts) as job:
            code, out, errors = job.finish()
        said = [line for line in errors if "by SENNIT_WORLDS of program" in line]
        assert code != 0 and " pid " not in out and len(said) == 1, (worlds, code, out, errors)
        assert f"rank 1 of the job is one of program {number}, and by SENNIT_WORLDS of program {1 - number}" in said[0], errors


def test_a_launcher_that_knows_one_program_is_no_evidence():
    """As where a script starts both programs: all ranks have MPI_APPNUM 0."""
    with by_mpiexec("2,1", "exec", parts=(3,)) as job:
        out, _ = finished(job, 0)
    assert out.count(" of 2 pid ") == 2 and out.count(" of 1 pid ") == 1, out


def test_a_dry_run_shows_it():
    ours = f"{os.path.dirname(SENNIT)}/../lib/libsennit-{MPI}.so"
    for before in ("", ours):
        preloaded = {"LD_PRELOAD": before}
        with run("-n", "2", RANKS, ":", "-n", "1", RANKS, options=("--worlds", "--dry-run"), environment=preloaded) as job:
            out, _ = finished(job, 0)
        lines = out.splitlines()
        assert "SENNIT_WORLDS=2,1" in lines, out
        preload = next(line for line in lines if line.startswith("LD_PRELOAD=")).split(":")
        names = [os.path.basename(item) for item in preload[:2]]
        assert names == [f"libsennit-worlds-{MPI}.so", f"libsennit-{MPI}.so"], (before, out)


def test_a_program_that_ends_early_ends_the_job():
    with run("-n", "2", RANKS, "wait", ":", "-n", "1", RANKS, "raise", "0", "11") as job:
        code, _, errors = job.finish()
        assert not job.left_behind(), "processes were left behind"
    assert code == 139 and any("rank 2" in line for line in own_lines(errors)), (code, errors)


def test_what_cannot_have_a_world_is_refused():
    refused("has no MPI in it", "-n", "1", PLAIN, ":", "-n", "1", RANKS)
    refused("has no MPI in it", "-n", "1", RANKS, ":", "-n", "1", PLAIN)
    refused("--worlds is for programs of MPI", "-n", "1", PLAIN, ":", "-n", "1", PLAIN)
    refused("say the opposite", "-n", "1", RANKS, ":", "-n", "1", RANKS, options=("--worlds", "--one-world"))
    if os.path.exists(OTHER):
        refused("have the same MPI", "-n", "1", RANKS, ":", "-n", "1", OTHER)


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__], at_once=2)
