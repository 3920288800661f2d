// SPDX-License-Identifier: Apache-2.0
// The ELF objects of this process, read where the loader has put them: their segments, and what
// their dynamic sections say. Functions that only the file names are elf_file.h's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <span>
#include <sys/mman.h>

namespace sennit {

class LoadedObject {
  public:
    using Segment = ElfW(Phdr);

    explicit LoadedObject(const dl_phdr_info &info) : info_(info) {}

    std::uintptr_t base() const { return info_.dlpi_addr; }
    const char *path() const { return info_.dlpi_name; }         // "" of the program
    unsigned long long loads() const { return info_.dlpi_adds; } // of the process, until now

    std::span<const Segment> segments() const { return {info_.dlpi_phdr, info_.dlpi_phnum}; }
    std::uintptr_t address_of(const Segment &segment) const { return base() + segment.p_vaddr; }
    bool contains(const Segment &segment, std::uintptr_t address) const {
        return address - address_of(segment) < segment.p_memsz;
    }
    const Segment *find(std::uint32_t type) const { // null: it has none
        for (const Segment &segment : segments())
            if (segment.p_type == type)
                return &segment;
        return nullptr;
    }
    // Does a segment of this type contain the address?
    bool contains(std::uint32_t type, std::uintptr_t address) const {
        return std::ranges::any_of(segments(), [&](const Segment &segment) {
            return segment.p_type == type && contains(segment, address);
        });
    }

    // As PROT_...: what the segment there may do.
    int protection_of(std::uintptr_t address) const {
        int protection = 0;
        for (const Segment &segment : segments())
            if (segment.p_type == PT_LOAD && contains(segment, address))
                protection = ((segment.p_flags & PF_R) ? PROT_READ : 0) |
                             ((segment.p_flags & PF_W) ? PROT_WRITE : 0) |
                             ((segment.p_flags & PF_X) ? PROT_EXEC : 0);
        return protection;
    }

  private:
    const dl_phdr_info &info_;
};

// visit(object) for each, until it returns something else than 0; that is the result. The loader's
// lock is held meanwhile.
template <class Visit>
int each_object(Visit visit) {
    return dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *given) -> int {
            return (*static_cast<Visit *>(given))(LoadedObject(*info));
        },
        &visit);
}

// The object that contains the address; null: made at run time. Lock-free in glibc: the caller may
// hold anything.
inline const link_map *object_of(const void *address) {
    dl_find_object found{};
    return _dl_find_object(const_cast<void *>(address), &found) == 0 ? found.dlfo_link_map
                                                                     : nullptr;
}

class DynamicSection {
  public:
    explicit DynamicSection(const LoadedObject &object) : base_(object.base()) {
        if (const LoadedObject::Segment *segment = object.find(PT_DYNAMIC))
            read(reinterpret_cast<const ElfW(Dyn) *>(object.address_of(*segment)));
    }
    explicit DynamicSection(const link_map &object) : base_(object.l_addr) { read(object.l_ld); }

    // is_it(name) of a library that the object names as needed: is it true of one?
    template <class Predicate>
    bool needs(Predicate is_it) const {
        for (const ElfW(Dyn) *entry = entries_; strings_ && entry && entry->d_tag != DT_NULL;
             ++entry)
            if (entry->d_tag == DT_NEEDED && is_it(strings_ + entry->d_un.d_val))
                return true;
        return false;
    }

    // The same of a symbol that it takes from others. The vdso, which the loader leaves as it is,
    // takes none.
    template <class Predicate>
    bool imports(Predicate is_it) const {
        if (!symbols_ || !strings_ || !relocated_)
            return false;
        for (std::uint32_t i = 1, count = count_symbols(); i < count; ++i)
            if (symbols_[i].st_shndx == SHN_UNDEF && is_it(strings_ + symbols_[i].st_name))
                return true;
        return false;
    }

    // visit(name, symbol) for each function that others can find in the object.
    template <class Visit>
    void each_function(Visit visit) const {
        if (!symbols_ || !strings_ || !relocated_)
            return;
        for (std::uint32_t i = 1, count = count_symbols(); i < count; ++i) {
            const ElfW(Sym) &symbol = symbols_[i];
            const auto type = ELF64_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC) &&
                ELF64_ST_BIND(symbol.st_info) != STB_LOCAL)
                visit(strings_ + symbol.st_name, symbol);
        }
    }

    // visit(symbol, address) for each slot of the GOT that the loader fills with the address of
    // another object's function.
    template <class Visit>
    void each_slot(Visit visit) const {
        if (!symbols_ || !strings_)
            return;
        for (const Relocations &table : relocations_)
            for (std::size_t i = 0; table.first && i < table.bytes / sizeof(ElfW(Rela)); ++i) {
                const ElfW(Rela) &relocation = table.first[i];
                if (is_slot(relocation))
                    visit(strings_ + symbols_[ELF64_R_SYM(relocation.r_info)].st_name,
                          base_ + relocation.r_offset);
            }
    }

  private:
    struct Relocations {
        const ElfW(Rela) *first = nullptr;
        std::size_t bytes = 0;
    };

    static bool is_slot(const ElfW(Rela) & relocation) {
        const auto type = ELF64_R_TYPE(relocation.r_info);
#if defined(__x86_64__)
        return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
        return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
#endif
    }

    void read(const ElfW(Dyn) * entries) {
        entries_ = entries;
        for (const ElfW(Dyn) *entry = entries; entry && entry->d_tag != DT_NULL; ++entry) {
            const auto value = static_cast<std::uintptr_t>(entry->d_un.d_val);
            // glibc has made addresses of distances (not in the vdso), other loaders have not.
            const auto *target =
                reinterpret_cast<const void *>(value < base_ ? base_ + value : value);
            switch (entry->d_tag) {
            case DT_SYMTAB:
                relocated_ = value >= base_;
                symbols_ = static_cast<const ElfW(Sym) *>(target);
                break;
            case DT_STRTAB:
                strings_ = static_cast<const char *>(target);
                break;
            case DT_GNU_HASH:
                gnu_hash_ = static_cast<const std::uint32_t *>(target);
                break;
            case DT_HASH:
                hash_ = static_cast<const std::uint32_t *>(target);
                break;
            case DT_JMPREL:
                relocations_[0].first = static_cast<const ElfW(Rela) *>(target);
                break;
            case DT_PLTRELSZ:
                relocations_[0].bytes = value;
                break;
            case DT_RELA:
                relocations_[1].first = static_cast<const ElfW(Rela) *>(target);
                break;
            case DT_RELASZ:
                relocations_[1].bytes = value;
                break;
            default:
                break;
            }
        }
    }

    // How many dynamic symbols there are, as only a hash table tells. Most imports stand before
    // those that it finds, but not all: linkers hash some that are undefined.
    std::uint32_t count_symbols() const {
        if (!gnu_hash_)
            return hash_ ? hash_[1] : 0;
        const std::uint32_t bucket_count = gnu_hash_[0];
        const std::uint32_t first_hashed = gnu_hash_[1];
        const std::uint32_t *buckets = gnu_hash_ + 4 + gnu_hash_[2] * (sizeof(ElfW(Addr)) / 4);
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

    std::uintptr_t base_;
    const ElfW(Dyn) *entries_ = nullptr;
    const ElfW(Sym) *symbols_ = nullptr;
    const char *strings_ = nullptr;
    const std::uint32_t *gnu_hash_ = nullptr;
    const std::uint32_t *hash_ = nullptr;
    Relocations relocations_[2]; // of the PLT, and the others
    bool relocated_ = true;      // the loader has made addresses of the distances
};

} // namespace sennit
