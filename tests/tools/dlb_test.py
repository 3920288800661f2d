# SPDX-License-Identifier: Apache-2.0
# script: tools.dlb timeout=180 -- {sennit} {member} {group('dlb')}
"""Programs written for DLB in pools: calls of LeWI and DROM, callbacks, and what they return.

Usage: dlb_test.py SENNIT POOL-MEMBER PROGRAMS..."""
import os
import subprocess
import sys

import harness
from pools import CORES, PROGRAMS, SENNIT, Member, Pools, owners

IN_C = [one for one in PROGRAMS if "dlb_calls" in one]
IN_FORTRAN = [one for one in PROGRAMS if "dlb_fortran" in one]


def dlb(pools, program, *words):
    """What the calls have returned, and the last line that says what was found."""
    done = subprocess.run([program, *map(str, words)], env={**pools.environment, "SENNIT_POOL": "night"},
                          text=True, capture_output=True, timeout=harness.LIMIT)
    assert done.returncode == 0 and not done.stderr, done
    lines = done.stdout.splitlines()
    calls = dict(line.split(": ", 1) for line in lines if ": " in line)
    return ({call: int(text.split()[0]) for call, text in calls.items()},
            [line for line in lines if not line.startswith(tuple(f"{call}: " for call in calls))])


def test_programs_run():
    for program in IN_C:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            results, _ = dlb(pools, program, "lewi")
            assert results["acquire"] in (0, 2), results
            assert results["early"] == -2 and results["again"] == -3, results
            assert results["init"] == results["finalize"] == results["disable"] == 0, results
            assert results["disabled"] == -4 and results["nothing"] == 2, results


def test_fortran_programs_run():
    for program in IN_FORTRAN:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            results, _ = dlb(pools, program)
            assert results == {"early": -2, "init": 0, "again": -3, "idle": 2, "poll": 2, "start": -16, "stop": -16,
                               "finalize": 0}, results
            counted = pools.well("exec", "--talp", "--threads", "1", program).splitlines()
            assert counted[-5:] == ["start: 0", "stop: 0", "measured: 1", "useful: T", "finalize: 0"], counted


def test_idle_threads_lend_their_cores_when_it_is_asked():
    for program in IN_C:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            said = pools.well("exec", "--pool", "night", program, "idle").splitlines()
            results = {line.split(":")[0]: int(line.split()[1]) for line in said}
            assert results["none"] == results["mine"] == 2, said
            assert results["lent"] == (0 if len(CORES) > 1 else 2), said


