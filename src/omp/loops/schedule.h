// SPDX-License-Identifier: Apache-2.0
// What a program says about how the iterations of a loop are given out (OpenMP 5.2, 11.5.3).
#pragma once

#include "omp/env/icv.h"

#include <algorithm>
#include <cstdint>

namespace sennit::omp {

class LentLoop; // lent.h

struct LoopSchedule {
    Sched kind = Sched::static_;
    std::uint64_t chunk = 0; // 0: the kind's default
    bool monotonic = false;  // false lets dynamic split the space among the threads and steal
    bool ordered = false;
    std::uint64_t multiple = 1; // simd: pieces have a multiple of this many iterations
    LentLoop *lent = nullptr;   // its pieces go to whoever is done, whatever the rest says
};

// The chunk-less static schedule's share of one thread. Inline: virtual threads are many.
inline void static_share(std::uint64_t count, int threads, int thread, std::uint64_t *first,
                         std::uint64_t *last) {
    const auto n = static_cast<std::uint64_t>(threads);
    const auto i = static_cast<std::uint64_t>(thread);
    const std::uint64_t each = count / n;
    const std::uint64_t longer = count % n;
    *first = i * each + std::min(i, longer);
    *last = *first + each + (i < longer ? 1 : 0);
}

} // namespace sennit::omp
