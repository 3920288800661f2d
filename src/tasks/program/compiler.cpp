// SPDX-License-Identifier: Apache-2.0
#include "tasks/program/compiler.h"

#include "base/loaded_object.h"
#include "base/virtual_rank.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace sennit::program {
namespace {

constexpr int kFirstWithAllMemory = 13;

// "GCC: (Debian 12.2.0-14) 12.2.0": the vendor's words may have parentheses of their own. 0: it was
// another compiler.
int version_of_gcc(const char *compiler) {
    if (std::strncmp(compiler, "GCC: (", 6) != 0)
        return 0;
    int open = 0;
    for (const char *at = compiler + 5; *at; ++at) {
        open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (open == 0)
            return static_cast<int>(std::strtol(at + 1, nullptr, 10));
    }
    return 0;
}

// The newest GCC among the compilers whose names, each with a zero behind it, are in `names`.
int newest_gcc(std::string_view names) {
    int newest = 0;
    while (!names.empty()) {
        const std::size_t end = names.find('\0');
        if (end == std::string_view::npos)
            break; // the section is damaged
        newest = std::max(newest, version_of_gcc(names.data()));
        names.remove_prefix(end + 1);
    }
    return newest;
}

bool look(const link_map *object) {
    ElfFile file(object && *object->l_name ? object->l_name : program_file());
    const int newest = newest_gcc(file.section(".comment"));
    file.close_file();
    return newest == 0 || newest >= kFirstWithAllMemory;
}

// What is known of objects. A place that is taken stays so: an object that is loaded where another
// one was counts as that one. Their descriptions lie at even addresses: the last bit is the answer.
constexpr int kMostObjects = 16;
std::atomic<std::uintptr_t> g_known[kMostObjects];

} // namespace

bool may_name_all_memory(const void *code) {
    const link_map *const object = code ? object_of(code) : nullptr;
    const std::uintptr_t key = reinterpret_cast<std::uintptr_t>(object) | 2;
    for (std::atomic<std::uintptr_t> &place : g_known) {
        std::uintptr_t known = place.load(std::memory_order_relaxed);
        if (known == 0) {
            const std::uintptr_t answer = key | (look(object) ? 1 : 0);
            if (place.compare_exchange_strong(known, answer, std::memory_order_relaxed))
                return (answer & 1) != 0;
        }
        if ((known & ~std::uintptr_t{1}) == key)
            return (known & 1) != 0;
    }
    return look(object);
}

} // namespace sennit::program
