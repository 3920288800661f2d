# SPDX-License-Identifier: Apache-2.0
# whole: tools.documented lock=install if="not left_out and not sanitized and SENNIT_PKG_CONFIG" -- {source} {build} {wrappers}
"""The commands that README.md and the pages for users show do what the pages say: each page's are run from the first to
the last, as a reader types them, in a folder of its own with a program ./app. What a page shows below a command is in what
the command prints, whatever the numbers are.

What cannot be run here is in UNTRIED, with the reason. LESS has what is run in another size. A row of either that no page
has any more fails, too.

usage: documented_test.py SOURCE BUILD MPI=MPICC... (compiler wrappers)"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import uuid

import harness

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
WRAPPERS = dict(word.split("=", 1) for word in sys.argv[3:])
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs/user").glob("*.md"))]
WITH_BOTH = {"README.md", "mpi.md", "start.md"}  # of which the MPI is a subject
SECONDS = 400  # that a block of commands may take, on a busy machine
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:sennit|\./dev|mpicc|mpicxx|mpif90|mpiexec|srun|gcc|cmake|cd|for \w+ in|gdb|bench/\S+\.py"
                     r"|pkg-config)(?: |$)")
POOL = re.compile(r"((?:\bpool (?:start|stop|move)|--pool)[ =])(\w[\w.-]*)")  # and its name, which is the user's on the whole machine
WAIT = "for job in $(jobs -p); do wait $job; done"
# Part of a command: why it is not run.
UNTRIED = {
    "./dev demo": "builds this tree; tests/systems runs it",
    "./dev test": "runs this test",
    "cmake -B build": "builds this tree; tools.configure has its options",
    "cmake --build build": "the same",
    "cmake --install build": "is what this test begins with",
    "./dev compare-programs": "hours, of programs of the reader's; bench.programs has its parts",
    "sennit bench ": "minutes to hours",
    "bench/": "minutes to hours; tests bench.* run them in a small size",
    "srun ": "needs Slurm; tools.slurm has a cluster of its own",
    "-hosts a,b": "needs two machines; tools.hosts.* makes them of name spaces",
    "--network simgrid": "SimGrid may be missing; sim.command",
    "sennit doctor --pid": "needs a program that hangs; tools.gdb",
    "sennit doctor --gdb": "the same",
    "gdb -p": "the same",
}
SMALL = "--nodes 2 --side 16 --steps 40"
# Part of a command: what is typed in its place, and why.
LESS = {
    "--cores 0-7": ("--cores 0", "there may be fewer cores"),
    "sennit top --pool night": ("sennit top --pool night --once", "it has a terminal, and ends by a key"),
    "sennit top --html": ("sennit top --once", "it ends with the program"),
    "--virtual -n 64": ("--virtual -n 8", "time"),
    "mpiexec -n 64": ("mpiexec -n 8", "time"),
    "--steps 50 --check": ("--steps 5 --check", "time"),
    "-np 4 --bind-to core": ("-np 1 --bind-to core", "there may be fewer cores"),
    "gdb ./app core": ("gdb -q -batch ./app", "there is no core"),
    "-ex 'sennit tasks'": ("-ex 'help sennit tasks'", "the same"),
    "app.c -L": ("dlb.c -L", "a program that calls DLB, and no MPI"),
    "--size 8192 --check": ("--size 1024 --check", "time"),
    "--size 4096 --block 256 --iterations 6": ("--size 512 --block 128 --iterations 6", "time"),
    "front   ": (f"front {SMALL} ", "time: 64 nodes"),
    "front --way none": (f"front {SMALL} --way none", "the same"),
    "--band 1 --nodes 16": (f"--band 1 {SMALL}", "the same"),
    "--nodes 16 --side 64 --steps 120": (SMALL, "the same"),
    "--nodes 16 --side 64 --steps 300": (SMALL, "the same"),
}
# Commands below which the page shows what they print, and how many lines of it are so in each run.
SHOWN = {"sennit report t": 2}


def blocks_of(page):
    """(number of the first line, lines) of what is indented at the margin, up to an empty line; but with what SHOWN names"""
    block, first = [], 0
    for number, line in enumerate([*page.read_text().splitlines(), ""], 1):
        if line.startswith("    "):
            first = first if block else number
            block.append(line)
        elif block and block[-1].strip() not in SHOWN:
            yield first, textwrap.dedent("\n".join(block)).split("\n")
            block = []


class Block:
    """Commands below each other on a page, and what the page shows of their output."""

    def __init__(self, page, first, lines):
        self.name = f"{page.name}:{first}"
        self.commands, self.shown = [], []
        for line in lines:
            if self.commands and self.commands[-1].startswith("for ") and not self.commands[-1].endswith("done"):
                self.commands[-1] += "\n" + line
            elif COMMAND.match(line):
                self.commands.append(line)
            else:
                self.shown.append(line)

    def script(self, prefix, token):
        """What a shell is given; empty if nothing is tried. The token is in the names of pools."""
        lines = []
        for command in self.commands:
            if command.startswith("gdb ") and not shutil.which("gdb"):
                continue
            for text, (other, _) in LESS.items():
                command = command.replace(text, other)
            if command.startswith("sennit pool stop"):  # what has not joined could not any more
                lines.append(WAIT)
            if not any(part in command for part in UNTRIED):
                lines.append(POOL.sub(rf"\1\2-{token}", command).replace("/opt/sennit", str(prefix)))
        return "\n".join(["set -e", *lines, WAIT]) if lines else ""


def blocks_with_commands(page):
    return [Block(page, first, lines) for first, lines in blocks_of(page) if COMMAND.match(lines[0])]


def pattern_of(line):
    """of a line of output: any numbers, units and places"""
    words = [re.sub(r"\\?[\d.]+", r"[\\d.]+", re.escape(word)) for word in line.split()]
    return re.compile(r"\s+".join(words))


class Reader:
    """A folder as a reader has it who has built Sennit here and installed it, and who has one MPI."""

    def __init__(self, folder, mpi):
        self.folder = pathlib.Path(folder)
        self.mpi = mpi
        self.token = f"SENNIT_TEST_{uuid.uuid4().hex}"
        self.prefix = self.folder / "opt" / "sennit"
        tools = self.folder / "bin"
        tools.mkdir()
        for name in ("mpicc", "mpicxx", "mpif90", "mpiexec"):
            (tools / name).write_text(f'#!/bin/sh\nexec {shutil.which(f"{name}.{mpi}")} "$@"\n')
            (tools / name).chmod(0o755)
        self.settings = {**os.environ, **harness.BARE_OPENMPI, "PATH": f"{tools}:{BUILD / 'bin'}:{os.environ['PATH']}",
                         "PKG_CONFIG_PATH": str(self.prefix / "lib" / "pkgconfig")}
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix], check=True, stdout=subprocess.DEVNULL)
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        subprocess.run([WRAPPERS[mpi], "-fopenmp", SOURCE / "tests/tools/programs/documented.c", "-o", self.programs / "app"], check=True)
        for name in ("ocean", "ice", "viz", "simulation", "analysis"):
            (self.programs / name).symlink_to("app")
        (self.programs / "run.sh").write_text("#!/bin/sh\n./app\n")
        (self.programs / "run.sh").chmod(0o755)
        for suffix in (".c", ".cpp"):
            shutil.copy(SOURCE / "tests/tools/programs/documented.c", self.programs / f"app{suffix}")
        (self.programs / "app.f90").write_text("program app\n  !$omp parallel\n  !$omp end parallel\nend program\n")
        (self.programs / "dlb.c").write_text("#include <dlb.h>\nint main(void) { return DLB_Init(0, 0, 0) != DLB_SUCCESS; }\n")
        (self.programs / "tool.c").write_text("void *ompt_start_tool(unsigned v, const char *n) { return 0; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "tool.c", "-o", "tool.so"], cwd=self.programs, check=True)
        code, told = self.type("sennit run --trace FOLDER -n 2 ./app", self.programs)
        assert code == 0, told

    def type(self, script, folder):
        """Exit code, and what it prints."""
        process = subprocess.Popen(["bash", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                   env={**self.settings, "SENNIT_BOARD": f"{folder}.board", self.token: "1"})
        try:
            told, _ = process.communicate(timeout=SECONDS)
            return process.returncode, told
        except subprocess.TimeoutExpired:
            harness.kill_all_with(self.token)
            return f"not done after {SECONDS} s", process.communicate()[0]

    def try_page(self, page):
        self.token = f"SENNIT_TEST_{uuid.uuid4().hex}"  # in a process of its own
        try:
            self.try_blocks(page)
        finally:  # keepers of pools
            harness.kill_all_with(self.token)

    def try_blocks(self, page):
        folder = self.folder / page.stem
        shutil.copytree(self.programs, folder, symlinks=True)
        apps = folder / "build" / "release" / "apps"
        apps.mkdir(parents=True)
        for app in (BUILD / "apps").glob("*-*-*"):
            (apps / app.name).symlink_to(app)
        (apps.parent / "tests").symlink_to(BUILD / "tests")
        for block in blocks_with_commands(page):
            script = block.script(self.prefix, self.token[-8:])
            if not script:
                continue
            start = time.monotonic()
            code, told = self.type(script, folder)
            print(f"  {block.name}, {self.mpi} ({time.monotonic() - start:.1f} s)", flush=True)
            assert code == 0, f"{block.name}, {self.mpi}: {code}\n{script}\n{told}"
            for line in block.shown[:SHOWN.get(block.commands[-1], 0)]:
                assert pattern_of(line).search(told), f"{block.name}, {self.mpi}: does not print '{line}'\n{told}"


def test_no_row_is_left_over():
    commands = [command for page in PAGES for block in blocks_with_commands(page) for command in block.commands]
    assert len(commands) > 80, commands
    for part in [*UNTRIED, *LESS, *SHOWN]:
        assert any(part in command for command in commands), f"no page has '{part}'"


def test_pools_have_names_that_no_other_test_has():
    scripts = "".join(block.script("/opt/sennit", "mine") for page in PAGES for block in blocks_with_commands(page))
    names = [name for _, name in POOL.findall(scripts)]
    assert len(names) > 8 and all(name.endswith("-mine") for name in names), names
    assert not re.search(r"\b(?:night|demo)\b(?!-mine)", scripts), scripts


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        tests = {one.__name__: one for one in (test_no_row_is_left_over, test_pools_have_names_that_no_other_test_has)}
        for at, name in enumerate(WRAPPERS):
            os.mkdir(f"{scratch}/{name}")
            reader = Reader(f"{scratch}/{name}", name)
            for one in PAGES:
                if at == 0 or one.name in WITH_BOTH:
                    tests[f"test_{one.stem}_{name}"] = functools.partial(reader.try_page, one)
        harness.run_tests(tests, at_once=2)
