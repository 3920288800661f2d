// SPDX-License-Identifier: Apache-2.0
// A program that someone wants to run under Sennit: what it is, which MPI and which OpenMP runtime
// it uses. Everything that makes Sennit unable to get into it is refused here, before anything
// runs.
#pragma once

#include "library_search.h"
#include "mpi_kind.h"

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
    std::string command; // as it was typed
    std::string path;
    bool elf = true; // false: a script, accepted because its MPI was named
    std::vector<LoadedLibrary> libraries;
    std::vector<MpiUse> mpi_libraries;
    std::vector<OpenMpUse> openmp_libraries;
};

// The file that execvp would run. Throws Failure.
std::string resolve_command(const std::string &command);

// Read the program. `library_path` is the LD_LIBRARY_PATH it is going to have. With `forced`, a
// script is accepted and its libraries stay unknown. Throws Failure for: absent, not executable,
// set-uid, not ELF, another machine, damaged, a shared library, static.
Program inspect_program(const std::string &command, const std::vector<std::string> &library_path,
                        bool forced);

// The MPI to run it with: `asked` if given, else the one it uses; nullopt when it uses none.
// Throws Failure for two MPIs, for an MPI that Sennit has no library for, and for a program that
// uses another MPI than was asked for.
std::optional<MpiKind> choose_mpi(const Program &program, std::optional<MpiKind> asked);

} // namespace sennit::tool
