// SPDX-License-Identifier: Apache-2.0
// A survey in words.
#pragma once

#include "tasks/watch/survey.h"

#include <cstddef>
#include <cstdint>

namespace sennit::watch {

// What there is to say of a survey; malloc'ed, null without memory.
struct Report {
    char *text = nullptr; // lines, each of them a waiter, or the cycle
    char *calls =
        nullptr; // the calls, a line each, for `sennit run` (tools/sennit/hang/hang_watch.cpp)
    bool cycle = false;
    bool certain = false; // Survey::certain

    explicit Report(const Survey &survey);
    ~Report();
    Report(const Report &) = delete;
    Report &operator=(const Report &) = delete;
};

// Where in the program a suspended stack left off: the first return address above a frame that
// leads into code of the program or of a library of its own. Without unwind tables an address that
// an earlier call left behind may be taken for it, so this is a hint for people.

class CallSites {
  public:
    // Of the code of all loaded files but those of which `others` is true.
    explicit CallSites(bool (*others)(const char *path));

    // An address inside the calling instruction, or null.
    const void *find(const VolatileMemory &memory, const void *frame) const;
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
