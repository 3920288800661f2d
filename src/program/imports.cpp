// SPDX-License-Identifier: Apache-2.0
#include "program/imports.h"

#include "program/dynamic_section.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <initializer_list>
#include <link.h>

namespace sennit::program {
namespace {

bool starts_with(const char *text, const char *prefix) {
    return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

bool is_system_library(const char *path) {
    const char *slash = std::strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (const char *known :
         {"libc.so", "libm.so", "ld-linux", "libdl.so", "libpthread.so", "librt.so", "libstdc++.so",
          "libgcc_s.so", "libgfortran.so", "libquadmath.so", "linux-vdso", "libgomp.so",
          "libomp.so", "libiomp5.so", "libsennit-omp.so"})
        if (starts_with(name, known))
            return true;
    return false;
}

bool suspends(const char *symbol) {
    for (const char *name : {"dlsym", "dlvsym", "omp_fulfill_event", "GOMP_taskyield",
                             "__kmpc_omp_taskyield", "MPI_Init", "MPI_Init_thread"})
        if (std::strcmp(symbol, name) == 0)
            return true;
    if (std::strcmp(symbol, "sennit_version") == 0)
        return false;
    return starts_with(symbol, "sennit_") || starts_with(symbol, "alpi_");
}

// How many dynamic symbols there are, as only the hash table tells. Most imports stand before those
// that it finds, but not all: linkers hash some that are undefined.
std::uint32_t count_symbols(const std::uint32_t *gnu_hash) {
    const std::uint32_t bucket_count = gnu_hash[0];
    const std::uint32_t first_hashed = gnu_hash[1];
    const std::uint32_t *buckets = gnu_hash + 4 + gnu_hash[2] * (sizeof(ElfW(Addr)) / 4);
    const std::uint32_t *chains = buckets + bucket_count;
    const std::uint32_t last_chain =
        bucket_count > 0 ? *std::max_element(buckets, buckets + bucket_count) : 0;
    if (last_chain < first_hashed)
        return first_hashed;
    std::uint32_t last = last_chain;
    while ((chains[last - first_hashed] & 1) == 0) // its lowest bit ends a chain
        ++last;
    return last + 1;
}

bool object_suspends(const dl_phdr_info &object) {
    const DynamicSection section(object);
    if (!section.symbols || !section.strings || (!section.gnu_hash && !section.hash))
        return false;
    if (!section.relocated) // the vdso: nothing there
        return false;
    const std::uint32_t count =
        section.gnu_hash ? count_symbols(section.gnu_hash) : section.hash[1];
    for (std::uint32_t i = 1; i < count; ++i)
        if (section.symbols[i].st_shndx == SHN_UNDEF &&
            suspends(section.strings + section.symbols[i].st_name))
            return true;
    return false;
}

int visit(dl_phdr_info *object, std::size_t, void *) {
    return !is_system_library(object->dlpi_name) && object_suspends(*object);
}

} // namespace

bool process_may_suspend() {
    return dl_iterate_phdr(visit, nullptr) != 0;
}

} // namespace sennit::program
