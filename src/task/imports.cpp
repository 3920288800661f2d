// SPDX-License-Identifier: Apache-2.0
#include "task/imports.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <initializer_list>
#include <link.h>

namespace sennit::task {
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
    const ElfW(Dyn) *dynamic = nullptr;
    for (int i = 0; i < object.dlpi_phnum; ++i)
        if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic =
                reinterpret_cast<const ElfW(Dyn) *>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    const ElfW(Sym) *symbols = nullptr;
    const char *strings = nullptr;
    const std::uint32_t *gnu_hash = nullptr;
    const std::uint32_t *hash = nullptr;
    for (; dynamic && dynamic->d_tag != DT_NULL; ++dynamic) {
        const auto *target = reinterpret_cast<const void *>(dynamic->d_un.d_ptr);
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            symbols = static_cast<const ElfW(Sym) *>(target);
            break;
        case DT_STRTAB:
            strings = static_cast<const char *>(target);
            break;
        case DT_GNU_HASH:
            gnu_hash = static_cast<const std::uint32_t *>(target);
            break;
        case DT_HASH:
            hash = static_cast<const std::uint32_t *>(target);
            break;
        default:
            break;
        }
    }
    if (!symbols || !strings || (!gnu_hash && !hash))
        return false;
    // Without an absolute address the loader has not relocated the table (the vdso): nothing there.
    if (reinterpret_cast<std::uintptr_t>(symbols) < object.dlpi_addr)
        return false;
    const std::uint32_t count = gnu_hash ? count_symbols(gnu_hash) : hash[1];
    for (std::uint32_t i = 1; i < count; ++i)
        if (symbols[i].st_shndx == SHN_UNDEF && suspends(strings + symbols[i].st_name))
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

} // namespace sennit::task
