// SPDX-License-Identifier: Apache-2.0
// Teams without a region, whose threads serve a queue of independent tasks: those that are spawned
// through sennit.h, and the carriers of free agents.
#pragma once

#include "omp/team/team.h"

namespace sennit::omp {

// A team of one thread with no region: parent of tasks spawned through sennit.h. Has a worker of
// its own, started on first use; null when that is impossible.
Team *commons();
// A team like that, with `size` threads that serve its queue; null when there is none to be had.
Team *make_serving_team(int size);
// An independent task for such a team, not yet submitted.
Task &make_spawned(sched::Worker &worker, Team &team, const task::SpawnPayload &spawn);
// At the end of the program: a tool is told that its thread ends.
void close_commons();
// Its thread stayed in the parent.
void commons_after_fork_in_child();

} // namespace sennit::omp
