# SPDX-License-Identifier: Apache-2.0
# whole: tools.install if=SENNIT_PKG_CONFIG lock=install timeout=900 -- {cmake} {build} {wrappers}
"""An installation that was moved: the command, headers, libraries, pkg-config's files and the CMake package find
each other, and programs built against it run. Stripped, it is small; and it can be removed again.

Usage: install_test.py CMAKE BUILD-FOLDER MPI=MPICC... (compiler wrappers)"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import harness
from harness import BARE_OPENMPI, Running

CMAKE, BUILD = sys.argv[1:3]
WRAPPERS = dict(word.split("=", 1) for word in sys.argv[3:])
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "programs", "installed.c")


class Installed:
    """What was installed into one folder and moved to another."""

    def __init__(self, folder, *options):
        first = os.path.join(folder, "share", "first")  # "share" above it is nothing of its own
        self.home = os.path.join(folder, "moved", "here")
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", first, *options], check=True,
                       capture_output=True)
        os.renames(first, self.home)
        self.sennit = os.path.join(self.home, "bin", "sennit")

    def flags(self, *packages):
        where = os.path.join(self.home, "lib", "pkgconfig")
        return subprocess.run(["pkg-config", "--cflags", "--libs", *packages], text=True,
                              env={**os.environ, "PKG_CONFIG_PATH": where}, check=True,
                              capture_output=True).stdout.split()

    def build(self, mpi, wrapper, folder):
        """A program that uses its headers and libraries."""
        program = os.path.join(folder, mpi)
        subprocess.run([wrapper, "-fopenmp", "-Wall", "-Wextra", "-Werror", SOURCE,
                        *self.flags("sennit", f"sennit-{mpi}"), "-o", program], check=True)
        return program


def test_a_moved_installation_is_whole():
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(folder)
        # Reached by a link, it is where the link leads.
        link = os.path.join(folder, "sennit")
        os.symlink(installed.sennit, link)
        said = subprocess.run([link, "doctor"], check=True, capture_output=True, text=True).stdout
        assert f"home        {installed.home} " in said, said
        assert "libraries   complete" in said or len(WRAPPERS) < 2, said
        # A part that the build has left out is no fault. One of which a file is gone is.
        assert re.search(r"\n  parts +(\w.*, )?simulate\b", said), said
        helper = os.path.join(installed.home, "lib", "sennit", "sennit-stub")
        if os.path.exists(helper):
            os.rename(helper, helper + ".away")
            broken = subprocess.run([link, "doctor"], capture_output=True, text=True, check=False)
            assert broken.returncode == 2 and f"MISSING: {helper}" in broken.stdout, broken
            os.rename(helper + ".away", helper)
        found = {os.path.relpath(os.path.join(at, name), installed.home)
                 for at, _, names in os.walk(installed.home) for name in names}
        for name in ("lib/sennit/omp/libgomp.so.1", "lib/sennit/omp/libomp.so.5",
                     "lib/sennit/omp/libiomp5.so", "include/sennit/TAMPI.h",
                     "include/sennit/sennit_objects.f90",
                     "share/sennit/gdb/sennit.py", "share/doc/sennit/docs/user/start.md",
                     "share/man/man1/sennit.1", "share/bash-completion/completions/sennit",
                     "share/zsh/site-functions/_sennit", "share/fish/vendor_completions.d/sennit.fish"):
            assert name in found, (name, found)
            path = os.path.realpath(os.path.join(installed.home, name))
            assert path.startswith(installed.home), path
        # `man sennit` leads to a page of each command.
        with open(os.path.join(installed.home, "share/man/man1/sennit.1"), encoding="utf-8") as file:
            pages = re.findall(r"^\.BR (sennit\S+) \((\d)\)", file.read(), re.MULTILINE)
        assert len(pages) > 20, pages
        for name, section in pages:
            name = name.replace("\\", "")
            assert f"share/man/man{section}/{name}.{section}" in found, name
        with open(os.path.join(installed.home, "share/man/man7/sennit.7"), encoding="utf-8") as file:
            assert file.read() == ".so man7/sennit-options.7\n"


def test_the_manual_has_the_variables_of_every_table():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(Installed(folder).home, "share/man/man7/sennit-options.7")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert text.startswith(".TH SENNIT\\-OPTIONS 7\n"), text[:100]
        for variable in ("SENNIT_POLICY", "SENNIT_CHAOS", "SENNIT_NETWORK", "SENNIT_BALANCE", "SENNIT_HOME"):
            assert f"\n.B {variable}\n" in text, variable


def test_the_simulator_is_found():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([Installed(folder).sennit, "simulate", "cholesky", "--n", "512", "--block", "128",
                               "--policy", "fifo"], capture_output=True, text=True)
        assert done.returncode == 0 and "fifo" in done.stdout, (done.returncode, done.stdout, done.stderr)


def test_programs_are_built_and_run_with_it():
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(folder)
        for mpi, wrapper in WRAPPERS.items():
            program = installed.build(mpi, wrapper, folder)
            with Running([installed.sennit, "run", "-n", "2", program]) as job:
                code, out, errors = job.finish()
            assert code == 0 and out.count(": well") == 2, (mpi, code, out, errors)
            said = subprocess.run([installed.sennit, "doctor", program], check=False, capture_output=True, text=True).stdout
            assert "tasks       one that waits in MPI is suspended" in said, said


def test_its_folder_may_have_a_name_that_the_loader_cannot_take():
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(folder)
        programs = {mpi: installed.build(mpi, wrapper, folder) for mpi, wrapper in WRAPPERS.items()}
        home = os.path.join(folder, "my software; 2:1")
        os.rename(installed.home, home)
        sennit = os.path.join(home, "bin", "sennit")
        places = os.path.join(folder, "links")  # of links to it
        os.mkdir(places)
        settings = {"XDG_CACHE_HOME": places}
        for mpi, program in programs.items():
            for way in ([], ["--virtual"], ["--virtual=fibers"]):
                for words in ([sennit, "run", "-n", "2", *way, program],
                              [f"mpiexec.{mpi}", "-n", "2", sennit, "exec", *way, program]):
                    with Running(words, environment={**settings, **BARE_OPENMPI}) as job:
                        code, out, errors = job.finish()
                    assert code == 0 and out.count(": well") == 2 and not errors, (words, code, out, errors)
        link, = pathlib.Path(places, "sennit", "links").iterdir()
        assert os.readlink(link) == home, link


def test_launchers_by_its_links_start_programs_under_it():
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(folder)
        shims = os.path.join(installed.home, "lib", "sennit", "shims")
        settings = {"PATH": shims + ":" + os.environ["PATH"]}
        for mpi, wrapper in WRAPPERS.items():
            program = installed.build(mpi, wrapper, folder)
            for name in ("mpiexec", "mpirun"):
                with Running([os.path.join(shims, name), "-np", "2", program], environment=settings) as job:
                    code, out, errors = job.finish()
                assert code == 0 and out.count(": well") == 2 and not errors, (name, mpi, code, out, errors)
        # What a script asks an MPI's launcher is answered by that.
        for name in ("mpiexec", "mpirun"):
            without, by_shim = (subprocess.run([path, "--version"], capture_output=True, text=True, check=False,
                                               env={**os.environ, **BARE_OPENMPI, **settings})
                                for path in (shutil.which(name), os.path.join(shims, name)))
            assert by_shim.returncode == 0 and by_shim.stdout == without.stdout, (name, without, by_shim)


def make_launcher(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(os.path.join(folder, name), 0o755)
    return folder


# Tells what it was called with. It says that -n has a value, and -l has none.
SRUN = """[ "$1" = --help ] || exec printf '%s\\n' "$@"
cat <<'EOF'
  -n, --ntasks=ntasks   tasks
  -l, --label  their numbers
  -I, --immediate[=secs]  now
      --multi-prog  the program is a list
      --bcast=<dest>  copy it
