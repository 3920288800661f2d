// SPDX-License-Identifier: Apache-2.0
// The contents of a program's stack when the program starts, laid out as the kernel does it in
// execve: argc, argv, environ, the auxiliary vector, and the strings above them. The functions are
// pure, except for the memory that they fill.
#pragma once

#include <cstdint>
#include <elf.h>
#include <string>
#include <vector>

namespace sennit::loader {

// Entries of the auxiliary vector: where the texts of the environment begin and end.
inline constexpr std::uint64_t kEnvironmentTexts = 0x53656e65;
inline constexpr std::uint64_t kEnvironmentEnd = 0x53656e64;

struct FirstStack {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::vector<Elf64_auxv_t> auxiliary; // without AT_NULL; pointers of ours are filled in:
    std::string program;                 // AT_EXECFN
    unsigned char random[16] = {};       // AT_RANDOM
};

// Lays the contents out below `high`. Returns the stack pointer to start with, 16-byte aligned.
// Null: the contents need more than a quarter of the memory between `low` and `high`. The kernel
// has the same rule; the rest is for the program.
char *lay_out(const FirstStack &contents, char *low, char *high);

// Sets the entry of this type, or adds one.
void set_auxiliary(std::vector<Elf64_auxv_t> &vector, std::uint64_t type, std::uint64_t value);

} // namespace sennit::loader
