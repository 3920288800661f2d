# SPDX-License-Identifier: Apache-2.0
# script: manifest labels=quick -- {tests}/manifest.py {build}/tests/manifest.txt
"""manifest.py makes builds and tests of the first lines of programs; what is wrong there costs one line that names the file.

Usage: manifest_test.py MANIFEST.PY SETTINGS"""
import os
import re
import subprocess
import sys
import tempfile

MANIFEST, SETTINGS = sys.argv[1:3]
TABLE = """\
# what families mean
flags = -O1 -g
family build: out={bin}/{program}.{compiler} compiler=all target=programs compile='{cc} {flags}'
family test: t.{program}.{compiler}.{threads} compiler=all exe={bin}/{program}.{compiler} run={exe} threads=1|2
    OMP_NUM_THREADS={threads}
family short of test: short.{program}.{compiler} threads=1 timeout=5
"""


def made(text, table=TABLE, name="program.c"):
    """What manifest.py says and writes where a room has one program."""
    with tempfile.TemporaryDirectory() as folder:
        room = os.path.join(folder, "tests", "room")
        os.makedirs(room)
        for path, content in ((os.path.join(room, "tests.txt"), table), (os.path.join(room, name), text)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        with open(SETTINGS, encoding="utf-8") as file:
            settings = re.sub(r"(?m)^(CMAKE_(?:SOURCE|BINARY)_DIR|SENNIT_SANITIZE|left_out|SENNIT_COMPILERS)=.*$", "", file.read())
        with open(os.path.join(folder, "settings"), "w", encoding="utf-8") as file:
            file.write("\n".join(filter(None, settings.splitlines())) + f"\nCMAKE_SOURCE_DIR={folder}\nCMAKE_BINARY_DIR={folder}\n"
                       "SENNIT_SANITIZE=\nleft_out=\nSENNIT_COMPILERS=gcc\n")
        done = subprocess.run([sys.executable, MANIFEST, os.path.join(folder, "settings"), "room"], text=True, check=False,
                              capture_output=True)
        written = os.path.join(room, "tests.cmake")
        if done.returncode == 0:
            with open(written, encoding="utf-8") as file:
                return "", file.read().replace(folder, "FOLDER")
        assert not os.path.exists(written) and done.stderr.count("\n") == 1, done
        return done.stderr.replace(folder, "FOLDER"), ""


def expect(text, *wanted, **other):
    complaint, cmake = made(text, **other)
    assert not complaint, complaint
    for words in wanted:
        assert words in cmake, (words, cmake)
    return cmake


def refuse(text, wanted, where="program.c", **other):
    complaint, _ = made(text, **other)
    assert wanted in complaint and where in complaint, (wanted, complaint)


def test_axes_and_families():
    cmake = expect("// SPDX\n// test, short: KIND=a\n// Prose: no family.\n", '"t.program.gcc.1"', '"t.program.gcc.2"',
                   '"short.program.gcc" PROPERTIES TIMEOUT "5"', '"OMP_NUM_THREADS=2;KIND=a"', '"-O1" "-g"')
    assert cmake.count("add_test(") == 3 and cmake.count("add_custom_command(") == 1
    cmake = expect("/* SPDX\n * test: t.{program}.{way} way=x|y{threads} threads=3\n *     -- 'a b' {way}.{threads + 1} */\n",
                   '"t.program.y3"', '"a b" "x.4"', '"a b" "y3.4"')
    assert cmake.count("add_test(") == 2


def test_builds():
    expect("// SPDX\n// build: -DX={bin} -- -lm\n// test: threads=1\n", '"-DX=FOLDER/tests/room" "FOLDER/tests/room/program.c"',
           '"FOLDER/tests/room/program.gcc" "-lm"')
    assert "add_test" not in expect("! SPDX\n! test: if=sanitized\n", name="program.f90")
    assert "add_custom_command" not in expect("// SPDX\n// part:\n")
    expect("# SPDX\n# script: s pass='^a\\n$' -- ${HOME} \"\\\"\"\n", 'PASS_REGULAR_EXPRESSION "^a\n$"', '"\\${HOME}" "\\""',
           name="script.py")


def test_refusals():
    refuse("// SPDX\n// tset:\n", "unknown family tset; known are build, script, short, test and part")
    refuse("// SPDX\n// test: timout=5\n", "timout is no key, and no axis that anything uses")
    refuse("// SPDX\n// test: a b\n", "two names, a and b")
    refuse("// SPDX\n// test: -fopenmp\n", "only a build has flags")
    refuse("// SPDX\n// test:\n// test:\n", "there are two tests t.program.gcc.1")
    refuse("// SPDX\n// build:\n// build:\n", "is built twice")
    refuse("// SPDX\n// Prose.\n", "its first lines name no family")
    refuse("// SPDX\n// test: exe={bin}/other.{compiler}\n", "nothing builds FOLDER/tests/room/other.gcc")
    refuse("// SPDX\n// test: pass='a\n", "no end of what is quoted: 'a")
    refuse("// SPDX\n// test: pass={threds}\n", "{threds}: NameError")
    refuse("// SPDX\n// test: a.{x}.{y} x={y} y={x}\n", "axes that name each other: x, y")
    refuse("// SPDX\n// test:\n", "no definition, family or test: so", "tests.txt", table=TABLE + "so\n")


for test in (test_axes_and_families, test_builds, test_refusals):
    test()
