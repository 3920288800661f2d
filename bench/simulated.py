# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that print pages of Markdown from `sennit simulate`."""
import json
import shlex
import subprocess


def simulate(sennit, *words, key, show=True):
    """The results as `--json` gives them, and in `by`: each result by its `key`. Prints the command."""
    command = ["simulate", *map(str, words)]
    if show:
        print("    sennit " + shlex.join(command) + "\n", flush=True)
    done = subprocess.run([sennit, *command, "--json", "-"], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    found["by"] = {row[key]: row for row in found["results"]}
    return found


def table(head, rows):
    print("| " + " | ".join(map(str, head)) + " |")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(flush=True)
