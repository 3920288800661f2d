// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "openmp/team/team.h"

namespace sennit::omp {

// Hot teams: a thread that forks keeps its last teams, with their threads docked. So the next
// region of the same size costs one broadcast and one gather.

// What is kept for a thread that forks.
struct Home {
    Team *initial = nullptr; // for a thread of the program
    Team *cached = nullptr;  // a list, the most recently used first
    ValueSets values;        // of threads of its regions
};
Home &home_of(sched::Worker &worker);

// The key by which hot teams are found: the number of threads, negative for a virtual team.
inline int team_key(int size, bool is_virtual) {
    return SENNIT_UNLIKELY(is_virtual) ? -size : size;
}

// Find a hot team that is not in use, or make a new one. It has fewer threads if there are not so
// many.
Team &find_team(sched::Worker &worker, int key, int level);
inline Team &take_team(sched::Worker &worker, int key, int level) {
    const auto *home = static_cast<const Home *>(worker.room);
    if (Team *last = home ? home->cached : nullptr;
        last && !last->in_use && last->asked == key && last->level == level)
        return *last;
    return find_team(worker, key, level);
}

} // namespace sennit::omp
