# SPDX-License-Identifier: Apache-2.0
# whole: tools.refusals if="len(mpis) == 2" -- {sennit} {programs} # it takes the one MPI for the other
"""What the command refuses: exit code 2, one line that names the reason; and what it runs directly.

Usage: refusal_test.py SENNIT FOLDER-OF-PROGRAMS"""
import os
import shutil
import subprocess
import sys
import tempfile

import harness
from harness import Running

SENNIT, PROGRAMS = sys.argv[1:3]


def at(name):
    return os.path.join(PROGRAMS, name)


def refused(words, reason, **environment):
    with Running([SENNIT, *words], environment=environment) as command:
        code, out, errors = command.finish()
    assert code == 2, f"{words}: exit code {code}, output {out!r}, errors {errors}"
    assert len(errors) == 1, f"{words}: not one line: {errors}"
    assert errors[0].startswith("sennit: ") and reason in errors[0], f"{words}: {errors[0]}"


def test_wrong_options_are_refused():
    ranks = at("ranks.mpich")
    for count in ("0", "-3", "x", "1.5", "99999999999"):
        refused(["run", "-n", count, ranks], "is not a number from 1")
        refused(["run", "--threads", count, ranks], "is not a number from 1")
        refused(["run", "--split", count, ranks], "is not a number from 1")
    refused(["run", "--policy", "nonsense", ranks], "unknown: use one of")
    refused(["run", "--mpi", "lam", ranks], "use auto, mpich, openmpi or mpiabi")
    refused(["run", "--virtual=threads", ranks], "it is --virtual alone, or --virtual=fibers")
    refused(["run", "--bogus", ranks], "unknown option '--bogus'")
    refused(["run", "-n"], "sennit: ")
    refused(["run"], "no program given")
    refused(["exec", "--"], "no program given")
    refused(["frobnicate", ranks], "sennit: ")


def test_a_misspelt_word_is_named_with_the_one_that_is_meant():
    for words, reason in ((["dcotor"], "'dcotor' is no command of sennit (do you mean 'doctor'?): use run, python"),
                          (["help", "repotr"], "(do you mean 'report'?)"),
                          (["hostname"], "a program is started by sennit run hostname"),
                          (["pool"], "sennit pool what? use start, ls, move, stop"),
                          (["pool", "strat", "a"], "'strat' is no command of sennit pool (do you mean 'start'?)"),
                          (["pool", "start"], "name is required: see sennit pool start --help"),
                          (["report"], "folder is required: see sennit report --help"),
                          (["report", "t", "--htlm=p"], "'--htlm=p' (do you mean '--html'?): see sennit report --help"),
                          (["run", "--thread", "2", "x"], "'--thread' (do you mean '--threads'?): see sennit run --help. An"),
                          (["run", "--nothing-like-it", "x"], "'--nothing-like-it': see sennit run --help"),
                          (["exec", "--polcy", "fa", "x"], "(do you mean '--policy'?): see sennit exec --help"),
                          (["doctor", "--piid", "1"], "(do you mean '--pid'?): see sennit doctor --help"),
                          (["exec"], "no program given: sennit exec [options]")):
        refused(words, reason)


def test_a_misspelt_variable_is_named_and_does_no_harm():
    for name, meant in (("POLCY", "POLICY"), ("TRACES", "TRACE"), ("TRCAE", "TRACE"), ("WORDLS", "WORLDS"), ("SPLT", "SPLIT"),
                        ("MODE", None), ("POLICY", None), ("LIB", None), ("LIBS", None), ("LIBCXX", None), ("HOMES", None),
                        ("POLL", None), ("", None)):
        done = run_here("run", at("openmp-by-runpath"), env={**os.environ, "SENNIT_" + name: "fifo"})
        wanted = (f"sennit: SENNIT_{name} is no variable of Sennit's (do you mean 'SENNIT_{meant}'?): "
                  "see sennit doctor --options\n")
        assert done.returncode == 0 and done.stderr == (wanted if meant else ""), (name, done)


