#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares whole programs, already built, under the stock OpenMP runtimes and under Sennit.

    programs.py LIST.toml [--threads 2,8] [--rounds 5] [--only NAME]... [--output report.md]

The list names the programs, how they say that their result is right, and how long they took;
docs/user/simulate.md describes it. Each program first runs once under every runtime, untimed, to check
its results; then come the timed rounds, in each of which all runtimes run one after the other in a
seeded random order, each in a fresh process and an empty folder. What goes wrong is printed and does
not run again.

The exit code is 1 when a program goes wrong under Sennit but not under every peer, 2 when the
comparison itself is impossible, else 0.
"""

import argparse
import dataclasses
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

import cells as bench_cells
import machine
import report
import run as bench_run

RUNTIME_LIBRARIES = {"gcc": ("libgomp.so.1",), "clang": ("libomp.so.5", "libomp.so", "libiomp5.so")}
LEGEND = """\
Times are seconds, medians of the rounds, as the program itself says where it does, else of the whole
process. *time* and *CPU* (user + system, of the whole process) are ratios Sennit / best peer of the same
compiler, below 1 is better: median of the rounds' ratios [least – largest round]. *peak* is resident
memory of the largest process, in MiB: Sennit, and the least of the peers. *same*: ended as it should,
verified by the program itself or printed results equal, under every runtime."""


class ListError(bench_cells.BenchError):
    """A mistake in the list of programs."""


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """One program of the list; the fields are the list's keys."""
    group: str
    name: str
    command: list
    compilers: list = dataclasses.field(default_factory=lambda: ["gcc", "clang"])
    check: list = dataclasses.field(default_factory=list)
    expect: str = ""
    result: str = ""
    tolerance: float = 0.0
    seconds: str = ""
    environment: dict = dataclasses.field(default_factory=dict)
    launcher: list = dataclasses.field(default_factory=list)
    status: int = 0
    timeout: float = 60.0


@dataclasses.dataclass(frozen=True)
class Case:
    """A program, built by one compiler, with one number of threads."""
    program: Program
    compiler: str
    mode: bench_cells.Mode


@dataclasses.dataclass
class Outcome:
    """What a case did under one runtime."""
    seconds: report.Cell = dataclasses.field(default_factory=report.Cell)
    cpu: report.Cell = dataclasses.field(default_factory=report.Cell)
    peak_kib: int = 0
    printed: list | None = None
    state: str = "ok"
    complaint: str = ""

    def fail(self, state, complaint):
        self.state, self.complaint = state, complaint
        self.seconds.state = self.cpu.state = "error"


# -- The list --------------------------------------------------------------------------------------


def tables(value, what):
    """The tables of an array of tables."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ListError(f"{what} must be tables: [[...]]")
    return value


def is_text(value):
    return isinstance(value, str) and "\0" not in value  # no argument or path has one


# What a value of a key's type must be, and how that is said. A number of TOML may be nan, and true is an int to Python.
SOUND = {
    str: (is_text, "a text"),
    list: (lambda value: isinstance(value, list) and all(map(is_text, value)), "a list of texts"),
    dict: (lambda value: isinstance(value, dict) and all(is_text(one) for pair in value.items() for one in pair)
           and not any("=" in name or not name for name in value), "a table of texts"),
    int: (lambda value: type(value) is int and 0 <= value < 256, "a whole number from 0 to 255"),
    float: (lambda value: type(value) in (int, float) and 0 <= value < 1e9, "a number from 0 to 1e9"),
}


def check_entry(label, keys, known):
    for key, value in keys.items():
        if key not in known:
            raise ListError(f"{label}: no such key: {key}; there are {', '.join(sorted(known))}")
        is_sound, what = SOUND[known[key].type]
        if not is_sound(value):
            raise ListError(f"{label}: {key} must be {what}")
    if not keys.get("name") or not keys.get("command"):
        raise ListError(f"{label}: name and command are needed")
    if unknown := set(keys.get("compilers", ())) - set(RUNTIME_LIBRARIES):
        raise ListError(f"{label}: no such compiler: {', '.join(sorted(unknown))}")
    for key in ("expect", "result", "seconds"):
        try:
            re.compile(keys.get(key, ""))
        except (re.error, OverflowError, RecursionError) as error:
            raise ListError(f"{label}: {key}: {error}") from error


def read_list(path, only=None):
    """The programs of a list, with the keys of their groups as defaults."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # ValueError: also of what is no UTF-8
        raise ListError(f"{path}: {error}") from error
    known = {field.name: field for field in dataclasses.fields(Program)}
    programs = []
    for group in tables(document.get("group", []), f"{path}: group"):
        defaults = {key: value for key, value in group.items() if key not in ("name", "program")}
        for entry in tables(group.get("program", []), f"{path}: program"):
            keys = {"group": group.get("name", ""), **defaults, **entry}
            check_entry(f"{path}: program {keys.get('name', '?')!s}", keys, known)
            if not only or keys["name"] in only:
                programs.append(Program(**keys))
    if only and (missing := set(only) - {program.name for program in programs}):
        raise ListError(f"{path}: no such program: {', '.join(sorted(missing))}")
    if not programs:
        raise ListError(f"{path}: no [[group.program]] in it")
    return programs


