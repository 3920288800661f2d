#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: docs labels=quick if="not left_out and not sanitized" -- --source {source} --ctest {CMAKE_CTEST_COMMAND}
#     --build {build} --sennit {sennit} # a build that leaves something out, or a sanitized one, has not all tests
"""What the docs name is there: tests, files, options of the command, and the places that links lead to.

A test is named in backquotes: `omp.taskwait.*`, `unit.Slab.StressProducerConsumer`, or `omp.taskwait` for all that
begin so; `.Other` after `unit.Suite.One` is unit.Suite.Other. The column "test" of docs/user/openmp.md names them
without `omp.`. What this build has no tests of (no MPI, say) is not looked for. In a table with the columns "file" and
"name", the names are in the file. And docs/dev/lock-free.md names every file of src/ with an atomic operation that
changes a word. docs/status.md has a line a feature: its cells are short. In a table with the columns "figure" and
"data", the numbers of a figure are in the file that the data links to. docs/dev/words.md defines a word once. No sentence
of a comment in src/ begins with "Who" or "That of", unless it asks: it has to name its subject.

usage: docs.py --source FOLDER --ctest CTEST --build FOLDER --sennit SENNIT
"""

import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys

KINDS = ("omp", "mpi", "unit", "apps", "tools", "sim", "stress", "bench", "valgrind", "pass")
TEST = re.compile(rf"(?:{'|'.join(KINDS)})\.[\w.*/-]+")
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
OPTION_R = re.compile(r"ctest [^\n`]*-R '?([^'\s`]+)'?")
# A file of ours: in a folder at the top, or, as docs often have it, in a room of src/.
SHORT = 120  # characters of a cell of status.md
RULE = re.compile(r"[|:\- ]+")  # below the heading of a table
FILE_NAME = re.compile(r"[\w.-]+\.(?:h|mod)")  # omp.h is no test
FILE = re.compile(r"(?:[\w.-]+/)+[\w.-]+\.(?:h|cpp|c|txt|def|py|md|toml)")


