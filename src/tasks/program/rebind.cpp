// SPDX-License-Identifier: Apache-2.0
#include "tasks/program/rebind.h"

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace sennit::program {
namespace {

void write(const LoadedObject &object, std::uintptr_t address, const void *target) {
    auto *const slot = reinterpret_cast<const void **>(address);
    if (__atomic_load_n(slot, __ATOMIC_RELAXED) == target)
        return;
    const bool locked = object.contains(PT_GNU_RELRO, address);
    const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto *const page = reinterpret_cast<void *>(address & ~(size - 1));
    if (locked && mprotect(page, size, PROT_READ | PROT_WRITE) != 0)
        return; // it goes on as before
    __atomic_store_n(slot, target, __ATOMIC_RELAXED);
    if (locked)
        mprotect(page, size, PROT_READ);
}

} // namespace

void rebind(const LoadedObject &object, const void *(*target_of)(const char *symbol)) {
    DynamicSection(object).each_slot([&](const char *symbol, std::uintptr_t slot) {
        if (const void *target = target_of(symbol))
            write(object, slot, target);
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
