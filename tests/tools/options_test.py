#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: tools.options labels=quick -- {sennit} {source}
"""One truth for environment variables: every name of ours that the code has in a string is a row of a table or a name
of the code's own (a macro, an enumerator); every row is read; what is read and not ours is named below; and
docs/user/reference.md has what the tables say.

usage: options_test.py SENNIT SOURCE_FOLDER [--update]
"""

import pathlib
import re
import subprocess
import sys

BEGIN = "<!-- options: made by sennit doctor --options=markdown -->\n"
END = "<!-- end of the options -->\n"
TABLES = ("src/base", "src/mpi", "addons/network", "addons/objects", "tools/sennit")
ROW = re.compile(r'^SENNIT_(?:CHOICE|NUMBER|TEXT)\((\w+)(?:[^"\n]*)"((?:SENNIT|MPIX)_[A-Z_]+)"', re.MULTILINE)
FOLDERS = ("src", "addons", "tools", "sim", "pass", "include", "apps", "bench", "tests")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)*'")
OURS = re.compile(r"(?<![A-Za-z0-9_])(?:SENNIT_[A-Z][A-Z0-9_]*[A-Z0-9]|MPIX_DETACH)(?![A-Za-z0-9_])")
# Names of the code: the string is a message about them, or code that is generated.
DEFINED = re.compile(r"^\s*#\s*define\s+(SENNIT_\w+)|^\s*(SENNIT_\w+)\s*(?:=|,|$)", re.MULTILINE)
# Their names are CMake's variables.
OF_CMAKE = {"tests/tools/configure_test.py", "tests/manifest.py", "tests/manifest/manifest_test.py"}
# `./dev stress`: how long tools.pool runs; harness.py: which of its parts a test runs; denied_test.py: one by one.
OF_TESTS = {"SENNIT_TEST_SECONDS", "SENNIT_TEST_ONLY", "SENNIT_TEST_EACH"}
READ = re.compile(r'(?:getenv|trusted_environment|is_given|folder_of)\("(\w+)"\)')
NOT_OURS = {
    "CCACHE_EXTRAFILES": "ccache's: the compiler plug-in is one more file that an object depends on",
    "HOME": "POSIX: where the user's cache is, for links to Sennit's files",
    "DLB_ARGS": "DLB's: its options, of which --talp counts here, too",
    "LD_PRELOAD": "the dynamic linker's: what is there already stays",
    "OMPI_MCA_odls_base_sigkill_timeout": "Open MPI's: how long its mpiexec waits for ranks that are to end",
    "OMPI_MCA_orte_abort_on_non_zero_status": "Open MPI's: whether its mpiexec ends a job with a rank that fails",
    "OMPI_MCA_orte_enable_recovery": "likewise",
    "OMP_TOOL": "of the standard, 21.3 of OpenMP 5.2; the others are in omp/env",
    "OMP_TOOL_LIBRARIES": "likewise",
    "OMP_TOOL_VERBOSE_INIT": "likewise",
    "PATH": "POSIX: where programs are",
    "TMPDIR": "POSIX: where the board of a node is, if there is no other place, and the socket of a job's ranks",
    "XDG_CACHE_HOME": "freedesktop.org's: the user's cache, for links to Sennit's files",
    "XDG_RUNTIME_DIR": "freedesktop.org's: a folder of the user's alone, for the socket of a job's ranks",
}


def strings(path):
    """What stands in quotes; comments of C and Python are left out."""
    text = path.read_text(errors="replace")
    comment = r"#[^\n]*" if path.suffix == ".py" else r"//[^\n]*|/\*.*?\*/"
    for match in re.finditer(f"({STRING.pattern})|{comment}", text, re.DOTALL):
        if match.group(1):
            yield match.group(1)


def main():
    sennit, source = sys.argv[1], pathlib.Path(sys.argv[2])
    rows, fields, wrong = {}, {}, 0

    def complain(text):
        nonlocal wrong
        wrong += 1
        print(text)

    for table in TABLES:
        found = ROW.findall((source / table / "options.def").read_text())
        if not found:
            complain(f"{table}/options.def has no rows that this test can read")
        for field, variable in found:
            if variable in rows:
                complain(f"{variable} has rows in {rows[variable]} and {table}")
            rows[variable] = table
            fields[variable] = field
    files = {path: path.read_text(errors="replace") for folder in FOLDERS for path in sorted((source / folder).rglob("*"))
             if path.suffix in (".cpp", ".h", ".c", ".py", ".f90", ".F90") and str(path.relative_to(source)) not in OF_CMAKE}
    defined = {name for text in files.values() for names in DEFINED.findall(text) for name in names if name}
    tests = source / "tests"
    named = set()  # where it counts as read
    for path in files:
        for text in strings(path):
            for name in OURS.findall(text):
                if not path.is_relative_to(tests):
                    named.add(name)
                if name not in rows and name not in defined | OF_TESTS:
                    complain(f"{path}: {name} has no row in an options.def, nor is it a name of the code")
    read_by_others = {name for path, text in files.items() for name in READ.findall(text)
                      if not name.startswith(("SENNIT_", "MPIX_")) and not path.is_relative_to(tests)}
    for name in sorted(read_by_others ^ NOT_OURS.keys()):
        complain(f"{name}: " + ("read, and not among NOT_OURS" if name in read_by_others else "among NOT_OURS, and not read"))
    for variable, table in rows.items():
        field = re.compile(rf"(?:config\(\)\.|options::|[.>]){fields[variable]}\b")
        if variable not in named and not any(field.search(text) for path, text in files.items()
                                             if path.is_relative_to(source / table) or table == "src/base"):
            complain(f"{variable} of {table} is read nowhere")

    told = {form: subprocess.run([sennit, "doctor", f"--options={form}"], check=True, stdout=subprocess.PIPE,
                                 text=True).stdout for form in ("text", "markdown", "man")}
    for variable, table in rows.items():
        for form, text in told.items():
            if variable not in text:
                complain(f"{variable} of {table} is missing in `sennit doctor --options={form}`")
    columns = 0
    for line in told["markdown"].splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if cells and columns and cells != columns:
            complain(f"{cells - 1} cells, and the head of the table has {columns - 1}: {line}")
        columns = columns or cells if cells else 0
    page = source / "docs/user/reference.md"
    head, rest = page.read_text().split(BEGIN)
    told_before, tail = rest.split(END)
    if sys.argv[3:] == ["--update"]:
        page.write_text(head + BEGIN + told["markdown"] + END + tail)
    elif told_before != told["markdown"]:
        complain(f"the options in {page.name} are old: call this test with --update")
    bad = subprocess.run([sennit, "doctor", "--options=pdf"], capture_output=True, text=True)
    if bad.returncode != 2 or "text, markdown or man" not in bad.stderr:
        complain(f"an unknown form: {bad.returncode}, {bad.stderr}")
    print(f"{len(rows)} variables")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
