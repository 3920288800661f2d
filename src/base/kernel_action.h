// SPDX-License-Identifier: Apache-2.0
// What rt_sigaction(2) takes, for code that must not call libc's sigaction: libc's is longer, and
// has a restorer of its own.
#pragma once

#include <csignal>
#include <cstdint>

namespace sennit {

struct KernelAction {
    static constexpr unsigned long kHasRestorer = 0x04000000; // SA_RESTORER

    std::uintptr_t handler = reinterpret_cast<std::uintptr_t>(SIG_DFL);
    unsigned long flags = 0;
    void (*restorer)() = nullptr;
    std::uint64_t mask = 0;
};

} // namespace sennit
