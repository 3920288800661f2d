# SPDX-License-Identifier: Apache-2.0
# whole: tools.package if="SENNIT_PKG_CONFIG and not debug" lock=install -- {source} {build} {wrappers} {fortran_wrappers}
"""The archive of `./dev package`, unpacked in another place: small, without needs that docs/user/start.md does not name, and
C and Fortran programs run with it, under each MPI.

Usage: package_test.py SOURCE-FOLDER BUILD-FOLDER MPI=MPICC... [fortran-MPI=MPIF90]..."""
import atexit
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import harness
from harness import Running

SOURCE, BUILD = sys.argv[1:3]
WRAPPERS = [word.split("=", 1) for word in sys.argv[3:]]
C = [pair for pair in WRAPPERS if not pair[0].startswith("fortran-")]
FORTRAN = [pair for pair in WRAPPERS if pair not in C]
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
LARGEST = 25e6 # bytes
sys.path.insert(0, os.path.join(SOURCE, "packaging"))
import elf # pylint: disable=wrong-import-position


@functools.cache
def unpacked():
    """The folder of the archive, and the folder of the two archives."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    dist = pathlib.Path(folder) / "dist"
    subprocess.run([sys.executable, os.path.join(SOURCE, "packaging", "package.py"), "--build", BUILD, "--output", dist],
                   check=True, stdout=subprocess.DEVNULL)
    archive, = dist.glob("*[0-9].tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(os.path.join(folder, "elsewhere"))
    home, = pathlib.Path(folder, "elsewhere").iterdir()
    return home, dist


def runs(home, program):
    with Running([home / "bin" / "sennit", "run", "-n", "2", program]) as job:
        code, out, errors = job.finish()
    assert code == 0 and out.count(": well") == 2, (program, code, out, errors)


def test_it_is_small_and_complete():
    home, dist = unpacked()
    archive, = dist.glob("*[0-9].tar.gz")
    assert archive.stat().st_size <= LARGEST, archive.stat().st_size
    names = {path.name for path in elf.shipped(home)}
    assert {"sennit", "sennit-simulate", "libsennit-omp.so", *(f"libsennit-{mpi}.so" for mpi, _ in C)} <= names, names
    for path in elf.shipped(home):
        said = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
        assert ".debug_info" not in said, path


def test_the_symbols_belong_to_it():
    home, dist = unpacked()
    debug, = dist.glob("*-debug.tar.gz")
    with tarfile.open(debug) as tar:
        tar.extractall(home.parent)
    library = home / "lib" / "sennit" / "libsennit-omp.so"
    ids = {re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", path], check=True, capture_output=True,
                                                        text=True).stdout)[1]
           for path in (library, library.parent / ".debug" / "libsennit-omp.so.debug")}
    assert len(ids) == 1, ids


def test_what_it_needs_is_what_the_page_says():
    with open(os.path.join(SOURCE, "docs", "user", "start.md"), encoding="utf-8") as file:
        said = re.search(r"glibc (\d+)\.(\d+) or later", file.read())
    home, _ = unpacked()
    version, because = elf.floor(home)
    assert version == tuple(map(int, said.groups())), (version, because)
    for path in elf.shipped(home):
        assert not elf.strange_libraries(path), (path, elf.strange_libraries(path))


def test_programs_run_with_it():
    home, _ = unpacked()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PKG_CONFIG_PATH": str(home / "lib" / "pkgconfig")}
        for mpi, wrapper in C:
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", "sennit", f"sennit-{mpi}"], text=True, check=True,
                                   env=environment, capture_output=True).stdout.split()
            program = os.path.join(folder, "c-" + mpi)
            subprocess.run([wrapper, "-fopenmp", os.path.join(PROGRAMS, "installed.c"), *flags, "-o", program], check=True)
            runs(home, program)
        for mpi, wrapper in FORTRAN:
            program = os.path.join(folder, mpi)
            subprocess.run([wrapper, "-fopenmp", os.path.join(PROGRAMS, "shipped.f90"), "-J", folder, "-o", program],
                           check=True)
            runs(home, program)


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
