// SPDX-License-Identifier: Apache-2.0
// What the loader has to know of an ELF file before it maps the file. The file is never trusted. If
// something in it does not fit, `refusal` says so in a sentence.
#pragma once

#include <elf.h>
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

// The same for a file of which the first `size` bytes are given. The header, the table of segments
// and the name of the interpreter have to lie in them.
ElfProgram read_program(const std::string &path, const char *bytes, std::size_t size);

} // namespace sennit::loader
