// SPDX-License-Identifier: Apache-2.0
// With which threads each worker of a virtual team begins a region (virtual_team.h). At first these
// are equal numbers of threads. When it is known how long each thread of the region has taken,
// loads decide (balance/ranges.h).
//
// If nobody took over a thread in a region, its threads are well placed, and nothing more is done.
// If somebody did, the threads are measured when the region runs next, and placed by what was
// found. A measurement may change nothing: then threads are taken over for a reason that lies
// outside the program. Each time that this happens, the next measurement comes later.
//
// The team's maker writes all of this between regions. In a region workers read it, and write the
// loads of their threads.
#pragma once

#include "balance/ranges.h"
#include "omp/team/region_place.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sennit::omp {

class PartHistory {
  public:
    // Make it in `memory`, which has size_for() bytes. `own` has, by worker, the thread that is the
    // worker's own. `threads` is the number of all threads.
    static std::size_t size_for(int workers, int threads);
    static PartHistory *make(void *memory, std::span<const int> own, int threads);

    // A region begins. Null: its function is not known.
    void begin(const void *function);
    // The region has ended. `any_taken`: did somebody take over threads? `any_waited`: did threads
    // wait in the region? Then the measured times mean nothing.
    void end(bool any_taken, bool any_waited);

    // For the region that runs: the worker's part is thread_of(first) up to thread_of(last).
    std::uint64_t first(int worker) const { return static_cast<std::uint64_t>(ends_[worker]); }
    std::uint64_t last(int worker) const { return static_cast<std::uint64_t>(ends_[worker + 1]); }
    bool measures() const { return measures_; }
    void note_load(int thread, std::uint64_t ns) { loads_[thread] = ns; }

    int thread_of(std::uint64_t place) const { return others_[place]; }
    // The threads that are no worker's own, as thread_of() has them.
    std::span<const int> others() const { return {others_, index(threads_ - workers_)}; }

  private:
    struct Entry {
        bool is_placed;
        bool measures;
        std::uint8_t pause; // runs without a measurement after one that has changed nothing
        std::uint8_t left;  // how many of these runs are left
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
    Entry *current_ = nullptr; // null: the region's function is not known
    const int *ends_ = nullptr;
    // In the memory behind this object:
    std::uint64_t *loads_ = nullptr; // by thread
    balance::Progress *progress_ = nullptr;
    Entry *entries_ = nullptr;
    int *own_ = nullptr;
    int *others_ = nullptr;  // threads that are no worker's own
    int *equal_ = nullptr;   // the ends of equal parts
    int *ends_of_ = nullptr; // by entry; behind them room for one to try
};

} // namespace sennit::omp
