// SPDX-License-Identifier: Apache-2.0
// Asymmetric fence: the store-load ordering of "publish work, then look for sleepers" against "say
// that I sleep, then look for work" (Dekker). The frequent side pays a compiler barrier, the side
// that is about to sleep pays a membarrier(2). Where the kernel has no membarrier both pay a fence.
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