def test_of_the_ranks_of_a_node_one_names_a_misspelt_variable():
    jobs = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
            ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"), ("PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"))
    for command in ("run", "exec"):
        for rank, size, local in jobs:
            for at_node, lines in (("0", 1), ("1", 0)):
                job = {rank: "2", size: "4", local: at_node, "SENNIT_" + "POLCY": "fifo"}
                done = run_here(command, at("openmp-by-runpath"), env={**os.environ, **job})
                assert done.returncode == 0 and done.stderr.count("POLCY") == lines, (command, job, done)


def test_a_job_starts_though_stderr_is_closed():
    for words in (["run"], ["run", "--verbose"], ["run", "-n", "1"], ["exec"]):
        started = ["sh", "-c", 'exec "$@" 2>&-', "sh", SENNIT, *words, at("openmp-by-runpath")]
        done = subprocess.run(started, env={**os.environ, "SENNIT_" + "POLCY": "fifo"}, check=False)
        assert done.returncode == 0, (words, done)


def test_options_of_mpiexec_are_named_as_such():
    ranks = at("ranks.mpich")
    for word in ("-host", "-hosts", "-hf", "-machinefile", "-f", "-ppn", "-x", "--host", "--map-by", "--bind-to=core"):
        refused(["exec", word, "here", ranks], f"'{word}' is an option of mpiexec")
    for word in ("-help", "-hello", "-nx", "-n4x", "-npernod", "-"):
        refused(["run", word, ranks], f"unknown option '{word}'")


