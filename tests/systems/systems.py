#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# script: systems.package if="full and not sanitized" labels=full skip=77 lock=install timeout=3000
#     -- --source {source} --build {build} --work {build}/systems --systems bullseye,bookworm --steps package
"""Sennit on other releases of Debian, each in a folder of its own (debootstrap, chroot). The steps:

    demo       built and shown from nothing by `./dev demo`
    package    the files of `./dev package`: the .deb is installed, the archive is unpacked beside it. With each of them
               programs of each MPI run that are built there: small tasks, and the demo's Cholesky. The .deb is removed
    tests      built, and tested by `./dev test`
    compilers  built as a user builds it, by each compiler that this release has and that Sennit takes, without the parts
               that need SimGrid, OTF2 or LLVM. A program of each MPI, with small tasks, runs under what is installed

Prints a table. Root and a mirror of Debian are needed; where one is missing, or a release is on no mirror any more or
has none of the compilers, a line says so. The exit code is 77 if all that was tried works, but something that was asked for could not be tried.

usage: systems.py --source FOLDER --build FOLDER --work FOLDER [--systems bookworm,trixie] [--steps demo,package]
                  [--compilers g++-13,clang-17]
                  [--arguments '-L quick']    (of `./dev test`)"""
import argparse
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

MIRROR = "http://deb.debian.org/debian"
SKIPPED = 77
NOTHING = "-"
# In a namespace of its own: whatever happens, no mount is left behind.
ENTER = """set -e
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t sysfs sys "$1/sys"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/dev/shm"
mount -t tmpfs tmpfs "$1/tmp"
mount --bind "$2" "$1/src"
exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb sh -c "cd /src && $3"
"""
PACKAGE = """export DEBIAN_FRONTEND=noninteractive; set -e
apt-get purge -y -qq sennit >/dev/null 2>&1 || true # of a run that was ended
clang=$(command -v clang-19 || echo clang) # GCC 10 of Debian 11 cannot compile the demo's program
[ $clang != clang ] || more='clang libomp-dev'
apt-get install -y -qq --no-install-recommends ./sennit.deb $more gcc libc6-dev mpich libmpich-dev openmpi-bin \
libopenmpi-dev libopenblas-dev pkg-config >/dev/null
mkdir /tmp/archive
tar -xf sennit.tar.gz -C /tmp/archive --strip-components 1
for mpi in mpich openmpi; do
    mpicc.$mpi -fopenmp tests/tools/programs/installed.c $(pkg-config --cflags --libs sennit sennit-$mpi) -o /tmp/$mpi
    MPICH_CC=$clang OMPI_CC=$clang mpicc.$mpi -O2 -std=c11 -D_GNU_SOURCE -fopenmp -fPIE -pie -Iapps/suite \
    apps/cholesky/*.c apps/suite/*.c -lopenblas -lm -o /tmp/cholesky-$mpi
    for sennit in sennit /tmp/archive/bin/sennit; do
        for way in '' --virtual --virtual=fibers; do
            echo $sennit $way, $mpi
            $sennit run $way -n 2 /tmp/$mpi >/tmp/said
            [ $(grep -c ': well' /tmp/said) = 2 ]
            $sennit run $way -n 2 --threads 2 /tmp/cholesky-$mpi --n 1024 --block 128
        done
    done
done
apt-get purge -y -qq sennit >/dev/null
! find / -xdev -path /proc -prune -o -path /src -prune -o -path /tmp -prune -o -name '*sennit*' -print | grep .
"""
# Open MPI 5 says a line in each rank where the kernel's tables name no way to the network.
TESTS = """export DEBIAN_FRONTEND=noninteractive OMPI_MCA_reachable=weighted
apt-get install -y -qq git >/dev/null && ./dev test"""
COMPILER = """export DEBIAN_FRONTEND=noninteractive; set -e
apt-get install -y -qq --no-install-recommends $compiler gcc libc6-dev make cmake python3 pkg-config libboost-dev \
libboost-context-dev libfmt-dev libcli11-dev nlohmann-json3-dev mpich libmpich-dev openmpi-bin libopenmpi-dev >/dev/null
cmake -B build/$compiler -DCMAKE_C_COMPILER=$cc -DCMAKE_CXX_COMPILER=$cxx
cmake --build build/$compiler -j $(nproc)
cmake --install build/$compiler --prefix /tmp/sennit --strip >/dev/null
export PKG_CONFIG_PATH=/tmp/sennit/lib/pkgconfig
for mpi in mpich openmpi; do
    mpicc.$mpi -fopenmp tests/tools/programs/installed.c $(pkg-config --cflags --libs sennit sennit-$mpi) -o /tmp/$mpi
    for way in '' --virtual --virtual=fibers; do
        echo $way $mpi
        /tmp/sennit/bin/sennit run $way -n 2 /tmp/$mpi >/tmp/said
        [ $(grep -c ': well' /tmp/said) = 2 ]
    done
done
"""
# Those that Sennit takes, each where it is to be had.
COMPILERS = {"bookworm": ("g++-11", "g++-12", "clang-16", "clang-19"),
             "trixie": ("g++-13", "g++-14", "clang-17", "clang-18")}
