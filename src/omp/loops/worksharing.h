// SPDX-License-Identifier: Apache-2.0
// Worksharing: loops with dynamic, guided and runtime schedules, sections, single, copyprivate
// (OpenMP 5.2, chapter 11). Front doors translate their loops to iterations 0 .. count-1.
// All functions are called by every thread of the team, from its implicit task.
#pragma once

#include "omp/team/team.h"

namespace sennit::omp {

struct LoopSchedule {
    Sched kind = Sched::static_;
    std::uint64_t chunk = 0; // 0: the kind's default
    bool monotonic = false;  // false lets dynamic split the space among the threads and steal
    bool ordered = false;
    std::uint64_t multiple = 1; // simd: pieces have a multiple of this many iterations
};
// run-sched-var of the current task.
LoopSchedule runtime_schedule(sched::Worker &worker);

// Enter a loop of `count` iterations (sections: a loop over sections, dynamic). The first thread
// that comes sets the shared state up.
void loop_begin(sched::Worker &worker, std::uint64_t count, const LoopSchedule &schedule);
// The next iterations [*first, *last) for this thread; false at the end.
bool loop_next(sched::Worker &worker, std::uint64_t *first, std::uint64_t *last);
// Leave the loop (no barrier). Idempotent after loop_next returned false.
void loop_end(sched::Worker &worker);

// Of the construct that the thread is in: a word and a block that its threads share, zero at first.
std::atomic<std::uintptr_t> &loop_shared_word(sched::Worker &worker);
void *loop_shared_memory(sched::Worker &worker, std::size_t size);

// ordered: run by the thread that executes the iterations returned last, in iteration order.
void ordered_begin(sched::Worker &worker);
void ordered_end(sched::Worker &worker);

// The chunk-less static schedule's share of one thread (no shared state).
void static_share(std::uint64_t count, int threads, int thread, std::uint64_t *first,
                  std::uint64_t *last);

// True for the one thread that executes this `single`.
bool single_begin(sched::Worker &worker);
// copyprivate: the single thread publishes `data`; the others get it after a barrier. All of them
// owe another barrier, behind which everybody has read (GCC's code has it, kmp's door adds it).
void copyprivate_publish(sched::Worker &worker, void *data);
void *copyprivate_receive(sched::Worker &worker);

// A team makes them when it is made and drops them when it is dissolved.
Workshares *make_workshares(int threads);
void drop_workshares(Workshares *workshares);
void reset_workshares(Team &team); // at fork, before the threads start

} // namespace sennit::omp
