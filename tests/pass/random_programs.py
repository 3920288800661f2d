# SPDX-License-Identifier: Apache-2.0
# script: pass.random.{mpi} mpi=all timeout=1200 -- {mpi} {mpicc} {sennit} 1 8 12 {some_mpich if mpi == 'mpich' else
#     some_openmpi} # seed 1: eight files of 12 programs, whose kinds are seven
"""Random MPI programs, transformed by the plug-in and not: do both leave the same numbers?

Many programs are one file and one job, each a function with a seed of its own; between them all ranks wait for each other, and all
data begins anew. A file is compiled plainly (-O0: what the source says) and with the plug-in, and run twice. All programs of a file
are of one kind (random_kinds.py); the kinds follow each other file by file.

A program that differs, fails or does not end is made again alone, and without the steps that the difference does not need. What is
left is printed.

usage: random_programs.py MPI MPICC SENNIT SEED [FILES [PROGRAMS-A-FILE]] [only=FILE[.PROGRAM]]... [keep=FOLDER]

Of more than 1000 programs, files are compiled as cheaply as may be. keep=FOLDER: for the source of what is left.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

from random_kinds import KINDS, file_of

MPI, MPICC, SENNIT = sys.argv[1:4]
OPTIONS = dict(word.split("=", 1) for word in sys.argv[4:] if word.startswith("keep="))
ONLY = [word[5:] for word in sys.argv[4:] if word.startswith("only=")]
NUMBERS = [word for word in sys.argv[4:] if "=" not in word]
SEED, FILES, PROGRAMS = (int(word) for word in NUMBERS + ["4", "40"][len(NUMBERS) - 1:])
ENVIRONMENT = {**os.environ, "MPICH_CC": "clang-19", "OMPI_CC": "clang-19", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MANY = FILES * PROGRAMS > 1000
LIMIT = 120 + 8 * PROGRAMS # seconds for one command, on a busy machine
RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
REMARKS = {"bound": "is bound to its task", "batched": "started together", "moved": "is waited for only before",
           "earlier": "is started before", "detached": "does not hold up the creator", "lent": "threads that are done may take over"}


class File:
    """What all programs of a file have in common, and the programs."""

    def __init__(self, number):
        dice = random.Random(f"{SEED}.{number}")
        self.number = number
        self.name, self.kind, self.words = KINDS[number % len(KINDS)]
        self.ranks = dice.choice([2, 2, 2, 3])
        self.level = dice.choice(["-O1", "-O2", "-O3"])
        self.chaos = dice.choice(["off", f"seed:{SEED},latency:100,order"])
        self.threads = [dice.choice([1, 2, 3]) for _ in "ab"]

    def program(self, index):
        return self.kind(random.Random(f"{SEED}.{self.number}.{index}"), f"program_{index}", self.ranks)

    def compare(self, programs, folder):
        """Of (program, steps of it): the first that differs, and how; and the remarks."""
        source = os.path.join(folder, "programs.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(file_of(self.words, programs))
        found, remarks = [], ""
        for build, threads in zip((self.build_plain, self.build_transformed), self.threads):
            program, said = build(source)
            remarks += said
            found.append(finished(["env", "SENNIT_CHAOS=" + self.chaos, SENNIT, "run", "-n", str(self.ranks), "--threads", str(threads),
                                   *self.words.get("run", []), program]))
        (plain, how), (transformed, how_too) = found
        assert not how and len(plain) == len(programs), f"{self}: the plain program fails: {how}\n{plain[-1:]}"
        for i, line in enumerate(plain):
            if i >= len(transformed) or transformed[i] != line:
                return i, how_too or f"{line}\n{transformed[i]}", remarks
        return (len(plain) - 1, how_too, remarks) if how_too else (None, "", remarks)

    def build_plain(self, source):
        return built([MPICC, "-O0", "-fopenmp", "-w", "-I" + RUN, source], source[:-2] + "-plain")

    def build_transformed(self, source):
        compiler = [SENNIT, "cc", MPICC, "-fopenmp", "-w", "-I" + RUN]
        options = ["-Rpass=sennit", *self.words.get("compile", [])]
        program = source[:-2] + "-transformed"
        if not MANY:
            return built([*compiler, self.level, *options, source], program)
        # What comes behind the plug-in takes most of the time: as little of it as possible.
        code, machine_code = source[:-1] + "bc", source[:-1] + "o"
        _, said = built([*compiler, "-O1", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", *options, "-c", "-emit-llvm", source], code)
        built(["clang-19", "-O0", "-c", code], machine_code)
        return built([*compiler, machine_code], program)[0], said

    def __str__(self):
        return f"{MPI}, seed {SEED}, file {self.number} ({self.name}, {self.ranks} ranks, {self.level}, chaos {self.chaos})"


def built(command, output):
    done = subprocess.run([*command, "-o", output], text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT, check=False)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return output, done.stderr


def finished(command):
    """Its lines, and what went wrong."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode().splitlines(), f"no end in {LIMIT} seconds"
    how = f"exit code {done.returncode}: {done.stderr[-1000:]}" if done.returncode else ""
    return done.stdout.splitlines(), how


