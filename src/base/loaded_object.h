// SPDX-License-Identifier: Apache-2.0
// The ELF objects of this process, read where the loader has put them: their segments, and what
// their dynamic sections say. Functions that only the file names are ElfFile's.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <optional>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

// The bytes of an object file, each read checked against its size, the functions in its .symtab
// (also those that the dynamic symbols leave out), and its sections.
class ElfFile {
  public:
    // Of a file that cannot be read, or is none of this machine's, there are no functions.
    explicit ElfFile(const char *path) {
        const int file = open(path, O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (file < 0 || fstat(file, &status) != 0)
            error_ = errno;
        else if (!S_ISREG(status.st_mode))
            error_ = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        else if (status.st_size > 0)
            map(file, static_cast<std::size_t>(status.st_size));
        if (file >= 0)
            close(file);
    }
    int error() const { return error_; } // of reading it; 0: none

    // There is no destructor: the object may be in an array whose items must be trivial.
    void close_file() {
        if (bytes_)
            munmap(const_cast<unsigned char *>(bytes_), size_);
        bytes_ = nullptr;
        size_ = 0;
    }

    // What lies at an offset, aligned or not.
    template <typename T>
    std::optional<T> read(std::uint64_t offset) const {
        if (offset > size_ || size_ - offset < sizeof(T))
            return std::nullopt;
        T value;
        std::memcpy(&value, bytes_ + offset, sizeof value);
        return value;
    }
    // As long as the file is open; null: it does not end in the file.
    const char *read_string(std::uint64_t offset) const {
        if (offset >= size_ || !std::memchr(bytes_ + offset, '\0', size_ - offset))
            return nullptr;
        return reinterpret_cast<const char *>(bytes_ + offset);
    }

    // The name of the first function for which is_it(name, symbol), as long as the file is open;
    // *found is the symbol, whose address counts from the load bias. Null: there is none.
    template <class Predicate>
    const char *find_function(Predicate is_it, ElfW(Sym) *found = nullptr) const {
        const std::span<const ElfW(Shdr)> sections = read_sections();
        for (const ElfW(Shdr) & table : sections) {
            if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections.size())
                continue;
            const ElfW(Shdr) &names = sections[table.sh_link];
            const std::uint64_t count = table.sh_size / sizeof(ElfW(Sym));
            const auto *symbols = view<ElfW(Sym)>(table.sh_offset, count);
            const auto *text = view<char>(names.sh_offset, names.sh_size);
            // Names end in a zero: make sure that the last one does.
            if (!symbols || !text || names.sh_size == 0 || text[names.sh_size - 1] != '\0')
                continue;
            for (const ElfW(Sym) *symbol = symbols; symbol != symbols + count; ++symbol)
                if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
                    symbol->st_name < names.sh_size && is_it(text + symbol->st_name, *symbol)) {
                    if (found)
                        *found = *symbol;
                    return text + symbol->st_name;
                }
        }
        return nullptr;
    }

    // The contents of the section with that name, as long as the file is open; empty: there is
    // none.
    std::string_view section(std::string_view name) const {
        const std::span<const ElfW(Shdr)> sections = read_sections();
        const auto *file = view<ElfW(Ehdr)>(0, 1);
        if (sections.empty() || file->e_shstrndx >= sections.size())
            return {};
        const std::uint64_t names = sections[file->e_shstrndx].sh_offset;
        for (const ElfW(Shdr) & section : sections) {
            const char *const found = read_string(names + section.sh_name);
            const auto *bytes = view<char>(section.sh_offset, section.sh_size);
            if (found && bytes && section.sh_type != SHT_NOBITS && name == found)
                return {bytes, section.sh_size};
        }
        return {};
    }

  private:
    // None of a file that is no object of this machine's.
    std::span<const ElfW(Shdr)> read_sections() const {
        const auto *file = view<ElfW(Ehdr)>(0, 1);
        if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 ||
            file->e_ident[EI_CLASS] != ELFCLASS64 || file->e_shentsize != sizeof(ElfW(Shdr)))
            return {};
        const auto *sections = view<ElfW(Shdr)>(file->e_shoff, file->e_shnum);
        if (!sections)
            return {};
        return {sections, file->e_shnum};
    }

    void map(int file, std::size_t size) {
        void *bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes == MAP_FAILED) {
            error_ = errno;
            return;
        }
        bytes_ = static_cast<const unsigned char *>(bytes);
        size_ = size;
    }

    // `count` Ts at `offset`, or null when the file is too short or they are not aligned.
    template <typename T>
    const T *view(std::uint64_t offset, std::uint64_t count) const {
        if (!bytes_ || offset > size_ || count > (size_ - offset) / sizeof(T) ||
            offset % alignof(T) != 0)
            return nullptr;
        return reinterpret_cast<const T *>(bytes_ + offset);
    }

    const unsigned char *bytes_ = nullptr;
    std::size_t size_ = 0;
    int error_ = 0;
};

// The OpenMP runtimes by the names of their libraries, as objects name them as needed. Python's
// wheels bring copies with names of their own: libgomp-a34b3233.so.1.

enum class OpenMpLibrary { none, libgomp, libomp, ours };

inline OpenMpLibrary openmp_library(const char *name) {
    struct Start {
        const char *text;
        OpenMpLibrary library;
    };
    static constexpr Start starts[] = {{"libgomp", OpenMpLibrary::libgomp},
                                       {"libomp", OpenMpLibrary::libomp},
                                       {"libiomp5", OpenMpLibrary::libomp},
                                       {"libsennit-omp", OpenMpLibrary::ours}};
    for (const Start &start : starts) {
        const std::size_t length = std::strlen(start.text);
        if (std::strncmp(name, start.text, length) == 0 &&
            (name[length] == '.' || name[length] == '-')) // not libomptarget
            return start.library;
    }
    return OpenMpLibrary::none;
}

inline bool is_openmp_library(const char *name) {
    return openmp_library(name) != OpenMpLibrary::none;
}

// The function of libc, or of MPI, that a library of ours stands in front of.

// The next one behind the calling library, in the order in which the loader looks;
// `otherwise(name)` where it finds none. Inlined, and no call at the end of a function: dlsym()
// knows the library by the address that it returns to.
[[gnu::always_inline]] inline void *find_next(const char *name,
                                              void *(*otherwise)(const char *name)) {
    void *const found = dlsym(RTLD_NEXT, name);
    return found ? found : otherwise(name);
}

} // namespace sennit