def run_here(*words, **how):
    return subprocess.run([SENNIT, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **how)


def test_the_first_words_that_people_type():
    done = run_here()
    assert done.returncode == 2 and "sennit run ./app" in done.stderr, done
    for words in (["help"], ["--help"], ["help", "run"], ["run", "--help"]):
        done = run_here(*words)
        assert done.returncode == 0 and "Usage: sennit " in done.stdout, (words, done)
    assert "Usage: sennit run [OPTIONS] PROGRAM [ARGUMENTS]" in done.stdout, done.stdout
    places = [done.stdout.index(text) for text in ("The job:", "--ranks RANKS", "For experts:", "Options of mpiexec")]
    assert places == sorted(places) and "TEXT" not in done.stdout, done.stdout
    assert run_here("version").stdout == run_here("--version").stdout == run_here("help", "--version").stdout
    app = at("openmp-by-runpath")
    for words in ([app, "x"], ["--verbose", app, "x"], ["mpiexec", app, "x"]):
        done = run_here(*words)
        assert done.returncode == 0, (words, done)
    assert run_here("--dry-run", app, "x").stdout == run_here("run", "--dry-run", app, "x").stdout


def test_programs_without_mpi_run_as_they_are():
    plain, openmp = at("plain"), at("openmp-by-runpath")
    for words in (["-n", "2", plain], ["-n", "1", plain, ":", "-n", "1", plain], ["-n", "2", "--mpi", "auto", openmp]):
        done = run_here("run", *words)
        assert done.returncode == 0 and done.stderr.count("neither MPI nor OpenMP") == (plain in words), (words, done)
    done = run_here("run", "-n", "2", "-l", "echo", "here")
    assert sorted(line.split()[-1] for line in done.stdout.splitlines()) == ["here", "here"], done
    done = run_here("run", "-n", "2", "false")
    assert done.returncode == 1, done
    refused(["run", "-n", "1", plain, ":", "-n", "1", at("ranks.mpich")], "has no MPI in it: it cannot be in a job with")


def test_a_trace_folder_that_could_be_the_program_is_asked_for():
    refused(["run", "--trace", "env", at("openmp-by-runpath")], "the folder or the program")
    refused(["run", "--trace", at("plain"), at("openmp-by-runpath")], "the folder or the program")


def test_what_cannot_be_a_virtual_rank_is_refused():
    for command in ("run", "exec"):
        refused([command, "--virtual", at("fixed-program")], "link it with -pie")
        refused([command, "--virtual", at("sanitized-program")], "built with a sanitizer")
        refused([command, "--virtual", at("static-pie-program")], "static binary")
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{at('ranks.mpich')}\n")
        os.chmod(script, 0o755)
        refused(["run", "--virtual", script], "is a script")
        python = os.path.join(folder, "python3.99")
        shutil.copy(at("fixed-program"), python)
        refused(["run", "--virtual", python], "its shared library libpython3.99.so.1.0 is missing")
    limited = ["sh", "-c", 'ulimit -v 8000000; exec "$@"', "sh", SENNIT, "run", "--virtual",
               at("ranks.mpich")]
    with Running(limited) as command:
        code, _, errors = command.finish()
    assert code == 2 and len(errors) == 1 and "ulimit -v unlimited" in errors[0], errors


def test_programs_of_one_job_have_one_mpi():
    mpich, openmpi = at("ranks.mpich"), at("ranks.openmpi")
    refused(["run", "-n", "1", mpich, ":", "-n", "1", openmpi], "have the same MPI")
    refused(["run", "-n", "1", mpich, ":", "-n", "1", at("openmp-by-runpath")], "has no MPI in it")
    refused(["run", "-n", "1", mpich, ":", "-n", "0", mpich], "is not a number from 1")
    refused(["run", "-n", "1", mpich, ":", "-n", "2"], "no program behind")
    refused(["run", "-n", "1", ":", "-n", "2", mpich], "no program in front of")
    # mpiexec would start these without Sennit.
    for words in ([":", openmpi], [":", "-nolocal", mpich], [":"]):
        refused(["run", "-n", "1", mpich, *words], "mpiexec hands no ':' on")


def test_the_library_of_another_mpi_than_the_program_has_is_refused():
    for mpi, other in (("mpich", "openmpi"), ("openmpi", "mpich")):
        for command in ("run", "exec", "doctor"):
            with Running([SENNIT, command, "--mpi", other, at(f"ranks.{mpi}")]) as job:
                code, _, errors = job.finish()
            assert code == 2, (command, errors)
            assert errors[-1].endswith(f"--mpi {other} would crash it, leave --mpi away"), errors


def test_files_that_are_no_programs_are_refused():
    refused(["run", "/nonexistent/app"], "No such file")
    refused(["run", "no-such-command-anywhere"], "not in PATH")
    refused(["run", PROGRAMS], "folder")
    refused(["run", at("libmpi.so.40")], "shared library")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 0\n")
        refused(["run", path], "not executable")
        with open(path, "wb") as file:
            file.write(b"\0\1 neither")
        os.chmod(path, 0o755)
        refused(["run", path], "neither a program nor a script")


def test_programs_that_sennit_cannot_get_into_are_refused():
    refused(["run", at("static-program")], "static binary")
    refused(["run", at("for-musl")], "is a program for musl")
    refused(["run", "-n", "2", at("two-mpis")], "two MPIs")
    refused(["run", at("old-mpi")], "libmpi.so.20")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "app")
        shutil.copy(at("ranks.mpich"), path)
        os.chmod(path, 0o4755)
        refused(["run", path], "set-uid")
        os.chmod(path, 0o2755)
        refused(["run", path], "set-gid")
        os.chmod(path, 0o755)
        for offset, value, machine in ((4, 1, "32-bit"), (18, 183, "AArch64")):
            with open(at("ranks.mpich"), "rb") as file:
                image = bytearray(file.read())
            image[offset] = value
            with open(path, "wb") as file:
                file.write(image)
            refused(["run", path], machine)


def test_what_may_load_any_mpi_is_refused_as_ranks():
    refused(["run", "-n", "2", "sh"], "cannot be seen: name it for 2 ranks")
    refused(["run", "--host", "localhost", "sh"], "cannot be seen: name it for --host")


def dry_run(*words, **how):
    return subprocess.run([SENNIT, "run", "--dry-run", *words], check=True, text=True,
                          capture_output=True, **how).stdout.splitlines()