EOF
"""


class Shims:
    """An installation's, in front of PATH."""

    def __init__(self, folder):
        self.sennit = Installed(folder).sennit
        self.under = [self.sennit, "exec", "--"]
        self.folder = os.path.join(os.path.dirname(os.path.dirname(self.sennit)), "lib", "sennit", "shims")

    def call(self, name, words, *behind):
        path = ":".join([self.folder, *behind, os.environ["PATH"]])
        with Running([os.path.join(self.folder, name), *words], environment={"PATH": path}) as job:
            return job.finish()


def test_srun_by_its_link_starts_programs_under_it():
    with tempfile.TemporaryDirectory() as folder:
        shims = Shims(folder)
        srun = make_launcher(os.path.join(folder, "bin"), "srun", SRUN)
        for words, inserted, program in ((["-n", "2", "-l", "-I"], shims.under, ["./app", "-n", "3"]),
                                         (["--ntasks=2", "--ntasks", "2"], shims.under, ["./app"]),
                                         ([], [], ["/there/sennit", "exec", "./app"]),
                                         (["-n", "2", "--multi-prog"], [], ["list"]),
                                         (["--bcast=/there", "-n", "2"], [], ["./app"]),
                                         (["--bcast", "/there"], [], ["./app"]),
                                         (["-n", "2"], [], ["/usr/bin/hydra_pmi_proxy", "--rmk"]),
                                         (["-n", "2"], [], ["orted"]), ([], [], ["prted"]), (["--version"], [], [])):
            code, out, errors = shims.call("srun", words + program, srun)
            assert code == 0 and out.split() == words + inserted + program, (words, program, out, errors)
        # One that does not say which options have values.
        silent = make_launcher(os.path.join(folder, "silent"), "srun", "echo 'srun: error: no configuration'")
        code, out, errors = shims.call("srun", ["-n", "2", "./app"], silent)
        assert code == 2 and not out and len(errors) == 1 and "--ntasks" in errors[0], (code, out, errors)


