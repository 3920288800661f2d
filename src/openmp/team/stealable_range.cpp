// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/stealable_range.h"

namespace sennit::omp {

// Either the range has less, or a thief is at work on chunks that we wanted, and may give them
// back.
SENNIT_NOINLINE std::uint64_t StealableRange::take_some_slow(std::uint64_t mine,
                                                             std::uint64_t most) {
    low_.store(mine, std::memory_order_relaxed);
    const Guard guard(lock_);
    const std::uint64_t high = high_.load(std::memory_order_relaxed);
    const std::uint64_t found = mine < high ? std::min(high - mine, most) : 0;
    if (found > 0)
        low_.store(mine + found, std::memory_order_relaxed);
    return found;
}

void StealableRange::refill(std::uint64_t first, std::uint64_t last) {
    const Guard guard(lock_);
    assign(first, last);
}

bool StealableRange::steal(std::uint64_t *first, std::uint64_t *last, std::uint64_t from,
                           std::uint64_t most) {
    return steal_if([] { return true; }, first, last, from, most);
}

} // namespace sennit::omp
