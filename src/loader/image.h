// SPDX-License-Identifier: Apache-2.0
// A position-independent ELF file that is mapped once more, as the kernel does it in execve. Each
// rank gets images of its own. All ranks share the pages that nobody writes, by the page cache.
#pragma once

#include "loader/elf_program.h"
#include "loader/mapping.h"

#include <cstdint>
#include <string>

namespace sennit::loader {

struct Image {
    Mapping memory;
    std::string error;       // empty: it is mapped
    std::uintptr_t bias = 0; // what is added to the file's addresses
    std::uintptr_t entry = 0;
    std::uintptr_t segments = 0; // address of the table of segments
    unsigned segment_count = 0;
};

Image map_image(const std::string &path, const ElfProgram &program);

} // namespace sennit::loader
