// SPDX-License-Identifier: Apache-2.0
// Persistence: recent loads are the best guess at the next ones (paper openmp-in-charm, section 2).
// So when it is known how long each piece of a loop has taken, this decides with which pieces each
// worker begins.
//
// Pieces have an order, and each worker gets a contiguous range of them. So neighbours in the
// program stay neighbours in a cache. Besides, each worker has a piece of its own, which it cannot
// give away.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace sennit::balance {

struct PieceLoads {
    std::span<const std::uint64_t> loads; // of all pieces, in any unit
    std::span<const int> own;             // by worker: the piece that is its own
    std::span<const int> others;          // the pieces to share, in their order

    std::uint64_t of(int piece) const { return loads[static_cast<std::size_t>(piece)]; }
};

// Cut `others` into ranges. `ends` has one number for each worker and one more, ascending from 0 to
// others.size(). Worker w has others[ends[w]] up to others[ends[w + 1]]. Each range ends where the
// workers up to this one together are nearest to their share.
inline void cut_by_loads(const PieceLoads &pieces, std::span<int> ends) {
    const std::uint64_t workers = pieces.own.size();
    const std::uint64_t all =
        std::accumulate(pieces.loads.begin(), pieces.loads.end(), std::uint64_t{0});
    std::size_t next = 0;
    std::uint64_t given = 0;
    ends.front() = 0;
    for (std::size_t worker = 0; worker + 1 < workers; ++worker) {
        given += pieces.of(pieces.own[worker]);
        const std::uint64_t share = all / workers * (worker + 1);
        for (; next < pieces.others.size(); ++next) {
            const std::uint64_t load = pieces.of(pieces.others[next]);
            if (given + load / 2 >= share)
                break;
            given += load;
        }
        ends[worker + 1] = static_cast<int>(next);
    }
    ends.back() = static_cast<int>(pieces.others.size());
}

// The load of the worker that has most.
inline std::uint64_t most_loaded(const PieceLoads &pieces, std::span<const int> ends) {
    std::uint64_t most = 0;
    for (std::size_t worker = 0; worker < pieces.own.size(); ++worker) {
        std::uint64_t load = pieces.of(pieces.own[worker]);
        for (int i = ends[worker]; i < ends[worker + 1]; ++i)
            load += pieces.of(pieces.others[static_cast<std::size_t>(i)]);
        most = std::max(most, load);
    }
    return most;
}

struct Progress { // of a worker
    std::uint64_t time;
    int next, end; // what is left of its range
};

// The time when all work is done, if each worker begins with its own piece, goes through its range,
// and then takes the last piece of the worker that has most pieces left. Large pieces at the end of
// a range are bad: a worker that has begun the last one has nothing to give away. `progress` is
// written, one for each worker.
inline std::uint64_t end_with_thieves(const PieceLoads &pieces, std::span<const int> ends,
                                      std::span<Progress> progress) {
    for (std::size_t worker = 0; worker < progress.size(); ++worker)
        progress[worker] = {pieces.of(pieces.own[worker]), ends[worker], ends[worker + 1]};
    for (std::size_t left = pieces.others.size(); left > 0; --left) {
        const auto first =
            std::min_element(progress.begin(), progress.end(),
                             [](const Progress &a, const Progress &b) { return a.time < b.time; });
        const auto owner = first->next < first->end
                               ? first
                               : std::max_element(
                                     progress.begin(), progress.end(),
                                     [](const Progress &a, const Progress &b) {
                                         return a.end - a.next < b.end - b.next;
                                     });
        const int piece = owner == first ? owner->next++ : --owner->end;
        first->time += pieces.of(pieces.others[static_cast<std::size_t>(piece)]);
    }
    return std::max_element(progress.begin(), progress.end(),
                            [](const Progress &a, const Progress &b) { return a.time < b.time; })
        ->time;
}

} // namespace sennit::balance
