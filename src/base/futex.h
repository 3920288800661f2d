// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking on a 32-bit word (futex(2)): of this process, or in memory that processes
// share.
#pragma once

#include "base/system_call.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace sennit {

using FutexWord = std::atomic<std::uint32_t>;

enum class FutexScope : int { process = FUTEX_PRIVATE_FLAG, node = 0 };

// Sleep while word == expected; returns early on a wake, a signal or, with timeout_ns >= 0, when
// the time is over. Callers re-check their condition. Returns what the kernel does; keeps errno.
inline long futex_wait(FutexWord &word, std::uint32_t expected, std::int64_t timeout_ns = -1,
                       FutexScope scope = FutexScope::process) {
    timespec limit{};
    if (timeout_ns >= 0) {
        limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000);
        limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
    }
    return system_call(SYS_futex, reinterpret_cast<long>(&word),
                       FUTEX_WAIT | static_cast<int>(scope), static_cast<long>(expected),
                       timeout_ns >= 0 ? reinterpret_cast<long>(&limit) : 0, 0, 0);
}

// The point in time that is so far away, of CLOCK_MONOTONIC: what the calls below take.
inline timespec time_in(std::int64_t ns) {
    constexpr std::int64_t second = 1'000'000'000;
    timespec end{};
    clock_gettime(CLOCK_MONOTONIC, &end);
    const std::int64_t rest = end.tv_nsec + ns % second;
    end.tv_sec += static_cast<time_t>(ns / second + rest / second);
    end.tv_nsec = static_cast<long>(rest % second);
    return end;
}

// Sleep while `own`, of this process, and `shared`, of the node, are as expected; at most as long
// as limit_ns. Kernels before 5.16 cannot, and containers may forbid it (EPERM): then a tenth of
// that on `own` alone.
inline void futex_wait_either(FutexWord &own, std::uint32_t own_expected, FutexWord &shared,
                              std::uint32_t shared_expected, std::int64_t limit_ns) {
    struct Waiter { // futex_waitv, which older headers lack
        std::uint64_t expected;
        std::uint64_t address;
        std::uint32_t flags;
        std::uint32_t reserved;
    };
    constexpr long wait_many = 449;         // SYS_futex_waitv, on every architecture
    constexpr std::uint32_t of_32_bits = 2; // FUTEX_32
    const Waiter waiters[2] = {
        {own_expected, reinterpret_cast<std::uintptr_t>(&own), of_32_bits | FUTEX_PRIVATE_FLAG, 0},
        {shared_expected, reinterpret_cast<std::uintptr_t>(&shared), of_32_bits, 0}};
    const timespec end = time_in(limit_ns);
    const long result = system_call(wait_many, reinterpret_cast<long>(waiters), 2, 0,
                                    reinterpret_cast<long>(&end), CLOCK_MONOTONIC, 0);
    if (result == -ENOSYS || result == -EPERM)
        futex_wait(own, own_expected, limit_ns / 10);
}

// As futex_wait, of this process, for one of many sleepers on a word: only a wake of one of its
// `bits` is meant for it.
inline void futex_wait_bits(FutexWord &word, std::uint32_t expected, std::uint32_t bits,
                            std::int64_t limit_ns) {
    const timespec end = time_in(limit_ns);
    system_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
                static_cast<long>(expected), reinterpret_cast<long>(&end), 0,
                static_cast<long>(bits));
}

// All sleepers on the word that have one of `bits`, by one call.
inline void futex_wake_bits(FutexWord &word, std::uint32_t bits) {
    system_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG,
                INT_MAX, 0, 0, static_cast<long>(bits));
}

inline void futex_wake(FutexWord &word, int count = 1, FutexScope scope = FutexScope::process) {
    system_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE | static_cast<int>(scope),
                count, 0, 0, 0);
}

} // namespace sennit
