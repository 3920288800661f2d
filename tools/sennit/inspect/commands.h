// SPDX-License-Identifier: Apache-2.0
// The commands that look at a machine, at a process and at a pool.
#pragma once

#include "common/process_owner.h"
#include "launch/environment.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

// `sennit doctor`: in plain words, what was found, what would happen, what is missing.

// Report on this installation and machine and, when the spec names one, on a program. Returns 0
// when nothing is missing, else 2.
int run_doctor(const JobSpec &spec);

// `sennit doctor --pid`: become a gdb that lists the suspended tasks of a running process.
[[noreturn]] void examine_process(int process, OtherUser other_user,
                                  const Installation &installation);

// `sennit doctor --gdb`: what gdb has to be told of an address space of virtual ranks. It knows of
// one program in a process, and here are many, each with libraries of its own (src/ranks/loader).

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

// `sennit top`: who uses which core of a pool, or of the user's own board.
struct TopRequest {
    std::string pool; // empty: programs in no pool
    bool once = false, json = false;
    bool html = false; // a page of it (live_page.h)
};

int run_top(const TopRequest &request);

} // namespace sennit::tool
