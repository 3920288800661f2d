// SPDX-License-Identifier: Apache-2.0
// Hot teams: a thread that forks keeps its last teams with their threads docked, so that the next
// region of the same size costs one broadcast and one gather.
#pragma once

#include "omp/team/team.h"

namespace sennit::omp {

// What we keep for a thread that forks.
struct Home {
    Team *initial = nullptr; // of a thread of the program's
    Team *cached = nullptr;  // most recently used first
};
Home &home_of(sched::Worker &worker);

// One that is not in use, or a fresh one; of fewer threads where there are not so many.
Team &take_team(sched::Worker &worker, int size, int level);

// The implicit task of `member` begins on the calling thread.
void start_implicit(sched::Worker &worker, Member &member);

} // namespace sennit::omp
