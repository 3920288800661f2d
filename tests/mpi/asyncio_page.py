# SPDX-License-Identifier: Apache-2.0
# script: mpi.asyncio.{mpi} mpi=all if="not sanitized" skip=77 timeout=120 -- {sennit} {mpi} {source}/docs/user/mpi.md
"""The program of docs/user/mpi.md that waits for MPI in asyncio, by mpi4py, runs as it stands there.

Usage: asyncio_page.py SENNIT mpich|openmpi PAGE     (exit code 77: this python has no mpi4py, or it loads no such MPI)"""
import os
import re
import subprocess
import sys
import tempfile

SENNIT, MPI, PAGE = sys.argv[1:]


def run(*words, ranks=2, **more):
    return subprocess.run([SENNIT, "run", "--mpi", MPI, "-n", str(ranks), sys.executable, *words], text=True,
                          capture_output=True, timeout=100, check=False, **more)


def main():
    seen = run("-c", "from mpi4py import MPI; print(MPI.Get_library_version())", ranks=1)
    if seen.returncode != 0 or ("Open MPI" in seen.stdout) != (MPI == "openmpi"):
        print(f"{sys.executable} has no mpi4py that loads {MPI}: nothing is tested")
        return 77
    with open(PAGE, encoding="utf-8") as page:
        (program,) = [text for text in re.findall(r"^```python\n(.*?)^```$", page.read(), re.DOTALL | re.MULTILINE)
                      if "asyncio" in text]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "app.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        ran = run(path)
    # A launcher may mix the lines of two ranks.
    said = sorted(re.findall(r"rank (\d) has received (ping|pong)", ran.stdout))
    assert ran.returncode == 0 and said == [("0", "pong"), ("1", "ping")], ran
    return 0


sys.exit(main())
