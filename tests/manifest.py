#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what a test needs from the first lines of its program, and writes it down for CMake.

The lines follow the one with the licence. docs/dev/tests.md says what they may say:

    // build: compiler=clang -- -lpthread
    // test, split: threads=1|2 OMP_CANCELLATION=true

The words before the colon are families. The file tests.txt of a room says what each of them means:
its words come before those of the program. An axis (threads=1|2) makes a build or a test for each of
its values. What stands in braces is an expression of Python's about axes, settings of the build and
the room's definitions.

Invariant: a name of a family, an axis or a definition that nothing knows or uses ends the configuration
with one line that names the file, as do a program without such lines and two tests of one name.

Usage: manifest.py SETTINGS ROOM...    SETTINGS: lines NAME=VALUE of CMake's. Writes ROOM/tests.cmake
                                       in the build folder of tests."""
import contextlib
import dataclasses
import os
import re
import sys

SOURCES = (".c", ".cpp", ".f90", ".F90", ".py")
BUILT = SOURCES[:-1]
BUILD_KEYS = ("if", "out", "compile", "sources", "modules", "folder", "steps", "group", "target", "comment")
PROPERTIES = {"timeout": "TIMEOUT", "processors": "PROCESSORS", "lock": "RESOURCE_LOCK", "skip": "SKIP_RETURN_CODE",
              "pass": "PASS_REGULAR_EXPRESSION", "fail": "FAIL_REGULAR_EXPRESSION"}
TEST_KEYS = ("if", "run", "exe", "exit", "virtual", "sample", "copy", "checked", "checked_fibers", "user", "labels",
             *PROPERTIES)
KEYS = {*BUILD_KEYS, *TEST_KEYS}
AXES = ("mpi", "compiler", "shape")
PLACEHOLDER = re.compile(r"(?<![%$])\{([A-Za-z_'[][^{}]*)\}")
PART = re.compile(r"""\{[A-Za-z_'[][^{}]*\}|'[^']*'|"(?:[^"\\]|\\.)*"|[^\s'"]""")
COMMENT = re.compile(r"\s*(?://|/\*|\*|#|!)( .*|)$")
HEAD = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*):(?:\s+(.*))?$")


class Wrong(Exception):
    """What a file says cannot be right."""


@dataclasses.dataclass
class Line:
    """One line of a manifest, or what a family puts before it."""

    family: str
    name: str = ""
    keys: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    flags: list = dataclasses.field(default_factory=list)
    arguments: list = dataclasses.field(default_factory=list) # of a build: the libraries


def split(text):
    """Words, as a shell has them, but that an expression in braces is a part of one word, whatever is in it."""
    words, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if text[at] == "#":
            break
        word = ""
        while part := PART.match(text, at):
            at = part.end()
            if part[0][0] == "'" == part[0][-1] != part[0]:
                word += part[0][1:-1]
            elif part[0][0] == '"':
                word += re.sub(r'\\(["\\])', r"\1", part[0][1:-1])
            else:
                word += part[0]
        if at < len(text) and not text[at].isspace():
            raise Wrong(f"no end of what is quoted: {text[at:]}")
        words.append(word)
    return words


def parsed(family, text):
    line = Line(family)
    words = split(text)
    if "--" in words:
        line.arguments = words[words.index("--") + 1:]
        words = words[:words.index("--")]
    for word in words:
        key, equals, value = word.partition("=")
        if word.startswith("-"):
            line.flags.append(word)
        elif equals and re.fullmatch(r"[A-Z]\w*", key):
            line.environment[key] = value
        elif equals and re.fullmatch(r"[a-z_]+", key):
            line.keys[key] = value
        elif line.name:
            raise Wrong(f"two names, {line.name} and {word}")
        else:
            line.name = word
    return line


def manifest(path):
    """The lines of a program: (families, text). They end at the first line that is prose or code."""
    lines = []
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file):
            if "SPDX" in text or number == 0 and text.startswith("#!"):
                continue
            comment = COMMENT.match(text)
            if not comment:
                break
            text = comment[1].removesuffix("*/")
            head = HEAD.match(text.strip())
            if head and not text.startswith("  "):
                lines.append([tuple(head[1].split(", ")), head[2] or ""])
            elif lines and text.startswith("    "):
                lines[-1][1] += " " + text.strip()
            else:
                break
    return lines


def merged(family, own, build):
    """The words of a family, then those of the program; the libraries of a family stand last."""
    keys = {**family.keys, **own.keys}
    conditions = [line.keys["if"] for line in (family, own) if "if" in line.keys]
    if conditions:
        keys["if"] = " and ".join(f"({condition})" for condition in conditions)
    arguments = own.arguments + family.arguments if build else family.arguments + own.arguments
    return Line(own.family, own.name or family.name, keys, {**family.environment, **own.environment},
                family.flags + own.flags, arguments)


class Scope(dict):
    """What expressions may name."""

    def __init__(self, values, definitions):
        super().__init__(values)
        self.definitions = definitions

    def __missing__(self, name):
        if name not in self.definitions:
            raise KeyError(name)
        whole = PLACEHOLDER.fullmatch(self.definitions[name])
        if whole:
            return self.value(whole[1])
        words = self.words(split(self.definitions[name]))
        return words if len(words) > 1 else "".join(words)

    def also(self, **values):
        return Scope({**self, **values}, self.definitions)

    def value(self, expression):
        try:
            return eval(expression, {"__builtins__": {"len": len, "str": str}}, self)
        except Exception as error:
            raise Wrong(f"{{{expression}}}: {type(error).__name__}: {error}") from error

    def text(self, template):
        def filled(match):
            value = self.value(match[1])
            return " ".join(map(str, value)) if isinstance(value, list) else str(value)

        return PLACEHOLDER.sub(filled, template)

    def words(self, templates):
        """A template that is one placeholder may be any number of words."""
        words = []
        for template in templates:
            whole = PLACEHOLDER.fullmatch(template)
            value = self.value(whole[1]) if whole else self.text(template)
            words += value if isinstance(value, list) else [str(value)] if value != "" else []
        return words


def number_or_text(value):
    return int(value) if re.fullmatch(r"0|[1-9]\d*", value) else value


def named(axis, values):
    """What the values of an axis depend on."""
    words = {word for expression in PLACEHOLDER.findall(values) for word in re.findall(r"\w+", expression)}
    return words | {"mpi"} if axis == "compiler" else words


def instances(scope, axes):
    """A scope for each combination of the axes' values."""
    if not axes:
        yield scope
        return
    others = dict(axes)
    axis = next((axis for axis in others if not (others.keys() - {axis}) & named(axis, others[axis])), None)
    if not axis:
        raise Wrong(f"axes that name each other: {', '.join(others)}")
    values = others.pop(axis)
    values = scope.text(values).split("|")
    if axis == "mpi":
        values = [mpi for mpi in scope["mpis"] if mpi in values or values == ["all"]]
    elif axis == "compiler":
        meant = scope["meaning_of_compilers"](values[0], scope.get("mpi"))
        values = [compiler for compiler in scope["compilers"] if compiler in (meant or values)]
    for value in values:
        more = {axis: number_or_text(value), **scope["of_axis"](axis, value)}
        yield from instances(scope.also(**more), others.items())


