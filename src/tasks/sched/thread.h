// SPDX-License-Identifier: Apache-2.0
// The thread that a worker is on. It is a thread of the kernel; in a rank of fibers it may be the
// flow of a rank fiber (ranks/fibers/rank_fiber.h), which other threads of the kernel run
// meanwhile.
//
// Invariant: from adopt() to its end, number and flow are those of one thread. What own_flow()
// points to stays mapped.
//
// Any thread may call what is on anybody's side, the worker's own thread the rest.
#pragma once

#include "base/clock.h"
#include "base/compiler.h"
#include "ranks/fibers/rank_fiber.h"
#include "tasks/sched/processors.h"

#include <atomic>
#include <cstdint>
#include <pthread.h>
#include <sched.h>

namespace sennit::sched {

using virt::ClockUse;

struct Fiber;

class Thread {
  public:
    // ---- anybody's side
    int id() const { return id_.load(std::memory_order_relaxed); }
    const std::atomic<int> &id_word() const { return id_; }
    // Where it last noted to be, by the system's number; -1: nobody knows. A hint.
    int processor() const { return processor_.load(std::memory_order_relaxed); }
    // Null: it is no rank fiber.
    virt::RankFiber *own_flow() const { return flow_.load(std::memory_order_relaxed); }

    // ---- its own side
    bool is_calling() const { return pthread_equal(thread_, pthread_self()) != 0; }
    // For those that will yield to it, see OwnWork.
    void note_processor() {
        if (const int here = sched_getcpu(); here != processor())
            processor_.store(here, std::memory_order_relaxed);
    }
    // Give the processor to another thread. Where that took long lately, processors_wanted() holds.
    void yield();

    // The rank fiber, if it may leave its home.
    virt::RankFiber *flow() const {
        virt::RankFiber *const own = own_flow();
        const bool hops =
            own &&
            own->main.load(std::memory_order_relaxed)->hops.load(std::memory_order_relaxed) != 0;
        return SENNIT_UNLIKELY(hops) ? own : nullptr;
    }
    // Of a rank fiber, for which to sleep costs no more than to yield. At home each of its yields
    // would be a system call.
    bool sleeps_at_once() const {
        const virt::RankFiber &own = *own_flow();
        return own.carrier.load(std::memory_order_relaxed) ? own.calls->keeps_others(own)
                                                           : crowded() && flow();
    }

    // Its processor time; as a rank fiber, on all kernel threads that run it. The difference of two
    // is right if no end_clock() for the same use is between them.
    std::int64_t clock_ns(ClockUse use) {
        virt::RankFiber *const own = own_flow();
        return SENNIT_UNLIKELY(own != nullptr) ? own->calls->work_ns(*own, use) : thread_work_ns();
    }
    void end_clock(ClockUse use) {
        if (virt::RankFiber *const own = own_flow(); SENNIT_UNLIKELY(own != nullptr))
            own->clock.stop(use);
    }
    // Processor time that it has spent on the stack of `current`, on which it is, since some time
    // in the past (nanoseconds): for differences. The first call in a process turns it on.
    std::uint64_t work_time_ns(Fiber &current);
    // It leaves the stack of `left`: the time since the last call was that one's.
    void count_work(Fiber &left);

    // ---- its begin and end (tasks/sched/threads.cpp)
    // The calling thread. `is_ours`: one that the pool has made.
    void adopt(bool is_ours);
    // In a rank of fibers a thread of ours is a fiber, too.
    void enter_flow();
    void leave_flow();
    void after_fork_in_child();

  private:
    std::atomic<int> processor_{-1};
    std::atomic<int> id_{0};
    std::atomic<virt::RankFiber *> flow_{nullptr};
    pthread_t thread_{};
    std::uint64_t work_counted_ns_ = 0; // processor time that is in some fiber's worked_ns
};

// What other workers do, from now on, on the processor that `thread` is on: those of them that have
// noted it when they last waited or began a region. So it is known whose work a yield of the
// processor waited for: that of this process, or another program's. A hint, for the system may have
// moved them.
class OwnWork {
  public:
    explicit OwnWork(const Thread &thread);
    // Processor time.
    std::int64_t ns() const;

  private:
    static constexpr int kMost = 8; // each takes a system call

    std::int64_t sum() const;

    int threads_[kMost];
    int count_ = 0;
    std::int64_t before_ = 0;
};

} // namespace sennit::sched
