# SPDX-License-Identifier: Apache-2.0
# script: pass.{what}.{mpi} mpi=all what=remarks|run|traced|ordered|cholesky timeout=600 -- {what} {mpi} {mpicc}
#     {mpicxx} {mpiexec} {sennit} {file('sennit-pass-plugin')} {room}
# script: pass.{what} mpi={mpis[0]} what=loops|regions|untouched timeout=600 -- {what} {mpi} {mpicc} {mpicxx} {mpiexec}
#     {sennit} {file('sennit-pass-plugin')} {room} # the same with each MPI
"""The compiler plug-in, through `sennit cc`: what it says of each call, and what its programs do.

    accept/ refuse/   a line `// done: text`, `// missed: text` or `// warning: text` behind a call is the remark or
                      warning that has to come, and no other may; both MPIs. Where no warning is expected they are
                      turned off; where no `// noted: text` is, what is known of tasks is not looked at. Fortran: `! done: text`; flang prints no warnings, but records them
    run/              programs: `// suspensions: N` under Sennit, on all ranks together; `// stock`: it
                      also runs under the stock runtime; `// set: VARIABLE=VALUE`; the untransformed program suspends tasks;
                      `// with: FILE` of run/plain: linked, compiled without the plug-in; `// says: LINE`, once. Fortran's
                      also run when completions come late

    traced/           programs of two ranks: `// moved: N, HOW` behind a call is its row in `sennit report`
    ordered/          under the policy fa: tasks in the order that their marks ask for, and in another one without the plug-in
    cholesky          the application
    loops/            programs with static loops that are let go: under the stock runtime, under Sennit, and lent

    regions           tests/programs/random_regions.c, of which loops are let go: several seeds, lent
    untouched/        functions in which nothing is moved: the same code with the plug-in as without

usage: pass_test.py remarks|run|traced|ordered|cholesky|loops|regions|untouched MPI MPICC MPICXX MPIEXEC SENNIT PLUGIN SOURCE-FOLDER [NAME...]
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

WHAT, MPI, MPICC, MPICXX, MPIEXEC, SENNIT, PLUGIN, SOURCE = sys.argv[1:9]
NAMES = sys.argv[9:]
KINDS = {"-Rpass=sennit": "done", "-Rpass-missed=sennit": "missed", "-Wpass-failed=sennit": "warning", "-Rpass-analysis=sennit": "noted"}
NO_WARNINGS = "-Wno-pass-failed"
YAML_KINDS = {"Passed": "done", "Missed": "missed", "Failure": "warning", "Analysis": "noted"}
# clang is asked for by `sennit cc`; without it as here.
ENVIRONMENT = {**os.environ, "MPICH_CC": "clang-19", "OMPI_CC": "clang-19", "MPICH_CXX": "clang++-19",
               "OMPI_CXX": "clang++-19", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LIMIT = 400 # seconds for one command, on a busy machine


MPIFC = MPICC.replace("mpicc", "mpif90")
HAS_FORTRAN = shutil.which("flang-new-19") and shutil.which(MPIFC)


def sources(*folders):
    patterns = ["*.c*"] + ["*.f90"] * bool(HAS_FORTRAN)
    found = [path for folder in folders for pattern in patterns for path in sorted(glob.glob(os.path.join(SOURCE, folder, pattern)))]
    return [path for path in found if not NAMES or os.path.basename(path).split(".")[0] in NAMES]


def is_fortran(path):
    return path.lower().endswith(".f90")


def fortran_command(*options):
    """Debian's wrappers have options of gfortran's: only where mpif.h and the libraries are is theirs. Modules are left beside
    the output."""
    show = subprocess.run([MPIFC, "-show"], text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT, check=True)
    return [SENNIT, "ftn", "flang-new-19", "-O2", "-fopenmp", *options, "-module-dir",
            os.path.dirname(options[options.index("-o") + 1]), *re.findall(r"-[ILl]\S+", show.stdout)]


def compile_command(path, *options):
    with open(path, encoding="utf-8") as file:
        own = re.findall(r"Compiled\s+with (-sennit-\w+)", file.read())
    if is_fortran(path):
        return fortran_command(*own, *(option for option in options if option != NO_WARNINGS), path)
    cxx = path.endswith(".cpp")
    flags = ["-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", "-std=c++20"] if cxx else ["-std=gnu11"]
    return [SENNIT, "c++" if cxx else "cc", MPICXX if cxx else MPICC, "-O2", "-fopenmp", "-Wall", "-Wextra",
            "-Werror", *own, *flags, *options, path]


def expected(path):
    with open(path, encoding="utf-8") as file:
        return sorted((number, kind, re.sub(r"line ([+-]\d+)", lambda n: f"line {number + int(n[1])}", text)) for number, line in enumerate(file, 1)
                      for kind, text in re.findall(r"(?://|!) (done|missed|warning|noted): (.*?)(?= // | ! |$)", line.rstrip()))


def remarks(path):
    """What is said, and what is recorded: the same."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    warns = bool(re.search(r"(//|!) warning: ", text))
    notes = "// noted: " in text
    options = [*list(KINDS)[:2]] + ["-Rpass-analysis=sennit"] * notes + ["-Wno-error=pass-failed" if warns else NO_WARNINGS] * (not is_fortran(path))
    options += ["-g"] if "Compiled with -g" in text else []
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "record")
        done = subprocess.run(compile_command(path, *options, "-foptimization-record-passes=^sennit$",
                                              "-foptimization-record-file=" + record, "-c", "-o", os.path.join(folder, "o")),
                              text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT, check=False)
        assert done.returncode == 0, done.stderr
        with open(record, encoding="utf-8") as file:
            recorded = yaml_records(file.read())
    said = re.findall(r"^(.*?):(\d+):\d+: (?:remark|warning): (.*) \[(-[RW]pass[\w-]*=sennit)\]$", done.stderr, re.MULTILINE)
    # A call that was inlined at several places has one remark for each.
    found = {(int(line), KINDS[option], text) for _, line, text, option in said}
    printed = ["done", "missed"] + ["noted"] * notes + ["warning"] * (warns and not is_fortran(path))
    assert found == {one for one in recorded if one[1] in printed}, (found, recorded)
    return sorted(one for one in recorded if one[1] in ["done", "missed"] + ["noted"] * notes + ["warning"] * warns)


