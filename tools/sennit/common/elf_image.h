// SPDX-License-Identifier: Apache-2.0
// What the dynamic loader would read in a file: machine, interpreter, the libraries it needs and
// where they are searched. Every offset is checked against the file: a damaged file is reported as
// damaged, it never crashes the reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

// What a file, or some files together, import from others.
struct Imports {
    bool brings_more = false;    // what loads libraries or starts programs: dlopen, execve
    bool spawns_several = false; // MPI_Comm_spawn_multiple, by any of its names
    bool makes_tasks = false;    // what creates tasks of OpenMP

    Imports &operator|=(const Imports &other) {
        brings_more |= other.brings_more;
        spawns_several |= other.spawns_several;
        makes_tasks |= other.makes_tasks;
        return *this;
    }
};

struct ElfImage {
    enum class Kind {
        unreadable, // cannot be opened or read; error_number says why
        other,      // not an ELF file
        foreign,    // an ELF file of another class, byte order or machine; machine is set
        damaged,    // an ELF file of this machine whose tables point outside of it
        native      // everything below is filled
    };
    Kind kind = Kind::unreadable;
    int error_number = 0;
    std::string machine; // in words: "64-bit x86-64"
    std::uint16_t type = 0;
    std::optional<std::uint64_t> begin; // the address that the file gives to its own beginning
    std::string interpreter;            // empty: no loader asked for
    bool dynamic = false;               // has a dynamic section
    bool position_independent_program = false;
    Imports imports;
    bool sanitized = false;             // calls the start of AddressSanitizer or a relative of it
    std::vector<std::string> mpi_marks; // what it defines of those of mpi_kind.h
    std::string soname;
    std::vector<std::string> needed;
    std::vector<std::string> rpath;   // DT_RPATH, before LD_LIBRARY_PATH
    std::vector<std::string> runpath; // DT_RUNPATH, after LD_LIBRARY_PATH, switches rpath off
};

ElfImage read_elf(const std::string &path);

// Split a list of folders as the loader does; an empty element is the current folder.
std::vector<std::string> split_path_list(const std::string &list, const char *separators = ":");

} // namespace sennit::tool
