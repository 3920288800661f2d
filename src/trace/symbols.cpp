// SPDX-License-Identifier: Apache-2.0
#include "trace/symbols.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sennit::trace {
namespace {

// `count` Ts at `offset` of a file, or null when the file is too short or they are not aligned.
template <typename T>
const T *view(const unsigned char *bytes, std::size_t size, std::uint64_t offset,
              std::uint64_t count) {
    if (offset > size || count > (size - offset) / sizeof(T) || offset % alignof(T) != 0)
        return nullptr;
    return reinterpret_cast<const T *>(bytes + offset);
}

// The function in the .symtab that contains `address`, counted from the load bias.
const char *find_in_symtab(const unsigned char *bytes, std::size_t size, std::uint64_t address) {
    const auto *file = view<ElfW(Ehdr)>(bytes, size, 0, 1);
    if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 ||
        file->e_ident[EI_CLASS] != ELFCLASS64 || file->e_shentsize != sizeof(ElfW(Shdr)))
        return nullptr;
    const auto *sections = view<ElfW(Shdr)>(bytes, size, file->e_shoff, file->e_shnum);
    if (!sections)
        return nullptr;
    for (int i = 0; i < file->e_shnum; ++i) {
        const ElfW(Shdr) &table = sections[i];
        if (table.sh_type != SHT_SYMTAB || table.sh_link >= file->e_shnum)
            continue;
        const ElfW(Shdr) &names = sections[table.sh_link];
        const std::uint64_t count = table.sh_size / sizeof(ElfW(Sym));
        const auto *symbols = view<ElfW(Sym)>(bytes, size, table.sh_offset, count);
        const auto *text = view<char>(bytes, size, names.sh_offset, names.sh_size);
        // Names end in a zero: make sure that the last one does.
        if (!symbols || !text || names.sh_size == 0 || text[names.sh_size - 1] != '\0')
            continue;
        for (const ElfW(Sym) *symbol = symbols; symbol != symbols + count; ++symbol)
            if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
                symbol->st_name < names.sh_size && address >= symbol->st_value &&
                (address < symbol->st_value + symbol->st_size || address == symbol->st_value))
                return text + symbol->st_name;
    }
    return nullptr;
}

char *print(const char *format, const char *text, std::uint64_t number) {
    char *result = nullptr;
    return asprintf(&result, format, text, static_cast<unsigned long long>(number)) < 0 ? nullptr
                                                                                        : result;
}

} // namespace

char *readable_name(const char *symbol) {
    symbol += std::strspn(symbol, ".");
    char *name = strdup(symbol);
    if (!name)
        return nullptr;
    // GCC: <function>._omp_fn.<number>, maybe with the suffix of a clone.
    char *outlined = std::strstr(name, "._omp_fn.");
    const std::uint64_t number = outlined ? std::strtoull(outlined + 9, nullptr, 10) : 0;
    if (outlined)
        *outlined = '\0';
    if (std::strncmp(name, "_Z", 2) == 0) {
        int status = 0;
        if (char *demangled = abi::__cxa_demangle(name, nullptr, nullptr, &status)) {
            std::free(name);
            name = demangled;
        }
    }
    for (std::size_t end = std::strlen(name); end > 1 && name[end - 1] == '.';)
        name[--end] = '\0';
    if (!outlined)
        return name;
    char *result = print("%s task %llu", name, number);
    std::free(name);
    return result;
}

Symbols::~Symbols() {
    for (const Module &module : modules_)
        if (module.bytes)
            munmap(const_cast<unsigned char *>(module.bytes), module.size);
    for (char *name : owned_)
        std::free(name);
}

const char *Symbols::name_of(std::uint64_t address) {
    if (address == 0)
        return "task";
    if (const char *known = names_.get(address))
        return known;
    const char *name = find(address);
    names_.set(address, name);
    return name;
}

const Symbols::Module *Symbols::module_of(const void *link_map, const char *path) {
    for (const Module &known : modules_)
        if (known.link_map == link_map)
            return &known;
    Module fresh{link_map, nullptr, 0};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        struct stat status;
        if (fstat(file, &status) == 0 && status.st_size > 0) {
            fresh.size = static_cast<std::size_t>(status.st_size);
            void *bytes = mmap(nullptr, fresh.size, PROT_READ, MAP_PRIVATE, file, 0);
            if (bytes != MAP_FAILED)
                fresh.bytes = static_cast<const unsigned char *>(bytes);
        }
        close(file);
    }
    return modules_.push(fresh) ? modules_.end() - 1 : nullptr;
}

const char *Symbols::module_of(std::uint64_t address, std::uint64_t *offset) {
    static char program[512];
    Dl_info info{};
    link_map *map = nullptr;
    if (dladdr1(reinterpret_cast<void *>(address), &info, reinterpret_cast<void **>(&map),
                RTLD_DL_LINKMAP) == 0 ||
        !map)
        return nullptr;
    *offset = address - map->l_addr;
    if (*map->l_name)
        return map->l_name;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    return length > 0 ? program : nullptr;
}

const char *Symbols::find(std::uint64_t address) {
    Dl_info info{};
    link_map *map = nullptr;
    char *name = nullptr;
    const bool in_object = dladdr1(reinterpret_cast<void *>(address), &info,
                                   reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) != 0;
    if (in_object && info.dli_sname && info.dli_saddr == reinterpret_cast<void *>(address)) {
        name = readable_name(info.dli_sname);
    } else if (in_object && map) {
        // The program itself has no name in the list.
        const char *path = *map->l_name ? map->l_name : "/proc/self/exe";
        const std::uint64_t offset = address - map->l_addr;
        const Module *module = module_of(map, path);
        const char *symbol =
            module && module->bytes ? find_in_symtab(module->bytes, module->size, offset) : nullptr;
        name = symbol ? readable_name(symbol)
                      : print("%s+0x%llx",
                              *map->l_name ? basename(map->l_name) : program_invocation_short_name,
                              offset);
    } else {
        name = print("%s0x%llx", "", address);
    }
    if (!name || !owned_.push(name)) {
        std::free(name);
        return "task";
    }
    return name;
}

} // namespace sennit::trace