def included(path, folders, known):
    """The files that a source includes, from its own folder and from `folders`, and what these include."""
    if path not in known:
        known[path] = []
        with open(path, encoding="utf-8", errors="replace") as file:
            names = re.findall(r'^[ \t]*#?[ \t]*include[ \t]*["\'<]([\w./-]+)["\'>]', file.read(), re.MULTILINE)
        for name in names:
            candidates = (os.path.normpath(os.path.join(folder, name)) for folder in (os.path.dirname(path), *folders))
            if other := next(filter(os.path.isfile, candidates), None):
                known[path] += [other, *included(other, folders, known)]
    return list(dict.fromkeys(known[path]))


def quoted(words):
    """As CMake reads them."""
    return " ".join('"' + str(word).replace("\\", "\\\\").replace('"', '\\"').replace("${", "\\${") + '"' for word in words)


class Room:
    """The builds and tests of one folder of tests."""

    def __init__(self, name, settings):
        self.folder = os.path.normpath(os.path.join(settings["tests"], name))
        self.binary = os.path.normpath(os.path.join(settings["build"], "tests", name))
        self.table = os.path.join(self.folder, "tests.txt")
        self.families = {"script": [parsed("script", "run='{python} {path}'")]} # a table may say more
        self.definitions, self.without_file = {}, []
        self.possible, self.built = set(), set() # what builds make, somewhere and here
        self.groups, self.targets, self.tests, self.text = {}, {}, set(), []
        self.scope = Scope({**settings, "room": self.folder, "bin": self.binary,
                            "group": lambda name: self.groups.get(name, [])}, self.definitions)
        self.includes = [settings["include"], settings["source"] + "/src"]
        self.known_includes = {}

    def read_table(self):
        """tests.txt: `NAME = words` defines, `family NAME: words` says what a family means, `family NAME of OTHER: words`
        what more than another one. Any other line is one of a manifest, for a test without a program of its own."""
        if not os.path.exists(self.table):
            return
        with open(self.table, encoding="utf-8") as file:
            text = re.sub(r"\n[ \t]+", " ", re.sub(r"^#.*\n", "", file.read(), flags=re.MULTILINE))
        given = set()
        for line in filter(str.strip, text.splitlines()):
            if definition := re.match(r"(\w+) =(?: (.*))?$", line):
                self.definitions[definition[1]] = definition[2] or ""
            elif family := re.match(r"family (\w+)(?: of (\w+))?:(.*)", line):
                bases, own = self.families[family[2]] if family[2] else [Line(family[1])], parsed(family[1], family[3])
                before = self.families[family[1]] if family[1] in given else [] # a table may say `script` anew
                self.families[family[1]] = before + [merged(base, own, "target" in base.keys) for base in bases]
                given.add(family[1])
            elif own := HEAD.match(line):
                self.without_file.append((tuple(own[1].split(", ")), own[2] or ""))
            else:
                raise Wrong(f"no definition, family or test: {line}")

    def lines_of(self, lines):
        """What the lines of a program say, with what their families mean: (builds, tests)."""
        lines = [(family, parsed(family, text)) for families, text in lines for family in families if family != "part"]
        found = [], []
        for family, own in lines:
            if family not in self.families:
                raise Wrong(f"unknown family {family}; known are {', '.join(sorted(self.families))} and part")
            for general in self.families[family]:
                build = "target" in general.keys
                line = merged(general, own, build)
                self.check_keys(line, BUILD_KEYS if build else TEST_KEYS)
                if bool(line.name) == build or line.flags and not build:
                    raise Wrong(f"{family}: a build has no name, a test has one; only a build has flags, and lists come after --")
                found[not build].append(line)
        return found

    def only_builds(self, family):
        return family == "part" or all("target" in line.keys for line in self.families[family])

    def check_keys(self, line, known):
        """Each axis is named somewhere: else it is a key with a slip of the pen."""
        used = " ".join([line.name, *line.keys.values(), *line.environment.values(), *line.flags, *line.arguments,
                         *self.definitions.values()])
        for key in line.keys:
            if key not in known and key not in AXES and not re.search(rf"\b{key}\b", used):
                raise Wrong(f"{line.family}: {key} is no key, and no axis that anything uses")

    def read_programs(self, paths):
        """Builds first, those of what others make last; then tests, which run where their program is built."""
        builds, tests = [], []
        for path in [*paths, self.table]:
            lines = manifest(path) if path != self.table else self.without_file
            if not lines and path.endswith(BUILT) and "build" in self.families and not path.endswith("_test.cpp"):
                raise Wrong(f"{path}: its first lines name no family")
            with explained(path):
                of_file = self.lines_of(lines)
                families = [family for families, _ in lines for family in families]
                if lines and path.endswith(BUILT) and not any(map(self.only_builds, families)):
                    of_file[0].extend(merged(line, Line("build"), True) for line in self.families["build"])
                scope = self.scope_of(path, of_file[1])
            builds += [(self.build, scope, line) for line in of_file[0]]
            tests += [(self.test, scope, line) for line in of_file[1]]
        for work, scope, line in sorted(builds, key=needs_others) + tests:
            with explained(scope["path"]):
                found = list(instances(scope, [pair for pair in line.keys.items() if pair[0] not in KEYS]))
                self.check_exe(found, line)
                for instance in found:
                    if instance.value(line.keys.get("if", "1")):
                        work(instance, line)

    def check_exe(self, found, line):
        """Where all compilers and MPIs are, there is a build for one of a line's tests at least."""
        if "out" in line.keys:
            self.possible.update(instance.text(line.keys["out"]) for instance in found)
        exes = {instance.text(line.keys["exe"]) for instance in found if "exe" in line.keys}
        if exes and all(map(self.is_own, exes)) and not exes & self.possible and not self.scope["left_out"]:
            raise Wrong(f"{line.family}: nothing builds {min(exes)}")

    def is_own(self, exe):
        return exe.startswith(self.binary + "/")

    def scope_of(self, path, tests):
        program, language = os.path.splitext(os.path.basename(path))
        shapes = next((line.keys["shape"].split("|") for line in tests if "shape" in line.keys), [])
        return self.scope.also(path=path, program=program, language=language[1:], shapes=shapes)

    def build(self, scope, line):
        output = scope.text(line.keys["out"])
        if output in self.built:
            raise Wrong(f"{output} is built twice")
        self.built.add(output)
        for name in filter(None, [scope.text(line.keys.get("group", ""))]):
            self.groups.setdefault(name, []).append(output)
        self.targets.setdefault(scope.text(line.keys["target"]), []).append(output)
        sources = [os.path.join(os.path.dirname(scope["path"]), source)
                   for source in scope.words(line.keys.get("sources", os.path.basename(scope["path"])).split("|"))]
        compile, flags, libraries = (scope.words(words) for words in
                                     (split(line.keys["compile"]), line.flags, line.arguments))
        commands = []
        folder = output + ".modules" if "modules" in line.keys else os.path.dirname(output)
        if "modules" in line.keys or "folder" in line.keys:
            commands.append([scope["cmake"], "-E", "make_directory", folder])
        if "modules" in line.keys:
            flags += [scope.text(line.keys["modules"]), folder]
        if "steps" in line.keys:
            commands += two_steps(scope, compile, sources, output, flags + libraries)
        else:
            commands.append([*compile, *flags, *sources, "-o", output, *libraries])
        needs = [*sources, *(other for source in sources for other in included(source, self.includes, self.known_includes)),
                 *(word for word in libraries if word.startswith(("/", "$<TARGET_FILE:")))]
        comment = ["COMMENT", quoted([scope.text(line.keys["comment"])])] if "comment" in line.keys else []
        self.text.append(" ".join(["add_custom_command(OUTPUT", quoted([output]),
                                   *("\n    COMMAND " + quoted(command) for command in commands),
                                   "\n    DEPENDS", quoted(dict.fromkeys(needs)), *comment, "VERBATIM)"]))

    def test(self, scope, line):
        keys = line.keys
        exe = scope.text(keys["exe"]) if "exe" in keys else ""
        if self.is_own(exe) and exe not in self.built: # by this compiler, or under this sanitizer
            return
        scope = scope.also(exe=exe)
        command = scope.words(split(keys["run"]) + line.arguments)
        if "exit" in keys: # the code that it is to end with
            command = ["sh", "-c", f"\"$@\" && exit 99 || test $? -eq {keys['exit']}", "--", *command]
        name = scope.text(line.name)
        properties = {of_cmake: scope.text(keys[key]) for key, of_cmake in PROPERTIES.items() if key in keys}
        for key in ("PASS_REGULAR_EXPRESSION", "FAIL_REGULAR_EXPRESSION"): # CMake's have no \\n
            if key in properties:
                properties[key] = properties[key].replace("\\n", "\n")
        properties["LABELS"] = scope.text(keys.get("labels", "")).replace(",", ";")
        environment = {variable: scope.text(value) for variable, value in line.environment.items()}
        self.add_test(name, command, properties, environment)
        for copy in (checked_copies, virtual_copies, user_copies):
            for more in copy(scope, keys, (name, command, properties, environment)):
                self.add_test(*more)

    def add_test(self, name, command, properties, environment):
        if name in self.tests:
            raise Wrong(f"there are two tests {name}")
        self.tests.add(name)
        values = {**properties, "ENVIRONMENT": ";".join(f"{variable}={value}" for variable, value in environment.items())}
        self.text.append(f"add_test(NAME {quoted([name])} COMMAND {quoted(command)})")
        if values := {key: value for key, value in values.items() if value}:
            words = " ".join(f"{key} {quoted([value])}" for key, value in values.items())
            self.text.append(f"set_tests_properties({quoted([name])} PROPERTIES {words})")

    def write(self):
        self.text += [f"add_custom_target({target} ALL DEPENDS {quoted(outputs)})" for target, outputs in self.targets.items()]
        os.makedirs(self.binary, exist_ok=True)
        with open(os.path.join(self.binary, "tests.cmake"), "w", encoding="utf-8") as file:
            file.write("\n".join(self.text) + "\n")


