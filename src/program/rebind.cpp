// SPDX-License-Identifier: Apache-2.0
#include "program/rebind.h"

#include "program/dynamic_section.h"

#include <sys/mman.h>
#include <unistd.h>

namespace sennit::program {
namespace {

bool is_slot(const ElfW(Rela) & relocation) {
    const auto type = ELF64_R_TYPE(relocation.r_info);
#if defined(__x86_64__)
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
#endif
}

bool is_read_only(const dl_phdr_info &object, std::uintptr_t address) {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr) &segment = object.dlpi_phdr[i];
        if (segment.p_type == PT_GNU_RELRO &&
            address - object.dlpi_addr - segment.p_vaddr < segment.p_memsz)
            return true;
    }
    return false;
}

void write(const dl_phdr_info &object, std::uintptr_t address, const void *target) {
    auto *const slot = reinterpret_cast<const void **>(address);
    if (__atomic_load_n(slot, __ATOMIC_RELAXED) == target)
        return;
    const bool locked = is_read_only(object, address);
    const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto *const page = reinterpret_cast<void *>(address & ~(size - 1));
    if (locked && mprotect(page, size, PROT_READ | PROT_WRITE) != 0)
        return; // it goes on as before
    __atomic_store_n(slot, target, __ATOMIC_RELAXED);
    if (locked)
        mprotect(page, size, PROT_READ);
}

} // namespace

void rebind(const dl_phdr_info &object, const void *(*target_of)(const char *symbol)) {
    const DynamicSection dynamic(object);
    if (!dynamic.symbols || !dynamic.strings)
        return;
    for (const auto &table : dynamic.relocations)
        for (std::size_t i = 0; i < table.bytes / sizeof(ElfW(Rela)); ++i) {
            const ElfW(Rela) &relocation = table.first[i];
            if (!is_slot(relocation))
                continue;
            const ElfW(Sym) &symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
            if (const void *target = target_of(dynamic.strings + symbol.st_name))
                write(object, object.dlpi_addr + relocation.r_offset, target);
        }
}

} // namespace sennit::program