def fill_in(words, compiler, here):
    return [word.replace("{compiler}", compiler).replace("{here}", str(here)) for word in words]


def program_words(program, compiler, here):
    """The program's argv; its path counts from the folder of the list."""
    words = fill_in(program.command, compiler, here)
    return [str((here / words[0]).resolve()), *words[1:]]


def check_binary(program, compiler, here):
    """A program that does not load its compiler's runtime would compare nothing."""
    binary = program_words(program, compiler, here)[0]
    if not os.access(binary, os.X_OK):
        raise ListError(f"{program.name}: {binary} is no executable: build it first")
    dynamic = subprocess.run(["readelf", "-d", binary], capture_output=True, text=True, check=False).stdout
    if not any(f"[{library}]" in dynamic for library in RUNTIME_LIBRARIES[compiler]):
        raise ListError(f"{program.name}: {binary} does not load {RUNTIME_LIBRARIES[compiler][0]}: "
                        f"link it dynamically, or leave {compiler} out of its compilers")


# -- Running ---------------------------------------------------------------------------------------


def same_results(one, other, tolerance):
    """Equal texts, or numbers that are equal within the relative tolerance."""
    def same(left, right):
        try:
            return math.isclose(float(left), float(right), rel_tol=tolerance, abs_tol=0)
        except ValueError:
            return False
    return one == other or len(one) == len(other) and all(
        left == right or tolerance and same(left, right) for left, right in zip(one, other))


def printed_results(pattern, text):
    """What the pattern's groups matched, all matches in a row."""
    return [word for match in re.finditer(pattern, text, re.MULTILINE)
            for word in (match.groups() or (match.group(),)) if word is not None]


def command(case, runtime, options, checking):
    """argv and environment of a run."""
    program, here = case.program, options.list.parent
    settings = {**runtime.environment(), **case.mode.environment(), **program.environment}
    argv = program_words(program, case.compiler, here)
    if checking:
        argv += fill_in(program.check, case.compiler, here)
    if program.launcher:
        settings["OMP_PROC_BIND"] = "false"  # ranks would be bound to the same cores
        if runtime.is_sennit:
            argv = [str(options.build / "bin" / "sennit"), "exec", *argv]
            settings.pop("LD_LIBRARY_PATH")
        argv = fill_in(program.launcher, case.compiler, here) + argv
    return argv, {**bench_cells.clean_environment(), **settings}


