# SPDX-License-Identifier: Apache-2.0
"""Figure 3 of the paper on virtualization, for real: programs alone on 1 to all cores, then together, with the cores split
for good and under each policy of a pool; and the same from the simulator, which knows only the times alone. Four programs
where there is a core for each, else every pair of them. They are bench/stand-ins.c. NPB's own OpenMP programs, if their
folder is given, run alone, and the simulator puts them together. Times are of whole processes. Used by paper_figures.py."""

import contextlib
import itertools
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time

import cells
import machine
import simulated

LIMIT_S = 300
STAND_INS = {"bt": (28, 14), "lu": (160, 12), "ft": (64, 8), "mg": (128, 6)}
TINY = {"bt": (8, 1), "lu": (16, 2), "ft": (8, 1), "mg": (16, 1)}
NPB = ("bt.A", "lu.C", "ft.C", "mg.C")  # the paper's; others, if the folder has only others
MOST_SPLITS = 40  # of a set of programs
POLICIES = ("static", "lend", "fair", "moldable")
QUICK_POLICIES = ("lend", "moldable")


def npb_programs(folder):
    """{name: argv}"""
    found = {path.name.removesuffix(".x"): [path] for path in sorted(folder.iterdir())
             if re.fullmatch(r"[a-z]{2}\.[SWABC](\.x)?", path.name)}
    chosen = [name for name in NPB if name in found] or list(found)[:4]
    if len(chosen) < 2:
        raise cells.BenchError(f"{folder} has no two of NPB's OpenMP programs, such as bt.A.x and mg.C.x")
    return {name: found[name] for name in chosen}


def stand_ins(run):
    """{name: argv}; None if they are not built"""
    program = run.build / "bench/gcc/stand-ins"
    if not program.exists():
        return None
    return {name: [program, name, *words] for name, words in (TINY if run.quick else STAND_INS).items()}


def splits_of(cores, parts):
    """All ways to give each part a core or more."""
    if parts == 1:
        return [(cores,)]
    return [(first, *rest) for first in range(1, cores - parts + 2) for rest in splits_of(cores - first, parts - 1)]


def splits_to_try(cores, parts, chance):
    """All of them, or the most even one and others by chance."""
    every = sorted(splits_of(cores, parts), key=lambda split: max(split) - min(split))
    return every[:1] + chance.sample(every[1:], min(MOST_SPLITS - 1, len(every) - 1))


