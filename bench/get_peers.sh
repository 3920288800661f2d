#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# get_peers.sh FOLDER - fetches the OpenMP runtimes that are measured beside ours and that Debian
# does not package: Intel's libiomp5.so from PyPI, of the version and hash in requirements.txt.
#
# Makes FOLDER/intel-openmp with libiomp5.so and the names that programs look for as links to it.
# Only that library leaves the (large) package, and nothing is installed. Does nothing when the
# folder is complete and of the wanted version. Needs python3-pip.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: $0 FOLDER" >&2
    exit 2
fi
requirements=$(cd "$(dirname "$0")" && pwd)/requirements.txt
target=$1/intel-openmp
wanted=$(sed -n 's/^\(intel-openmp==[^ ]*\).*/\1/p' "$requirements")

if [ -e "$target/libomp.so.5" ] && [ "$(cat "$target/VERSION" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "sennit: python3 has no pip: install the package python3-pip to fetch $wanted" >&2
    exit 1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
    --only-binary :all: --dest "$scratch" --requirement "$requirements"; then
    echo "sennit: $wanted could not be fetched from PyPI; the libiomp5 column will be skipped" >&2
    exit 1
fi

rm -rf "$target"
mkdir -p "$target"
python3 - "$scratch" "$target" <<'EXTRACT'
import pathlib, shutil, sys, zipfile

scratch, target = map(pathlib.Path, sys.argv[1:])
(wheel,) = scratch.glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.endswith(("/libiomp5.so", ".dist-info/LICENSE.txt")):
            with archive.open(name) as source, open(target / name.rsplit("/", 1)[1], "wb") as copy:
                shutil.copyfileobj(source, copy)
EXTRACT
# libomp.so.5 is what clang's binaries ask for.
ln -s libiomp5.so "$target/libomp.so.5"
echo "$wanted" >"$target/VERSION"
