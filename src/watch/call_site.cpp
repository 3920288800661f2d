// SPDX-License-Identifier: Apache-2.0
#include "watch/call_site.h"

#include "base/loaded_object.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace sennit::watch {
namespace {

constexpr std::size_t kSearched = 8192; // bytes of stack

// Does a call instruction end before the bytes' end?
bool is_behind_call(const unsigned char *end) {
#if defined(__x86_64__)
    if (end[-5] == 0xe8) // call rel32
        return true;
    for (int length = 2; length <= 7; ++length) // call r/m64: ff /2
        if (end[-length] == 0xff && (end[-length + 1] & 0x38) == 0x10)
            return true;
    return false;
#elif defined(__aarch64__)
    std::uint32_t instruction;
    std::memcpy(&instruction, end - 4, 4);
    return (instruction >> 26) == 0x25 || (instruction & 0xfffffc1f) == 0xd63f0000; // bl, blr
#endif
}

} // namespace

CallSites::CallSites(bool (*others)(const char *path)) {
    each_object([=, this](const LoadedObject &object) {
        const char *path = *object.path() ? object.path() : program_invocation_name;
        if (*object.path() && others(path))
            return 0;
        for (const LoadedObject::Segment &segment : object.segments()) {
            if (count_ == kMostSegments)
                break;
            if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
                continue;
            Code &code = code_[count_++];
            code.base = object.base();
            code.low = object.address_of(segment);
            code.high = code.low + segment.p_memsz;
            std::snprintf(code.name, sizeof code.name, "%s", basename(path));
        }
        return 0;
    });
}

const CallSites::Code *CallSites::code_of(std::uintptr_t address) const {
    for (int i = 0; i < count_; ++i)
        if (address >= code_[i].low && address < code_[i].high)
            return &code_[i];
    return nullptr;
}

const void *CallSites::find(const Memory &memory, const void *frame) const {
    if (!frame)
        return nullptr;
    std::uintptr_t words[kSearched / sizeof(std::uintptr_t)];
    const auto start = reinterpret_cast<std::uintptr_t>(frame) & ~(sizeof(std::uintptr_t) - 1);
    const std::size_t got = memory.read(reinterpret_cast<const void *>(start), words, sizeof words);
    for (std::size_t i = 0; i < got / sizeof *words; ++i) {
        const Code *code = code_of(words[i]);
        if (!code || words[i] - code->low < 8)
            continue;
        unsigned char bytes[8];
        if (memory.read(reinterpret_cast<const void *>(words[i] - sizeof bytes), bytes,
                        sizeof bytes) == sizeof bytes &&
            is_behind_call(bytes + sizeof bytes))
            return reinterpret_cast<const void *>(words[i] - 1);
    }
    return nullptr;
}

void CallSites::describe(const void *site, char *text, std::size_t size) const {
    const auto address = reinterpret_cast<std::uintptr_t>(site);
    const Code *code = code_of(address);
    std::snprintf(text, size, "[%s+0x%lx]", code ? code->name : "?",
                  static_cast<unsigned long>(address - (code ? code->base : 0)));
}

} // namespace sennit::watch
