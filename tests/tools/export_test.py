# SPDX-License-Identifier: Apache-2.0
# ways: tools.export.{mpi}.{way} way=virtual|fibers user={'all' if mpi == mpis[0] and way == 'virtual' else ''} --
#     {sennit} {pair} {programs} {build}/apps {option}
"""Memory that virtual ranks show each other (sennit_export.h), in one job and between jobs.

Usage: export_test.py SENNIT FIRST-MPI SECOND-MPI FOLDER-OF-PROGRAMS FOLDER-OF-APPS --virtual[=fibers]"""
import os
import sys

import harness
from harness import Running

SENNIT, FIRST, SECOND, PROGRAMS, APPS, VIRTUAL = sys.argv[1:]
EXPORTS = [os.path.join(PROGRAMS, f"exports.{mpi}") for mpi in (FIRST, SECOND)]


def run(*words):
    with Running([SENNIT, "run", *words]) as job:
        result = job.finish()
        assert not job.left_behind(), "processes were left behind"
    return result


def app(name, mpi):
    return os.path.join(APPS, f"insitu-{name}-{mpi}")


def test_every_call_with_every_result():
    code, out, errors = run(VIRTUAL, "-n", "3", EXPORTS[0], "all")
    assert code == 0 and out == "well\n", (code, out, errors)


def test_a_process_is_told_that_it_is_no_virtual_rank():
    code, out, errors = run("-n", "1", EXPORTS[0], "plain")
    assert code == 0 and out == "well\n", (code, out, errors)


def test_the_end_of_an_exporter_is_seen():
    for how, codes in (("return", (0,)), ("exit", (5,)), ("kill", (137,))):
        code, out, errors = run(VIRTUAL, "--apart", "-n", "1", EXPORTS[0], "end", how, ":",
                                "-n", "1", EXPORTS[1], "see")
        assert code in codes and "seen to end" in out, (how, code, out, errors)


def test_an_analysis_reads_the_field_of_a_simulation():
    code, out, errors = run(VIRTUAL, "--apart", "-n", "3", app("simulation", FIRST), "200", "300", ":",
                            "-n", "1", app("analysis", SECOND), "3")
    assert code == 0, (code, out, errors)
    assert "simulation: 200 steps, heat 1000.000000, watched to the end" in out, (out, errors)
    assert "analysis: 200 versions" in out and "heat as it was" in out, (out, errors)


def test_a_simulation_goes_on_when_its_analysis_ends():
    code, out, errors = run(VIRTUAL, "--apart", "-n", "2", app("simulation", FIRST), "200", "300", ":",
                            "-n", "1", app("analysis", SECOND), "2", "50")
    assert code == 0 and "analysis: 50 versions" in out, (code, out, errors)
    assert "200 steps, heat 1000.000000, not watched to the end" in out, (out, errors)


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__], at_once=2)