TITLES = {"demo": "`./dev demo`", "package": "the package", "tests": "`./dev test`", "compilers": "built by"}
VERSIONS = {"GCC": "gcc -dumpfullversion", "MPICH": "mpichversion -v", "Open MPI": "mpiexec.openmpi --version",
            "Clang": "clang-19 --version || clang --version", "glibc": "ldd --version"}


def give_up(why):
    print(f"nothing is tested on other systems: {why}")
    sys.exit(SKIPPED)


class Missing(Exception):
    """This system cannot be had here."""


class System:
    def __init__(self, name, work):
        self.name = name
        self.root = work / name
        self.source = work / f"{name}-source"

    def make(self, repository, packages):
        """A base system, and what is committed, with the package."""
        if not (self.root / "etc" / "os-release").exists():
            # Under another name until it is complete.
            part = self.root.with_name(self.name + ".part")
            for old in (part, self.root):
                shutil.rmtree(old, ignore_errors=True)
            done = subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates", self.name, part,
                                   MIRROR], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                part.rename(self.root)
            else:
                shutil.rmtree(part, ignore_errors=True)
                raise Missing(f"debootstrap: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
        shutil.rmtree(self.source, ignore_errors=True)
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", repository, self.source], check=True)
        for pattern, name in (("*.deb", "sennit.deb"), ("*[0-9].tar.gz", "sennit.tar.gz")):
            for package in packages.glob(pattern):
                shutil.copy(package, self.source / name)
        (self.root / "src").mkdir(exist_ok=True)
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")
        # MPICH asks for the address of this machine.
        (self.root / "etc" / "hosts").write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")
        done = self.run("apt-get update -qq -o APT::Update::Error-Mode=any")
        if done.returncode != 0:
            raise Missing(f"apt-get update: {(done.stdout.strip().splitlines() or ['no reason'])[-1]}")

    def run(self, command, to=subprocess.PIPE):
        return subprocess.run(["nice", "unshare", "--mount", "--propagation", "private", "bash", "-c", ENTER, "enter",
                               self.root, self.source, command], check=False, text=True, stdout=to,
                              stderr=subprocess.STDOUT)

    def versions(self):
        found = {}
        for name, command in VERSIONS.items(): # of what the steps have installed
            said = self.run(command).stdout.split("\n")[0]
            number = re.search(r"\d+\.\d[\d.]*", said)
            found[name] = number[0] if number else "-"
        return found

    def log(self, name):
        return self.root.with_name(f"{self.name}-{name}.log")

    def step(self, name, command):
        log = self.log(name)
        with open(log, "w", encoding="utf-8") as file:
            code = self.run(command, file).returncode
        if code == 0:
            return "works"
        print(f"{self.name}, {name}: exit code {code}, see {log}", file=sys.stderr)
        return "FAILS"

    def compilers(self, asked):
        """What built it, as CMake's summary names it. Of those that are asked for; none: of all."""
        there = [compiler for compiler in COMPILERS.get(self.name, ()) if not asked or compiler in asked]
        if not there:
            print(f"Debian {self.name} builds nothing: it has none of the compilers")
        results = []
        for compiler in there:
            cc, cxx = compiler.replace("g++", "gcc"), compiler.replace("clang", "clang++")
            result = self.step(compiler, f"compiler={compiler} cc={cc} cxx={cxx}; {COMPILER}")
            named = re.search(r"-- Sennit .*, by (\w+ [\d.]+)", self.log(compiler).read_text(encoding="utf-8"))
            name = named[1].replace("GNU", "GCC") if named else compiler
            results.append(name if result == "works" else f"{name} {result}")
        return ", ".join(results) or NOTHING


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--systems", default="bookworm,trixie")
    parser.add_argument("--steps", default="demo,package")
    parser.add_argument("--compilers", default="")
    parser.add_argument("--arguments", default="")
    options = parser.parse_args()
    asked = options.compilers.split(",") if options.compilers else []
    known = sorted({name for names in COMPILERS.values() for name in names})
    if not set(asked) <= set(known):
        sys.exit(f"--compilers {options.compilers}: known are {', '.join(known)}")
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        give_up("debootstrap, and root, are needed")
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        give_up("nothing can be mounted here")
    steps = options.steps.split(",")
    packages = options.work.absolute() / "packages"
    if "package" in steps:
        shutil.rmtree(packages, ignore_errors=True) # may have those of other versions
        subprocess.run([options.source / "packaging" / "package.py", "--build", options.build, "--output", packages],
                       check=True)
    commands = {"demo": "./dev demo", "package": PACKAGE, "tests": f"{TESTS} {options.arguments}"}
    rows = []
    all_there = True
    for name in options.systems.split(","):
        system = System(name, options.work.absolute())
        try:
            system.make(options.source, packages)
        except Missing as why:
            print(f"Debian {name} is not tested: {why}")
            all_there = False
            continue
        results = [system.compilers(asked) if step == "compilers" else system.step(step, commands[step])
                   for step in steps]
        all_there = all_there and NOTHING not in results
        rows.append([f"Debian {name}", *system.versions().values(), *results])
    if not rows:
        sys.exit(SKIPPED)
    titles = ["system", *VERSIONS, *(TITLES[step] for step in steps)]
    for row in (titles, ["---"] * len(titles), *rows):
        print("| " + " | ".join(row) + " |")
    sys.exit(1 if any("FAILS" in cell for row in rows for cell in row) else 0 if all_there else SKIPPED)


if __name__ == "__main__":
    main()
