// SPDX-License-Identifier: Apache-2.0
// Which shared libraries a program would get, found the way ld.so finds them: breadth first; for
// each name DT_RPATH (of the library that needs it, then of those that brought it in), then
// LD_LIBRARY_PATH, DT_RUNPATH, the loader's cache, the system's folders. Left out on purpose, for
// they do not change which MPI or OpenMP is reached: glibc-hwcaps variants, LD_PRELOAD, dlopen.
#pragma once

#include "common/elf_image.h"
#include "common/mpi_kind.h"

#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

struct LoadedLibrary {
    std::string name; // as the program or library that needs it calls it
    std::string path; // where the loader finds it; empty: nowhere
    std::string needed_by;
    bool found_by_rpath = false; // DT_RPATH decided, LD_LIBRARY_PATH had no say
    Imports imports = {};
    std::optional<MpiLibrary> mpi = std::nullopt; // by its name, else by what it defines
};

std::vector<LoadedLibrary> find_libraries(const std::string &program, const ElfImage &image,
                                          const std::vector<std::string> &library_path);

// What the loader would take for a name in LD_PRELOAD; empty: nothing.
std::string find_preloaded(const std::string &name, const std::vector<std::string> &library_path);

} // namespace sennit::tool
