// SPDX-License-Identifier: Apache-2.0
// Teams without a region. Their threads serve a queue of independent tasks: those that are spawned
// through sennit.h, and the carriers of free agents.
#pragma once

#include "base/spin.h"
#include "omp/team/team.h"

#include <atomic>

namespace sennit::omp {

// A team like that. The first thread that needs it makes it; it lasts as long as the process.
class ServingTeam {
  public:
    // Null: it was not needed yet.
    Team *now() const { return team_.load(std::memory_order_acquire); }
    // Its threads serve its queue; they are `size`, or fewer. Null: there are no threads for it.
    Team *now_or_make(int size);
    // Called in the child of fork(). The threads stayed in the parent.
    void after_fork_in_child();

  private:
    std::atomic<Team *> team_{nullptr};
    SpinLock making_;
};

// The team of one thread that is the parent of tasks spawned through sennit.h. It has no region. It
// has a worker of its own, which the first call starts. Null: that is impossible.
Team *commons();
// Make an independent task for such a team. The caller submits it.
Task &make_spawned(sched::Worker &worker, Team &team, const task::SpawnPayload &spawn);
// Called at the end of the program: tells a tool that the team's thread ends.
void close_commons();
void commons_after_fork_in_child();

} // namespace sennit::omp
