// SPDX-License-Identifier: Apache-2.0
// What the dynamic section of a loaded object says about its symbols and relocations. For this room
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <link.h>

namespace sennit::program {

struct DynamicSection {
    const ElfW(Sym) *symbols = nullptr;
    const char *strings = nullptr;
    const std::uint32_t *gnu_hash = nullptr;
    const std::uint32_t *hash = nullptr;
    struct {
        const ElfW(Rela) *first = nullptr;
        std::size_t bytes = 0;
    } relocations[2];      // of the PLT, and the others
    bool relocated = true; // the loader has made addresses of the distances

    explicit DynamicSection(const dl_phdr_info &object) {
        const std::uintptr_t base = object.dlpi_addr;
        const ElfW(Dyn) *dynamic = nullptr;
        for (int i = 0; i < object.dlpi_phnum; ++i)
            if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
                dynamic = reinterpret_cast<const ElfW(Dyn) *>(base + object.dlpi_phdr[i].p_vaddr);
        for (; dynamic && dynamic->d_tag != DT_NULL; ++dynamic) {
            const auto value = static_cast<std::uintptr_t>(dynamic->d_un.d_val);
            // glibc has made addresses of distances (not in the vdso), other loaders have not.
            const auto *target =
                reinterpret_cast<const void *>(value < base ? base + value : value);
            switch (dynamic->d_tag) {
            case DT_SYMTAB:
                relocated = value >= base;
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
            case DT_JMPREL:
                relocations[0].first = static_cast<const ElfW(Rela) *>(target);
                break;
            case DT_PLTRELSZ:
                relocations[0].bytes = value;
                break;
            case DT_RELA:
                relocations[1].first = static_cast<const ElfW(Rela) *>(target);
                break;
            case DT_RELASZ:
                relocations[1].bytes = value;
                break;
            default:
                break;
            }
        }
    }
};

} // namespace sennit::program
