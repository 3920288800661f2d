// SPDX-License-Identifier: Apache-2.0
// Threads of a virtual team that wait for each other by spinning (virtual_team.h). The one that is
// waited for may not have begun; and no worker is free to begin it, for each one spins. So the
// ticker looks at regions that run. Where nothing has begun or ended for a while, though there are
// threads that have not begun, each of these gets a kernel thread of its own, a spare one. Then
// everybody goes on.
//
// A region may also stand still because its threads compute for long. Spare threads do no harm
// then, but it is no reason to split no more. What tells the two apart is Patience.
//
// Invariant: a spare thread is in a region that has not ended. Who ends it waits for those that
// have not left: a thread of the team is somebody else's in the next region.
#pragma once

#include "base/futex.h"
#include "base/spin.h"

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
    // Of the region that runs, at some moment: how many have not begun; what differs when one has
    // begun or ended since; the region's function, null where it is not known.
    virtual std::uint64_t unbegun() const = 0;
    virtual std::uint64_t trail() const = 0;
    virtual const void *function() const = 0;
    // A kernel thread that is no worker of the team's runs one, if there is one, and waits at the
    // join.
    virtual void run_spare(sched::Worker &worker) = 0;

  protected:
    ~Unbegun() = default;
};

// How long a region may stand still, and what it means that one did. Threads that spin end soon
// after the others have begun; threads that compute go on as long as they would have.
//
// Twice in a row, for a region that stands still for twice as long the second time: a region whose
// threads always take the same time cannot end soon after the one moment, and after the other one.
class Patience {
  public:
    static constexpr std::uint64_t kShortest = 200'000'000; // ns
    static constexpr std::uint64_t kLongest = 32 * kShortest;

    std::uint64_t ns() const { return ns_; }
    // A region had stood still for so long when its other threads began, and ended so much later.
    // True: its threads spin, for certain.
    bool judge(std::uint64_t stood_ns, std::uint64_t later_ns) {
        const bool soon = later_ns < stood_ns / 2;
        const bool certain = soon && soon_after_ns_ != 0 && stood_ns >= 2 * soon_after_ns_;
        soon_after_ns_ = soon ? stood_ns : 0;
        ns_ = std::clamp(2 * stood_ns, ns_, kLongest);
        return certain;
    }

  private:
    std::uint64_t ns_ = kShortest;
    std::uint64_t soon_after_ns_ = 0; // the last region's, if it has ended soon
};

// Of one virtual team, which lives as long as this.
class SpareThreads {
  public:
    explicit SpareThreads(Unbegun &team);
    ~SpareThreads();
    SpareThreads(const SpareThreads &) = delete;
    SpareThreads &operator=(const SpareThreads &) = delete;

    // A region begins, and has ended. By the team's maker.
    // Release: the ticker sees the team whole.
    void begin() { runs_.store(true, std::memory_order_release); }
    void end();

  private:
    friend struct SpareThreadsOfAll;
    // The ticker's, with the lock of all teams' spare threads.
    void look(std::uint64_t now_ns, std::uint64_t patience_ns);
    void start();
    static void main(void *self);
    void judge();

    Unbegun &team_;
    SpareThreads *next_ = nullptr; // all teams'
    std::atomic<bool> runs_{false};
    FutexWord inside_{0}; // spare threads
    // The ticker's: since when it has seen the same.
    std::uint64_t trail_ = 0;
    std::uint64_t since_ns_ = 0;
    // Of the region that runs, if it has had spare threads. Written by the ticker before these
    // begin, read by the maker when they have left.
    std::atomic<std::uint64_t> began_ns_{0};
    std::uint64_t stood_ns_ = 0;
};

void spare_threads_after_fork_in_child();

} // namespace sennit::omp
