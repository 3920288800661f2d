# SPDX-License-Identifier: Apache-2.0
# A recipe for Spack 1.0 and later: put it into packages/sennit/ of a repository of yours (`spack repo create`), and name
# a clone: `spack develop --path FOLDER sennit@main`, in an environment.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Sennit(CMakePackage):
    """An OpenMP runtime and a layer on MPI, by which unmodified MPI + OpenMP programs run as one: a task that waits
    for a message is suspended, and its thread runs others. Start programs by `sennit run`."""

    license("Apache-2.0")

    version("main", branch="main")

    variant("pass", default=False, description="`sennit cc`: the plug-in for Clang 19")
    variant("simgrid", default=False, description="`sennit simulate --network simgrid`")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("mpi")
    depends_on("boost@1.74: +context")
    depends_on("fmt@9:")
    depends_on("cli11@2.2:")
    depends_on("nlohmann-json@3.11:")
    depends_on("llvm@19 +clang", when="+pass")
    depends_on("simgrid@3.32:", when="+simgrid")

    conflicts("%gcc@:10", msg="Sennit is C++20: GCC 11 or later, or Clang 19")
    conflicts("platform=darwin")
    conflicts("platform=windows")

    def cmake_args(self):
        args = [self.define("SENNIT_MPI", self.spec["mpi"].mpicc), self.define("BOOST_ROOT", self.spec["boost"].prefix)]
        if "+pass" in self.spec:
            llvm = self.spec["llvm"].prefix
            args += [self.define("SENNIT_CLANG", llvm.bin.clang), self.define("SENNIT_LLVM_INCLUDE", llvm.include)]
        else:
            args.append(self.define("SENNIT_CLANG", "OFF"))
        if "~simgrid" in self.spec:
            args.append(self.define("SENNIT_SIMGRID_LIBRARY", "OFF"))
        return args

    def setup_run_environment(self, env):
        env.prepend_path("MANPATH", self.prefix.share.man)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.sennit)("run", "-n", "2", "hostname")
