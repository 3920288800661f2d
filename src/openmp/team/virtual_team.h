// SPDX-License-Identifier: Apache-2.0
// Virtual threads: a team of more threads than workers (SENNIT_SPLIT; paper openmp-in-charm, 4.3,
// for programs that know nothing of it). The program sees a team of that many threads. As in any
// team, it is fixed which thread has which iterations of a static loop. It is not fixed which
// worker runs a thread:
//
// - Each worker begins with its own thread, that of the slot that it is docked at. It also owns a
//   range of the threads that are no worker's own, and runs these one after the other, from the low
//   end. Ranges are equal numbers of threads, or what was balanced when the region ran last
//   (part_history.h).
// - A worker that has no threads left steals half of those that another worker has not begun, from
//   the high end. It begins one of them and puts the rest into its own range.
// - A thread that waits, at a barrier say, is parked as any fiber. Its worker begins the next one
//   on another fiber (begin_one in tasks/sched/worker.cpp). From then on the parked thread stays
//   with this worker.
//
// How much of its range a worker offers: all of it, or under SENNIT_SPLIT=auto what the history of
// its last runs of the region says (region_history.h; 4.3.2), but at least a thread for each worker
// that is idle by then (4.3.3). A worker that has no threads left takes offered ones at once. It
// takes others, too, but only when it has been idle for a part of the time that the region has
// taken. So workers that end at about the same time leave each other alone. An offer is only
// advice: a range can be stolen from at all times. So a worker that is busy in one thread for long
// keeps no other thread.
//
// If threads wait for each other by spinning, no worker is free to begin the others. Then these get
// kernel threads of their own (spare_threads.h). Where processes share cores, and this one could
// have more of them than the team has workers, helpers take them and begin threads (helpers.h).
//
// Invariant: a thread that has not begun is in the range of one worker, or in the hands of the
// thief that begins it. The owner of a range begins the threads in it before it waits for anything.
// So every thread begins, and no wake-up is needed for that. A worker that has not begun its part
// in a region takes no thread of this region: the thread might spin until those of the part have
// begun. A thief looks at that under the lock of the range (StealableRange::steal_if), for the
// region may begin while it looks for a victim.
//
// A worker runs its threads' explicit tasks in its own slot, unless they run on top of a thread
// that waits. So when a thread's implicit task has ended, nothing of the worker's is left in the
// thread's slot.
#pragma once

#include "base/spin.h"
#include "decide/objects/problem.h"
#include "openmp/env/split.h"
#include "openmp/team/inner_regions.h"
#include "openmp/team/spare_threads.h"
#include "openmp/team/stealable_range.h"
#include "openmp/team/team.h"
#include "tasks/trace/trace.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sennit::omp {

// Finds the place of a region in a table, by the region's function. The number of threads need not
// be told apart: each team has its own tables, and always the same number of threads.
//
// Each pair of places can keep two functions whose addresses lead to it. A third one replaces the
// one of them that was asked for less recently.

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

// With which threads each worker of a virtual team begins a region (virtual_team.h). At first these
// are equal numbers of threads. When it is known how long each thread of the region has taken,
// loads decide (decide/objects/problem.h).
//
// If nobody took over a thread in a region, its threads are well placed, and nothing more is done.
// If somebody did, the threads are measured when the region runs next, and placed by what was
// found. A measurement may change nothing: then threads are taken over for a reason that lies
// outside the program. Each time that this happens, the next measurement comes later.
//
// The team's maker writes all of this between regions. In a region workers read it, and write the
// loads of their threads.

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

// What a worker remembers of the regions in which it had a part: of the threads that it offered,
// how many others took (decide/objects/problem.h; paper openmp-in-charm, 4.3.2). Regions are told
// apart by their function (region_place.h). The number of threads is that of the team that keeps
// this.
//
// It is not shared: each worker has its own.

class RegionHistory {
  public:
    balance::Exposure &of(const void *function) {
        bool is_new = false;
        balance::Exposure &exposure = exposures_[places_.find(function, &is_new)];
        if (is_new)
            exposure = {};
        return exposure;
    }

