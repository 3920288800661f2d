// SPDX-License-Identifier: Apache-2.0
// Virtual threads: a team of more threads than workers (SENNIT_SPLIT; paper openmp-in-charm, 4.3,
// for programs that know nothing of it). For the program it is a team of so many threads; which
// thread has which iterations of a static loop is fixed. What is not fixed is who runs a thread:
//
// - Each worker owns a range of threads. It begins with the first of them, which is the slot that
// it
//   is docked at, and calls the others one after the other, from the low end.
// - A worker that has none left takes half of what another one has not begun, from the high end.
// - A thread that waits, at a barrier say, is parked as any fiber. Its worker begins the next one
// on
//   another fiber (sched::Worker::begin_one). From then on the thread stays with this worker.
//
// Invariant: a thread that has not begun is in the range of one worker, or in the hands of the
// thief that begins it. The owner of a range begins what is there before it waits for anything, so
// every thread begins, and no wake-up is needed for that.
//
// A worker runs its threads' explicit tasks in its own slot, unless they run on top of a thread
// that waits. So nothing of the worker's is left in a thread's slot when its implicit task has
// ended.
#pragma once

#include "omp/env/split.h"
#include "omp/team/stealable_range.h"
#include "omp/team/team.h"

#include <atomic>

namespace sennit::omp {

// Is a region that a thread of `outer` encounters one of more threads than workers?
inline bool becomes_virtual(const Team &outer, int size, Team::Kind kind) {
    return SENNIT_UNLIKELY(split_workers() != 0) && size > split_workers() &&
           outer.active_level == 0 && kind <= Team::Kind::opened;
}

class VirtualTeam {
  public:
    // Goes with the team, by free().
    static VirtualTeam *make(const Team &team);

    // The first of a worker's threads.
    static int first_of(int worker, const Team &team) {
        return static_cast<int>(std::int64_t{team.size} * worker / team.workers);
    }

    // A region begins: all that its threads need is there. Its workers have not begun.
    void begin(const Team &team);
    static void end() { sched::note_unbegun(-1); }

    // The worker's first thread has ended: run the others, and those that it can steal.
    void run_others(sched::Worker &worker, Team &team, Member &mine);
    // Run one, if there is one.
    bool run_one(sched::Worker &worker, Team &team, Member &mine);
    bool has_any(const Member &mine) const {
        return ranges_[mine.lane].left() != 0 || !exhausted_.load(std::memory_order_relaxed);
    }

  private:
    bool take(int lane, int *number);
    bool steal(int lane, int *number);
    static void run(sched::Worker &worker, Team &team, Member &mine, int number);

    int workers_ = 0;
    // A thief has found nothing to steal; not so since another one has put away what it does not
    // run at once. A hint.
    alignas(kCacheLine) std::atomic<bool> exhausted_{true};
    StealableRange *ranges_ = nullptr; // of threads that have not begun, one a worker
};

} // namespace sennit::omp