def run_once(case, runtime, outcome, reference, options, checking):
    """One run; adds what it took to its outcome, or why it failed."""
    program = case.program
    argv, environment = command(case, runtime, options, checking)
    with tempfile.TemporaryDirectory(prefix="programs-") as scratch:
        usage = pathlib.Path(scratch) / "usage"
        folder = pathlib.Path(scratch) / "run"
        folder.mkdir()
        usage_argv = [str(options.build / "bench" / "usage"), str(usage), str(program.status)]
        state, out, complaint = bench_cells.execute(usage_argv + argv, environment, program.timeout, folder)
        if state != "ok":
            outcome.fail(state, complaint)
            return
        wall, user, system, peak = map(float, usage.read_text().split())
    if checking and program.expect and not re.search(program.expect, out, re.MULTILINE):
        outcome.fail("wrong", "does not print what the list expects")
        return
    if program.result:
        printed = printed_results(program.result, out)
        if not printed:
            outcome.fail("wrong", "prints no result")
            return
        reference.setdefault(case, (runtime, printed))
        first, wanted = reference[case]
        if not same_results(wanted, printed, program.tolerance):
            outcome.fail("wrong", f"{' '.join(printed)} instead of {' '.join(wanted)}, which {first.label} printed first")
            return
    if checking:
        return
    seconds = wall
    if program.seconds:
        said = printed_results(program.seconds, out)
        if not said:
            outcome.fail("wrong", "prints no time")
            return
        try:
            seconds = sum(map(float, said))
        except ValueError:
            outcome.fail("wrong", f"prints a time that is no number: {' '.join(said)}")
            return
    outcome.seconds.rounds.append([seconds])
    outcome.cpu.rounds.append([user + system])
    outcome.peak_kib = max(outcome.peak_kib, int(peak))


def measure(cases, present, options):
    """{(case, runtime): Outcome}"""
    outcomes, reference = {}, {}
    shuffle = random.Random(options.seed).shuffle
    order = list(cases)
    for number in range(options.rounds + 1):
        for index, case in enumerate(order):
            bench_run.progress(f"round {number}/{options.rounds}, {index + 1}/{len(order)}: {case.program.name} "
                               f"({case.compiler}), {case.mode.title}")
            runtimes = [runtime for runtime in present if runtime.compiler == case.compiler]
            if number:  # the first of a checking round says what is right: a stock runtime
                shuffle(runtimes)
            for runtime in runtimes:
                outcome = outcomes.setdefault((case, runtime), Outcome())
                if outcome.state == "ok":
                    run_once(case, runtime, outcome, reference, options, checking=number == 0)
        shuffle(order)
    return outcomes


# -- The report ------------------------------------------------------------------------------------


def ratio_text(value):
    if value is None:
        return "–"
    return f"{value.median:.2f} [{min(value.by_round):.2f} – {max(value.by_round):.2f}]"


def mebibytes(outcomes):
    peaks = [outcome.peak_kib for outcome in outcomes if outcome.peak_kib]
    return f"{min(peaks) / 1024:.1f}" if peaks else "–"


class CaseReport:
    """One row: a case under Sennit beside the peers of its compiler."""

    def __init__(self, case, outcomes):
        self.case = case
        self.outcomes = {runtime: outcome for (other, runtime), outcome in outcomes.items() if other == case}
        self.ours = [outcome for runtime, outcome in self.outcomes.items() if runtime.is_sennit]
        self.peers = {runtime.name: outcome for runtime, outcome in self.outcomes.items() if not runtime.is_sennit}
        self.time = self.ratio("seconds")
        self.cpu = self.ratio("cpu")

    def ratio(self, what):
        rivals = {name: getattr(outcome, what) for name, outcome in self.peers.items()}
        return report.ratio(getattr(self.ours[0], what), rivals) if self.ours else None

    @property
    def regressed(self):
        return any(ours.state != "ok" for ours in self.ours) and (
            not self.peers or any(peer.state == "ok" for peer in self.peers.values()))

    def verdict(self):
        bad = [f"{runtime.name} **{outcome.state}**" for runtime, outcome in self.outcomes.items()
               if outcome.state != "ok"]
        return ", ".join(bad) or "same"

    def complaints(self):
        for runtime, outcome in self.outcomes.items():
            if outcome.complaint:
                yield f"- {self.case.program.name}, {runtime.label}: {outcome.complaint}"

    def line(self):
        peer = self.time and self.peers[self.time.peer]
        return [self.case.program.name, self.case.compiler, self.verdict(),
                report.number(self.ours[0].seconds.median()) if self.time else "–",
                f"{report.number(peer.seconds.median())} {self.time.peer}" if peer else "–",
                ratio_text(self.time), ratio_text(self.cpu),
                f"{mebibytes(self.ours)}, {mebibytes(self.peers.values())}"]


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else float("nan")


