# SPDX-License-Identifier: Apache-2.0
# script: tools.describe labels=quick -- {sennit}
"""`sennit describe`: each shell reads what is meant for it, and completes what is typed as the tables of options say.

Usage: describe_test.py SENNIT"""
import os
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


def described(form):
    return subprocess.run([SENNIT, "describe", form], check=True, capture_output=True, text=True).stdout


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


def test_man_reads_it():
    text = described("man")
    for part in (".TH SENNIT 1\n", ".SS sennit pool start\n", ".B \\-n, \\-\\-ranks RANKS\n"):
        assert part in text, part
    if not is_here("groff"):
        return
    done = subprocess.run(["groff", "-man", "-ww", "-z"], input=text, capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr


def test_another_shell_is_refused():
    done = subprocess.run([SENNIT, "describe", "tcsh"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "bash, zsh, fish or man" in done.stderr, done


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
