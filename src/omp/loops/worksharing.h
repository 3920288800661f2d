// SPDX-License-Identifier: Apache-2.0
// Worksharing: loops with dynamic, guided and runtime schedules, sections, single, copyprivate
// (OpenMP 5.2, chapter 11). Front doors translate their loops to iterations 0 .. count-1.
// All functions are called by every thread of the team, from its implicit task.
#pragma once

#include "omp/loops/schedule.h"
#include "omp/team/team.h"

namespace sennit::omp {

// run-sched-var of the current task.
LoopSchedule runtime_schedule(sched::Worker &worker);

// Enter a loop of `count` iterations (sections: a loop over sections, dynamic). The first thread
// that comes sets the shared state up.
void loop_begin(sched::Worker &worker, std::uint64_t count, const LoopSchedule &schedule);
// The next iterations [*first, *last) for this thread; false at the end.
bool loop_next(sched::Worker &worker, std::uint64_t *first, std::uint64_t *last);
// Leave the loop (no barrier). Idempotent after loop_next returned false.
void loop_end(sched::Worker &worker);

// A word and a block that the threads of the current construct share. They are zero at first.
std::atomic<std::uintptr_t> &loop_shared_word(sched::Worker &worker);
void *loop_shared_memory(sched::Worker &worker, std::size_t size);

// ordered: run by the thread that executes the iterations returned last, in iteration order.
void ordered_begin(sched::Worker &worker);
void ordered_end(sched::Worker &worker);

// True for the one thread that executes this `single`.
bool single_begin(sched::Worker &worker);
// copyprivate: the single thread publishes `data`, and the others get it after a barrier. All of
// them owe another barrier, behind which all have read it (GCC's code has it, and kmp's door adds
// it).
void copyprivate_publish(sched::Worker &worker, void *data);
void *copyprivate_receive(sched::Worker &worker);

} // namespace sennit::omp