def yaml_records(text):
    """Of LLVM's: one string each, which is quoted where it has to be, and may take several lines."""
    found = set()
    for record in text.split("--- !")[1:]:
        line = re.search(r"DebugLoc:.*?Line: (\d+)", record, re.DOTALL)
        string = re.search(r"- String: +(?:'((?:[^']|'')*)'|(.*))", record)
        message = string[2] if string[1] is None else " ".join(string[1].replace("''", "'").split())
        found.add((int(line[1]), YAML_KINDS[record.split("\n")[0]], message))
    return found


def test_remarks():
    paths = sources("accept", "refuse")
    assert paths
    for path in paths:
        wanted, found = expected(path), remarks(path)
        assert wanted and wanted == found, f"{path}\n  wanted {wanted}\n  found  {found}"
        kinds = {kind for _, kind, _ in wanted}
        assert kinds & ({"done", "noted"} if os.path.basename(os.path.dirname(path)) == "accept" else {"missed"}), path


class Built:
    arguments = ()
    says = ()
    environment = {}

    def __init__(self, folder, path, plain=False, debug=False):
        self.path = os.path.join(folder, "plain" if plain else "program")
        command = compile_command(path, NO_WARNINGS, *["-g"] * debug, "-o", self.path) + ["-lm"]
        if plain:
            command = [word for word in command[2:] if not word.startswith("-sennit-")]
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for other in re.findall(r"// with: (.*)", text):
            command.append(self.path + ".o")
            subprocess.run([MPICC, "-c", os.path.join(os.path.dirname(path), "plain", other), "-o", command[-1]],
                           env=ENVIRONMENT, timeout=LIMIT, check=True)
        self.says = re.findall(r"// says: (.*)", text)
        self.environment = dict(re.findall(r"// set: (\w+)=(\w+)", text))
        done = subprocess.run(command, text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT, check=False)
        assert done.returncode == 0, done.stderr

    def fails(self, *command):
        return subprocess.run([*command, self.path], capture_output=True, env=ENVIRONMENT, timeout=LIMIT, check=False).returncode != 0

    def run(self, *command, threads):
        environment = {**ENVIRONMENT, **self.environment, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run([*command, self.path, *self.arguments], text=True, capture_output=True, env=environment,
                              timeout=LIMIT, check=False)
        assert done.returncode == 0, (command, threads, done.stdout, done.stderr)
        for line in self.says:
            assert done.stderr.count(line) == 1, done.stderr

    def suspensions(self, threads):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["SENNIT_STATS"] = ENVIRONMENT["SENNIT_STATS"] = os.path.join(folder, "rank")
            try:
                self.run(SENNIT, "run", "-n", "2", "--threads", str(threads), threads=threads)
            finally:
                del ENVIRONMENT["SENNIT_STATS"]
            numbers = []
            for path in glob.glob(os.path.join(folder, "rank.*")):
                with open(path, encoding="utf-8") as file:
                    numbers.append(json.load(file)["tasks_suspended"])
        assert len(numbers) == 2, numbers
        return sum(numbers)


def test_run():
    paths = sources("run")
    assert paths
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with tempfile.TemporaryDirectory() as folder:
            built = Built(folder, path)
            for threads in (1, 2):
                number = built.suspensions(threads)
                if wanted := re.search(r"(?://|!) suspensions: (\d+)", text):
                    assert number == int(wanted[1]), (path, threads, number)
            if is_fortran(path):
                ENVIRONMENT["SENNIT_CHAOS"] = "seed:1,latency:100,order"
                built.run(SENNIT, "run", "-n", "2", "--threads", "2", threads=2)
                del ENVIRONMENT["SENNIT_CHAOS"]
            if re.search("(//|!) stock", text):
                stock = [MPIEXEC, "-n", "2"] + (["--oversubscribe"] if MPI == "openmpi" else [])
                built.run(*stock, threads=2)
            if re.search("(//|!) plain suspends", text):
                assert Built(folder, path, plain=True).suspensions(1) > 0, path


def moved_calls(text):
    """(call, place, how, times) of the report's table, and the hidden parts in percent."""
    table = text[text.index("Calls that the compiler has moved"):].split("\n\n")[0]
    rows = [re.fullmatch(r"  (\S+)  +(\S+)  +(\w.*?)  +(\d+)  +[\d.]+ \w+  +[\d.]+ \w+  +([\d.]+)%", line)
            for line in table.splitlines()[2:]]
    assert all(rows), table
    return sorted(row.groups()[:4] for row in rows), [float(row[5]) for row in rows]


def test_traced():
    paths = sources("traced")
    assert len(paths) >= 2 or NAMES
    for path in paths:
        with open(path, encoding="utf-8") as file:
            wanted = sorted((call, f"{os.path.basename(path)}:{number}", how, times) for number, line in enumerate(file, 1)
                            for call, times, how in re.findall(r"(MPI_\w+)\(.*(?://|!) moved: (\d+), (.*)$", line))
        with tempfile.TemporaryDirectory() as folder:
            trace, page = os.path.join(folder, "trace"), os.path.join(folder, "page.html")
            Built(folder, path, debug=True).run(SENNIT, "run", "-n", "2", "--threads", "2", "--trace=" + trace, threads=2)
            done = subprocess.run([SENNIT, "report", trace, "--html", page], text=True, capture_output=True, timeout=LIMIT, check=True)
            found, hidden = moved_calls(done.stdout)
            assert wanted and found == wanted, (wanted, done.stdout)
            assert all(0 <= part <= 100 for part in hidden), done.stdout
            with open(page, encoding="utf-8") as file:
                text = file.read()
            for call, place, how, times in wanted:
                assert f'"call":"{call}"' in text and f'"place":"{place}"' in text and f'"how":"{how}"' in text, (place, how)


def test_ordered():
    paths = sources("ordered")
    assert len(paths) == 1 + bool(HAS_FORTRAN) or NAMES
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            command = [SENNIT, "run", "-n", "2", "--threads", "1", "--policy", "fa"]
            Built(folder, path).run(*command, threads=1)
            assert Built(folder, path, plain=True).fails(*command), path


def test_cholesky():
    """The application with blocking calls in its tasks, and between them (-sennit-detach): its result is verified, and no task is
    suspended."""
    apps = os.path.join(SOURCE, "..", "..", "apps")
    files = [path for folder in ("suite", "cholesky") for path in glob.glob(os.path.join(apps, folder, "*.c"))]
    with tempfile.TemporaryDirectory() as folder:
        built = Built.__new__(Built)
        built.path = os.path.join(folder, "cholesky")
        command = [SENNIT, "cc", MPICC, "-sennit-detach", "-O2", "-g", "-std=c11", "-D_GNU_SOURCE", "-fopenmp", "-w",
                   "-I" + os.path.join(apps, "suite"), *files, "-o", built.path, "-lopenblas", "-lm"]
        subprocess.run(command, env=ENVIRONMENT, timeout=LIMIT, check=True)
        for variant in ("interop-blocking", "blocking"):
            built.arguments = ["--n", "512", "--block", "64", "--variant", variant]
            assert built.suspensions(2) == 0, variant


def test_loops():
    for path in sources("loops"):
        fortran = path.endswith(".f90")
        if fortran and not shutil.which("flang-new-19"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            done = subprocess.run([SENNIT, *(["ftn", "flang-new-19"] if fortran else ["cc", "clang-19", "-Wall"]), "-O2",
                                   "-fopenmp", "-Rpass=sennit", "-Rpass-missed=sennit", path, "-o", program], check=True,
                                  text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT)
            assert "may take over iterations" in done.stderr and "runs its share" not in done.stderr, done.stderr
            for threads in (1, 2, 4):
                under_sennit = [SENNIT, "run", "--threads", str(threads)]
                lent = [*under_sennit, "--split", "loops", program] + (["lent"] if threads > 1 else [])
                for command in ([program], [*under_sennit, program], lent):
                    subprocess.run(command, env={**ENVIRONMENT, "OMP_NUM_THREADS": str(threads)}, timeout=LIMIT,
                                   check=True)


def test_regions():
    """Loops whose iterations are lent, among all else that regions may have in them."""
    path = os.path.join(SOURCE, "..", "programs", "random_regions.c")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        done = subprocess.run([SENNIT, "cc", "clang-19", "-std=gnu11", "-O2", "-fopenmp", "-fwrapv", "-Rpass=sennit", path, "-o",
                               program], check=True, text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT)
        assert done.stderr.count("may take over iterations") == 2, done.stderr
        for seed in range(1, 7):
            for threads in (2, 3):
                subprocess.run([SENNIT, "run", "--threads", str(threads), "--split", "loops", program], timeout=LIMIT, check=True,
                               env={**ENVIRONMENT, "SEED": str(seed), "REGIONS": "40", "OMP_CANCELLATION": "true"})


def functions(path, *options):
    """Their code, without the numbers of what the compiler says of it besides."""
    done = subprocess.run([MPICC, "-O2", "-S", "-emit-llvm", *options, path, "-o", "-"], text=True, capture_output=True,
                          env=ENVIRONMENT, timeout=LIMIT, check=True)
    found = re.findall(r"^define [^\n]*?@([\w.]+)\(.*?^}", done.stdout, re.MULTILINE | re.DOTALL)
    bodies = re.findall(r"^define .*?^}", done.stdout, re.MULTILINE | re.DOTALL)
    return dict(zip(found, (re.sub(r"(, !\w+)? !\d+|#\d+", "", body) for body in bodies)))


def test_untouched():
    for path in sources("untouched"):
        plain, transformed = functions(path), functions(path, "-fpass-plugin=" + PLUGIN)
        assert len(plain) >= 4 and plain.keys() <= transformed.keys()
        for name, body in plain.items():
            assert "@MPI_" in body and body == transformed[name], f"{name}\n{body}\n{transformed[name]}"


{"remarks": test_remarks, "run": test_run, "traced": test_traced, "ordered": test_ordered, "cholesky": test_cholesky, "loops": test_loops, "regions": test_regions,
 "untouched": test_untouched}[WHAT]()