def needs_others(build):
    return any("group(" in word for word in build[2].arguments)


@contextlib.contextmanager
def explained(path):
    try:
        yield
    except (Wrong, ValueError) as error:
        raise Wrong(f"{path}: {error}") from error


def two_steps(scope, command, sources, output, words):
    """An object and its link, since under a sanitizer Clang's objects are linked by GCC (SennitPrograms.cmake). Of the
    words that a program adds, both steps need -f..., but for -fno-... only the compiler does."""
    words_of_both = [word for word in words if word.startswith("-f")]
    libraries = [word for word in words if not word.startswith("-fno")]
    flags = link_flags = scope["SENNIT_SANITIZE_FLAGS"]
    link = [*command, output + ".o"]
    if scope["compiler"] == "clang" and scope["SENNIT_LINK_CLANG"]:
        flags = scope["SENNIT_SANITIZE_CLANG"]
        link = [*scope["SENNIT_GXX"], output + ".o"]
        if scope["tsan"]:
            link += ["-fno-builtin", scope["tests"] + "/tsan_memory.cpp"]
        libraries = [*scope["SENNIT_LIBOMP"], *libraries]
    return [[*command, *words_of_both, *flags, "-c", *sources, "-o", output + ".o"],
            [*link, *link_flags, "-o", output, *libraries]]


