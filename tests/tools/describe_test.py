# SPDX-License-Identifier: Apache-2.0
# script: tools.describe labels=quick -- {sennit}
"""`sennit describe`: each shell reads what is meant for it, and completes what is typed as the tables of options say.

Usage: describe_test.py SENNIT"""
import os
import re
import subprocess
import sys
import tempfile

import harness
from harness import is_here

SENNIT = sys.argv[1]
# What is typed, and some of what is offered. "=" is a word of its own in bash.
CASES = [
    (["ru"], {"run"}),
    (["run", "--th"], {"--threads"}),
    (["run", "--policy", "f"], {"fa", "fifo"}),
    (["run", "-n", "4", "--bind", "c"], {"core", "cache"}),
    (["run", "--bind", "core", "--hostf"], {"--hostfile"}),
    (["pool", "st"], {"start", "stop"}),
    (["pool", "start", "--co"], {"--cores"}),
    (["pool", "start", "--policy", "mo"], {"moldable"}),
    (["describe", "--he"], {"--help"}),
    (["run", "--virtual", "--th"], {"--threads"}), # whose value may be missing, and is behind a "="
]


def described(*words):
    return subprocess.run([SENNIT, "describe", *words], check=True, capture_output=True, text=True).stdout


def offered_by_bash(words, folder):
    script = described("bash") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sennit; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", "sennit", *words], check=True, cwd=folder,
                          capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return set(done.stdout.split())


def test_bash_completes():
    with tempfile.TemporaryDirectory() as folder:
        for words, wanted in CASES:
            assert wanted <= offered_by_bash(words, folder), (words, offered_by_bash(words, folder))
        assert {"fifo"} <= offered_by_bash(["run", "--policy", "=", "fi"], folder)
        assert {"fibers"} <= offered_by_bash(["run", "--virtual", "=", "fi"], folder)
        # Behind the program there are its own arguments.
        with open(os.path.join(folder, "--threads.txt"), "w", encoding="utf-8"):
            pass
        for words in (["run", "./app", "--th"], ["./app", "--th"], ["run", "--virtual", "./app", "--th"]):
            assert offered_by_bash(words, folder) == {"--threads.txt"}, (words, offered_by_bash(words, folder))


def test_fish_completes():
    if not is_here("fish"):
        return
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "sennit.fish")
        with open(path, "w", encoding="utf-8") as file:
            file.write(described("fish"))
        for words, wanted in CASES:
            line = " ".join(["sennit", *words])
            done = subprocess.run(["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"], check=True,
                                  capture_output=True, text=True, env={**os.environ, "HOME": home})
            offered = {row.split("\t")[0] for row in done.stdout.splitlines()}
            assert wanted <= offered and not done.stderr, (line, offered, done.stderr)


def test_zsh_reads_it():
    if not is_here("zsh"):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "_sennit")
        with open(path, "w", encoding="utf-8") as file:
            file.write(described("zsh"))
        done = subprocess.run(["zsh", "-f", "-c", f"fpath=({folder} $fpath); autoload -U compinit; compinit -D -u; "
                               "echo $_comps[sennit]; zsh -n " + path], check=True, capture_output=True, text=True)
        assert done.stdout == "_sennit\n" and not done.stderr, done


def commands():
    """that `sennit help` lists"""
    told = subprocess.run([SENNIT, "help"], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^  ([a-z]+)(?:, \w+)?  +\w", told.split("Subcommands:")[1], re.MULTILINE)


def test_each_command_has_a_page_with_its_options():
    assert {"run", "pool", "simulate", "cc"} <= set(commands()), commands()
    overview = described("man")
    for name in commands():
        text = described("man", name)
        assert text.startswith(f'.TH SENNIT\\-{name.upper()} 1 "" "Sennit '), (name, text[:80])
        assert f"\n.BR sennit\\-{name} (1)\n" in overview, name
        if name == "bench":
            helps = subprocess.run([SENNIT, name, "--help"], check=True, capture_output=True, text=True)
            assert "cholesky" in helps.stdout and "papers" in helps.stdout and not helps.stderr, helps
        if name in ("bench", "cc"):  # what they start tells its options
            continue
        helps = subprocess.run([SENNIT, name, "--help-all" if name == "simulate" else "--help"], check=True,
                               capture_output=True, text=True).stdout
        assert name != "run" or "\n  --virtual[=fibers] " in helps, helps
        for option in re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", helps, re.MULTILINE):
            assert option.replace("-", "\\-") in text or option == "--help-all", (name, option)
    for name, part in (("pool", ".SH pool start\n.B sennit pool start\n[\\fIoptions\\fR] \\fIname\\fR\n"),
                       ("run", '.BR "\\-n, \\-\\-ranks" " \\fIRANKS\\fR"\n'), ("run", ".SS For experts\n"), ("run", '.BR "\\-\\-virtual" [=\\fIfibers\\fR]\n'),
                       ("run", '.BR "\\-\\-hostfile, '), ("report", "\\fIfolder\\fR...\n"),
                       ("simulate", ".SH simulate cholesky\n")):
        assert part in described("man", name), (name, part)


def test_man_reads_the_pages():
    pages = [described("man", *words) for words in ([], *([name] for name in commands()))]
    pages.append(subprocess.run([SENNIT, "doctor", "--options=man"], check=True, capture_output=True, text=True).stdout)
    for program in (["groff", "-man", "-ww", "-z"], ["mandoc", "-T", "lint", "-W", "warning"]):
        if not is_here(program[0]):
            continue
        for text in pages:
            done = subprocess.run(program, input=text, capture_output=True, text=True, check=False)
            told = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
            assert not told, (text[:60], told)


def test_what_has_no_page_is_refused():
    for words, wanted in ((["tcsh"], "bash, zsh, fish or man"), (["man", "shell"], "'shell' is no command"),
                          (["bash", "run"], "sennit describe man run")):
        done = subprocess.run([SENNIT, "describe", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and wanted in done.stderr, done


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
