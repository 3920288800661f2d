// SPDX-License-Identifier: Apache-2.0
// Which MPI, which OpenMP runtime and which accelerator's library a shared library is, by its name
// or what it defines. One table each; everything else in this command speaks of MpiKind and of the
// tables' rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sennit::tool {

enum class MpiKind { mpich, openmpi, mpiabi };

struct MpiTraits {
    MpiKind kind;
    const char *word; // in options and in the name of Sennit's library
    const char *name; // for people
    const char *abi;  // the number in its libraries' names
    const char
        *version_words; // one of these is in what its `mpiexec --version` prints, '|' between
};

const MpiTraits &traits(MpiKind kind);

// The kind that an option's word names ("mpich", "openmpi").
std::optional<MpiKind> mpi_kind_from_word(std::string_view word);

// Can a job of `kind` be started by the launcher of `launcher`? The standard ABI is another face of
// an MPI whose launcher has its own name.
bool launches(MpiKind launcher, MpiKind kind);

// Whose launcher printed this `--version` text?
std::optional<MpiKind> mpi_kind_from_version(std::string_view text);

// What a library's name, or what it defines, says about MPI.
struct MpiLibrary {
    std::optional<MpiKind> kind; // nullopt: an MPI, but of an ABI that Sennit has no library for
};
// nullopt: not a library of an MPI.
std::optional<MpiLibrary> classify_mpi_library(std::string_view name);

// What tells whose ABI a library has, whatever its name is: an MPI defines MPI_Init and PMPI_Init,
// and one of the others.
inline constexpr std::string_view mpi_marks[] = {"MPI_Init", "PMPI_Init", "MPI_UNWEIGHTED",
                                                 "ompi_mpi_comm_world", "MPI_Abi_get_version"};
// The same for what a library defines of these.
std::optional<MpiLibrary> classify_mpi_marks(const std::vector<std::string> &defined);

// For which MPI it is, if it is one of Sennit's libraries; a program that is linked with one may
// name no other library of that MPI.
std::optional<MpiKind> mpi_of_sennit_library(std::string_view name);

// What a library's name says about OpenMP.
struct OpenMpRuntime {
    const char *library;
    const char *abi; // the ABI it is called through, for people
};
// nullptr: not an OpenMP runtime.
const OpenMpRuntime *classify_openmp_library(std::string_view name);

// The runtime library of an accelerator.
struct Accelerator {
    const char *word; // in options and in the name of Sennit's library
    const char *name; // for people
    const char *library;
};
// nullptr: it is of none.
const Accelerator *classify_accelerator_library(std::string_view name);
const Accelerator *accelerator_from_word(std::string_view word);

} // namespace sennit::tool
