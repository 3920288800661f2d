// SPDX-License-Identifier: Apache-2.0
// Hot teams: a thread that forks keeps its last teams with their threads docked, so that the next
// region of the same size costs one broadcast and one gather.
#pragma once

#include "omp/team/placement.h"
#include "omp/team/team.h"

namespace sennit::omp {

// What we keep for a thread that forks.
struct Home {
    Team *initial = nullptr; // of a thread of the program's
    Team *cached = nullptr;  // most recently used first
};
Home &home_of(sched::Worker &worker);

// One that is not in use, or a fresh one; of fewer threads where there are not so many.
Team &find_team(sched::Worker &worker, int size, int level);
inline Team &take_team(sched::Worker &worker, int size, int level) {
    const auto *home = static_cast<const Home *>(worker.room);
    if (Team *last = home ? home->cached : nullptr;
        last && !last->in_use && last->asked == size && last->level == level)
        return *last;
    return find_team(worker, size, level);
}

// The implicit task of `member` begins on the calling thread.
inline void start_implicit(sched::Worker &worker, Member &member) {
    Task &task = member.implicit;
    const Team &team = *member.team;
    task.parent = team.encountering_task;
    task.icvs = team.icvs;
    task.taskgroup = nullptr;
    task.flags = Task::kImplicit;
    task.spawned = 0;
    task.folded.store(false, std::memory_order_relaxed);
    task.pending.store(0, std::memory_order_relaxed);
    task.home.store(&worker, std::memory_order_relaxed);
    member.work.begun = 0;
    member.work.singles = 0;
    member.work.doacross_begun = 0;
    member.work.loop = nullptr; // a cancelled region may have left one
    member.work.doacross = nullptr;
    worker.task = &task;
    worker.slot = &member;
    enter_place(member);
}

} // namespace sennit::omp
