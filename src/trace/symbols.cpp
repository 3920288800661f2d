// SPDX-License-Identifier: Apache-2.0
#include "trace/symbols.h"

#include "base/virtual_rank.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace sennit::trace {
namespace {

// The function that contains `address`, counted from the load bias.
const char *find_function_at(const ElfFile &file, std::uint64_t address) {
    return file.find_function([&](const char *, const ElfW(Sym) & symbol) {
        return address >= symbol.st_value &&
               (address < symbol.st_value + symbol.st_size || address == symbol.st_value);
    });
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
    for (Module &module : modules_)
        module.file.close_file();
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
    const Module fresh{link_map, ElfFile(path)};
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
    if (is_virtual_rank())
        return program_file();
    const ssize_t length = readlink(program_file(), program, sizeof program - 1);
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
        const char *path = *map->l_name ? map->l_name : program_file();
        const std::uint64_t offset = address - map->l_addr;
        const Module *module = module_of(map, path);
        const char *symbol = module ? find_function_at(module->file, offset) : nullptr;
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
