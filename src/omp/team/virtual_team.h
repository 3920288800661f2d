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
//   on another fiber (sched::Worker::begin_one). From then on the parked thread stays with this
//   worker.
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
// So every thread begins, and no wake-up is needed for that.
//
// A worker runs its threads' explicit tasks in its own slot, unless they run on top of a thread
// that waits. So when a thread's implicit task has ended, nothing of the worker's is left in the
// thread's slot.
#pragma once

#include "omp/env/split.h"
#include "omp/team/part_history.h"
#include "omp/team/region_history.h"
#include "omp/team/spare_threads.h"
#include "omp/team/stealable_range.h"
#include "omp/team/team.h"

#include <atomic>

namespace sennit::omp {

// Will a region of `size` threads that a thread of `outer` encounters have more threads than
// workers?
inline bool becomes_virtual(const Team &outer, int size, Team::Kind kind) {
    return SENNIT_UNLIKELY(split_workers() != 0) && size > split_workers() &&
           outer.active_level == 0 && kind <= Team::Kind::opened;
}

class VirtualTeam final : public Unbegun {
  public:
    // Make it, for as long as the team lives. Null: the team has no more threads than workers.
    static VirtualTeam *make(Team &team);
    static void drop(VirtualTeam *threads);

    // The number of a worker's own thread, with which it begins.
    static int first_of(int worker, const Team &team) {
        return static_cast<int>(std::int64_t{team.size} * worker / team.workers);
    }

    // begin(): a region begins. end(): it has ended.
    void begin(const Team &team);
    void end();

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
    explicit VirtualTeam(Team &team) : team_(team), workers_(team.workers), spares_(*this) {}
    ~VirtualTeam() = default;

    // What each worker has, found by Member::lane.
    struct Lane {
        StealableRange range; // of threads that have not begun, by PartHistory::thread_of()
        // The range is offered from here on: a hint to thieves.
        alignas(kCacheLine) std::atomic<std::uint64_t> offered_from{0};
        // The worker's own. The history of the region, until the worker finds its range empty:
        balance::Exposure *history = nullptr;
        std::uint64_t last = 0;           // where its range ended
        std::uint64_t began = 0;          // when its part began, if anybody asks
        std::uint64_t worked_ns = 0;      // of the kernel thread by then, if measured
        RegionHistory *regions = nullptr; // only if a part of the range is offered
    };
    enum class From { offered, all };

    void offer(const Team &team, Lane &lane, std::uint64_t first, std::uint64_t last);
    void record(Lane &lane) const;
    bool take(Lane &lane, std::uint64_t *place) const;
    bool steal(Team &team, Lane &lane, From from, std::uint64_t most_at_once, std::uint64_t *place);
    bool stays_idle(const Team &team, const Lane &lane);
    bool waits_idle(const Team &team, const Lane &lane) const;
    void note_unbegun(Team &team);
    bool take_from_others(std::uint64_t *place);
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
    alignas(kCacheLine) std::atomic<bool> exhausted_{true};
    std::atomic<int> waiting_{0}; // workers in stays_idle(): a hint
    Lane *lanes_ = nullptr;       // one for each worker
    PartHistory *parts_ = nullptr;
    // What happened in this region. Read when all have arrived at its join.
    alignas(kCacheLine) std::atomic<bool> any_taken_{false};
    std::atomic<bool> any_waited_{false};
    SpareThreads spares_;
    // Where processes share cores: when the region began, and how long the last one took (ticks).
    std::uint64_t began_ = 0;
    std::uint64_t last_took_ = 0;
};

} // namespace sennit::omp
