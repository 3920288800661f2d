# SPDX-License-Identifier: Apache-2.0
# script: systems.compilers labels=quick
"""What systems.py says where it can build with none of the compilers: not that all is well. No system is made."""
import contextlib
import io
import sys
import unittest
from unittest import mock

import systems


def ends_with(*arguments):
    """Its exit code and what it said."""
    said = io.StringIO()
    command = ["systems.py", "--source", ".", "--build", ".", "--work", ".", "--steps", "compilers", *arguments]
    with mock.patch.object(sys, "argv", command), mock.patch.object(systems, "os") as system, \
            mock.patch.object(systems, "shutil"), mock.patch.object(systems, "subprocess") as processes, \
            mock.patch.multiple(systems.System, make=mock.DEFAULT, versions=lambda self: {},
                                step=lambda self, name, command: "works",
                                log=lambda self, name: mock.Mock(**{"read_text.return_value": ""})), \
            contextlib.redirect_stdout(said):
        system.geteuid.return_value = processes.run.return_value.returncode = 0
        try:
            systems.main()
        except SystemExit as end:
            return end.code, said.getvalue()
    raise AssertionError("it did not end")


class Compilers(unittest.TestCase):
    def test_each_that_is_there_builds(self):
        code, said = ends_with("--systems", "bookworm", "--compilers", "g++-12,clang-16")
        self.assertEqual(code, 0)
        self.assertIn("g++-12, clang-16 |", said)

    def test_an_unknown_one_is_refused(self):
        code, _ = ends_with("--systems", "bookworm", "--compilers", "g++-12,gcc-12")
        self.assertRegex(str(code), r"^--compilers g\+\+-12,gcc-12: known are .*\bg\+\+-12\b[^\n]*$")

    def test_a_release_that_has_none_is_not_tried(self):
        for arguments in (["--systems", "bullseye"], ["--systems", "bookworm,trixie", "--compilers", "g++-12"]):
            code, said = ends_with(*arguments)
            self.assertEqual(code, systems.SKIPPED)
            self.assertIn("builds nothing: it has none of the compilers", said)


if __name__ == "__main__":
    unittest.main()
