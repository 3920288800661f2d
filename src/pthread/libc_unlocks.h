// SPDX-License-Identifier: Apache-2.0
// Mutexes that libc unlocks without telling us: a thread that blocks in pthread_cond_wait unlocks
// its mutex there. A task that waits for such a mutex looks again now and then.
//
// The argument is that of parking.h. The thread counts itself, fence, wakes who is in the lot; who
// is woken looks here. A waiter enters the lot, fence, looks here.
#pragma once

#include "pthread/parking.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace sennit::pthread {

namespace detail {
constexpr std::size_t kUnlockCounts = 64;
extern std::atomic<int> g_libc_unlocks[kUnlockCounts]; // hashed by the mutex's address

inline std::atomic<int> &unlock_count(const pthread_mutex_t &mutex) {
    const auto bits = reinterpret_cast<std::uintptr_t>(&mutex) * 0x9E3779B97F4A7C15ull;
    return g_libc_unlocks[bits >> 58];
}
} // namespace detail

// Perhaps: another mutex may have the same hash.
inline bool unlocked_by_libc(const pthread_mutex_t &mutex) {
    return detail::unlock_count(mutex).load(std::memory_order_relaxed) > 0;
}

// While the calling thread is in a call of libc that unlocks `mutex`.
class LibcUnlock {
  public:
    explicit LibcUnlock(const pthread_mutex_t &mutex) : count_(detail::unlock_count(mutex)) {
        count_.fetch_add(1, std::memory_order_relaxed);
        wake(&mutex);
    }
    ~LibcUnlock() { count_.fetch_sub(1, std::memory_order_relaxed); }
    LibcUnlock(const LibcUnlock &) = delete;
    LibcUnlock &operator=(const LibcUnlock &) = delete;

  private:
    std::atomic<int> &count_;
};

} // namespace sennit::pthread
