// SPDX-License-Identifier: Apache-2.0
// Finds the place of a region in a table, by the region's function. The number of threads need not
// be told apart: each team has its own tables, and always the same number of threads.
//
// Each pair of places can keep two functions whose addresses lead to it. A third one replaces the
// one of them that was asked for less recently.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::omp {

template <std::size_t kPlaces>
class RegionPlaces {
  public:
    // Sets *is_new if nothing is remembered of the function. Then the entry at its place belonged
    // to another one, or to none.
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