def test_callbacks_are_called():
    for program in IN_C:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            with subprocess.Popen(
                    [SENNIT, "exec", "--pool", "night", program, "callbacks"], text=True,
                    env=pools.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                lines = []
                while not lines or not lines[-1].startswith("still"):
                    lines.append(process.stdout.readline())
                    assert lines[-1], lines
                with Member(pools, "night", "other", 2):
                    owned = owners(pools.top("night")).count(process.pid)
                    out, _ = process.communicate("\n", timeout=harness.LIMIT)
            lines += out.splitlines()
            if CORES == list(range(os.cpu_count())):
                assert f"available {len(CORES)}\n" in lines, lines
            results = {line.split(":")[0]: int(line.split()[1]) for line in lines if ":" in line}
            assert results["none"] == -10 and results["still"] == 2, lines
            assert results["get"] == results["mask"] == results["threads"] == 0, lines
            if len(CORES) > 1:
                assert results["update"] == 0, lines
                assert lines[-1] == f"told {owned} {owned} 1", lines


def read_calls(lines):
    """What calls have returned, and the other lines: their first word, and the rest."""
    calls = {line.split(": ")[0]: int(line.split(": ")[1].split()[0]) for line in lines if ": " in line}
    return calls, {line.split()[0]: line.split()[1:] for line in lines if ": " not in line}


def test_talp_measures_regions():
    for program, start in [(one, start) for one in IN_C for start in ("--talp", "DLB_ARGS", "DLB_Init")]:
        with Pools() as pools:
            command = [SENNIT, "exec", "--threads", "2", *(["--talp"] if start == "--talp" else []), program, "talp"]
            given = {"DLB_ARGS": "--lewi --talp"} if start == "DLB_ARGS" else {}
            with subprocess.Popen(command, text=True, env={**pools.environment, **given}, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                lines = []
                while not lines or not lines[-1].startswith("reset "):
                    lines.append(process.stdout.readline())
                    assert lines[-1], (lines, process.stderr.read())
                calls, said = read_calls(lines)
                assert said["same"] == said["none"] == ["1", "1"], said
                assert calls["init"] == calls["start"] == calls["other"] == calls["last"] == calls["stop"] == 0, calls
                assert calls["stopped"] == calls["again"] == 2 and calls["unknown"] == -11, calls
                assert calls["metrics"] == calls["report"] == calls["reset"] == 0, calls
                name, cpus, times, parallels, elapsed, *parts = said["loop"]
                assert [name, cpus, times, parallels] == ["loop", "2", "1", "3"] and float(elapsed) > 0.18, said
                # Sleepers are late on a busy machine. So the program measures, too, and what it was late by between
                # two sleeps may be any part of the time.
                first, second, serial = map(float, said["held"])
                whole = 2 * float(elapsed)
                useful = first + second + serial
                unknown = 1 - (first + serial) / float(elapsed)
                for part, wanted in zip(parts, (useful / whole, useful / (whole - serial), (whole - serial) / whole)):
                    assert abs(float(part) - wanted) < 0.1 + 2 * unknown, (parts, said, start)
                assert said["reset"] == ["1", "0", "1", "1"], said
                looks = subprocess.run([program, "talp-of", str(process.pid)], env=pools.environment, text=True,
                                       capture_output=True, timeout=harness.LIMIT, check=True)
                others, seen = read_calls(looks.stdout.splitlines())
                assert not looks.stderr and others["early"] == others["twice"] == -5, looks
                assert others["attach"] == others["list"] == others["times"] == others["detach"] == 0, others
                assert others["cores"] == others["node times"] == others["node metrics"] == 0, others
                assert others["nobody"] == -6 and others["mine"] == -16 and others["no region"] == -11, others
                assert seen["processes"] == seen["node"] == ["1", "1"], seen
                assert float(seen["useful"][0]) > 0.1 and float(seen["useful"][1]) == 0, seen
                _, report = process.communicate("\n", timeout=harness.LIMIT)
                assert "region loop of process" in report and "efficiency: parallel" in report, report
            assert process.returncode == 0 and os.listdir(pools.folder.name) == [], os.listdir(pools.folder.name)


def test_schedulers_move_cores():
    for program in IN_C:
        with Pools() as pools:
            pools.well("pool", "start", "night")
            with Member(pools, "night") as first, Member(pools, "night", "other", 2) as second:
                results, said = dlb(pools, program, "list")
                assert results["attach"] == results["detach"] == results["list"] == 0, results
                assert results["preinit"] == 0 and results["gone"] == -6, results
                assert results["region"] == results["usage"] == -16 and results["listed"] == -1, results
                assert results["statistics"] == results["statistics end"] == 0, results
                assert said == [f"of {len(CORES)} cores {first.pid} {second.pid}"], said
                before = owners(pools.top("night"))
                _, said = dlb(pools, program, "mask", first.pid)
                assert said[0].split()[1:] == [str(core) for core, pid in zip(CORES, before)
                                               if pid == first.pid], said
                taken = CORES[before.index(second.pid)] if second.pid in before else None
                assert dlb(pools, program, "mask", 1)[0]["mask"] == -6
                if taken is not None:
                    refused, _ = dlb(pools, program, "set", first.pid, taken)
                    assert refused["set"] == refused["no list"] == -8
                    assert dlb(pools, program, "set", first.pid, taken, "steal")[0]["set"] == 0
                    assert dlb(pools, program, "mask", first.pid)[1] == [f"owns {taken}"]


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
