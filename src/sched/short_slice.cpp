// SPDX-License-Identifier: Apache-2.0
#include "sched/short_slice.h"

#include "base/time_slice.h"

#include <utility>

namespace sennit::sched {

void ShortSlice::shorten(bool (*still)()) {
    const std::uint64_t former = time_slice_ns();
    if (former <= kShortNs)
        return leave();
    // Release: who calls end() knows the thread.
    former_ns_.store(former, std::memory_order_release);
    set_time_slice(kShortNs);
    // Pairs with the fence before end(): either we see that it is over, or end() sees what we have
    // stored, and changes the slice after us.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!still()) {
        forget();
        set_time_slice(former);
    }
}

void ShortSlice::end(const std::atomic<int> &thread) {
    const std::uint64_t former = former_ns_.exchange(kUntried, std::memory_order_acq_rel);
    if (former > kLeft)
        set_time_slice(former, thread.load(std::memory_order_relaxed));
}

void ShortSlice::put_right() {
    if (const std::uint64_t former = std::exchange(inherited_ns_, kUntried); former > kLeft)
        set_time_slice(former);
}

} // namespace sennit::sched