def checked_copies(scope, keys, test):
    """The same on the libraries with the assertions, and of some again as rank fibers."""
    name, command, properties, environment = test
    if not scope.value(keys.get("checked", "0")):
        return
    properties = {**properties, "LABELS": properties["LABELS"].split(";")[0]}
    if "LD_LIBRARY_PATH" in environment:
        environment = {**environment, "LD_LIBRARY_PATH": scope["build"] + "/checked/lib/omp"}
    else:
        environment = {"SENNIT_HOME": scope["build"] + "/checked", **environment}
    yield "checked." + name, command, properties, environment
    if scope.value(keys.get("checked_fibers", "0")) and scope["x86"]:
        yield f"checked.{name}.fibers", as_virtual_ranks(scope, "fibers", command), properties, environment


def as_virtual_ranks(scope, way, command):
    return [f"{scope['build']}/tests/sennit-{way}" if word == scope["sennit"] else word for word in command]


def virtual_copies(scope, keys, test):
    """Once more as virtual ranks and as rank fibers: those of `sample` by default, all by `./dev test --full`. A test that
    passes as a process passes in both ways."""
    name, command, properties, environment = test
    wanted = scope.value(keys.get("virtual", "0")) and (scope["full"] or scope.value(keys.get("sample", "0")))
    if not wanted or scope["sanitized"] or not scope["loader"]:
        return
    if "copy" in keys: # starts without `sennit run`
        command = scope.words(split(keys["copy"]))
    for way in ("virtual", "fibers") if scope["x86"] else ("virtual",):
        yield f"{name}.{way}", as_virtual_ranks(scope, way, command), {**properties, "LABELS": "virtual"}, environment