  private:
    static constexpr std::size_t kPlaces = 64;
    RegionPlaces<kPlaces> places_;
    std::array<balance::Exposure, kPlaces> exposures_{};
};

// What a worker remembers of the inner regions that it has encountered (inner_regions.h): of the
// threads that they offered, how many others took. Regions are told apart by their function.
//
// A region is quiet if it is known that others do not take any of its threads. While no worker is
// idle, it has one thread, and nothing more is looked at. Only each 256th of the worker's quiet
// regions is cut, as a probe.
//
// It is not shared: each worker has its own.
class InnerHistory {
  public:
    static constexpr int kProbeEvery = 256;

    InnerHistory() { quiet_.fill(this); } // no function has this address
    bool is_quiet(const void *function, int idle) {
        return idle == 0 && quiet_[index_of(function)] == function && ++runs_ < kProbeEvery;
    }
    // If it is not: how many of its `size` threads does it offer? If it is not known, as many as
    // `at_first`.
    int offer(const void *function, int idle, int size, int at_first);
    void record(const void *function, int offered, int taken);

  private:
    static constexpr std::size_t kPlaces = 64;
    static std::size_t index_of(const void *function) {
        return reinterpret_cast<std::uintptr_t>(function) / 16 % kPlaces;
    }

    int runs_ = 0;                              // of quiet regions since the last probe
    std::array<const void *, kPlaces> quiet_{}; // of those that lead here, the last one
    RegionHistory regions_;
};

// What an inner region is to offer of its threads. Where it offers none, it has one.
struct InnerOffer {
    InnerHistory *history = nullptr; // null: it is not recorded
    int threads = 0;
};
// The worker encounters a region of `size` threads in `outer`. `exact`: it is to have so many.
InnerOffer offer_inner(sched::Worker &worker, const Team &outer, int size, const void *function,
                       bool exact);

class VirtualTeam final : public Unbegun {
  public:
    // Make it, for as long as the team lives. An inner region's has no history of its own
    // (inner_regions.h).
    static VirtualTeam *make(Team &team, bool inner);
    static void drop(VirtualTeam *threads);

    // The number of a worker's own thread, with which it begins.
    static int first_of(int worker, const Team &team) {
        return static_cast<int>(std::int64_t{team.size} * worker / team.workers);
    }

    // begin(): a region begins. end(): it has ended.
    void begin(const Team &team);
    void end();
    // The region that will begin is an inner one.
    void note_offer(const InnerOffer &offer) { inner_ = offer; }

    // The worker's part in a region begins. By then all that the region's threads need is there.
    void begin_part(sched::Worker &worker, Team &team, const Member &mine);
    // The worker's first thread has ended: run its other threads, and those that it can steal.
    // Returns how many have ended. The caller lets them arrive at the join.
    int run_others(sched::Worker &worker, Team &team, Member &mine);
    // Run one thread, if there is one, and let it arrive at the join.
    bool run_one(sched::Worker &worker, Team &team, Member &mine);
    bool has_any(const Member &mine) const {
        return lanes_[mine.lane].range.left() != 0 ||
               (!exhausted_.load(std::memory_order_relaxed) && !mine.is_late());
    }
    void run_spare(sched::Worker &worker) override;
    void help(sched::Worker &worker) override;
    // The same of an inner region, for an idle worker of the outermost one: it has a slot there,
    // `mine`, and has taken the first thread that it runs.
    void help_idle(sched::Worker &worker, sched::Slot &mine, std::uint64_t place);
    std::uint64_t unbegun() const override;
    std::uint64_t trail() const override;
    const void *function() const override;
    int idle_workers(const Team &team) const;
    // How many threads of its range does the worker offer to others?
    std::uint64_t offered(const Member &mine) const {
        const Lane &lane = lanes_[mine.lane];
        return lane.range.left(lane.offered_from.load(std::memory_order_relaxed));
    }

