// SPDX-License-Identifier: Apache-2.0
// Tells a tool of regions and their implicit tasks. The functions know the kinds of teams, and tell
// what fits each kind. They are called only if a tool is attached.
#pragma once

#include "omp/team/team.h"

namespace sennit::ompt {

void parallel_begin(sched::Worker &worker, omp::Team &team);
void parallel_end(omp::Team &team, Task &encountering);
void implicit_task_begin(omp::Member &member);
// implicit_task_leaves: the task's body has returned. implicit_task_end: the task has left the
// barrier at the end of the region. By then the thread that forked the team may have begun another
// region with it, of another kind. So `kind` is the kind of the ended region.
void implicit_task_leaves(omp::Member &member);
void implicit_task_end(omp::Member &member, omp::Team::Kind kind);
void initial_task_begin(omp::Member &member);

void league_begin(sched::Worker &worker, Region &region, int teams);
void league_end(sched::Worker &worker, Region &region);
// Note that the next region of this thread is the body of a league's team.
void announce_team(omp::Member &initial, const Region &league, void *frame);

// End a single construct that is still open. GCC's code does not tell that a single construct ends,
// so the next barrier or worksharing construct of the task ends it.
void end_open_single(omp::Member &member, task::ToolRecord &record, const void *code);

} // namespace sennit::ompt