def user_copies(scope, keys, test):
    """Once more as an ordinary user with an ordinary user's limits, which root has not: all of it, or the parts that are
    named."""
    name, command, properties, _ = test
    user = scope.text(keys.get("user", ""))
    if user and not scope["sanitized"]:
        only = {"SENNIT_TEST_ONLY": user} if user != "all" else {}
        properties = {key: properties[key] for key in ("TIMEOUT", "PROCESSORS", "RESOURCE_LOCK", "LABELS") if key in properties}
        yield name + ".user", scope["as_user"] + command, {**properties, "SKIP_RETURN_CODE": "77"}, only


def settings_of(path):
    """What CMake knows, and the words for it that manifests use."""
    with open(path, encoding="utf-8") as file:
        values = dict(line.rstrip("\n").split("=", 1) for line in file)
    lists = {name: [word for word in value.split(";") if word and not word.endswith("-NOTFOUND") and word != "OFF"]
             for name, value in values.items()}
    first = {name: words[0] if words else "" for name, words in lists.items()}
    sanitizer, source, build = first["SENNIT_SANITIZE"], first["CMAKE_SOURCE_DIR"], first["CMAKE_BINARY_DIR"]

    def of_axis(axis, value):
        if axis == "shape":
            ranks, threads = value.split("x")
            return {"ranks": int(ranks), "threads": int(threads)}
        if axis == "mpi":
            of_mpi = {word: first[f"SENNIT_{value.upper()}_{name}"] for word, name in
                      (("mpicc", "CC"), ("mpicxx", "CXX"), ("mpifc", "FC"), ("mpiexec", "EXEC"))}
            return {**of_mpi, "paired": first["SENNIT_PAIRED_" + value],
                    "fortran_flags": lists["fortran_flags_" + value]}
        if axis == "compiler":
            return dict(zip(("cc", "cxx", "fc"), (first["SENNIT_" + name] for name in COMPILERS[value])))
        return {}

    def meaning_of_compilers(word, mpi):
        """`met`: those that meet this MPI in tests; `paired`: the one by which each program is built for it."""
        if word == "all" or word == "met" and (sanitizer or first["SENNIT_TEST_MATRIX"] == "full"):
            return lists["SENNIT_COMPILERS"]
        return [first["SENNIT_PAIRED_" + mpi]] if word in ("met", "paired") else []

    return {
        **lists, "value": lambda name: first[name], "tests": source + "/tests", "source": source, "build": build,
        "include": source + "/include", "sennit": "$<TARGET_FILE:sennit>", "python": first["Python3_EXECUTABLE"],
        "cmake": first["CMAKE_COMMAND"], "omp": build + "/lib/omp", "mpis": lists["SENNIT_MPIS"],
        "compilers": lists["SENNIT_COMPILERS"], "of_axis": of_axis, "meaning_of_compilers": meaning_of_compilers,
        "clang": "clang" in lists["SENNIT_COMPILERS"], "can": lambda compiler, what: lists[f"can_{compiler}_{what}"],
        "dot": lambda word: f".{word}" if word != "" else "", "file": "$<TARGET_FILE:{}>".format,
        "folder": "$<TARGET_FILE_DIR:{}>".format, "has": lambda target: target in lists["targets"],
        "sanitized": bool(sanitizer), "asan": sanitizer == "asan", "tsan": sanitizer == "tsan",
        "full": first["SENNIT_TEST_MATRIX"] == "full", "debug": first["CMAKE_BUILD_TYPE"] == "Debug",
        "loader": "sennit-loader" in lists["targets"], "x86": first["CMAKE_SYSTEM_PROCESSOR"] == "x86_64",
        "as_user": [first["Python3_EXECUTABLE"], source + "/tests/ordinary_user.py", f"{source}$<SEMICOLON>{build}"]}


COMPILERS = {"gcc": ("GCC", "GXX", "GFORTRAN"), "clang": ("CLANG", "CLANGXX", "FLANG")}


def programs_of(folder):
    """The files that may have a manifest: those of a room and of its programs."""
    folders = [folder, os.path.join(folder, "programs")]
    return [os.path.join(place, name) for place in folders if os.path.isdir(place)
            for name in sorted(os.listdir(place)) if name.endswith(SOURCES)]


def main():
    settings = settings_of(sys.argv[1])
    for name in sys.argv[2:]:
        room = Room(name, settings)
        with explained(room.table):
            room.read_table()
        room.read_programs(programs_of(room.folder))
        room.write()


if __name__ == "__main__":
    try:
        main()
    except Wrong as error:
        sys.exit(f"manifest: {error}")
