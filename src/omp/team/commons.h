// SPDX-License-Identifier: Apache-2.0
// Teams without a region. Their threads serve a queue of independent tasks: those that are spawned
// through sennit.h, and the carriers of free agents.
#pragma once

#include "omp/team/team.h"

namespace sennit::omp {

// The team of one thread that is the parent of tasks spawned through sennit.h. It has no region. It
// has a worker of its own, which the first call starts. Null: that is impossible.
Team *commons();
// Make a team like that, with `size` threads that serve its queue. Null: there are no threads for
// it.
Team *make_serving_team(int size);
// Make an independent task for such a team. The caller submits it.
Task &make_spawned(sched::Worker &worker, Team &team, const task::SpawnPayload &spawn);
// Called at the end of the program: tells a tool that the team's thread ends.
void close_commons();
// Called in the child of fork(). The team's thread stayed in the parent.
void commons_after_fork_in_child();

} // namespace sennit::omp
