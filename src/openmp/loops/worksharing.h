// SPDX-License-Identifier: Apache-2.0
// Worksharing: loops with dynamic, guided and runtime schedules, sections, single, copyprivate
// (OpenMP 5.2, chapter 11). Front doors translate their loops to iterations 0 .. count-1.
// All functions are called by every thread of the team, from its implicit task.
#pragma once

#include "base/spin.h"
#include "openmp/loops/plans.h"
#include "openmp/team/team.h"

#include <atomic>
#include <cstdint>

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

// What the threads of a team share in worksharing constructs. It is made when the first of them
// comes to one.
//
// With a ring of descriptors, threads may run ahead of each other by up to kRing nowait constructs.
// A descriptor belongs to the construct with this number. The first thread that comes sets it up.
// The last one that leaves passes it on to the construct kRing later.

struct LoopState : Loop {
    enum Setup : std::uint32_t { kFree, kBusy, kReady };
    alignas(kCacheLine) Atomic<std::uint32_t> construct{0}; // its number
    Atomic<std::uint32_t> setup{kFree};
    Atomic<std::uint64_t> ordered_from{0}; // first iteration that may go on
    Atomic<int> parked{0};                 // threads that wait for that
    Atomic<int> left{0};
    std::atomic<std::uintptr_t> word{0};
    std::atomic<void *> memory{nullptr};
};

struct Doacross; // doacross.cpp

// A loop with ordered(n), likewise.
struct DoacrossShare {
    enum : int { kFree, kBusy, kReady };
    std::atomic<std::uint32_t> loop{0}; // its number
    std::atomic<int> setup{kFree};
    std::atomic<int> left{0};
    Doacross *shared = nullptr; // from malloc
};

class LoopHistory; // exposed.h

struct Workshares final : TeamExtension {
    static constexpr std::uint32_t kRing = 8;
    static constexpr std::uint32_t kDoacrossRing = 4;

    void reset(Team &team) override;
    void drop() override;

    std::atomic<std::uint32_t> singles{0}; // `single` constructs that found their thread
    LoopHistory *loops = nullptr;          // of a virtual team whose workers offer parts of loops
    LoopState ring[kRing];
    DoacrossShare doacross[kDoacrossRing];
};

Workshares &make_workshares(Team &team);
inline Workshares &workshares_of(Team &team) {
    TeamExtension *made = team.workshares.load(std::memory_order_acquire);
    return SENNIT_LIKELY(made != nullptr) ? *static_cast<Workshares *>(made)
                                          : make_workshares(team);
}

// Null: the team keeps no history of its loops. Called for a team that has workshares.
inline LoopHistory *history_of(const Team &team) {
    return static_cast<const Workshares *>(team.workshares.load(std::memory_order_relaxed))->loops;
}

// Cross-iteration dependences: ordered(n) with doacross(source:) and doacross(sink:), formerly
// depend(source) and depend(sink) (OpenMP 5.2, 15.9.6 and 15.10.2).
//
// The threads of a loop share a bit per iteration vector: posted or not. A descriptor of the
// team's ring belongs to one loop, as in LoopState. In a team of one the order
// of execution satisfies every dependence, so there is nothing to share.
// All functions are called by every thread of the team, from its implicit task.

// One loop of the nest: iteration i is first + i * step, for i in 0 .. count-1.
struct DoacrossLoop {
    std::int64_t first;
    std::int64_t step;
    std::uint64_t count;
};

// Enter and leave a loop nest with cross-iteration dependences.
void doacross_begin(sched::Worker &worker, int loops, const DoacrossLoop *nest);
void doacross_end(sched::Worker &worker);  // does nothing where there was no begin
int doacross_loops(sched::Worker &worker); // of the nest that the thread is in; 0: none
// The iteration with these values of the loop variables has passed its source.
void doacross_post(sched::Worker &worker, const std::int64_t *vector);
// Wait until the iteration has passed its source. An iteration outside of the iteration space is no
// dependence.
void doacross_wait(sched::Worker &worker, const std::int64_t *vector);

} // namespace sennit::omp
