// SPDX-License-Identifier: Apache-2.0
// A program that someone wants to run under Sennit: what it is, which MPI and which OpenMP runtime
// it uses. Everything that makes Sennit unable to get into it is refused here, before anything
// runs.
//
// What is typed may be a script, or a program that starts another one (env, taskset, gdb). Then it
// is followed: the first program that it names and that needs MPI, else the first that needs
// OpenMP, tells which. That is a guess, so nothing is refused because of it but what cannot run.
#pragma once

#include "common/mpi_kind.h"
#include "launch/library_search.h"

#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

struct OpenMpUse {
    const OpenMpRuntime *runtime;
    LoadedLibrary library;
};

struct MpiUse {
    std::optional<MpiKind> kind;
    LoadedLibrary library;
};

struct Program {
    std::string path;             // the file that is started
    std::string file;             // the one whose libraries these are: `path`, or what it starts
    std::vector<std::string> way; // how `path` leads there, for people, a sentence each
    bool script = false;
    Imports imports;           // its own, and those of its libraries other than MPI's and OpenMP's
    bool starts_ranks = false; // there is an mpiexec in it
    std::string starts_ranks_by; // the line where
    std::string warning;         // what it starts and Sennit does not get into; empty: nothing
    std::vector<LoadedLibrary> libraries;
    std::vector<MpiUse> mpi_libraries;
    std::vector<OpenMpUse> openmp_libraries;
    std::optional<MpiUse> mpi_beside; // taken for the one that it is going to load

    bool uses_mpi_or_openmp() const { return !mpi_libraries.empty() || !openmp_libraries.empty(); }
    bool uses(MpiKind kind) const;
};

// The file that execvp would run. Throws Failure.
std::string resolve_command(const std::string &command);

// Read the program of this command line. `library_path` is the LD_LIBRARY_PATH it is going to have.
// Throws Failure for: absent, not executable, set-uid, neither ELF nor a script, another machine,
// damaged, a shared library, static, for another libc.
Program inspect_program(const std::vector<std::string> &command,
                        const std::vector<std::string> &library_path);

// The only MPI of the environment that the program lies in, such as Python's or Conda's: in the
// lib/ beside its bin/. nullopt: there is none, or there are two.
std::optional<MpiUse> find_mpi_beside(const Program &program);

// The MPI to run it with: `asked` if given, else the one it uses; nullopt when it uses none.
// Throws Failure for two MPIs, for an MPI of an unknown ABI if none is asked for, and for a program
// that uses another MPI than was asked for.
std::optional<MpiKind> choose_mpi(const Program &program, std::optional<MpiKind> asked);

} // namespace sennit::tool
