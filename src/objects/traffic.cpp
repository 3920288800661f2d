// SPDX-License-Identifier: Apache-2.0
#include "objects/traffic.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sennit::objects {

void Traffic::add(int object, int other, std::uint64_t bytes, bool is_said) {
    if (object == other)
        return;
    const auto [a, b] = std::minmax(object, other);
    const std::uint64_t both =
        std::uint64_t{static_cast<std::uint32_t>(a)} << 32 | static_cast<std::uint32_t>(b);
    const std::lock_guard guard(lock_);
    Sum &sum = sums_[both];
    sum.bytes += bytes;
    sum.is_said |= is_said;
}

std::vector<Told> Traffic::take() {
    std::unordered_map<std::uint64_t, Sum> taken;
    {
        const std::lock_guard guard(lock_);
        taken = std::exchange(sums_, {});
    }
    std::vector<Told> all;
    all.reserve(taken.size());
    for (const auto &[both, sum] : taken)
        all.push_back({static_cast<int>(both >> 32), static_cast<int>(both & 0xffffffff), sum.bytes,
                       sum.is_said ? 1u : 0u});
    std::sort(all.begin(), all.end(), [](const Told &one, const Told &other) {
        return std::tie(one.a, one.b) < std::tie(other.a, other.b);
    });
    return all;
}

} // namespace sennit::objects
