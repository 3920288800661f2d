// SPDX-License-Identifier: Apache-2.0
// The bytes of an object file, each read checked against its size, the functions in its .symtab
// (also those that the dynamic symbols leave out), and its sections.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

} // namespace sennit
