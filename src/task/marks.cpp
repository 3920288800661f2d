// SPDX-License-Identifier: Apache-2.0
#include "task/marks.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>

namespace sennit::task {
namespace {

constexpr char kName[] = "Sennit";
constexpr std::uint32_t kSends = 0x53454e44;

std::size_t padded(std::size_t size, std::size_t align) {
    return (size + align - 1) & ~(align - 1);
}

// One note segment. Sizes come from a file: nothing beyond the segment is touched.
bool lists(const unsigned char *at, std::size_t left, std::size_t align, const void *entry) {
    if (align < 4)
        align = 4;
    while (left >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        std::memcpy(&head, at, sizeof head);
        const std::size_t desc = sizeof head + padded(head.n_namesz, align);
        if (desc > left || head.n_descsz > left - desc)
            return false;
        if (head.n_type == kSends && head.n_namesz == sizeof kName &&
            std::memcmp(at + sizeof head, kName, sizeof kName) == 0) {
            for (std::size_t i = 0; i + 4 <= head.n_descsz; i += 4) {
                const unsigned char *word = at + desc + i;
                std::int32_t distance;
                std::memcpy(&distance, word, sizeof distance);
                if (reinterpret_cast<std::uintptr_t>(word) +
                        static_cast<std::uintptr_t>(distance) ==
                    reinterpret_cast<std::uintptr_t>(entry))
                    return true;
            }
        }
        const std::size_t whole = desc + padded(head.n_descsz, align);
        if (whole > left)
            return false;
        at += whole;
        left -= whole;
    }
    return false;
}

int visit(dl_phdr_info *object, std::size_t, void *entry) {
    bool contains = false;
    const auto address = reinterpret_cast<std::uintptr_t>(entry);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr) &segment = object->dlpi_phdr[i];
        contains |= segment.p_type == PT_LOAD &&
                    address - (object->dlpi_addr + segment.p_vaddr) < segment.p_memsz;
    }
    for (int i = 0; contains && i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr) &segment = object->dlpi_phdr[i];
        if (segment.p_type == PT_NOTE &&
            lists(reinterpret_cast<const unsigned char *>(object->dlpi_addr + segment.p_vaddr),
                  segment.p_memsz, segment.p_align, entry))
            return 1;
    }
    return 0;
}

} // namespace

bool marked_as_sender(const void *entry) {
    return dl_iterate_phdr(visit, const_cast<void *>(entry)) != 0;
}

} // namespace sennit::task