def test_trace_alone_never_takes_the_program_for_its_folder():
    app = at("openmp-by-runpath")
    for words in ([app], [app, "out"], [app, "-x"], ["-n", "1", app], ["--", app]):
        assert f"SENNIT_TRACE={os.getcwd()}/sennit-trace" in dry_run("--trace", *words), words
    # A command of PATH.
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(app, os.path.join(folder, "app"))
        path = folder + ":" + os.environ["PATH"]
        found = dry_run("--trace", "app", "input", cwd=folder, env={**os.environ, "PATH": path})
        assert found[-1] == "app input", found
        for where in ("new", "deep/new", folder):
            found = dry_run("--trace", where, app, cwd=folder)
            assert f"SENNIT_TRACE={os.path.join(folder, where)}" in found, found


def test_a_colon_may_be_an_argument():
    app = at("openmp-by-runpath")
    for words in ([":"], ["a", ":", "b"], [":", "-name", "x"], [":", "-n4x"]):
        assert dry_run(app, *words)[-1] == " ".join([app, *words]), words


def test_an_openmp_program_without_mpi_runs_directly():
    with Running([SENNIT, "run", "--verbose", at("openmp-by-runpath"), "-n", "4"]) as command:
        code, _, errors = command.finish()
    assert code == 0, errors
    assert any("uses no MPI" in line for line in errors), errors


def test_an_incomplete_installation_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        refused(["run", at("ranks.mpich")], "libsennit-omp.so", SENNIT_HOME=folder)
        refused(["run", at("ranks.mpich")], "SENNIT_HOME", SENNIT_HOME=folder + "/absent")


def test_a_missing_or_wrong_mpiexec_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        refused(["run", at("ranks.mpich")], "mpiexec of MPICH is missing", PATH=folder)
        os.symlink(shutil.which("mpiexec.openmpi"), os.path.join(folder, "mpiexec"))
        refused(["run", at("ranks.mpich")], "belongs to another MPI", PATH=folder)


def test_a_plain_mpiexec_of_the_right_mpi_is_taken():
    with tempfile.TemporaryDirectory() as folder:
        launcher = os.path.join(folder, "mpiexec")
        os.symlink(shutil.which("mpiexec.mpich"), launcher)
        environment = {**os.environ, "PATH": folder}
        out = subprocess.run([SENNIT, "run", "--dry-run", at("ranks.mpich")], env=environment,
                             check=True, text=True, capture_output=True).stdout
    assert out.splitlines()[-1].startswith(launcher + " "), out


def test_what_cannot_be_printed_is_an_error():
    with open("/dev/full", "w", encoding="utf-8") as full:
        for words in (["doctor"], ["doctor", "--options"], ["--help-all"], ["run", "--help"], ["simulate", "--help"],
                      ["simulate", "pool", "--program", "a:work=1", "--json", "-"]):
            done = subprocess.run([SENNIT, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            assert done.returncode == 2 and done.stderr.startswith("sennit: cannot write to "), (words, done)
            assert done.stderr.count("\n") == 1, (words, done)


def test_a_process_that_is_none_is_refused():
    for number in ("0", "-1", "999999999"):
        refused(["doctor", f"--pid={number}"], f"there is no process {number}")
        refused(["doctor", f"--gdb={number}"], f"there is no process {number}")


def test_doctor_reports_and_refuses_alike():
    with Running([SENNIT, "doctor", at("static-program")]) as command:
        code, out, errors = command.finish()
    assert code == 2 and "processors" in out and "static binary" in errors[-1], (out, errors)
    with Running([SENNIT, "doctor", "--options"]) as command:
        code, out, _ = command.finish()
    assert code == 0 and "SENNIT_POLICY" in out and "SENNIT_TRACE" in out, out


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as nowhere:
        os.chdir(nowhere)  # what is typed may name files
        harness.run_tests(sys.modules[__name__])
