// SPDX-License-Identifier: Apache-2.0
// A fence whose two sides cost differently (asymmetric fence). It orders a store before a later
// load on both sides (Dekker):
//
//     who publishes work       stores the work, fence_light, looks for sleepers
//     who is about to sleep    stores "I sleep", fence_heavy, looks for work
//
// At least one of the two sees the other. The frequent side pays a compiler barrier, the other one
// a membarrier(2). Where the kernel has no membarrier, and where the other side is as frequent
// (rank fibers), both pay a fence.
#pragma once

#include <atomic>

namespace sennit {

extern bool g_light_fence_is_free; // set once by fence_setup

void fence_setup();
void fence_heavy(); // the rare side

inline void fence_light() { // the frequent side
    if (__builtin_expect(g_light_fence_is_free, 1))
        std::atomic_signal_fence(std::memory_order_seq_cst);
    else
        std::atomic_thread_fence(std::memory_order_seq_cst);
}

} // namespace sennit
