#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: omp.split_balanced.{compiler} compiler=all labels=programs,quick if="not sanitized" -- --sennit {sennit}
#     --format {source}/src/tasks/trace/format.h {bin}/{compiler}/sennit_split_balanced
"""A loop that has become balanced is cut no more under --split auto: after 8 runs workers offer no threads to each
other, but for one in each 64th run. A running program's trace says so. (tests/sim has the rule itself.)

usage: split_balanced.py --sennit FILE --format src/tasks/trace/format.h PROGRAM
"""

import argparse
import collections
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

WORKERS = 2
UNBALANCED, BALANCED = 20, 300  # as the program has them
END, PROBE = 8, 64              # decide/objects/problem.h
TRIES = 5
CHUNK, CHUNK_HEADER = 128 * 1024, 64


def records(file, kinds):
    """(worker, kind, arguments) of each event of a trace, each thread's in its order."""
    data = pathlib.Path(file).read_bytes()
    chunks = collections.defaultdict(list)
    for start in range(4096, len(data), CHUNK):
        kind, row, thread, sequence = struct.unpack_from("<4siII", data, start)
        if kind == b"EVEN":
            chunks[thread].append((sequence, row, start))
    for parts in chunks.values():
        for _, row, start in sorted(parts):
            words = struct.unpack_from(f"<{(CHUNK - CHUNK_HEADER) // 8}Q", data, start + CHUNK_HEADER)
            at = 0
            while at < len(words) and words[at] != 0:
                name, length = kinds[words[at] & 0xFF]
                yield row, name, words[at + 1:at + length]
                at += length


def offers_of(options, kinds):
    """By worker: (offered, taken) in each run of the region."""
    with tempfile.TemporaryDirectory() as folder:
        command = [options.sennit, "run", "--threads", str(WORKERS), "--split", "auto", f"--trace={folder}", options.program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        if done.returncode != 0:
            sys.exit(f"the program ended with {done.returncode}: {done.stderr}")
        (file,) = pathlib.Path(folder).glob("*.sennit")
        offers = collections.defaultdict(list)
        for row, name, arguments in records(file, kinds):
            if name == "offer":
                offers[row].append((arguments[1] >> 32, arguments[1] & 0xFFFFFFFF))
        report = subprocess.run([options.sennit, "report", folder], capture_output=True, text=True, timeout=240, check=True)
        return done.stderr, offers, report.stdout


def judge(offers):
    """What is wrong, or None."""
    if len(offers) != WORKERS or any(len(runs) != UNBALANCED + BALANCED for runs in offers.values()):
        return f"not {UNBALANCED + BALANCED} runs of {WORKERS} workers: {[len(runs) for runs in offers.values()]}"
    if max(offered for runs in offers.values() for offered, _ in runs[:UNBALANCED]) < 2:
        return "nobody offered threads while the loop was not balanced"
    kept_offering = False
    for runs in offers.values():
        balanced = runs[UNBALANCED:]
        if any(taken for _, taken in balanced):
            return "threads of a balanced loop were taken"
        kept_offering |= balanced[END - 1][0] > 0
        offering = [run for run, (offered, _) in enumerate(balanced) if run >= END and offered > 0]
        if any(balanced[run][0] != 1 for run in offering):
            return f"a probe offers more than one thread: {balanced}"
        steps = [after - before for before, after in zip(offering, offering[1:])]
        if len(offering) < BALANCED // PROBE - 1 or any(step != PROBE for step in steps) or offering[0] >= END + PROBE:
            return f"after {END} runs, threads were offered in runs {offering}"
    return None if kept_offering else f"offers ended before the run {END}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--format", required=True)
    parser.add_argument("program")
    options = parser.parse_args()
    text = pathlib.Path(options.format).read_text(encoding="utf-8")
    kinds = [(name, int(words)) for name, words in re.findall(r"^    X\((\w+), (\d+)\)", text, re.M)]
    # Where a worker gets no processor for 200 ms, its threads get kernel threads: that is one run more in which
    # threads were taken.
    for _ in range(TRIES):
        said, offers, report = offers_of(options, kinds)
        wrong = judge(offers)
        if not wrong:
            break
        print(f"{wrong} {said}")
    if wrong:
        sys.exit(1)
    (row,) = re.findall(rf"^ .* {UNBALANCED + BALANCED} .*$", report, re.M)
    totals = [sum(run[what] for runs in offers.values() for run in runs) for what in (0, 1)]
    if [int(word) for word in row.split()[-2:]] != totals:
        sys.exit(f"offered and taken are {totals}, and not as in the report:\n{report}")
    print("\n".join(f"worker {worker} offered in runs {[run for run, (offered, _) in enumerate(runs) if offered]}"
                    for worker, runs in sorted(offers.items())))


if __name__ == "__main__":
    main()
