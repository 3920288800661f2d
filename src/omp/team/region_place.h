// SPDX-License-Identifier: Apache-2.0
// Where a table has what is remembered of a region, by the region's function. How many threads the
// region has need not be told apart: each team has tables of its own, and always as many.
//
// Two functions whose addresses lead to the same places both stay. The third one there takes the
// place of the one that was asked for less lately.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::omp {

template <std::size_t kPlaces>
class RegionPlaces {
  public:
    // *is_new: nothing is remembered of it. What is at its place was another one's, or nobody's.
    std::size_t find(const void *function, bool *is_new) {
        Pair &pair = pairs_[index_of(function)];
        std::uint8_t way = pair.functions[0] == function ? 0 : 1;
        *is_new = pair.functions[way] != function;
        if (*is_new) {
            way = pair.older;
            pair.functions[way] = function;
        }
        pair.older = 1 - way;
        return 2 * static_cast<std::size_t>(&pair - pairs_.data()) + way;
    }

  private:
    static constexpr std::size_t kPairs = kPlaces / 2;
    static_assert(kPlaces % 2 == 0);
    struct Pair {
        const void *functions[2] = {nullptr, nullptr};
        std::uint8_t older = 0;
    };

    // Functions begin at multiples of 16.
    static std::size_t index_of(const void *function) {
        const auto address = reinterpret_cast<std::uintptr_t>(function);
        return (address >> 4 ^ address >> 10) % kPairs;
    }

    std::array<Pair, kPairs> pairs_{};
};

} // namespace sennit::omp
