// SPDX-License-Identifier: Apache-2.0
// Loops whose iterations may go to any thread (nonmonotonic dynamic and guided) under
// SENNIT_SPLIT=auto. Each worker has a share of the chunks. How many of these it offers to others
// is the paper's rule (decide/objects/problem.h; openmp-in-charm, 4.3.2 and 4.3.3): as many as
// there are idle workers, or as were taken in the last runs of the loop. A thread that has nothing
// left takes what is offered at once. What is not offered it takes when it has been idle for a
// while. So nobody takes anything of a balanced loop.
//
// A loop is told by its region's function, its number among the region's constructs, and about how
// many iterations it has: their number's power of two.
//
// The chunks are the program's. A piece of a guided loop is a part of what its worker has left, as
// the schedule asks for: in proportion to what is left of all, by the number of threads that work
// on it.
#pragma once

#include "base/spin.h"
#include "openmp/loops/plans.h"
#include "openmp/team/team.h"
#include "openmp/team/virtual_team.h"

#include <atomic>
#include <cstdint>

namespace sennit::omp {

// What is remembered of the loops of a team. Two of them may be at work, so two threads may be
// here.
class LoopHistory {
  public:
    static std::uint64_t key_of(const void *region, std::uint32_t construct, std::uint64_t count);

    // A worker has `chunks`. How many of them is it to offer?
    int begin(std::uint64_t key, int idle, std::uint64_t chunks);
    // Into how many tasks is a taskloop to be cut, at most `most`? All, if too little is known.
    std::uint64_t tasks(std::uint64_t key, int idle, std::uint64_t most);
    // So many were offered. Others took these.
    void end(std::uint64_t key, std::uint64_t offered, std::uint64_t taken);

  private:
    balance::Exposure &of(std::uint64_t key) SENNIT_REQUIRES(lock_);

    SpinLock lock_;
    RegionHistory loops_ SENNIT_GUARDED_BY(lock_);
};

// Begin the loop that `member` has come to first, if it is one of these. False: it is not.
bool begin_exposed(Loop &loop, LoopHistory &history, std::uint64_t count,
                   const LoopSchedule &schedule, const Member &member);

// A taskloop under SENNIT_SPLIT=auto, if no clause says into how many tasks it is cut. Each task
// beyond the first is a piece that is offered to others. The number of these follows the paper's
// rule (decide/objects/problem.h; openmp-in-charm, 4.3.2 and 4.3.3): as many as there are idle
// workers, or as others took in the last runs of the loop. So a taskloop that nobody helps with is
// one task.
//
// What is one task can not be cut later on. So a loop of which too little is known yet is cut into
// many. A loop is told by its code, and about how many iterations it has.
//
// Invariant: an object is there until note_run() has been told of each task once.

class ExposedTaskloop {
  public:
    // Null: the loop is cut as ever. Else into *tasks, and who runs them has to be told. `entry`:
    // the code of the tasks.
    static ExposedTaskloop *begin(sched::Worker &worker, const void *entry, std::uint64_t trip,
                                  std::uint64_t *tasks);
    // The caller has these of the tasks. It runs them, unless they are cancelled.
    void note_run(sched::Worker &worker, std::uint64_t tasks);

  private:
    ExposedTaskloop(LoopHistory &history, const sched::Worker &creator, std::uint64_t key,
                    std::uint64_t tasks)
        : history_(history), creator_(creator), key_(key), offered_(tasks - 1), left_(tasks) {}

    LoopHistory &history_;
    const sched::Worker &creator_;
    const std::uint64_t key_;
    const std::uint64_t offered_;
    std::atomic<std::uint64_t> taken_{0}; // by others than the creator
    std::atomic<std::uint64_t> left_;     // that nobody has yet
};

} // namespace sennit::omp
