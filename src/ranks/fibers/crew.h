// SPDX-License-Identifier: Apache-2.0
// The carriers of one address space, and which fiber each of them runs next: the one that has been
// ready for longest, among those of the program for which the carrier has a core (party.h).
//
// Carriers take the fibers that were rung for (fiber_rings.h). They do all else under a lock
// that only they use. The lock is safe: carriers are threads of the host, and the host outlives
// every rank.
#pragma once

#include "base/spin.h"
#include "ranks/fibers/carrier.h"
#include "ranks/fibers/fiber_rings.h"
#include "ranks/fibers/party.h"
#include "ranks/fibers/rank_fiber.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>

namespace sennit::virt {

class Crew : public FiberRings {
  public:
    static constexpr int kMostCarriers = 256;

    Crew();
    // The host's main thread alone calls add(), end() and staff().
    //
    // Add the fiber of a rank's main flow. Null: there is no memory, or there are too many fibers.
    RankFiber *add();
    // The process of the rank has ended. After the call nobody runs its fibers any more, nor
    // touches their stacks. False: a carrier does not leave one of them.
    bool end(RankFiber &main);
    // Have as many carriers as there are cores that any rank may use. False: there is no thread for
    // one.
    bool staff(const cpu_set_t &cores);

  private:
    static void *work(void *carrier);
    static void *watch(void *crew);
    RankFiber *next(Carrier &carrier);
    RankFiber *take(Carrier &carrier, bool &others);
    RankFiber *take_or_return(Carrier &carrier, bool &others, RankFiber *&goes_home);
    bool anything_for(const Carrier &carrier) const;
    bool is_to_leave(const Carrier &carrier) const;
    bool ask_for_core(Carrier &carrier);
    void give_core(Carrier &carrier);
    void look_at_clock(Carrier &carrier);
    void idle(Carrier &carrier);
    void wake_another();
    void settle(Carrier &carrier, RankFiber &fiber);
    bool settle_or_return(Carrier &carrier, RankFiber &fiber); // true: it goes home
    void begin_return(RankFiber &fiber) SENNIT_REQUIRES(lock_);
    void send_home(RankFiber &fiber);
    void take_rung() SENNIT_REQUIRES(lock_);
    void make_ready(RankFiber &fiber) SENNIT_REQUIRES(lock_);
    ReadyList &list_of(RankFiber &fiber) SENNIT_REQUIRES(lock_);
    std::int64_t wake_late(std::int64_t now) SENNIT_REQUIRES(lock_);
    void find_homeless() SENNIT_REQUIRES(lock_);
    void tick();
    void measure_ticks();
    Carrier *hire();
    bool begin_watch();
    bool end_one(RankFiber &fiber);

    SpinLock lock_;
    ReadyList partyless_;
    Parties parties_;
    bool is_pooled_ = false;
    std::atomic<std::int64_t> looked_ns_{0}; // last look at the clock; written with the lock

    Carrier *carriers_[kMostCarriers] = {};
    cpu_set_t cores_{};
    pthread_t watcher_{};
    bool is_watched_ = false;
};

} // namespace sennit::virt
