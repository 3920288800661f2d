#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the page of `sennit top --html` costs: processor time of the job with and without a page that is refreshed, in turn,
and of `sennit top` itself, as a part of a core, for each process of the job.

usage: live_page.py [--build build/release] [--rounds 5] [--processes 4] [--seconds 10]

A page asks for the data twice a second, as the browser's does. Processor time, so other work on the machine matters little."""

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import machine

PERIOD = 0.5  # seconds


class Page:
    """`sennit top --html`, and what asks it. `share` is the part of a core that it took."""

    def __init__(self, build, environment):
        self.top = subprocess.Popen([build / "bin/sennit", "top", "--html"], env=environment, text=True,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        parts = urllib.parse.urlsplit(self.top.stdout.readline().strip())
        self.address = parts._replace(path="/data").geturl()
        self.over = threading.Event()
        self.asks = threading.Thread(target=self.ask)

    def __enter__(self):
        self.begin, self.spent = time.monotonic(), self.on_processor()
        self.asks.start()
        return self

    def __exit__(self, *_):
        self.share = (self.on_processor() - self.spent) / (time.monotonic() - self.begin)
        self.over.set()
        self.asks.join()
        self.top.kill()
        self.top.communicate()

    def on_processor(self):
        """Seconds, of all its threads."""
        folder = pathlib.Path(f"/proc/{self.top.pid}/task")
        return sum(int((one / "schedstat").read_text().split()[0]) for one in folder.iterdir()) / 1e9

    def ask(self):
        while not self.over.wait(PERIOD):
            with urllib.request.urlopen(self.address, timeout=60) as answer:
                answer.read()


def job(build, environment, tasks, steps):
    return subprocess.Popen([build / "bench/gcc/trace-tasks", str(tasks), str(steps)], env=environment, text=True,
                            stdout=subprocess.PIPE)


def processor_time(one):
    return float(one.communicate(timeout=300)[0].split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**machine.plain_environment(), "LD_LIBRARY_PATH": str(build / "lib/omp"), "OMP_NUM_THREADS": "2",
                       "SENNIT_TALP": "on", "SENNIT_BOARD": os.path.join(folder, "board")}
        alone, watched = [], []
        for number in range(options.rounds):
            for with_page in ((False, True), (True, False))[number % 2]:
                one = job(build, environment, 100_000, 100)
                with Page(build, environment) if with_page else contextlib.nullcontext():
                    (watched if with_page else alone).append(processor_time(one))
        ratio = statistics.median(b / a for a, b in zip(alone, watched))
        print(f"processor time of a job with a page, of one without: {ratio:.4f} (median of {options.rounds}), "
              f"{min(watched) / min(alone):.4f} (of the least)")
        for processes in sorted({1, options.processes}):
            jobs = [job(build, environment, 1 << 30, 100) for _ in range(processes)]
            with Page(build, environment) as page:
                time.sleep(options.seconds)
            for one in jobs:
                one.kill()
                one.communicate()
            print(f"sennit top --html, {processes} processes: {100 * page.share:.2f}% of a core, "
                  f"{100 * page.share / processes:.2f}% a process")


if __name__ == "__main__":
    main()
