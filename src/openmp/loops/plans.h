// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/compiler.h"
#include "openmp/env/icv.h"
#include "openmp/team/stealable_range.h"
#include "openmp/team/team.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sennit::omp {

// What a program says about how the iterations of a loop are given out (OpenMP 5.2, 11.5.3).

class LentLoop; // lent.h

struct LoopSchedule {
    Sched kind = Sched::static_;
    std::uint64_t chunk = 0; // 0: the kind's default
    bool monotonic = false;  // false lets dynamic split the space among the threads and steal
    bool ordered = false;
    std::uint64_t multiple = 1; // simd: pieces have a multiple of this many iterations
    LentLoop *lent = nullptr;   // its pieces go to whoever is done, whatever the rest says
};

// The chunk-less static schedule's share of one thread. Inline: virtual threads are many.
inline void static_share(std::uint64_t count, int threads, int thread, std::uint64_t *first,
                         std::uint64_t *last) {
    const auto n = static_cast<std::uint64_t>(threads);
    const auto i = static_cast<std::uint64_t>(thread);
    const std::uint64_t each = count / n;
    const std::uint64_t longer = count % n;
    *first = i * each + std::min(i, longer);
    *last = *first + each + (i < longer ? 1 : 0);
}

// A plan gives out the iterations of a loop. It is asked by every thread of the team for its
// next piece, until it has none for it. The plans of OpenMP's schedules are in plans.cpp:
//
//   share     static: computed, nothing is shared
//   counter   monotonic dynamic: the next chunk is a shared counter
//   steal     nonmonotonic dynamic: each thread has a range of chunks and steals when it is empty
//   whole     nonmonotonic dynamic for a team of one
//   guided    a shared iteration number
//   trapezoid the number of the next piece is a shared counter; its bounds are computed
//   lent      a static loop of which others take over a part (lent.cpp)
//   exposed   under SENNIT_SPLIT=auto, for dynamic and guided: as steal, but what a thread has is
//             offered to others only as far as somebody wants it (exposed.cpp)
//
// A room above may have plans of its own: its Planner is asked before the schedule decides.

class Plan;

// A loop as its plan sees it. Its iterations are 0 .. count-1. All but `next` and the ranges is
// constant after Plan::begin.
struct alignas(kCacheLine) Loop {
    const Plan *plan = nullptr;
    std::uint64_t count = 0;
    std::uint64_t chunk = 1;    // iterations of a chunk
    std::uint64_t chunks = 0;   // how many; the last one may be shorter
    std::uint64_t multiple = 1; // simd: pieces have a multiple of this many iterations
    bool chunked = false;       // the program has asked for chunks of this length
    bool ordered = false;
    StealableRange *ranges = nullptr; // steal: one a thread; none in a team of one
    int workers = 0;                  // of a virtual team, who have several threads each
    void *own = nullptr;              // of a plan from above
    // counter, trapezoid: next chunk; guided: next iteration; steal: 1 once the final chunk is
    // given away.
    alignas(kCacheLine) std::atomic<std::uint64_t> next{0};
    // trapezoid, which has just had that line: the first piece, and by how much each next one is
    // shorter.
    std::uint64_t longest = 0;
    std::uint64_t decrement = 0;
    // exposed: chunks that were taken over; by what it is remembered, how many each worker has
    // offered, and since when it runs, in ticks().
    std::atomic<std::uint64_t> taken{0};
    std::uint64_t key = 0;
    std::uint64_t offered = 0;
    std::uint64_t began = 0;

    // What every plan begins with.
    void describe(std::uint64_t iterations, const LoopSchedule &schedule) {
        count = iterations;
        chunk = std::max<std::uint64_t>(schedule.chunk, 1);
        chunks = count == 0 ? 0 : (count - 1) / chunk + 1;
        multiple = schedule.multiple;
        chunked = schedule.chunk != 0;
        ordered = schedule.ordered;
        own = nullptr;
        next.store(0, std::memory_order_relaxed);
    }
    // Chunk number `number` as iterations.
    void give_chunk(std::uint64_t number, std::uint64_t *first, std::uint64_t *last) const {
        *first = number * chunk;
        *last = number + 1 == chunks ? count : *first + chunk;
    }
};

// One object serves all loops that follow the plan. A thread's own state is in its
// MemberWorkshares: `position` is 0 when it enters the loop.
class Plan {
  public:
    // Called by the thread that comes first, before any other. The loop's numbers are those of the
    // schedule, and `next` is 0.
    virtual void begin(Loop &, int /*threads*/) const {}
    // The next iterations [*first, *last) for this thread, at least one. False: it has had all.
    // Called by the threads of the team at the same time. The thread that is given the loop's last
    // iteration gets no piece after it, for compilers tell by a thread's last piece who has the
    // value of lastprivate. If the schedule is monotonic, each thread's pieces ascend.
    virtual bool next(Member &member, Loop &loop, std::uint64_t *first,
                      std::uint64_t *last) const = 0;
    // Called for a loop that has something of the plan's `own`, when all threads have left it: by
    // the last of them, or, for a cancelled region, after it.
    virtual void end(Loop &) const {}

  protected:
    ~Plan() = default;
};

// If threads steal from a loop, its final chunk belongs to nobody. It goes to a thread that finds
// nothing else, as its last piece. `position`: 1 after it.
bool give_final_chunk(Member &member, Loop &loop, std::uint64_t *first, std::uint64_t *last);

// A loop begins in a team of so many threads: who gives it out?
void begin_loop(Loop &loop, std::uint64_t count, const LoopSchedule &schedule, int threads);
inline void end_loop(Loop &loop) {
    if (SENNIT_UNLIKELY(loop.own != nullptr))
        loop.plan->end(loop);
}

// Has a say before the schedule. Asked once a loop, by its first thread.
class Planner {
  public:
    // Null: as the schedule says.
    virtual const Plan *plan_for(const LoopSchedule &schedule, std::uint64_t count,
                                 int threads) = 0;

  protected:
    ~Planner() = default;
};
void set_planner(Planner *planner);

// From now on each thread's pieces ascend in every loop that begins, whatever its schedule leaves
// open: as if the program said `monotonic`.
void let_loops_ascend();
bool loops_ascend();

} // namespace sennit::omp
