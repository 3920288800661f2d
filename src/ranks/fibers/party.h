// SPDX-License-Identifier: Apache-2.0
// The rank fibers of one program that can go on, and the program's part of the cores of a pool
// (node/share.h). Each party has a slot of its own on the pool's board, beside those of its ranks.
//
// A carrier takes a core for a party before it runs the party's fibers. It gives the core back when
// it finds nothing to run, and at its next switch if the owner wants the core. So a program moves
// to other cores as its fibers move to other carriers. One carrier at a time asks for a core for a
// party; when it has got one, and more fibers are ready, it wakes another carrier, which asks next.
//
// Fibers of no party need no core. These are all fibers if there is no pool, and those of a program
// whose party does not exist yet.
#pragma once

#include "base/spin.h"
#include "node/share.h"
#include "ranks/fibers/fiber_table.h"
#include "ranks/fibers/rank_fiber.h"

#include <atomic>

namespace sennit::virt {

// Ready fibers, in the order in which they became ready. Under the crew's lock, but for `count`.
struct ReadyList {
    RankFiber *first = nullptr;
    RankFiber *last = nullptr;
    Atomic<std::int32_t> count{0}; // others may read it

    void add(RankFiber &fiber) {
        fiber.next_ready = nullptr;
        (first ? last->next_ready : first) = &fiber;
        last = &fiber;
        count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    RankFiber *pop() {
        RankFiber *const fiber = first;
        if (fiber)
            remove(*fiber, nullptr);
        return fiber;
    }
    // False: it is not in the list.
    bool remove(RankFiber &fiber) {
        RankFiber *before = nullptr;
        for (RankFiber *at = first; at; before = at, at = at->next_ready)
            if (at == &fiber) {
                remove(fiber, before);
                return true;
            }
        return false;
    }

  private:
    void remove(RankFiber &fiber, RankFiber *before) {
        (before ? before->next_ready : first) = fiber.next_ready;
        if (last == &fiber)
            last = before;
        count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
};

struct Party {
    std::uint64_t job = 0; // as on the board; 0: no program's
    ReadyList ready;
    Atomic<bool> asking{false};    // a carrier asks for a core
    Atomic<std::int32_t> users{0}; // carriers that ask, or have a core
    node::Share *share = nullptr;  // stays while there are users
    node::BoardSlot *slot = nullptr;

    bool is_unserved() const {
        return ready.count.load(std::memory_order_relaxed) != 0 && !asking.load();
    }
};

// All parties of an address space. One thread, the watcher, begins and ends them, and does the
// changes that carriers see under the crew's lock.
class Parties {
  public:
    // Programs at once in one address space; those beyond need no cores.
    static constexpr int kMost = 64;

    // Open the board of the pool that this process is in. False: it is in none.
    bool open();
    // Begin the parties of jobs that have come, and end those of jobs that are gone. `lock` is the
    // crew's.
    void follow(const FiberTable &fibers, SpinLock &lock) SENNIT_EXCLUDES(lock);

    // These two with the crew's lock. Null: there is none yet.
    Party *find(std::uint64_t job);
    // A party that has fibers ready, and for which nobody asks: from now on the caller does, and is
    // one of the party's users. Null: there is none.
    Party *claim();
    // Would claim() find one? A hint, without the lock.
    bool any_unserved() const {
        for (int i = 0; i < end_.load(std::memory_order_acquire); ++i)
            if (parties_[i].is_unserved())
                return true;
        return false;
    }

  private:
    Party *begin(std::uint64_t job, SpinLock &lock) SENNIT_EXCLUDES(lock);
    void end(Party &party, SpinLock &lock) SENNIT_EXCLUDES(lock);
    Party *take_unused();

    node::Board board_;
    bool is_open_ = false;
    std::atomic<int> end_{0};
    Party parties_[kMost];
};

} // namespace sennit::virt
