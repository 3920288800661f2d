#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# judge:
"""What SENNIT_STATS tells about the policy: its name, and what fa has learned about which task.

    policy_statistics.py --programs build/tests/programs/gcc --lib build/lib/omp
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


def statistics(policy, program="policy_order"):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([OPTIONS.programs / program], check=True, timeout=240,
                       env={**os.environ, "LD_LIBRARY_PATH": str(OPTIONS.lib), "OMP_NUM_THREADS": "1",
                            "SENNIT_POLICY": policy, "SENNIT_STATS": f"{folder}/s"})
        (written,) = pathlib.Path(folder).iterdir()
        return json.loads(written.read_text())


class PolicyStatistics(unittest.TestCase):
    def test_fa_tells_what_it_learned(self):
        numbers = statistics("fa")
        self.assertEqual(numbers["policy"], "fa")
        self.assertGreater(numbers["priorities_raised"], 0)
        verdicts = [profile["verdict"] for profile in numbers["profiles"]]
        self.assertEqual(sorted(verdicts), ["computes", "computes", "computes", "sends"])
        for profile in numbers["profiles"]:
            self.assertNotRegex(profile["task"], "0x")
        sender = numbers["profiles"][verdicts.index("sends")]
        self.assertEqual(sender["dependences"], 1)

    def test_sa_has_nothing_to_learn(self):
        numbers = statistics("sa")
        self.assertEqual(numbers["policy"], "sa")
        self.assertEqual(numbers["priorities_raised"], 2)
        self.assertNotIn("profiles", numbers)

    def test_by_default_a_program_without_mpi_steals(self):
        numbers = statistics("auto", "taskwait")
        self.assertEqual(numbers["policy"], "auto")
        self.assertNotIn("priorities_raised", numbers)

    def test_others_do_not_look_ahead(self):
        numbers = statistics("ma1")
        self.assertEqual(numbers["policy"], "ma1")
        self.assertNotIn("priorities_raised", numbers)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--lib", type=pathlib.Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
