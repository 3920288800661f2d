// SPDX-License-Identifier: Apache-2.0
// `sennit doctor --gdb`: what gdb has to be told of an address space of virtual ranks. It knows of
// one program in a process, and here are many, each with libraries of its own (src/ranks/loader).
#pragma once

#include "common/process_owner.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

// An ELF file in the memory of a process, and what is added to its addresses there.
struct LoadedImage {
    std::string path;
    std::uint64_t bias;
};

// A line of /proc/<pid>/maps: where a file's beginning lies; nothing for any other line.
std::optional<LoadedImage> parse_mapping(const std::string &line);

// Prints commands for gdb. `process`: a virtual rank, or the host of some. Throws Failure where it
// is neither.
int print_symbol_commands(int process, OtherUser other_user);

} // namespace sennit::tool