def anchors(text):
    """Headings, as GitHub makes anchors of them."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        found.add(re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-"))
    return found


def cells_of(line):
    """of a row of a table"""
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def numbers_of(text):
    return {number.rstrip(",") for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def code_of(source):
    """(path, text) of each file of src/ and addons/"""
    for folder in ("src", "addons"):
        for path in sorted((source / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path, path.read_text()


class Docs:
    def __init__(self, source, tests, commands):
        self.source = source
        self.commands = commands
        self.tests = tests
        self.kinds = {test.split(".")[0] for test in tests}
        self.not_built = {test.split("-")[0] for test in tests if test.endswith("_NOT_BUILT")}  # GoogleTest's
        self.named = 0
        self.words = {}  # of words.md, and where each is
        self.wrong = []

    def complain(self, page, line, text):
        self.wrong.append(f"{page.relative_to(self.source)}:{line}: {text}")

    def have_test(self, name):
        self.named += 1
        kind, suite = (name.split(".") + [""])[:2]
        if kind not in self.kinds or (kind in self.not_built and suite[:1].isupper()):
            return True
        return any(fnmatch.fnmatchcase(test, pattern) for pattern in (name, name + ".*") for test in self.tests)

    def check_tests(self, page, number, line):
        suite = None
        for code in CODE.findall(line):
            if TEST.fullmatch(code) and not FILE_NAME.fullmatch(code):
                name = code
                suite = ".".join(code.split(".")[:2])
            elif suite and suite.startswith("unit.") and re.fullmatch(r"\.[A-Z]\w*\*?", code):
                name = suite + code
            else:
                continue
            if not self.have_test(name) and not (self.source / name).exists():
                self.complain(page, number, f"no test {name}")
        for pattern in OPTION_R.findall(line):
            if "<" not in pattern and not any(re.search(pattern, test) for test in self.tests):
                self.complain(page, number, f"ctest -R {pattern} finds no test")

    def check_openmp_column(self, page, number, line, column):
        cells = cells_of(line)
        if column is None or len(cells) <= column:
            return
        for name in CODE.findall(cells[column]):
            if not self.have_test("omp." + name):
                self.complain(page, number, f"no test omp.{name}")

    def check_files(self, page, number, line):
        for code in CODE.findall(line):
            if FILE.fullmatch(code) and "/docs/results/" not in str(page):
                if not any((self.source / folder / code).exists() for folder in (".", "src", "docs")):
                    self.complain(page, number, f"no file {code}")
        for target in LINK.findall(line):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            other = (page.parent / path).resolve() if path else page
            if not other.exists():
                self.complain(page, number, f"the link to {target} leads nowhere")
            elif anchor and other.suffix == ".md" and anchor not in anchors(other.read_text()):
                self.complain(page, number, f"{path or 'this page'} has no heading #{anchor}")

    def check_names(self, page, number, line, columns):
        cells = cells_of(line)
        file, *others = CODE.findall(cells[columns["file"]]) or [None]
        if not file or others or not (self.source / file).is_file():
            return  # check_files() complains
        text = (self.source / file).read_text()
        for name in CODE.findall(cells[columns["name"]]):
            if name not in text:
                self.complain(page, number, f"{file} has no {name}")

    def check_figures(self, page, number, line, columns):
        """The figures of a claim are numbers of the file beside it."""
        cells = cells_of(line)
        for target in LINK.findall(cells[columns["data"]]):
            data = page.parent / target
            if data.is_file():  # or check_files() complains
                known = numbers_of(data.read_text())
                for figure in sorted(numbers_of(cells[columns["figure"]]) - known):
                    self.complain(page, number, f"{target} has no {figure}")

    def check_cells(self, page, number, line):
        for cell in cells_of(line):
            if len(cell) > SHORT:
                self.complain(page, number, f"a cell of {len(cell)} characters: {SHORT} are a line")

    def check_words(self, page, number, line):
        for word in re.findall(r"\*([^*]+)\*", cells_of(line)[0]):
            if word in self.words:
                self.complain(page, number, f"the word {word} is in line {self.words[word]}, too")
            self.words[word] = number

    def check(self, page):
        column = None
        tables = {self.check_names: ("file", "name"), self.check_figures: ("figure", "data")}
        checked = None  # how a row of this table is checked, and its columns
        for number, line in enumerate(page.read_text().splitlines(), 1):
            self.check_tests(page, number, line)
            self.check_files(page, number, line)
            for wrong in self.commands.wrong(line):
                self.complain(page, number, wrong)
            if not line.startswith("|"):
                checked = None
            elif checked:
                check, columns = checked
                if not RULE.fullmatch(line):
                    check(page, number, line, columns)
            else:
                heads = cells_of(line)
                checked = next(((check, {name: heads.index(name) for name in names})
                                for check, names in tables.items() if set(names) <= set(heads)), None)
            if line.startswith("|") and page.name == "status.md":
                self.check_cells(page, number, line)
            if line.startswith("| *") and page.name == "words.md":
                self.check_words(page, number, line)
            if page.name == "openmp.md":
                if line.startswith("| feature"):
                    column = cells_of(line).index("test")
                elif not line.startswith("|"):
                    column = None
                else:
                    self.check_openmp_column(page, number, line, column)


COMMAND = re.compile(r"\bsennit (run|exec|doctor|report|advise|top|pool start|bench (?:cholesky|front|papers)|simulate(?: (?:cholesky|gauss-seidel|trace|pool|front))?)\b([^#`|\n]*)")
DEV = re.compile(r"\./dev ([a-z][\w-]*)")


class Commands:
    """The options that the command really has, and the words of ./dev."""

    def __init__(self, source, sennit):
        self.sennit = sennit if sennit and sennit.exists() else None
        self.helps = {}
        self.dev = (source / "dev").read_text()

    def help(self, words):
        if words not in self.helps:
            told = subprocess.run([self.sennit, *words.split(), "--help"], stdout=subprocess.PIPE, text=True)
            self.helps[words] = told.stdout
        return self.helps[words]

    def wrong(self, line):
        for word in DEV.findall(line):
            if not re.search(rf"^(?:[\w| -]*[| ])?{word}(?:[| ][\w| -]*)?\)", self.dev, re.MULTILINE):
                yield f"./dev has no {word}"
        if not self.sennit:
            return
        for words, rest in COMMAND.findall(line):
            words = "simulate cholesky" if words == "simulate" else words
            if words in ("run", "exec"):  # behind the program the options are the program's
                rest = re.split(r" (?:\./|python3|taskset|--(?= ))", rest)[0]
            for option in re.findall(r"(?<=\s)--[a-z][a-z-]+", rest):
                if option not in self.help(words):
                    yield f"sennit {words} has no {option}"


CHANGES = re.compile(r"compare_exchange|\w\.exchange\(|fence_(?:light|heavy)\(|atomic_thread_fence|fetch_(?:add|sub|or|and)\(")


def unlisted_structures(source):
    """Files that change a word by an atomic operation, and are not on the page of lock-free structures."""
    named = (source / "docs/dev/lock-free.md").read_text()
    for path, text in code_of(source):
        if CHANGES.search(text):
            name = path.relative_to(source).with_suffix("").as_posix().removeprefix("src/")
            if not any(name + suffix in named for suffix in (".h", ".cpp")):
                yield f"{path.relative_to(source)}: not in docs/dev/lock-free.md"


HEADLESS = re.compile(r"(?:^\s*//|//.*[.;:]) (?:Who|Whoever|That of) [^?]*$")


def headless_sentences(source):
    """Comments in which a sentence begins without a subject that has a name. A question may."""
    for path, text in code_of(source):
        for number, line in enumerate(text.splitlines(), 1):
            if HEADLESS.search(line):
                yield f"{path.relative_to(source)}:{number}: who? {line.strip()}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--ctest", default="ctest")
    parser.add_argument("--build", required=True)
    parser.add_argument("--sennit", type=pathlib.Path, help="the command; without it options are not looked at")
    options = parser.parse_args()
    source = options.source.resolve()
    listed = subprocess.run([options.ctest, "--test-dir", options.build, "-N"], check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    tests = re.findall(r"^ *Test +#\d+: (\S+)", listed, re.MULTILINE)
    if not tests:
        print("no tests in this build")
        return 1
    docs = Docs(source, tests, Commands(source, options.sennit))
    pages = [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").rglob("*.md"))]
    for page in pages:
        docs.check(page)
    docs.wrong += unlisted_structures(source)
    docs.wrong += headless_sentences(source)
    for wrong in docs.wrong:
        print(wrong)
    print(f"{len(pages)} pages, {docs.named} tests named, {len(docs.wrong)} things wrong")
    return 1 if docs.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
