// SPDX-License-Identifier: Apache-2.0
// A fence whose two sides cost differently (asymmetric fence). It orders a store before a later
// load on both sides (Dekker):
//
//     who publishes work       stores the work, fence_light, looks for sleepers
//     who is about to sleep    stores "I sleep", fence_heavy, looks for work
//
// At least one of the two sees the other. The frequent side pays a compiler barrier, the other one
// a membarrier(2), which interrupts the processors that run other threads of the process. Where the
// kernel has no membarrier, and where the other side is as frequent (rank fibers), both pay a
// fence. So they do as long as sleeps are frequent (fence_before_sleep), or likely to be.
#pragma once

#include "base/spin.h"

#include <atomic>
#include <cstdint>

namespace sennit {

extern Atomic<bool> g_light_fence_is_free;

void fence_setup();
void fence_heavy();        // the rare side
void fence_before_sleep(); // the same, and counts how often
void fence_light_full();   // fence_light, while both sides pay
// Threads will sleep often from now on: both sides pay, until the rate of sleeps says otherwise.
// Without this the first sleeps of a program that is soon over would all be dear.
void fence_expect_sleeps();

inline void fence_light() { // the frequent side
    // The load is between what the caller stored and what it will load: see become_full().
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (__builtin_expect(!g_light_fence_is_free.load(std::memory_order_relaxed), 0))
        fence_light_full();
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

// How often threads go to sleep, and what follows from it. Not thread-safe.
class SleepRate {
  public:
    // More often: a sleeper's membarrier and what it interrupts take more than light fences would.
    static constexpr std::int64_t kOftenNs = 60'000;
    static constexpr std::int64_t kSeldomNs = 250'000;
    static constexpr std::int64_t kShortestNs = 4'000'000; // of a judgement that sleeps are seldom

    // A judgement begins: there have been `sleeps` so far.
    void begin(std::uint32_t sleeps, std::int64_t now_ns) {
        sleeps_ = sleeps;
        since_ns_ = now_ns;
    }
    // Should both sides pay, given that there have been `sleeps` so far? `full`: they do.
    bool wants_full(std::uint32_t sleeps, std::int64_t now_ns, bool full);

  private:
    std::uint32_t sleeps_ = 0; // at the last judgement
    std::int64_t since_ns_ = 0;
};

} // namespace sennit