def test_links_of_two_installations_do_not_start_each_other():
    with tempfile.TemporaryDirectory() as folder:
        shims = Shims(folder)
        other = os.path.join(folder, "other", "shims")
        os.makedirs(other)
        shutil.copy(shims.sennit, os.path.join(folder, "other", "sennit"))
        for name in ("srun", "mpirun"):
            os.symlink("../sennit", os.path.join(other, name))
        real = make_launcher(os.path.join(folder, "bin"), "srun", SRUN)
        make_launcher(real, "mpirun", "echo mine")
        code, out, errors = shims.call("srun", ["-n", "2", "./app"], other, real)
        assert code == 0 and out.split() == ["-n", "2", *shims.under, "./app"], (code, out, errors)
        code, out, errors = shims.call("mpirun", ["--version"], other, real)
        assert code == 0 and out == "mine\n", (code, out, errors)
        # Nor does one start itself by a script that calls the first of the name, as its own process or as another.
        for way in ("exec", ""):
            script = make_launcher(os.path.join(folder, "script" + way), "srun", f'{way} srun "$@"\n')
            for words in (["-n", "2", "./app"], ["--version"]):
                code, out, errors = shims.call("srun", words, script)
                said = [line for line in errors if "calls that link again" in line]
                assert code == 2 and not out and (said or words[0] == "-n"), (way, words, code, out, errors)


def test_a_cmake_project_finds_it():
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(folder)
        for mpi, wrapper in WRAPPERS.items():
            build = os.path.join(folder, mpi)
            subprocess.run([CMAKE, "-S", os.path.join(HERE, "consumer"), "-B", build, f"-DMPI_C_COMPILER={wrapper}",
                            f"-DCMAKE_PREFIX_PATH={installed.home}"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([CMAKE, "--build", build], check=True, stdout=subprocess.DEVNULL)
            needs = subprocess.run(["readelf", "-d", build + "/consumer"], check=True, capture_output=True, text=True)
            assert f"libsennit-{mpi}.so" in needs.stdout, needs.stdout
            with Running([installed.sennit, "run", "-n", "2", build + "/consumer"]) as job:
                code, out, errors = job.finish()
            assert code == 0 and out.count(": well") == 2, (mpi, code, out, errors)
        # What is not there is said by the package itself.
        done = subprocess.run([CMAKE, "-S", os.path.join(HERE, "consumer"), "-B", build, "-DSennit_MPI=other"], text=True,
                              capture_output=True, check=False)
        assert done.returncode != 0 and "the\n  project's: 'other'" in done.stderr, done.stderr


def test_stripped_it_is_small_and_runs():
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(folder, "--strip")
        size = sum(path.stat().st_size for path in pathlib.Path(installed.home).rglob("*")
                   if path.is_file() and not path.is_symlink() and ".debug" not in path.parts)
        assert size < 80e6, size
        library = os.path.join(installed.home, "lib", "sennit", "libsennit-omp.so")
        sections = subprocess.run(["readelf", "-SW", library], check=True, capture_output=True, text=True).stdout
        assert ".debug_info" not in sections and ".gnu_debuglink" in sections, sections
        assert os.path.exists(os.path.join(os.path.dirname(library), ".debug", "libsennit-omp.so.debug"))
        for mpi, wrapper in WRAPPERS.items():
            program = os.path.join(folder, mpi)
            subprocess.run([wrapper, "-fopenmp", SOURCE, *installed.flags("sennit", f"sennit-{mpi}"), "-o", program],
                           check=True)
            for way in ([], ["--virtual"]):
                with Running([installed.sennit, "run", *way, "-n", "2", program]) as job:
                    code, out, errors = job.finish()
                assert code == 0 and out.count(": well") == 2, (mpi, way, code, out, errors)


def test_it_can_be_removed():
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "prefix"
        (prefix / "lib").mkdir(parents=True)
        (prefix / "lib" / "of_somebody_else").touch()
        for options in ([], ["--strip"]):
            subprocess.run([CMAKE, "--install", BUILD, "--prefix", prefix, *options], check=True, capture_output=True)
            assert (prefix / "bin" / "sennit").exists()
            subprocess.run([CMAKE, "--build", BUILD, "--target", "uninstall"], check=True, capture_output=True)
            left = [str(path.relative_to(prefix)) for path in prefix.rglob("*")]
            assert sorted(left) == ["lib", "lib/of_somebody_else"], left


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
