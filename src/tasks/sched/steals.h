// SPDX-License-Identifier: Apache-2.0
// Where a worker finds its next task in a group: its own queue first, then those of others, the
// nearest first. And how often it looks there: each look takes a cache line from a producer, and
// each theft takes those of the tasks.
//
// Invariant: as long as thefts bring less than they cost, the next one comes later and later.
//
// One for each worker. Only its own thread calls it.
#pragma once

#include "base/compiler.h"
#include "tasks/sched/group.h"
#include "tasks/sched/ordered_queue.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

class Steals {
  public:
    // A ready task of the group of `where`; null: there is none, or none that is worth a theft now.
    Item *take(Slot &where) {
        if (ordered())
            return take_ordered(where);
        if (Item *const item = where.queue.take_front())
            return item;
        const Group &group = *where.group;
        if (group.size == 1 || !group.has_tasks.load(std::memory_order_relaxed) || !pays())
            return nullptr;
        return steal(where);
    }

    // The pause before the next look at the others' queues, in rounds of waiting. Each one is
    // longer than the one before, until there is a task: after a while there is more to take at
    // once.
    int next_pause() {
        const int pause = pause_;
        pause_ = pause * 2 < kLongestPause ? pause * 2 : kLongestPause;
        return pause;
    }
    void found_task() { pause_ = 1; }

  private:
    static constexpr int kLongestPause = 32;
    static Item *take_ordered(Slot &where);
    bool pays();
    Item *steal(Slot &where);
    Item *steal_from(Slot &other, std::uint32_t count, Slot &where);

    int pause_ = 1;
    // The last theft, and when the next may be.
    std::uint64_t stolen_at_ = 0;   // ticks; 0: it was looked at since
    std::uint64_t theft_ticks_ = 0; // what it took to take them
    std::uint64_t stolen_ = 0;      // tasks
    std::uint64_t after_ = 0;       // ticks; 0: at once
    std::uint64_t delay_us_ = 0;
};

} // namespace sennit::sched
