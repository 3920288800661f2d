// SPDX-License-Identifier: Apache-2.0
// Stands before src/base/futex.h: sleeping and waking are steps of the explorer.
#pragma once

#include "base/spin.h"

#include <cstdint>
#include <linux/futex.h>

namespace sennit {

using FutexWord = Atomic<std::uint32_t>;

enum class FutexScope { process, node };

inline long futex_wait(FutexWord &word, std::uint32_t expected, std::int64_t timeout_ns = -1,
                       FutexScope = FutexScope::process) {
    schedules::futex_wait(word.word(), expected, timeout_ns >= 0);
    return 0; // no signal ends it
}
inline void futex_wait_bits(FutexWord &word, std::uint32_t expected, std::uint32_t bits,
                            std::int64_t) {
    schedules::futex_wait(word.word(), expected, true, bits);
}
inline void futex_wake_bits(FutexWord &word, std::uint32_t bits) {
    schedules::futex_wake(word.word(), 1 << 10, bits);
}
inline void futex_wake(FutexWord &word, int count = 1, FutexScope = FutexScope::process) {
    schedules::futex_wake(word.word(), count);
}
void futex_wait_either(FutexWord &own, std::uint32_t own_expected, FutexWord &shared,
                       std::uint32_t shared_expected, std::int64_t limit_ns);

} // namespace sennit
