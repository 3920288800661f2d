// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking on a 32-bit word, private to the process (futex(2)).
#pragma once

#include "base/system_call.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace sennit {

using FutexWord = std::atomic<std::uint32_t>;

// Sleep while word == expected; returns early on a wake, a signal or, with timeout_ns >= 0, when
// the time is over. Callers re-check their condition. Keeps errno.
inline void futex_wait(FutexWord &word, std::uint32_t expected, std::int64_t timeout_ns = -1) {
    timespec limit{};
    if (timeout_ns >= 0) {
        limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000);
        limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
    }
    system_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT_PRIVATE,
                static_cast<long>(expected), timeout_ns >= 0 ? reinterpret_cast<long>(&limit) : 0,
                0, 0);
}

inline void futex_wake(FutexWord &word, int count = 1) {
    system_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE_PRIVATE, count, 0, 0, 0);
}

} // namespace sennit
