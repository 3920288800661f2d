# SPDX-License-Identifier: Apache-2.0
# whole: tools.package if="SENNIT_PKG_CONFIG and not debug" lock=install timeout=900 -- {source} {build} {wrappers} {fortran_wrappers}
"""What `./dev package` makes. The archive, unpacked in another place: small, without needs that docs/user/start.md does not
name, and C and Fortran programs run with it, under each MPI. The wheel and Debian's package: likewise.

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


def runs(home, program, *options, **settings):
    with Running([home / "bin" / "sennit", "run", *options, "-n", "2", program], environment=settings) as job:
        code, out, errors = job.finish()
    assert code == 0 and out.count(": well") == 2 and not errors, (program, options, code, out, errors)


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
    assert elf.OLDEST_GLIBC == tuple(map(int, said.groups()))
    version, because = elf.floor(home)
    assert version <= elf.OLDEST_GLIBC, (version, because)
    for path in elf.shipped(home):
        assert not elf.strange_libraries(path), (path, elf.strange_libraries(path))


def built_with(home, mpi, wrapper, folder):
    """A program that uses headers and libraries of the installation."""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "sennit", f"sennit-{mpi}"], text=True, check=True,
                           env={**os.environ, "PKG_CONFIG_PATH": str(home / "lib" / "pkgconfig")},
                           capture_output=True).stdout.split()
    program = os.path.join(folder, "c-" + mpi)
    subprocess.run([wrapper, "-fopenmp", os.path.join(PROGRAMS, "installed.c"), *flags, "-o", program], check=True)
    return program


def test_programs_run_with_it():
    home, _ = unpacked()
    with tempfile.TemporaryDirectory() as folder:
        for mpi, wrapper in C:
            runs(home, built_with(home, mpi, wrapper, folder))
        for mpi, wrapper in FORTRAN:
            program = os.path.join(folder, mpi)
            subprocess.run([wrapper, "-fopenmp", os.path.join(PROGRAMS, "shipped.f90"), "-J", folder, "-o", program],
                           check=True)
            runs(home, program)


def installed_by_pip(folder):
    _, dist = unpacked()
    wheel, = dist.glob("*.whl")
    environment = os.path.join(folder, "environment")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [os.path.join(environment, "bin", "pip"), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", "--no-index", wheel], check=True)
    return pathlib.Path(environment), pip


def test_the_wheel_is_installed_and_removed_by_pip():
    if subprocess.run([sys.executable, "-c", "import ensurepip"], capture_output=True, check=False).returncode != 0:
        print("python3-venv is not installed: no wheel is installed by pip")
        return
    with tempfile.TemporaryDirectory() as folder:
        environment, pip = installed_by_pip(folder)
        places = os.path.join(folder, "links")
        os.mkdir(places)
        for mpi, wrapper in C:
            program = built_with(environment, mpi, wrapper, folder)
            for way in ([], ["--virtual"]):
                runs(environment, program, *way, XDG_CACHE_HOME=places)
        # A wheel has no links, so no names of launchers.
        assert {path.name for path in (environment / "share" / "sennit" / "modulefiles").iterdir()} == {"sennit"}
        subprocess.run([*pip, "uninstall", "-q", "-y", "sennit"], check=True)
        left = [path for path in environment.rglob("*sennit*") if path.is_file()]
        assert not left, left


def test_an_environment_has_its_own_mpi():
    """Of what lies beside an interpreter, the only MPI is taken; of two, none."""
    with tempfile.TemporaryDirectory() as folder:
        environment = pathlib.Path(folder) / "environment"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        home, _ = unpacked()
        words = [home / "bin" / "sennit", "run", "--dry-run", "-n", "2", environment / "bin" / "python3", "job.py"]
        for mpi, name in (("mpich", "libmpi.so.12"), ("openmpi", "libmpi.so.40")):
            if mpi not in dict(C):
                continue
            library = environment / "lib" / name
            library.touch()
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0 and f"libsennit-{mpi}.so" in done.stdout and str(library) in done.stdout, done
            library.unlink()
        for name in ("libmpi.so.12", "libmpi.so.40"):
            (environment / "lib" / name).touch()
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "cannot be seen: name it" in done.stderr, done


def test_debians_package_has_the_same():
    _, dist = unpacked()
    deb, = dist.glob("*.deb")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "-x", deb, folder], check=True)
        usr = pathlib.Path(folder) / "usr"
        for name in ("share/doc/sennit/copyright", "share/man/man1/sennit.1.gz", "share/man/man1/sennit-run.1.gz",
                     "share/man/man7/sennit-options.7.gz", "share/man/man7/sennit.7.gz",
                     "share/bash-completion/completions/sennit", "lib/sennit/omp/libgomp.so.1"):
            assert (usr / name).exists(), name
        # /usr/bin needs no module.
        assert {path.name for path in (usr / "share" / "sennit" / "modulefiles").iterdir()} == {"sennit-launchers"}
        for mpi, wrapper in C:
            runs(usr, built_with(usr, mpi, wrapper, folder))
    if harness.is_here("lintian"):
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", deb], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stdout


def test_what_breaks_programs_is_seen():
    if not harness.is_here("abidiff"):
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, code in (("before", "int f(int a) { return a; } int g(void) { return 1; }"),
                           ("more", "int f(int a) { return a; } int g(void) { return 1; } int h(void) { return 2; }"),
                           ("less", "int f(int a) { return a; }")):
            (pathlib.Path(folder) / name / "lib").mkdir(parents=True)
            subprocess.run(["cc", "-g", "-shared", "-fPIC", "-xc", "-", "-o", f"{folder}/{name}/lib/libsennit-omp.so"],
                           input=code, text=True, check=True)
        for after, verdict, wanted in (("before", "the same", 0), ("more", "differs", 0), ("less", "INCOMPATIBLE", 1)):
            done = subprocess.run([os.path.join(SOURCE, "packaging", "abi.py"), f"{folder}/before", f"{folder}/{after}"],
                                  capture_output=True, text=True, check=False)
            assert done.returncode == wanted and verdict in done.stdout, (after, done)


def test_recipes_are_what_they_should_be():
    packaging = pathlib.Path(SOURCE) / "packaging"
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        version = re.search(r"project\(sennit VERSION ([\d.]+)", file.read())[1]
    modules = "".join(path.read_text() for path in (pathlib.Path(SOURCE) / "cmake").glob("*.cmake"))
    easyconfig, = (packaging / "easybuild").glob("*.eb")
    assert easyconfig.name.startswith(f"Sennit-{version}-") and f"version = '{version}'" in easyconfig.read_text()
    for path in (easyconfig, packaging / "spack" / "package.py"):
        text = path.read_text()
        compile(text, path, "exec")
        for name in re.findall(r"SENNIT_\w+", text):
            assert name in modules, (path, name)


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
