// SPDX-License-Identifier: Apache-2.0
// Spare threads are for threads of a virtual team that wait for each other by spinning
// (virtual_team.h). The thread that they wait for may not have begun, and no worker is free to
// begin it, because each one spins. So the ticker looks at regions that run. If nothing has begun
// or ended for a while, though there are threads that have not begun, each of these gets a kernel
// thread of its own, a spare one. Then everybody goes on.
//
// A region may also stand still because its threads compute for long. Then spare threads do no
// harm, but this is no reason to stop splitting the region. Patience tells the two cases apart.
//
// Invariant: a spare thread is in a region that has not ended. The thread that ends the region
// waits for spare threads that have not left. For in the next region the thread that they ran
// belongs to another one.
#pragma once

#include "base/futex.h"
#include "base/spin.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/worker.h"
#include "wait/rows.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sennit::sched {
class Worker;
}

namespace sennit::omp {

// A team with threads that have not begun.
class Unbegun {
  public:
    // About the region that runs, at some moment. unbegun(): how many threads have not begun.
    // trail(): a number that changes when a thread begins or ends. function(): the region's
    // function, or null if it is not known.
    virtual std::uint64_t unbegun() const = 0;
    virtual std::uint64_t trail() const = 0;
    virtual const void *function() const = 0;
    // Run a thread that has not begun, if there is one, and wait at the join. The caller is a
    // kernel thread that is no worker of the team.
    virtual void run_spare(sched::Worker &worker) = 0;
    // Run threads that have not begun until there are none, or the caller's core is to be left. The
    // caller is no worker of the team, and has a core.
    virtual void help(sched::Worker &worker) = 0;

  protected:
    ~Unbegun() = default;
};

// How long a region may stand still, and what it means if it did. Threads that spin end soon after
// the others have begun. Threads that compute go on for as long as they need.
//
// A region may end soon after that moment by chance. So it is judged twice in a row, and the second
// time it must have stood still for twice as long. Threads that always compute for the same time
// cannot end soon after both moments. Where many programs compute, it may take seconds until
// threads that spin have all had a processor. So after a region that ended soon there is no limit.
class Patience {
  public:
    static constexpr std::uint64_t kShortest = 200'000'000;   // ns
    static constexpr std::uint64_t kLongest = 32 * kShortest; // unless the last one ended soon

    std::uint64_t ns() const { return ns_; }
    // A region had stood still for `stood_ns` when its other threads began, and it ended `later_ns`
    // later. True: its threads spin, for certain.
    bool judge(std::uint64_t stood_ns, std::uint64_t later_ns) {
        const bool soon = later_ns < stood_ns / 2;
        const bool certain = soon && soon_after_ns_ != 0 && stood_ns >= 2 * soon_after_ns_;
        soon_after_ns_ = soon ? stood_ns : 0;
        ns_ = soon ? 2 * stood_ns : std::min(std::max(2 * stood_ns, ns_), kLongest);
        return certain;
    }

  private:
    std::uint64_t ns_ = kShortest;
    std::uint64_t soon_after_ns_ = 0; // how long the last region stood still, if it ended soon
};

// The spare threads of one virtual team. The team lives as long as this.
class SpareThreads {
  public:
    explicit SpareThreads(Unbegun &team);
    ~SpareThreads();
    SpareThreads(const SpareThreads &) = delete;
    SpareThreads &operator=(const SpareThreads &) = delete;

    // begin(): a region begins. end(): it has ended. The team's maker calls both.
    // Release: the ticker sees the whole team.
    void begin() { runs_.store(true, std::memory_order_release); }
    void end();

    // A helper (helpers.h) has a part in a region that has threads to begin. False: there is none.
    static bool help_any(sched::Worker &worker);

  private:
    friend struct SpareThreadsOfAll;
    // The ticker calls it, and holds the lock of all teams' spare threads.
    void look(std::uint64_t now_ns, std::uint64_t patience_ns);
    bool enter();
    void leave();
    void start();
    static void main(void *self);
    void judge();

    Unbegun &team_;
    SpareThreads *next_ = nullptr; // the list of all teams
    Atomic<bool> runs_{false};
    FutexWord inside_{0}; // how many spare threads and helpers are in the region
    // Used by the ticker: the trail that it has seen, and since when.
    std::uint64_t trail_ = 0;
    std::uint64_t since_ns_ = 0;
    // For the region that runs, if it has had spare threads. The ticker writes it before these
    // begin. The maker reads it when they have left.
    std::atomic<std::uint64_t> began_ns_{0};
    std::uint64_t stood_ns_ = 0;
};

void spare_threads_after_fork_in_child();

// Helpers: kernel threads for a virtual team (virtual_team.h) in a process that may use more cores
// of its node than the team has workers (tasks/sched/sharing.h). A helper takes such a core, runs
// threads of the team that have not begun, and goes back to the pool of threads.
//
// A worker calls for helpers when its part in a region begins, and between two of its threads. One
// helper at a time waits for a core. When it has one, it calls the next. A helper has its core
// before it enters a region. So no region's end waits for a thread that waits for a core. It leaves
// the region when there is nothing to begin any more, or when its core is to be left.

// `threads` threads of a region that runs could begin on other cores. 0: none any more.
void call_helpers(int threads);
void helpers_after_fork_in_child();

// How long a worker is idle before it takes what others have not offered
// (decide/objects/problem.h).

// The patience in ticks(), for work that began `since_ticks` ago. It is a part of that time, but at
// least about the time that a steal takes, and never so long that anybody would notice.
inline std::uint64_t idle_patience(std::uint64_t since_ticks) {
    constexpr const wait::Naps &row = wait::kBeforeTakes.naps;
    const std::uint64_t us = sched::ticks_per_us();
    return std::clamp(since_ticks / static_cast<unsigned>(row.part),
                      wait::whole_us(row.shortest_ns) * us, wait::whole_us(row.longest_ns) * us);
}

// Wait a moment. If threads outnumber processors, the caller yields: it may wait for a thread that
// needs the processor.
inline void wait_a_moment() {
    if (sched::crowded())
        sched::Worker::here().thread.yield();
    else
        cpu_relax();
}

} // namespace sennit::omp
