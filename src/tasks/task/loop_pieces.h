// SPDX-License-Identifier: Apache-2.0
// taskloop (OpenMP 5.2, 12.6): into how many tasks a loop is cut, and which iterations each has.
// Iterations are numbers from 0 on; what values the loop's variable has the doors know.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sennit::task {

// What the clauses ask for.
struct LoopCut {
    enum class By : std::uint8_t { nothing, grainsize, num_tasks } by = By::nothing;
    bool strict = false; // grainsize: each task but the last has exactly so many
    std::uint64_t value = 0;
    std::uint64_t usual = 1; // how many tasks where nothing is asked for
};

struct LoopPieces {
    std::uint64_t trip = 0;
    std::uint64_t count = 0;  // of the tasks
    std::uint64_t each = 0;   // iterations of a task
    std::uint64_t longer = 0; // so many tasks, the first ones, have one more

    std::uint64_t first(std::uint64_t piece) const {
        return piece * each + (piece < longer ? piece : longer);
    }
    // A strict grainsize leaves the last one a rest.
    std::uint64_t end(std::uint64_t piece) const {
        return piece + 1 == count ? trip : first(piece + 1);
    }
    // Of any but the last one.
    std::uint64_t length(std::uint64_t piece) const { return each + (piece < longer ? 1 : 0); }
};

// So many iterations that nobody could make the tasks which a small grainsize asks for. The loop
// may also be an empty one: some compilers count below zero then, and that wraps around.
inline bool is_endless(std::uint64_t trip) {
    return trip >> 63 != 0;
}

inline LoopPieces cut_loop(std::uint64_t trip, const LoopCut &cut) {
    using By = LoopCut::By;
    LoopPieces pieces;
    pieces.trip = trip;
    if (trip == 0)
        return pieces;
    const std::uint64_t value = std::max<std::uint64_t>(cut.value, 1);
    if (cut.by == By::grainsize && cut.strict && !is_endless(trip)) {
        pieces.count = (trip - 1) / value + 1;
        pieces.each = value;
        return pieces;
    }
    pieces.count = cut.by == By::grainsize   ? trip / value
                   : cut.by == By::num_tasks ? value
                                             : cut.usual;
    if (cut.by == By::grainsize && is_endless(trip))
        pieces.count = std::min(pieces.count, cut.usual);
    pieces.count = std::clamp<std::uint64_t>(pieces.count, 1, trip);
    pieces.each = trip / pieces.count;
    pieces.longer = trip % pieces.count;
    return pieces;
}

} // namespace sennit::task
