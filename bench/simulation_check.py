#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated against measured: the Cholesky suite with emulated kernels on an injected network, and
`sennit simulate cholesky` with the same numbers. Prints a table.

    bench/simulation_check.py SENNIT CHOLESKY [--rounds 3]
"""
import argparse
import json
import os
import statistics
import subprocess

N, BLOCK, RATE = 4096, 256, 2  # tiles of 17 ms: sleeping kernels are exact enough
GRIDS = {2: (1, 2), 4: (2, 2)}  # of ranks, over the rows and the columns of the lower triangle
NETWORKS = {"none": None, "1 ms, 50 MB/s": (1000, 50), "1 ms, 20 MB/s": (1000, 20)}


def measure(sennit, program, ranks, threads, network, policy):
    environment = dict(os.environ, SENNIT_ORDER="creation")
    if network:
        environment["SENNIT_NETWORK"] = f"latency:{network[0]},bandwidth:{network[1]},payload:64"
    marks = {"sa": "sends", "ma1": "sends"}.get(policy, "none")
    done = subprocess.run(
        [sennit, "run", "-n", str(ranks), "--threads", str(threads), "--policy", policy, program,
         "--n", str(N), "--block", str(BLOCK), "--grid", "{}x{}".format(*GRIDS[ranks]), "--emulate",
         "--rates", ",".join([str(RATE)] * 5),
         "--priorities", marks, "--no-check", "--json", "-"],
        env=environment, capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise SystemExit(done.stdout + done.stderr)
    return json.loads(lines[-1])["seconds"]


def simulate(sennit, ranks, threads, network, policies):
    latency, bandwidth = network or (50, 2000)
    done = subprocess.run(
        [sennit, "simulate", "cholesky", "--n", str(N), "--block", str(BLOCK), "--gflops", str(RATE),
         "--trsm", "1", "--syrk", "1", "--potrf", "1", "--own-buffers", "--ranks", str(ranks),
         "--grid-rows", str(GRIDS[ranks][1]),  # the simulation's triangle is the upper one
         "--threads", str(threads), "--latency", str(latency * 1000), "--bandwidth",
         str(bandwidth / 1000), "--receive-queue", "0", "--eager", "1e12", "--policy",
         ",".join(policies), "--order", "creation", "--no-path", "--quiet", "--json", "-"],
        capture_output=True, text=True, check=True)
    return {row["policy"]: row["time_s"] for row in json.loads(done.stdout)["results"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sennit")
    parser.add_argument("program")
    parser.add_argument("--simulator", help="another sennit to simulate with")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    policies = ["fifo", "sa", "fa"]
    print(f"Cholesky, n = {N}, tiles of {BLOCK}, emulated at {RATE} GFLOP/s a core; medians of "
          f"{arguments.rounds} rounds, interleaved [least - largest].\n")
    print("| ranks x threads | network | policy | measured s | simulated s | difference |")
    print("| --- | --- | --- | ---: | ---: | ---: |", flush=True)
    differences = []
    wrong = []  # settings and policies that are ahead of fifo here and behind it there
    settings = 0
    for ranks, threads in ((2, 4), (4, 2)):
        for name, network in NETWORKS.items():
            times = {policy: [] for policy in policies}
            for _ in range(arguments.rounds):
                for policy in policies:
                    times[policy].append(measure(arguments.sennit, arguments.program, ranks, threads,
                                                 network, policy))
            expected = simulate(arguments.simulator or arguments.sennit, ranks, threads, network, policies)
            settings += 1
            medians = {policy: statistics.median(times[policy]) for policy in policies}
            for policy in policies[1:]:
                if (medians[policy] < medians["fifo"]) != (expected[policy] < expected["fifo"]):
                    wrong.append((f"{ranks} x {threads} {name} {policy}", policy))
            for policy in policies:
                median = medians[policy]
                differences.append(expected[policy] / median - 1)
                print(f"| {ranks} x {threads} | {name} | {policy} | {median:.3f} "
                      f"[{min(times[policy]):.3f} - {max(times[policy]):.3f}] | {expected[policy]:.3f} | "
                      f"{100 * differences[-1]:+.1f}% |", flush=True)
    print(f"\nLargest difference: {100 * max(differences, key=abs):+.1f}% of {len(differences)} "
          f"configurations; within 10%: {sum(abs(d) <= 0.1 for d in differences)}.")
    right = ", ".join(f"{policy} in {settings - sum(p == policy for _, p in wrong)}"
                      for policy in policies[1:])
    print(f"\nAhead of fifo or behind it (medians) as measured: {right} of {settings} settings"
          + (f"; not: {', '.join(text for text, _ in wrong)}." if wrong else "."))


if __name__ == "__main__":
    main()