def render(facts, notes, rows):
    parts = ["# Programs under OpenMP runtimes beside each other", "\n".join(f"- {name}: {text}" for name, text in facts),
             "\n".join(f"**{note}**" for note in notes), LEGEND]
    sections, summary = {}, []
    for row in rows:
        sections.setdefault((row.case.program.group, row.case.mode.title), []).append(row)
    for (group, mode), members in sections.items():
        parts += [f"## {group}: {mode}" if group else f"## {mode}",
                  report.markdown(["program", "binary", "results", "Sennit s", "best peer s", "time", "CPU", "peak"],
                                  [row.line() for row in members]),
                  "\n".join(complaint for row in members for complaint in row.complaints())]
        for compiler in RUNTIME_LIBRARIES:
            timed = [row for row in members if row.case.compiler == compiler and row.time]
            if timed:
                worst = max(timed, key=lambda row: row.time.median)
                summary.append([group, mode, compiler, str(len(timed)),
                                f"{geometric_mean([row.time.median for row in timed]):.2f}",
                                f"{geometric_mean([row.cpu.median for row in timed]):.2f}",
                                f"{worst.time.median:.2f} {worst.case.program.name}"])
    if summary:
        parts += ["## Geometric means of the ratios Sennit / best peer",
                  report.markdown(["programs", "mode", "binaries", "number", "time", "CPU", "largest time"], summary)]
    return "\n\n".join(part for part in parts if part) + "\n"


# -- The command -----------------------------------------------------------------------------------


def parse_arguments(arguments):
    source = pathlib.Path(__file__).resolve().parent.parent

    def counts(text):
        numbers = [int(word) for word in text.split(",")]
        if min(numbers) < 1:
            raise ValueError(text)
        return numbers

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=pathlib.Path, help="TOML file with the programs")
    parser.add_argument("--build", type=pathlib.Path, default=source / "build/release",
                        help="build folder with bench/ and lib/ (default: build/release)")
    parser.add_argument("--peers", type=pathlib.Path, default=source / "build/peers",
                        help="folder that get_peers.sh filled (default: build/peers)")
    parser.add_argument("--threads", type=counts, default=[2, 8],
                        help="numbers of threads; bound to a core each where there are as many (default: 2,8)")
    parser.add_argument("--cores", type=int, default=2, help="cores to run on (default: 2)")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds; 0 = only check results (default: 5)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this program; may be repeated")
    parser.add_argument("--seed", type=int, default=20240901, help="of the order of the runs")
    parser.add_argument("--output", type=pathlib.Path, help="also write the report to this file")
    options = parser.parse_args(arguments)
    if options.rounds < 0:
        parser.error("--rounds must not be negative")
    for name in ("list", "build", "peers"):
        setattr(options, name, getattr(options, name).resolve())
    return options


def run(options):
    """Returns the exit code."""
    programs = read_list(options.list, options.only)
    cpus = machine.distinct_cores(options.cores)
    os.sched_setaffinity(0, cpus)
    modes = [bench_cells.Mode(f"{threads} thread{'s' * (threads > 1)} on {len(cpus)} cores"
                              + (", bound" if threads <= len(cpus) else ""), threads, threads <= len(cpus))
             for threads in options.threads]
    cases = [Case(program, compiler, mode) for mode in modes for program in programs for compiler in program.compilers]
    for program in programs:
        for compiler in program.compilers:
            check_binary(program, compiler, options.list.parent)
    present, runtime_facts, notes = bench_run.present_runtimes(options, None)
    if os.getloadavg()[0] > bench_run.BUSY_LOAD:
        notes.append(f"Other work was running here (load average {os.getloadavg()[0]:.1f}): do not trust these times.")
    source = pathlib.Path(__file__).resolve().parent.parent
    facts = machine.describe(cpus, source, set())
    # Who built the programs of the list is not known here.
    facts += [(label, text.partition("; binaries by")[0]) for label, text in runtime_facts]
    facts.append(("runs", f"one to check, then {options.rounds} timed round(s), seed {options.seed}"))
    started = time.monotonic()
    outcomes = measure(cases, present, options)
    rows = [CaseReport(case, outcomes) for case in cases]
    text = render(facts, notes, rows)
    print(text, end="")
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text)
    bench_run.progress(f"done in {time.monotonic() - started:.0f} s")
    return 1 if any(row.regressed for row in rows) else 0


def main(arguments):
    try:
        return run(parse_arguments(arguments))
    except (bench_cells.BenchError, OSError) as error:
        print(f"sennit: bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
