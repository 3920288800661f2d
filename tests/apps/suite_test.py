#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: apps.suite.{compiler}.{mpi} mpi=all compiler=met timeout=600 -- --sennit {sennit} --cholesky
#     {apps}/cholesky-{compiler}-{mpi} --wavefront {apps}/wavefront-{compiler}-{mpi}
"""The suite's programs under `sennit run`: each exchange variant gives the right result, also on an
injected network; priorities are what the policies' definitions say; emulated runs keep their bounds.

usage: suite_test.py --sennit BIN --cholesky BIN --wavefront BIN
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

OPTIONS = argparse.Namespace()
VARIANTS = ("interop-blocking", "blocking", "singlecom", "taskyield", "detach", "interop-nonblocking")


def run(program, ranks, threads, arguments, sennit=True, **environment):
    command = [OPTIONS.sennit, "run", "-n", str(ranks), "--threads", str(threads)] if sennit else []
    done = subprocess.run([*command, program, *arguments.split(), "--json", "-"], text=True, timeout=240,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"} | environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return done.returncode, json.loads(lines[-1]) if lines else {}, done.stdout


class Suite(unittest.TestCase):
    def good(self, *arguments, **environment):
        code, result, text = run(*arguments, **environment)
        self.assertEqual(code, 0, text)
        return result

    def test_each_variant_computes_the_factor(self):
        for variant in VARIANTS:
            for rest in ("", " --buffers 1"):
                with self.subTest(variant=variant, rest=rest):
                    result = self.good(OPTIONS.cholesky, 4, 2, f"--n 250 --block 24 --variant {variant}{rest}")
                    self.assertLess(result["residual"], 1e-14)
                    self.assertEqual(result["send"], result["receive"])

    def test_each_variant_sweeps_the_grid(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                result = self.good(OPTIONS.wavefront, 4, 2, f"--n 200 --block 24 --sweeps 5 --variant {variant}")
                self.assertEqual(result["residual"], 0.0)
                self.assertEqual(result["sweep"], 5 * 9 * 9)

    def test_each_policy_with_its_priorities(self):
        for policy, marks in (("fifo", "none"), ("lifo", "none"), ("ma1", "sends"), ("ma2", "path"),
                              ("ma3", "depth"), ("sa", "sends"), ("fa", "none")):
            with self.subTest(policy=policy):
                result = self.good(OPTIONS.cholesky, 2, 2, f"--n 250 --block 24 --priorities {marks}",
                                   SENNIT_POLICY=policy, SENNIT_WINDOW="32")
                self.assertLess(result["residual"], 1e-14)

    def test_fa_learns_who_sends_by_any_call(self):
        # A send-task contains MPI_Send "or its non-blocking version" (the paper, section 3).
        for variant in ("interop-blocking", "interop-nonblocking", "taskyield", "detach"):
            with self.subTest(variant=variant), tempfile.TemporaryDirectory() as folder:
                self.good(OPTIONS.cholesky, 2, 2, f"--n 256 --block 32 --variant {variant}",
                          SENNIT_POLICY="fa", SENNIT_STATS=f"{folder}/s")
                for path in pathlib.Path(folder).iterdir():
                    profiles = json.loads(path.read_text())["profiles"]
                    senders = [profile["task"] for profile in profiles if profile["verdict"] == "sends"]
                    self.assertEqual(len(senders), 1, profiles)
                    # Clang names no task after its function.
                    self.assertRegex(senders[0], "^send_data|^omp_task_entry")

    def test_a_slow_network_changes_no_result(self):
        for network in ("latency:2000,bandwidth:100", "latency:2000,bandwidth:100,eager:1000"):
            for variant in VARIANTS:
                with self.subTest(variant=variant, network=network):
                    result = self.good(OPTIONS.cholesky, 2, 2, f"--n 120 --block 24 --variant {variant}",
                                       SENNIT_NETWORK=network)
                    self.assertLess(result["residual"], 1e-14)

    def test_messages_take_their_time(self):
        # Five diagonal blocks and as many panels follow each other on two ranks: the path's messages
        # alone take that long. No upper limit: the machine may be busy. One that is asked for first
        # takes three times the latency.
        for eager, latencies in (("", 1), (",65536", 3)):
            result = self.good(OPTIONS.cholesky, 2, 2, f"--n 2560 --block 512 --emulate --link 20000,1000{eager}",
                               SENNIT_NETWORK="latency:20000,bandwidth:1000,payload:64"
                               + eager.replace(",", ",eager:"))
            self.assertGreater(result["bound_path"], 4 * 0.02 * latencies)
            self.assertGreaterEqual(result["seconds"], result["bound"])

    def test_an_emulated_run_keeps_its_bounds(self):
        for program in (OPTIONS.cholesky, OPTIONS.wavefront):
            result = self.good(program, 2, 4, "--n 4096 --block 512 --emulate", SENNIT_NETWORK="latency:0,payload:64")
            self.assertTrue(result["emulated"])
            for bound in ("bound_work", "bound_path", "bound_card"):
                self.assertGreaterEqual(result["bound"], result[bound])
            self.assertGreaterEqual(result["seconds"], result["bound"])
            # Tasks that hold a worker do not suspend: eight threads cannot do it faster than this,
            # and they use next to nothing of the processors.
            self.assertLess(result["cpu"], 2 * result["seconds"])

    def test_the_bound_knows_what_ranks_have_to_do_before_others(self):
        # The last rank's last sweep follows all sweeps of the first rank. Kernels never end early.
        sweeps = 4
        result = self.good(OPTIONS.wavefront, 4, 2, f"--n 2048 --block 128 --sweeps {sweeps} --emulate",
                           SENNIT_NETWORK="latency:0,payload:64")
        self.assertGreater(result["bound"], result["bound_work"] * (1 + 1 / sweeps))
        self.assertGreaterEqual(result["seconds"], result["bound"])
        self.assertGreater(result["late"], 0)

    def test_variants_that_need_sennit_say_so(self):
        code, _, text = run(OPTIONS.cholesky, 1, 1, "--n 16 --block 8 --variant detach", sennit=False)
        self.assertEqual(code, 8)
        self.assertIn("sennit run", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--sennit", "--cholesky", "--wavefront"):
        parser.add_argument(name, required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
