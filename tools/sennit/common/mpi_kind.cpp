// SPDX-License-Identifier: Apache-2.0
#include "common/mpi_kind.h"

#include <algorithm>
#include <iterator>

namespace sennit::tool {
namespace {

constexpr MpiTraits all_traits[] = {
    {MpiKind::mpich, "mpich", "MPICH", "12", "HYDRA|Intel(R) MPI|MVAPICH"},
    {MpiKind::openmpi, "openmpi", "Open MPI", "40", "OpenRTE|Open MPI|PRRTE"},
    {MpiKind::mpiabi, "mpiabi", "MPI's standard ABI", "1", nullptr},
};

// Names without ".so.N". The same base can belong to both: the ABI number decides. The standard
// ABI of MPI 5 has bases of its own.
constexpr std::string_view mpi_bases[] = {
    "libmpi",
    "libmpich",
    "libmpicxx",
    "libmpifort",
    "libmpichcxx",
    "libmpichfort",
    "libmpi_cxx",
    "libmpi_mpifh",
    "libmpi_usempi",
    "libmpi_usempif08",
    "libmpi_abi",
    "libmpifort_abi",
    "libmpi_usempi_ignore_tkr",
};
constexpr std::string_view standard_abi_suffix = "_abi";

constexpr OpenMpRuntime openmp_runtimes[] = {
    {"libgomp.so.1", "GCC's (GOMP_*)"},
    {"libomp.so.5", "LLVM's (__kmpc_*)"},
    {"libomp.so", "LLVM's (__kmpc_*)"},
    {"libiomp5.so", "LLVM's (__kmpc_*), by Intel's name"},
    {"libsennit-omp.so", "either ABI, by Sennit's own name"}, // programs that call sennit.h link it
};

constexpr Accelerator accelerators[] = {
    {"cuda", "CUDA", "libcudart"},
    {"hip", "HIP", "libamdhip64"},
};

// Sennit's own, which programs link to call TAMPI_* and MPIX_*: libsennit-mpich.so.
constexpr std::string_view sennit_prefix = "libsennit-";

std::string_view file_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace

const MpiTraits &traits(MpiKind kind) {
    return all_traits[static_cast<int>(kind)];
}

std::optional<MpiKind> mpi_kind_from_word(std::string_view word) {
    for (const MpiTraits &row : all_traits)
        if (word == row.word)
            return row.kind;
    return std::nullopt;
}

bool launches(MpiKind launcher, MpiKind kind) {
    return launcher == kind || kind == MpiKind::mpiabi;
}

std::optional<MpiKind> mpi_kind_from_version(std::string_view text) {
    for (const MpiTraits &row : all_traits) {
        if (!row.version_words)
            continue;
        std::string_view words = row.version_words;
        while (!words.empty()) {
            const std::size_t bar = words.find('|');
            if (text.find(words.substr(0, bar)) != std::string_view::npos)
                return row.kind;
            words = bar == std::string_view::npos ? "" : words.substr(bar + 1);
        }
    }
    return std::nullopt;
}

std::optional<MpiLibrary> classify_mpi_library(std::string_view path) {
    const std::string_view name = file_name(path);
    const std::size_t suffix = name.find(".so");
    if (suffix == std::string_view::npos)
        return std::nullopt;
    std::string_view base = name.substr(0, suffix);
    // Debian gives Open MPI's Fortran libraries the compiler's name: libmpi_mpifh-gfortran.so.40.
    base = base.substr(0, base.find('-'));
    if (std::find(std::begin(mpi_bases), std::end(mpi_bases), base) == std::end(mpi_bases))
        return std::nullopt;
    MpiLibrary found;
    const bool standard = base.ends_with(standard_abi_suffix);
    std::string_view abi = name.substr(suffix + 3);
    if (!abi.empty())
        abi.remove_prefix(1);
    abi = abi.substr(0, abi.find('.'));
    for (const MpiTraits &row : all_traits)
        if (abi == row.abi && standard == (row.kind == MpiKind::mpiabi))
            found.kind = row.kind;
    return found;
}

// Of MPICH's ABI, MPI_UNWEIGHTED is a variable; Open MPI's handles are variables of its own; the
// standard ABI has neither. A library that has the first two names only is of none of them.
std::optional<MpiLibrary> classify_mpi_marks(const std::vector<std::string> &defined) {
    const auto has = [&](std::string_view name) {
        return std::find(defined.begin(), defined.end(), name) != defined.end();
    };
    if (!has("MPI_Init") || !has("PMPI_Init"))
        return std::nullopt;
    if (has("MPI_UNWEIGHTED"))
        return MpiLibrary{MpiKind::mpich};
    if (has("ompi_mpi_comm_world"))
        return MpiLibrary{MpiKind::openmpi};
    if (has("MPI_Abi_get_version"))
        return MpiLibrary{MpiKind::mpiabi};
    return MpiLibrary{};
}

std::optional<MpiKind> mpi_of_sennit_library(std::string_view path) {
    std::string_view name = file_name(path);
    if (!name.starts_with(sennit_prefix))
        return std::nullopt;
    name.remove_prefix(sennit_prefix.size());
    return mpi_kind_from_word(name.substr(0, name.find(".so")));
}

const OpenMpRuntime *classify_openmp_library(std::string_view path) {
    const std::string_view name = file_name(path);
    const std::string_view base = name.substr(0, name.find(".so"));
    for (const OpenMpRuntime &row : openmp_runtimes) {
        const std::string_view library = row.library;
        if (name == library)
            return &row;
        // A Python wheel's own copy: libgomp-a34b3233.so.1.0.0
        const std::size_t dash = base.find('-');
        if (dash != std::string_view::npos && dash + 1 < base.size() &&
            base.substr(0, dash) == library.substr(0, library.find(".so")) &&
            base.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos)
            return &row;
    }
    return nullptr;
}

const Accelerator *classify_accelerator_library(std::string_view path) {
    const std::string_view name = file_name(path);
    for (const Accelerator &row : accelerators)
        if (name.starts_with(std::string(row.library) + ".so"))
            return &row;
    return nullptr;
}

const Accelerator *accelerator_from_word(std::string_view word) {
    for (const Accelerator &row : accelerators)
        if (word == row.word)
            return &row;
    return nullptr;
}

} // namespace sennit::tool
