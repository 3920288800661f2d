// SPDX-License-Identifier: Apache-2.0
// Implicit tasks: how one begins (OpenMP 5.2, 10.1).
#pragma once

#include "omp/team/placement.h"
#include "omp/team/team.h"

namespace sennit::omp {

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
