// SPDX-License-Identifier: Apache-2.0
// What a tool is told of regions and their implicit tasks. The functions know the kind of a team,
// and say of it what is to be said. Called where a tool is attached.
#pragma once

#include "omp/team/team.h"

namespace sennit::ompt {

void parallel_begin(sched::Worker &worker, omp::Team &team);
void parallel_end(omp::Team &team, Task &encountering);
void implicit_task_begin(omp::Member &member);
// Its body has returned; it has left the barrier at the end of the region. By then the thread that
// forked the team may have begun the next region with it, of another kind: `kind` is the region's.
void implicit_task_leaves(omp::Member &member);
void implicit_task_end(omp::Member &member, omp::Team::Kind kind);
void initial_task_begin(omp::Member &member);

void league_begin(sched::Worker &worker, Region &region, int teams);
void league_end(sched::Worker &worker, Region &region);
// The next region of this thread is the body of a league's team.
void announce_team(omp::Member &initial, const Region &league, void *frame);

// GCC's code does not tell that a single construct ends: the next barrier or worksharing construct
// of the task does.
void end_open_single(omp::Member &member, task::ToolRecord &record, const void *code);

} // namespace sennit::ompt
