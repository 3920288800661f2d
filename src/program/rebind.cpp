// SPDX-License-Identifier: Apache-2.0
#include "program/rebind.h"

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

} // namespace sennit::program
