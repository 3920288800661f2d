// SPDX-License-Identifier: Apache-2.0
// From a task's entry address to a name: the symbol table of the object that holds it, because outlined
// functions are local symbols that dladdr does not see.
#include "trace/buffer.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sennit::trace {
namespace {

// The object last asked for, mapped.
struct Object {
    char path[1024] = "";
    const unsigned char *bytes = nullptr;
    std::size_t size = 0;
};
Object g_object;

bool map_object(const char *path) {
    if (std::strcmp(g_object.path, path) == 0)
        return g_object.bytes != nullptr;
    if (g_object.bytes)
        munmap(const_cast<unsigned char *>(g_object.bytes), g_object.size);
    g_object.bytes = nullptr;
    std::snprintf(g_object.path, sizeof g_object.path, "%s", path);
    const int file = open(path[0] ? path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (file >= 0 && fstat(file, &status) == 0 &&
        static_cast<std::size_t>(status.st_size) >= sizeof(Elf64_Ehdr)) {
        void *bytes = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ,
                           MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            g_object.bytes = static_cast<const unsigned char *>(bytes);
            g_object.size = static_cast<std::size_t>(status.st_size);
        }
    }
    if (file >= 0)
        close(file);
    return g_object.bytes != nullptr;
}

template <class T>
const T *at(std::uint64_t offset, std::uint64_t count = 1) {
    if (offset > g_object.size || count > (g_object.size - offset) / sizeof(T))
        return nullptr;
    return reinterpret_cast<const T *>(g_object.bytes + offset);
}

// The function symbol that covers `address` (relative to the load base, or absolute).
const char *find_symbol(std::uint64_t address, std::uint64_t base) {
    const auto *header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return nullptr;
    const std::uint64_t wanted = header->e_type == ET_EXEC ? address : address - base;
    const auto *sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    for (unsigned i = 0; sections && i < header->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum)
            continue;
        const std::uint64_t count = sections[i].sh_size / sizeof(Elf64_Sym);
        const auto *symbols = at<Elf64_Sym>(sections[i].sh_offset, count);
        const Elf64_Shdr &strings = sections[sections[i].sh_link];
        for (std::uint64_t s = 0; symbols && s < count; ++s) {
            const Elf64_Sym &symbol = symbols[s];
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || wanted < symbol.st_value ||
                wanted >= symbol.st_value + (symbol.st_size ? symbol.st_size : 1) ||
                symbol.st_name >= strings.sh_size)
                continue;
            return at<char>(strings.sh_offset + symbol.st_name);
        }
    }
    return nullptr;
}

// The last few answers: programs have few task functions and many tasks.
struct Known {
    std::uint64_t entry;
    char name[160];
};
constexpr unsigned kKnown = 256;
Known g_known[kKnown];

void look_up(std::uint64_t entry, char *text, unsigned long size) {
    Dl_info info{};
    const char *name = nullptr;
    if (dladdr(reinterpret_cast<void *>(entry), &info) != 0) {
        const auto base = reinterpret_cast<std::uint64_t>(info.dli_fbase);
        if (map_object(info.dli_fname ? info.dli_fname : ""))
            name = find_symbol(entry, base);
        if (!name && info.dli_saddr == reinterpret_cast<void *>(entry))
            name = info.dli_sname;
    }
    if (!name) {
        std::snprintf(text, size, "task at 0x%llx", static_cast<unsigned long long>(entry));
        return;
    }
    // "main._omp_fn.3" -> "main task 3"; ".omp_task_entry..5" -> "omp_task_entry..5"
    while (*name == '.')
        ++name;
    if (const char *outlined = std::strstr(name, "._omp_fn."))
        std::snprintf(text, size, "%.*s task %s", static_cast<int>(outlined - name), name,
                      outlined + std::strlen("._omp_fn."));
    else
        std::snprintf(text, size, "%s", name);
    for (char *c = text; *c; ++c)
        if (*c == '"' || *c == '\\' || static_cast<unsigned char>(*c) < 0x20)
            *c = '?';
}

} // namespace

void function_name(std::uint64_t entry, char *text, unsigned long size) {
    Known &known = g_known[(entry >> 4) % kKnown];
    if (known.entry != entry || known.name[0] == '\0') {
        look_up(entry, known.name, sizeof known.name);
        known.entry = entry;
    }
    std::snprintf(text, size, "%s", known.name);
}

} // namespace sennit::trace
