// SPDX-License-Identifier: Apache-2.0
#include "tasks/program/objects.h"

#include "base/loaded_object.h"
#include "base/rank.h"
#include "tasks/program/senders.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

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
        // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): a zero is at `end`
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

bool has_thread_local_data(char *whose, std::size_t size) {
    return each_object([&](const LoadedObject &object) {
               if (!names().is_the_programs(object.path()) || !object.find(PT_TLS))
                   return 0;
               std::snprintf(whose, size, "%s", *object.path() ? object.path() : "the program");
               return 1;
           }) != 0;
}

namespace {

// A page that the loader has made read-only: writable until another one is, or the object ends.
// Slots side by side are in one page, and each change of a page stops the other processors for a
// moment.
class WritablePage {
  public:
    WritablePage() = default;
    ~WritablePage() { protect(); }
    WritablePage(const WritablePage &) = delete;
    WritablePage &operator=(const WritablePage &) = delete;

    bool make_writable(std::uintptr_t address) {
        const std::uintptr_t page = address & ~(size_ - 1);
        if (page == page_)
            return true;
        protect();
        if (!change(page, PROT_READ | PROT_WRITE))
            return false;
        page_ = page;
        return true;
    }

  private:
    bool change(std::uintptr_t page, int protection) const {
        return mprotect(reinterpret_cast<void *>(page), size_, protection) == 0;
    }
    void protect() {
        if (page_ != 0)
            change(page_, PROT_READ);
        page_ = 0;
    }
    const std::uintptr_t size_ = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    std::uintptr_t page_ = 0;
};

void write(const LoadedObject &object, WritablePage &page, std::uintptr_t address,
           const void *target) {
    auto *const slot = reinterpret_cast<const void **>(address);
    if (__atomic_load_n(slot, __ATOMIC_RELAXED) == target)
        return;
    if (object.contains(PT_GNU_RELRO, address) && !page.make_writable(address))
        return; // it goes on as before
    __atomic_store_n(slot, target, __ATOMIC_RELAXED);
}

} // namespace

void rebind(const LoadedObject &object, const void *(*target_of)(const char *symbol)) {
    WritablePage page;
    DynamicSection(object).each_slot([&](const char *symbol, std::uintptr_t slot) {
        if (const void *target = target_of(symbol))
            write(object, page, slot, target);
    });
}

void stand_in_for(const LoadedObject &object, const void *(*target_of)(const char *function)) {
    const auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    DynamicSection(object).each_function([&](const char *name, const ElfW(Sym) & symbol) {
        const void *const target = target_of(name);
        if (!target)
            return;
        const auto first = reinterpret_cast<std::uintptr_t>(&symbol) & ~(page_size - 1);
        const auto end = reinterpret_cast<std::uintptr_t>(&symbol + 1);
        auto *const pages = reinterpret_cast<void *>(first);
        const int protection = object.protection_of(first);
        if (mprotect(pages, end - first, protection | PROT_WRITE) != 0)
            return; // it answers itself, as before
        auto &entry = const_cast<ElfW(Sym) &>(symbol);
        entry.st_info = ELF64_ST_INFO(ELF64_ST_BIND(entry.st_info), STT_FUNC);
        // The loader adds where the object lies.
        __atomic_store_n(&entry.st_value, reinterpret_cast<std::uintptr_t>(target) - object.base(),
                         __ATOMIC_RELEASE);
        mprotect(pages, end - first, protection);
    });
}

} // namespace sennit::program
