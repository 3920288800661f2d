// SPDX-License-Identifier: Apache-2.0
#include "omp/loops/schedule.h"

#include <algorithm>

namespace sennit::omp {

void static_share(std::uint64_t count, int threads, int thread, std::uint64_t *first,
                  std::uint64_t *last) {
    const auto n = static_cast<std::uint64_t>(threads);
    const auto i = static_cast<std::uint64_t>(thread);
    const std::uint64_t each = count / n;
    const std::uint64_t longer = count % n;
    *first = i * each + std::min(i, longer);
    *last = *first + each + (i < longer ? 1 : 0);
}

} // namespace sennit::omp