  private:
    // What each worker has, found by Member::lane.
    struct Lane {
        StealableRange range; // of threads that have not begun, by PartHistory::thread_of()
        // The range is offered from here on: a hint to thieves.
        alignas(kCacheLine) Atomic<std::uint64_t> offered_from{0};
        // The worker's own. The history of the region, until the worker finds its range empty:
        balance::Exposure *history = nullptr;
        std::uint64_t last = 0;           // where its range ended
        std::uint64_t began = 0;          // when its part began, if anybody asks
        std::uint64_t worked_ns = 0;      // of the kernel thread by then, if measured
        RegionHistory *regions = nullptr; // only if a part of the range is offered
    };
    enum class From { offered, all };

    VirtualTeam(Team &team, Lane *lanes)
        : team_(team), workers_(team.workers), lanes_(lanes), offered_(*this, lanes->range),
          spares_(*this) {}
    ~VirtualTeam() = default;

    void offer(const Team &team, Lane &lane, std::uint64_t first, std::uint64_t last);
    void record(Lane &lane) const;
    bool take(Lane &lane, std::uint64_t *place) const;
    bool steal(Team &team, const Member &mine, From from, std::uint64_t most_at_once,
               std::uint64_t *place);
    bool stays_idle(const Team &team, const Lane &lane);
    bool waits_idle(const Team &team, const Lane &lane) const;
    void note_unbegun(Team &team);
    bool take_from_others(std::uint64_t *place);
    void run_as_guest(sched::Worker &worker, Member &mine, std::uint64_t place);
    bool is_inner() const { return inner_.threads > 0; }
    void begin_inner(Lane &lane);
    void end_inner();
    void pass_member(sched::Worker &worker, const Lane &lane) const;
    static void start(sched::Worker &worker, Team &team, Member &mine, Member &member);
    static void run(sched::Worker &worker, Team &team, Member &mine, int number);
    // Is there more to it than that the threads run?
    bool are_watched() const { return parts_->measures() || observed::by(observed::kAccounts); }
    void run_watched(sched::Worker &worker, Team &team, Member &mine, int number);
    void run(sched::Worker &worker, Team &team, Member &mine, int number, bool watched) {
        if (SENNIT_UNLIKELY(watched))
            run_watched(worker, team, mine, number);
        else
            run(worker, team, mine, number);
    }
    void end_first_watched(sched::Worker &worker, Member &mine);

    Team &team_;
    const int workers_;
    // A thief has found nothing to steal, and nobody has put anything into a range since.
    alignas(kCacheLine) Atomic<bool> exhausted_{true};
    Atomic<int> waiting_{0}; // workers in stays_idle(): a hint
    Lane *const lanes_;      // one for each worker
    PartHistory *parts_ = nullptr;
    InnerOffer inner_; // of an inner region; else none
    OfferedRegion offered_;
    Atomic<std::uint64_t> regions_{0}; // that have begun
    // What happened in this region. Read when all have arrived at its join.
    alignas(kCacheLine) Atomic<bool> any_taken_{false};
    Atomic<bool> any_waited_{false};
    SpareThreads spares_;
    // Where processes share cores: when the region began, and how long the last one took (ticks).
    std::uint64_t began_ = 0;
    std::uint64_t last_took_ = 0;
};

// Tells the trace which worker has a part in which region.

// The region's function (see Body). Null: it is not known.
inline const void *function_of(const void *data) {
    const void *function = nullptr;
    if (data)
        std::memcpy(&function, data, sizeof function);
    return function;
}
inline const void *function_of(const Team &team) {
    return function_of(team.data);
}

inline void begin_traced_part(const Team &team) {
    if (trace::on() && team.traced != 0)
        trace::part_begin(team.traced, reinterpret_cast<std::uint64_t>(function_of(team)),
                          team.workers);
}
// Of its threads that had not begun, the worker has offered so many, and others took so many.
inline void trace_offer(const Team &team, int offered, int taken) {
    if (trace::on() && team.traced != 0)
        trace::offer(team.traced, offered, taken);
}
inline void end_traced_part(const Team &team) {
    if (trace::on() && team.traced != 0)
        trace::part_end(team.traced);
}

} // namespace sennit::omp
