// SPDX-License-Identifier: Apache-2.0
// Flushes of a window that a task makes itself, without a helper thread.
//
// A flush may wait for two things. The lock of its epoch may not be granted yet: another rank has
// it, maybe until a task of this very thread sends a message. On its thread, the flush would wait
// for ever. And the target may have to take part, which it does in its next call of MPI: the flush
// would keep the core until then.
//
// Once a flush of a target is over, the lock is granted for the rest of the epoch. If it was short,
// tasks make the next ones themselves, until one is long. Then helpers have them again for a while.
#pragma once

#include "base/spin.h"
#include "mpi/engine/helpers.h"

#include <atomic>
#include <cstdint>

namespace sennit::mpi {

// What is known of flushes. Any thread.
class SeenFlushes {
  public:
    static constexpr std::int64_t kLongNs = 20'000; // some times what a helper takes to wake up
    static constexpr int kWary = 16;

    // A lock of any window begins, with an epoch of which nothing is known.
    void count_lock() { locks_.fetch_add(1, std::memory_order_relaxed); }
    std::uint32_t locks() const { return locks_.load(std::memory_order_relaxed); }

    // May a task make the flush itself?
    bool may_make(const SameCall &flush);
    // Is it known how long it takes in this epoch?
    bool knows(const SameCall &flush);
    // The flush is over, and took so long. `locks`: as many had begun before it.
    void add(const SameCall &flush, std::uint32_t locks, std::int64_t ns);

  private:
    struct Seen {
        SameCall flush;
        std::uint32_t locks;
        bool is_short;
    };
    Seen &seen(const SameCall &flush) SENNIT_REQUIRES(lock_);

    // Relaxed: the program orders a lock before the flushes of its epoch, whoever makes them.
    std::atomic<std::uint32_t> locks_{0};
    SpinLock lock_;
    static constexpr unsigned kSeen = 64;
    Seen seen_[kSeen] SENNIT_GUARDED_BY(lock_) = {};
    int wary_ SENNIT_GUARDED_BY(lock_) = 0; // so many flushes more are left to helpers
};

} // namespace sennit::mpi
