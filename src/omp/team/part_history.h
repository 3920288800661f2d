// SPDX-License-Identifier: Apache-2.0
// With which threads each worker of a virtual team begins (virtual_team.h): equal numbers of them,
// until it is known of a region how long each of its threads has taken (balance/ranges.h).
//
// A region in which nobody took over a thread is well placed, and costs nothing more. One in which
// somebody did is measured when it runs next, and placed by what was found. Each time that this
// changes nothing, the next one comes later: then threads are taken over for other reasons than the
// program's. The team's maker writes all of this between regions; workers read it, and write their
// threads' loads, within.
#pragma once

#include "balance/ranges.h"
#include "omp/team/region_place.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sennit::omp {

class PartHistory {
  public:
    // In `memory` of size_for() bytes. `own`: by worker, the thread that is its own; `threads` of
    // them all.
    static std::size_t size_for(int workers, int threads);
    static PartHistory *make(void *memory, std::span<const int> own, int threads);

    // A region begins. Null: it has no name.
    void begin(const void *function);
    // It has ended. Did somebody take over threads? Did threads wait within, so that what was
    // measured of them says nothing?
    void end(bool any_taken, bool any_waited);

    // Of the region that runs:
    // The worker's part is thread_of(first) up to thread_of(last).
    std::uint64_t first(int worker) const { return static_cast<std::uint64_t>(ends_[worker]); }
    std::uint64_t last(int worker) const { return static_cast<std::uint64_t>(ends_[worker + 1]); }
    bool measures() const { return measures_; }
    void note_load(int thread, std::uint64_t ns) { loads_[thread] = ns; }

    int thread_of(std::uint64_t place) const { return others_[place]; }

  private:
    struct Entry {
        bool is_placed;
        bool measures;
        std::uint8_t pause; // runs without a measurement after one that changes nothing
        std::uint8_t left;  // of them
    };
    static constexpr std::size_t kPlaces = 64;
    static constexpr std::uint8_t kLongestPause = 127;

    int *ends_of(std::size_t entry) { return ends_of_ + entry * index(workers_ + 1); }
    static std::size_t index(int number) { return static_cast<std::size_t>(number); }
    balance::PieceLoads pieces() const;
    bool place();

    int workers_ = 0;
    int threads_ = 0;
    bool measures_ = false;
    RegionPlaces<kPlaces> places_;
    Entry *current_ = nullptr; // null: the region has no name
    const int *ends_ = nullptr;
    // In the memory behind:
    std::uint64_t *loads_ = nullptr; // by thread
    balance::Progress *progress_ = nullptr;
    Entry *entries_ = nullptr;
    int *own_ = nullptr;
    int *others_ = nullptr;  // threads that are nobody's own
    int *equal_ = nullptr;   // equal numbers
    int *ends_of_ = nullptr; // by entry; then one to try
};

} // namespace sennit::omp