def without_needless_steps(file, program, folder):
    """The fewest steps that still differ, taken away one by one; none if all of them do not differ alone."""
    def differs(steps):
        return any(file.compare([(program, steps)], folder)[1] for _ in range(2)) # tasks come in another order each time
    steps = program.steps
    if not differs(steps):
        return []
    for step in reversed(program.steps):
        fewer = [other for other in steps if other is not step]
        if fewer and differs(fewer):
            steps = fewer
    return steps


def blame(file, index, how, folder):
    program = file.program(index)
    steps = without_needless_steps(file, program, folder)
    text = file_of(file.words, [(program, steps or program.steps)])
    if "keep" in OPTIONS:
        os.makedirs(OPTIONS["keep"], exist_ok=True)
        with open(os.path.join(OPTIONS["keep"], f"{MPI}-{SEED}-{file.number}-{index}.c"), "w", encoding="utf-8") as kept:
            kept.write(text)
    alone = f"{len(steps)} of its {len(program.steps)} steps are enough:\n{program.text(steps)}" if steps else "alone it does not differ"
    return f"DIFFERENCE: {file}, program {index} (only={file.number}.{index}): {how}\n{alone}\n"


def check(number, index, folder):
    """What is wrong with a file or one program of it, and the remarks."""
    file = File(number)
    indices = range(PROGRAMS) if index is None else [index]
    programs = [(program, program.steps) for program in map(file.program, indices)]
    at, how, remarks = file.compare(programs, folder)
    return ("" if at is None else blame(file, indices[at], how, folder)), remarks, file.name


def listed(counts):
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def main():
    counts, programs, wrong = dict.fromkeys(REMARKS, 0), {}, 0
    for which in ONLY or map(str, range(FILES)):
        number, index = (which.split(".") + [None])[:2]
        with tempfile.TemporaryDirectory() as folder:
            difference, remarks, kind = check(int(number), index and int(index), folder)
        if difference:
            print(difference, flush=True)
            wrong += 1
        found = {name: len(re.findall(f"remark:.*{text}", remarks)) for name, text in REMARKS.items()}
        counts = {name: counts[name] + found[name] for name in REMARKS}
        programs[kind] = programs.get(kind, 0) + (PROGRAMS if index is None else 1)
        if MANY: # so that what has run counts, if the rest does not
            print(f"file {which} ({kind}): {listed(found)}; {'differs' if difference else 'no difference'}", flush=True)
        # Else the kind has lost what it is for.
        wanted = {"tasks": "bound", "loops": "lent", "earlier": "earlier", "windows": "moved", "undeferred": "detached"}.get(kind, "batched")
        assert index is not None or found[wanted] > 0, f"{kind}: none is {wanted}: {found}"
    print(f"{sum(programs.values())} programs on {MPI}, seed {SEED}: {listed(programs)}; calls and loops: {listed(counts)}; "
          f"{wrong or 'no'} files differ")
    sys.exit(wrong > 0)


main()
