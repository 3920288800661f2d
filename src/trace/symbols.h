// SPDX-License-Identifier: Apache-2.0
// From the address of a task's function to the name that a person reads on the timeline.
//
// First the dynamic symbols (dladdr); compilers' outlined functions are local, so then the .symtab
// of the object file; in a stripped object "module+0x...".
#pragma once

#include "base/elf_file.h"
#include "trace/array.h"

#include <cstdint>

namespace sennit::trace {

// "main._omp_fn.3" -> "main task 3"; C++ names are demangled; no dots around the name. malloc'ed,
// null without memory.
char *readable_name(const char *symbol);

class Symbols {
  public:
    Symbols() = default;
    ~Symbols();
    Symbols(const Symbols &) = delete;
    Symbols &operator=(const Symbols &) = delete;

    // Lives as long as this object. 0 is "task".
    const char *name_of(std::uint64_t address);
    // The file that holds it, and where in it, counted from the load bias; null when unknown.
    static const char *module_of(std::uint64_t address, std::uint64_t *offset);

  private:
    struct Module { // an object file, mapped
        const void *link_map;
        ElfFile file;
    };
    const char *find(std::uint64_t address);
    const Module *module_of(const void *link_map, const char *path);
    AddressMap<const char *> names_;
    Array<Module> modules_;
    Array<char *> owned_;
};

} // namespace sennit::trace
