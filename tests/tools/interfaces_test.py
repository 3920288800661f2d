# SPDX-License-Identifier: Apache-2.0
# script: tools.interfaces if="not sanitized and mpis" labels=quick -- {source} {build} {SENNIT_GCC}
"""What programs rely on is as packaging/interfaces.txt has it, and each kind of change is seen: a function that is gone,
has another version or other parameters, a constant, a structure. What is only new is told apart.

Usage: interfaces_test.py SOURCE-FOLDER BUILD-FOLDER COMPILER"""
import os
import pathlib
import shutil
import sys
import tempfile

import harness

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
COMPILER = sys.argv[3]
sys.path.insert(0, os.path.join(SOURCE, "packaging"))
import interfaces # pylint: disable=wrong-import-position

KEPT = interfaces.LIST.read_text(encoding="utf-8").splitlines()


def test_nothing_is_gone_and_nothing_is_unknown():
    now, missing = interfaces.interfaces(BUILD, COMPILER)
    assert not missing, missing
    lost, new = interfaces.differences(KEPT, now)
    assert not lost and not new, "\n".join([*lost, *new, "see packaging/interfaces.py"])


def changed(header, old, new):
    """what is lost and what is new if the header says `new` in the place of `old`"""
    with tempfile.TemporaryDirectory() as folder:
        headers = pathlib.Path(folder) / "include"
        shutil.copytree(SOURCE / "include", headers)
        text = (headers / header).read_text(encoding="utf-8")
        assert text.count(old) == 1, (header, old)
        (headers / header).write_text(text.replace(old, new), encoding="utf-8")
        now, missing = interfaces.interfaces(BUILD, COMPILER, headers)
        return *interfaces.differences(KEPT, now), missing


def test_each_kind_of_change_is_seen():
    for header, old, new in (
            ("sennit_export.h", "int sennit_unexport(sennit_range range);", ""),
            ("sennit_export.h", "int sennit_unexport(sennit_range range);", "int sennit_unexport(int range);"),
            ("sennit_export.h", "#define SENNIT_EXPORT_MOST 1024", "#define SENNIT_EXPORT_MOST 2048"),
            ("sennit_export.h", "SENNIT_EXPORT_FULL = 4", "SENNIT_EXPORT_FULL = 40"),
            ("sennit_export.h", "uint64_t version; /*", "uint32_t version; /*"),
            ("alpi.h", "int alpi_task_block(struct alpi_task *task);", "void alpi_task_block(struct alpi_task *task);")):
        lost, _, _ = changed(header, old, new)
        assert lost, (header, old, new)


def test_what_is_new_is_no_loss():
    lost, new, missing = changed("alpi.h", "int alpi_task_block(", "int alpi_task_knock(void);\nint alpi_task_block(")
    assert not lost and len(new) == 1 and len(missing) == 1, (lost, new, missing)


def test_a_symbol_that_is_gone_or_has_another_version_is_seen():
    line = "libsennit-export.so: sennit_export@SENNIT_0.3"
    assert line in KEPT
    for now in ([other for other in KEPT if other != line],
                [other.replace("sennit_export@SENNIT_0.3", "sennit_export@SENNIT_0.2") for other in KEPT]):
        lost, _ = interfaces.differences(KEPT, now)
        assert lost == ["gone or changed: " + line], lost


if __name__ == "__main__":
    harness.run_tests(sys.modules[__name__])
