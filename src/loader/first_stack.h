// SPDX-License-Identifier: Apache-2.0
// What a program finds on its stack when it starts, as the kernel lays it out in execve: argc,
// argv, environ, the auxiliary vector; above it the strings. Pure but for the memory that it fills.
#pragma once

#include <elf.h>
#include <string>
#include <vector>

namespace sennit::loader {

struct FirstStack {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::vector<Elf64_auxv_t> auxiliary; // without AT_NULL; pointers of ours are filled in:
    std::string program;                 // AT_EXECFN
    unsigned char random[16] = {};       // AT_RANDOM
};

// Lays it out below `high`; the stack pointer to start with, 16-byte aligned. Null: it needs more
// than a quarter of what lies above `low` (as for the kernel, the rest is the program's).
char *lay_out(const FirstStack &contents, char *low, char *high);

// Sets the entry of that type, or adds it.
void set_auxiliary(std::vector<Elf64_auxv_t> &vector, std::uint64_t type, std::uint64_t value);

} // namespace sennit::loader
