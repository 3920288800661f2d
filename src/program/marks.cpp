// SPDX-License-Identifier: Apache-2.0
#include "program/marks.h"

#include "base/loaded_object.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sennit::program {
namespace {

constexpr char kName[] = "Sennit";
constexpr std::uint32_t kSends = 0x53454e44;

std::size_t padded(std::size_t size, std::size_t align) {
    return (size + align - 1) & ~(align - 1);
}

struct Search {
    const void *entry;
    bool noted = false; // its object has a note of ours
    bool listed = false;
};

// One note segment. Sizes come from a file: nothing beyond the segment is touched.
void look_at(const unsigned char *at, std::size_t left, std::size_t align, Search &search) {
    if (align < 4)
        align = 4;
    while (left >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        std::memcpy(&head, at, sizeof head);
        const std::size_t desc = sizeof head + padded(head.n_namesz, align);
        if (desc > left || head.n_descsz > left - desc)
            return;
        if (head.n_type == kSends && head.n_namesz == sizeof kName &&
            std::memcmp(at + sizeof head, kName, sizeof kName) == 0) {
            search.noted = true;
            for (std::size_t i = 0; i + 4 <= head.n_descsz; i += 4) {
                const unsigned char *word = at + desc + i;
                std::int32_t distance;
                std::memcpy(&distance, word, sizeof distance);
                if (reinterpret_cast<std::uintptr_t>(word) +
                        static_cast<std::uintptr_t>(distance) ==
                    reinterpret_cast<std::uintptr_t>(search.entry))
                    search.listed = true;
            }
        }
        const std::size_t whole = desc + padded(head.n_descsz, align);
        if (whole > left)
            return;
        at += whole;
        left -= whole;
    }
}

} // namespace

std::optional<bool> marked_as_sender(const void *entry) {
    Search search{entry};
    each_object([&search](const LoadedObject &object) {
        if (!object.contains(PT_LOAD, reinterpret_cast<std::uintptr_t>(search.entry)))
            return false;
        for (const LoadedObject::Segment &segment : object.segments())
            if (segment.p_type == PT_NOTE)
                look_at(reinterpret_cast<const unsigned char *>(object.address_of(segment)),
                        segment.p_memsz, segment.p_align, search);
        return true;
    });
    return search.noted ? std::optional(search.listed) : std::nullopt;
}

} // namespace sennit::program
