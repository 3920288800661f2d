// SPDX-License-Identifier: Apache-2.0
// What the loader has to know of an ELF file before it maps the file. The file is never trusted. If
// something in it does not fit, `refusal` says so in a sentence.
#pragma once

#include <cstdint>
#include <elf.h>
#include <functional>
#include <string>
#include <vector>

namespace sennit::loader {

struct ElfProgram {
    std::string refusal;     // empty: it can be a rank
    std::string interpreter; // empty: it needs none (static-PIE)
    Elf64_Ehdr header{};
    std::vector<Elf64_Phdr> segments;
    bool executable_stack = false; // it asks for one (nested functions of Fortran and GNU C)
};

// `path` is that of a program or of a dynamic linker.
ElfProgram read_program(const std::string &path);

// The same for a file of which read(to, size, offset) reads `size` bytes, or returns false. Tools
// that change a program (patchelf) may put the name of its interpreter at its end.
using FileReader = std::function<bool(void *to, std::size_t size, std::uint64_t offset)>;
ElfProgram read_program(const std::string &path, const FileReader &read);

} // namespace sennit::loader
