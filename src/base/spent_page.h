// SPDX-License-Identifier: Apache-2.0
// Where a process tells others how its threads spend their time: a place in shared memory
// (node/board.h), or in its own until it has one there.
//
// One thread writes at a time, under a lock of the writing process. Readers take no lock: they read
// again if the number of the version has changed, or is odd, for then a writer is at work.
#pragma once

#include "base/spent.h"
#include "base/spin.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sennit {

// The times of all threads since counting began, and what goes on from `at_ns` on. A thread counts
// from the begin on, also before it is there: what was lost then is in `late`.
struct SpentNow {
    std::int64_t begin_ns = 0; // CLOCK_MONOTONIC
    std::int64_t at_ns = 0;
    std::int64_t threads = 0; // 0: nothing is counted
    Spent spent;
    Spent late;
    Spent beyond; // what one more thread would have
    Spent doing;  // in each nanosecond from at_ns on
    std::int64_t mpi_calls = 0;
    std::int64_t parallels = 0;
    std::int64_t tasks = 0;

    // By `now`, if nothing has changed since.
    SpentNow until(std::int64_t now) const {
        SpentNow then = *this;
        if (now > at_ns) {
            then.spent.add(doing, now - at_ns);
            then.at_ns = now;
        }
        return then;
    }
    // Of the period from an earlier moment of the same process to this one.
    Spent since(const SpentNow &earlier) const {
        Spent period = spent;
        period -= earlier.spent;
        period += late;
        period -= earlier.late;
        return period.add(earlier.beyond, earlier.threads - threads);
    }
    Spent all() const {
        Spent sum = spent;
        return sum += late;
    }
};

// Zeroed memory: nothing is counted.
class SpentPage {
  public:
    // By one thread at a time. The fence pairs with the one of read(): who reads a word that is
    // stored behind it, sees the odd number.
    void write(const SpentNow &now) {
        const std::uint32_t version = version_.load(std::memory_order_relaxed);
        version_.store(version | 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        const auto copy = std::bit_cast<Words>(now);
        for (std::size_t i = 0; i < kWords; ++i)
            words_[i].store(copy.word[i], std::memory_order_relaxed);
        version_.store((version | 1) + 1, std::memory_order_release);
    }

    // False: nothing is counted, or the writer has died in the middle.
    bool read(SpentNow &now) const {
        constexpr int kTries = 1000; // a write takes some nanoseconds
        for (int i = 0; i < kTries; ++i) {
            const std::uint32_t before = version_.load(std::memory_order_acquire);
            Words copy;
            for (std::size_t w = 0; w < kWords; ++w)
                copy.word[w] = words_[w].load(std::memory_order_relaxed);
            std::atomic_thread_fence(std::memory_order_acquire);
            if ((before & 1) == 0 && version_.load(std::memory_order_relaxed) == before) {
                now = std::bit_cast<SpentNow>(copy);
                return now.threads > 0;
            }
            cpu_relax();
        }
        return false;
    }
    // Nothing to do where nobody has written so far.
    void clear() {
        if (version_.load(std::memory_order_relaxed) != 0)
            write({});
    }

  private:
    static constexpr std::size_t kWords = sizeof(SpentNow) / sizeof(std::int64_t);
    static_assert(sizeof(SpentNow) % sizeof(std::int64_t) == 0 &&
                  std::is_trivially_copyable_v<SpentNow>);
    struct Words {
        std::int64_t word[kWords];
    };
    Atomic<std::uint32_t> version_;
    Atomic<std::int64_t> words_[kWords];
};

} // namespace sennit
