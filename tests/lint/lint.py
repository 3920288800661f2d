#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `./dev lint` reads, by three readers: clang-format (style), clang++ -Wthread-safety (which lock guards
what, src/base/guard.h), and clang-tidy (bugs). The readers of code take each file as the first target of the build
compiles it, once, though most are compiled for several libraries or MPIs.

usage: lint.py --build BUILD [--jobs N] [--guards] [--changed [BASE] | FILE...]

  --guards        nothing but the locks, which takes minutes where clang-tidy takes an hour
  --changed BASE  only files that differ from where this branch left BASE (origin/main); of a header that differs,
                  its source file, or one that includes it
"""

import argparse
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys

FORMATTED = ["*.c", "*.h", "*.cpp", ":!:tests/conformance", ":!:include/TAMPIf.h", ":!:include/tampi3", ":!:include/dlbf.h",
             ":!:include/dlbf_talp.h"]
READ = ["src/*.cpp", "addons/*.cpp", "sim/*.cpp", "tools/*.cpp", "pass/*.cpp"]
# The analyzer takes the memory of LLVM's numbers for freed where the marks are written.
NOT_TIDIED = {"pass/marks_writer.cpp"}


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def commands(build):
    """{file: (folder, words)}: the first command of each."""
    root = pathlib.Path.cwd()
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(root):
            found.setdefault(str(path.relative_to(root)), entry)
    return found


def includers(header, sources):
    """The source file of a header, else one that includes it."""
    own = header.removesuffix(".h") + ".cpp"
    if own in sources:
        return [own]
    name = "/".join(pathlib.Path(header).parts[1:])
    return [source for source in sources
            if f'#include "{name}"' in pathlib.Path(source).read_text(encoding="utf-8")][:1]


def changed(base, sources):
    """The sources to read, and the files to look at the style of."""
    since = git("merge-base", base, "HEAD")[0]
    files = [file for file in git("diff", "--name-only", "--diff-filter=d", since) if pathlib.Path(file).is_file()]
    read = {file for file in files if file in sources}
    for header in files:
        if header.endswith(".h"):
            read.update(includers(header, sources))
    return sorted(read), [file for file in git("ls-files", *FORMATTED) if file in files]


def check_guards(entry):
    """What clang says of the locks in a file, and its exit code. GCC's options that it does not know are no matter."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    words = words[1:at] + words[at + 2:]
    done = subprocess.run(["clang++-19", *words, "-fsyntax-only", "-Wno-everything", "-Werror",
                           "-Wthread-safety", "-Wthread-safety-beta"],
                          cwd=entry["directory"], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def guards(sources, known, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        said = dict(zip(sources, pool.map(check_guards, (known[source] for source in sources))))
    for _, text in filter(lambda one: one[0] != 0, said.values()):
        sys.stderr.write(text)
    return sum(code != 0 for code, _ in said.values())


def tidy(sources, known, build, jobs):
    """Four files at a time: clang-tidy takes a while to start."""
    once = build / "once"
    once.mkdir(exist_ok=True)
    (once / "compile_commands.json").write_text(json.dumps(list(known.values())), encoding="utf-8")
    fours = [sources[at:at + 4] for at in range(0, len(sources), 4)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return sum(pool.map(lambda four: subprocess.run(["clang-tidy-19", "--quiet", "-p", once, *four],
                                                        check=False).returncode != 0, fours))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--guards", action="store_true")
    parser.add_argument("--changed", nargs="?", const="origin/main")
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    known = commands(given.build)
    sources = [file for file in git("ls-files", *READ) if file in known]
    styled = git("ls-files", *FORMATTED)
    if given.changed:
        sources, styled = changed(given.changed, sources)
    elif given.files:
        sources = [file for file in sources if file in given.files]
    print(f"{len(sources)} files", flush=True)
    failed = 0
    if styled and not given.guards:
        failed += subprocess.run(["clang-format-19", "--dry-run", "--Werror", *styled], check=False).returncode
    failed += guards(sources, known, given.jobs)
    if not given.guards:
        failed += tidy([file for file in sources if file not in NOT_TIDIED], known, given.build, given.jobs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