class Node:
    """Runs programs on this machine's cores, with a board of their own."""

    def __init__(self, run):
        self.run, self.cores = run, sorted(machine.distinct_cores(1024))
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {**cells.clean_environment(), "SENNIT_BOARD": os.path.join(self.folder.name, "board")}

    def start(self, program, cores, *options):
        argv = ["taskset", "-c", ",".join(map(str, cores)), self.run.build / "bin/sennit", "exec", *options, *program]
        return subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True,
                                env={**self.environment, "OMP_NUM_THREADS": str(len(cores))})

    def seconds(self, starts):
        """From the first's start to the last's end."""
        begin, started = time.monotonic(), []
        try:
            for one in starts:
                started.append(self.start(*one))
            for process in started:
                _, said = process.communicate(timeout=LIMIT_S)
                if process.returncode:
                    raise cells.BenchError(f"{' '.join(process.args)}: exit code {process.returncode}\n{said[-500:]}")
            return time.monotonic() - begin
        except subprocess.TimeoutExpired as late:
            raise cells.BenchError(f"{' '.join(late.cmd)}: not done after {LIMIT_S} s") from late
        finally:
            for process in started:
                if process.poll() is None:
                    process.kill()
                    process.wait()

    def split(self, programs, parts):
        ends = list(itertools.accumulate(parts))
        return self.seconds([(program, self.cores[end - part:end]) for program, part, end in zip(programs, parts, ends)])

    def pool(self, *words):
        done = subprocess.run([str(self.run.build / "bin/sennit"), "pool", *words], env=self.environment,
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise cells.BenchError(f"sennit pool {' '.join(words)}: {done.stderr.strip()}")

    @contextlib.contextmanager
    def in_pool(self, policy):
        self.pool("start", "bench", "--policy", policy, "--cores", ",".join(map(str, self.cores)))
        try:
            yield lambda programs: self.seconds([(program, self.cores, "--pool", "bench") for program in programs])
        finally:
            self.pool("stop", "bench", "--now")


def speed_up(alone):
    """(contention, coherence) of k / (1 + contention (k - 1) + coherence k (k - 1)), by least squares, none below 0;
    alone: {cores: seconds}. With two cores there is one number, and it is taken for contention."""
    rows = [(k - 1, k * (k - 1), k * took / alone[1] - 1) for k, took in alone.items() if k > 1]
    a, b, c = (sum(x * y for x, y in zip(*pair)) for pair in
               (([row[0] for row in rows],) * 2, ([row[0] for row in rows], [row[1] for row in rows]),
                ([row[1] for row in rows],) * 2))
    p, q = (sum(row[at] * row[2] for row in rows) for at in (0, 1))
    if len(rows) > 1 and (under := a * c - b * b) > 1e-9:
        contention, coherence = (p * c - q * b) / under, (q * a - p * b) / under
        if contention >= 0 and coherence >= 0:
            return min(contention, 1.0), min(coherence, 1.0)
        if contention < 0:
            return 0.0, min(max(q / c, 0.0), 1.0)
    return min(max(p / a, 0.0), 1.0) if rows else 0.0, 0.0


def simulate(run, alone, chosen, cores):
    """{way: seconds} of the simulator, from the times alone"""
    words = []
    for name in chosen:
        contention, coherence = speed_up(alone[name])
        words += ["--program", f"{name}:work={alone[name][1]:.6f},contention={contention:.6f},coherence={coherence:.8f}"]
    found = simulated.simulate(str(run.build / "bin/sennit"), "pool", "--cores", cores, "--domains", 1, "--splits", 1, *words,
                               key="policy", show=False)
    return {"in turn": found["one_after_the_other_s"], **{row["policy"]: row["makespan_s"] for row in found["results"]}}


def title_of(way):
    return way if way in POLICIES else f"split {'/'.join(map(str, way))}"


def sets_of(programs, cores):
    count = min(len(programs), cores, 4)
    return list(itertools.combinations(programs, count if count > 2 else 2))


def values(run):
    """{"name, cores": seconds alone}, {"names: way": makespan}, {"names: way, simulated"}, of the rounds. None without a
    second core, or where the programs are not built."""
    programs, node = stand_ins(run), Node(run)
    cores = len(node.cores)
    if not programs or cores < 2:
        return None
    sets = sets_of(programs, cores)[:1 if run.quick else None]
    shuffle, found = random.Random(run.seed), {}
    splits = splits_to_try(cores, len(sets[0]), shuffle)
    policies = QUICK_POLICIES if run.quick else POLICIES

    def note(name, value):
        found.setdefault(name, []).append(round(value, 6))

    for _round in range(run.rounds):
        alone = times_alone(run, node, programs, shuffle, note)
        ways = [*splits, *policies]
        for way in shuffle.sample(ways, len(ways)):
            # A pool takes longer to stop than the programs run: one for all sets.
            with node.in_pool(way) if way in POLICIES else contextlib.nullcontext() as together:
                for chosen in shuffle.sample(sets, len(sets)):
                    some = [programs[name] for name in chosen]
                    note(f"{'/'.join(chosen)}: {title_of(way)}", together(some) if together else node.split(some, way))
        for chosen in sets:
            told = simulate(run, alone, chosen, cores)
            note(f"{'/'.join(chosen)}: in turn", sum(alone[name][cores] for name in chosen))
            for way in ("in turn", *map(title_of, ways)):
                note(f"{'/'.join(chosen)}: {way}, simulated", told[way])
    return in_order(found)


def times_alone(run, node, programs, shuffle, note):
    """{program: {cores: seconds}}"""
    cores, alone = len(node.cores), {name: {} for name in programs}
    counts = [1, cores] if run.quick or cores > 16 else range(1, cores + 1)
    for name, count in shuffle.sample(both := list(itertools.product(programs, counts)), len(both)):
        alone[name][count] = node.split([programs[name]], [count])
        note(f"{name}, {count}", alone[name][count])
    return alone


def npb_values(run):
    """As values(), of NPB's programs, which run alone only: the simulator puts them together."""
    programs, node = npb_programs(run.npb), Node(run)
    if (cores := len(node.cores)) < 2:
        return None
    shuffle, found = random.Random(run.seed), {}

    def note(name, value):
        found.setdefault(name, []).append(round(value, 6))

    for _round in range(run.rounds):
        alone = times_alone(run, node, programs, shuffle, note)
        for chosen in sets_of(programs, cores):
            for way, took in simulate(run, alone, chosen, cores).items():
                if way in ("in turn", *POLICIES) or way.startswith("split"):
                    note(f"{'/'.join(chosen)}: {way}", took)
    return in_order(found)


def in_order(found):
    return {name: found[name] for name in sorted(found, key=lambda name: (": " in name, *parts_of(name)))}


def parts_of(name):
    """Of a value's name, such that numbers sort as numbers."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def makespans(found, more=""):
    """{names: {way: seconds of the rounds}} of what was measured, or with ", simulated" of that"""
    result = {}
    for name, took in found.items():
        title, colon, way = name.partition(": ")
        if colon and way.endswith(", simulated") == bool(more):
            result.setdefault(title, {})[way.removesuffix(more)] = took
    return result


def curves(found):
    """{program: {cores: seconds of the rounds}}"""
    result = {}
    for name, took in found.items():
        if ": " not in name:
            program, _, cores = name.rpartition(", ")
            result.setdefault(program, {})[int(cores)] = took
    return result


def total(found, way):
    """Of each round, the sum over the sets. way "best split": the fastest of each set in the round."""
    spans = makespans(found)
    rounds = min((len(took) for ways in spans.values() for took in ways.values()), default=0)

    def one(ways, at):
        if way != "best split":
            return ways[way][at]
        return min(took[at] for name, took in ways.items() if name.startswith("split"))
    return [sum(one(ways, at) for ways in spans.values()) for at in range(rounds)]


def by(above, below):
    return lambda found: [a / b for a, b in zip(total(found, above), total(found, below))]

