// SPDX-License-Identifier: Apache-2.0
// The workers of one address space, and which fiber each runs next: the one that has been ready for
// longest.
//
// Workers take the list of those that were rung for (turns.h), and do all else under a lock of
// theirs: they are threads of the host, which no rank outlives.
#pragma once

#include "base/spin.h"
#include "virt/rank_fiber.h"
#include "virt/turns.h"
#include "virt/worker.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>

namespace sennit::virt {

class Crew : public Turns {
  public:
    static constexpr int kMostWorkers = 256;

    Crew();
    // All by the host's main thread. The main flow of a rank: null where there is no memory, or
    // there are too many.
    RankFiber *add() { return fibers_.add(nullptr); }
    // The process of the rank has ended: nobody runs its fibers any more, nor touches their stacks.
    // False: a worker does not let go of one.
    bool end(RankFiber &main);
    // As many workers as there are cores that some rank may use. False: no thread for them.
    bool staff(const cpu_set_t &cores);

  private:
    static void *work(void *worker);
    static void *watch(void *crew);
    RankFiber *next(Worker &worker);
    RankFiber *take();
    void idle(Worker &worker);
    void settle(Worker &worker, RankFiber &fiber);
    void send_home(RankFiber &fiber);
    void take_rung();
    void make_ready(RankFiber &fiber);
    std::int64_t wake_late(std::int64_t now);
    void tick();
    Worker *hire();
    bool end_one(RankFiber &fiber);

    SpinLock lock_;
    RankFiber *first_ready_ = nullptr;
    RankFiber *last_ready_ = nullptr;
    std::atomic<std::int64_t> looked_ns_{0}; // at the clock; written under the lock

    Worker *workers_[kMostWorkers] = {};
    cpu_set_t cores_{};
    pthread_t watcher_{};
};

} // namespace sennit::virt
