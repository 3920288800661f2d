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

// What hot teams are found by: the number of threads, negative for a virtual team.
inline int team_key(int size, bool is_virtual) {
    return SENNIT_UNLIKELY(is_virtual) ? -size : size;
}

// One that is not in use, or a fresh one; of fewer threads where there are not so many.
Team &find_team(sched::Worker &worker, int key, int level);
inline Team &take_team(sched::Worker &worker, int key, int level) {
    const auto *home = static_cast<const Home *>(worker.room);
    if (Team *last = home ? home->cached : nullptr;
        last && !last->in_use && last->asked == key && last->level == level)
        return *last;
    return find_team(worker, key, level);
}

} // namespace sennit::omp
