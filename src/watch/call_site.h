// SPDX-License-Identifier: Apache-2.0
// Where in the program a suspended stack left off: the first return address above a frame that
// leads into code of the program or of a library of its own. Without unwind tables an address that
// an earlier call left behind may be taken for it, so this is a hint for people.
#pragma once

#include "watch/memory.h"

#include <cstddef>
#include <cstdint>

namespace sennit::watch {

class CallSites {
  public:
    // Of the code of all loaded files but those of which `others` is true.
    explicit CallSites(bool (*others)(const char *path));

    // An address inside the calling instruction, or null.
    const void *find(const Memory &memory, const void *frame) const;
    // "[program+0x1234]", which addr2line -e program 0x1234 understands.
    void describe(const void *site, char *text, std::size_t size) const;

  private:
    struct Code { // an executable segment
        std::uintptr_t low;
        std::uintptr_t high;
        std::uintptr_t base;
        char name[64];
    };
    static constexpr int kMostSegments = 64;
    const Code *code_of(std::uintptr_t address) const;

    Code code_[kMostSegments];
    int count_ = 0;
};

} // namespace sennit::watch
