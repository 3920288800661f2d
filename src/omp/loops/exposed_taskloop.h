// SPDX-License-Identifier: Apache-2.0
// A taskloop under SENNIT_SPLIT=auto, if no clause says into how many tasks it is cut. Each task
// beyond the first is a piece that is offered to others. The number of these follows the paper's
// rule (balance/exposure.h; openmp-in-charm, 4.3.2 and 4.3.3): as many as there are idle workers,
// or as others took in the last runs of the loop. So a taskloop that nobody helps with is one task.
//
// What is one task can not be cut later on. So a loop of which too little is known yet is cut into
// many. A loop is told by its code, and about how many iterations it has.
//
// Invariant: an object is there until note_run() has been told of each task once.
#pragma once

#include "omp/team/team.h"

#include <atomic>
#include <cstdint>

namespace sennit::omp {

class LoopHistory;

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
