// SPDX-License-Identifier: Apache-2.0
// The ready tasks of several workers in one order, that of a policy (decide/tasks/rules.h). A
// task's key can change while it is queued.
//
// Most tasks come in order: they are independent, and ordered by when they are made. So there is a
// line, which a task joins if it comes behind all others in it. Any other task goes to a binary
// heap, and so does one of the line whose key changes. The first task is the line's or the heap's.
//
// A spin lock guards the queue; count() may be read without it, as a hint.
#pragma once

#include "base/array.h"
#include "base/assert.h"
#include "base/compiler.h"
#include "base/spin.h"
#include "decide/tasks/rules.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

// What queues hold: the intrusive part of a task.

class OrderedQueue;

struct Item {
    // For ready queues only: who else keeps tasks in a list has links of his own. Where ordered()
    // (order.h) the OrderedQueue that holds the item, in other processes links of a ReadyQueue.
    // Invariant: where ordered(), `queue` is a queue or null from creation to end. For a task's
    // priority may change at any time before it starts, and OrderedQueue::moved() then looks here.
    union {
        Item *next;
        OrderedQueue *queue; // atomic access, see OrderedQueue
    };
    union {
        Item *prev;
        std::uintptr_t position; // in that queue
    };
    int priority;      // 0 .. kLevels - 1; others may raise it: current_priority()
    std::uint32_t age; // how many tasks came before; ordered queues only

    int current_priority() const {
        return atomic_at(const_cast<int &>(priority)).load(std::memory_order_seq_cst);
    }
    void change_priority(int to) { atomic_at(priority).store(to, std::memory_order_seq_cst); }
};

inline constexpr int kLevels = policy::kMostPriority + 1;

// Which items a search through a whole queue is for. Asked under the queue's lock.
class Sought {
  public:
    virtual bool is(const Item *item) const = 0;

  protected:
    ~Sought() = default;
};

// The order of ready tasks in this process, as SENNIT_POLICY and SENNIT_ORDER ask for it. Under
// `steal` each team member has a queue of its own (queue.h), newest first, and steals. Under every
// other policy the members of a team share one ordered queue per NUMA domain (ordered_queue.h).

namespace detail {
extern policy::Rules g_rules;
extern policy::Machine g_machine;
} // namespace detail

// Constant once the library is loaded.
inline const policy::Rules &rules() {
    return detail::g_rules;
}
inline bool ordered() {
    return SENNIT_UNLIKELY(detail::g_rules.ordered);
}
inline const policy::Machine &machine() {
    return detail::g_machine;
}
void order_setup();
void set_machine(const policy::Machine &machine); // before the first team is made

inline std::uint64_t key_of(const Item &item) {
    return policy::key(rules(), item.current_priority(), item.age);
}
std::uint32_t next_age();
// It is ready now: where an order counts ages from that moment, this is its age.
inline void note_ready(Item *item) {
    if (!rules().by_creation)
        item->age = next_age();
}

class alignas(kCacheLine) OrderedQueue {
  public:
    OrderedQueue() = default;
    OrderedQueue(const OrderedQueue &) = delete;
    OrderedQueue &operator=(const OrderedQueue &) = delete;
    ~OrderedQueue();

    std::uint32_t count() const { return count_.load(std::memory_order_relaxed); }

    void push(Item *item);
    void push_ready(Item *item) { // it is ready since now
        note_ready(item);
        push(item);
    }
    // The first in order; null when empty.
    Item *take() {
        return take_if([](const Item *) { return true; });
    }
    // The first, if accept(item).
    template <class Accept>
    Item *take_if(Accept accept) {
        if (count() == 0)
            return nullptr;
        const Guard guard(lock_);
        return count() && accept(first()) ? take_first() : nullptr;
    }
    // The first in order of those that are sought. The others stay where they are.
    Item *take_any(const Sought &sought);

    // The priority of an item has changed. It may be in a queue, or on its way to one. It must not
    // be freed meanwhile.
    static void moved(Item *item);

    // Does every task know its place, are line and heap in order, and is each counted once? Under
    // the lock, or alone.
    bool is_sound() const;

  private:
    struct Keyed {
        std::uint64_t key;
        Item *item;
    };

    // Fields are numbered from the first one on; those before `head` have been left. Its first
    // field is taken, others may be empty (no item): who was there has moved to the heap.
    struct Line {
        Keyed *fields = nullptr;
        std::uint32_t capacity = 0; // a power of two
        std::uint32_t head = 0;
        std::uint32_t tail = 0;

        bool empty() const { return head == tail; }
        Keyed &at(std::uint32_t place) { return fields[place & (capacity - 1)]; }
        const Keyed &at(std::uint32_t place) const { return fields[place & (capacity - 1)]; }
        const Keyed &first() const { return fields[head & (capacity - 1)]; }
        bool may_join(std::uint64_t key) { return empty() || at(tail - 1).key <= key; }
        void leave(std::uint32_t place);
        void grow();
    };
    // Of an item's position: in the line.
    static constexpr std::uintptr_t kInLine = ~(~std::uintptr_t{0} >> 1);

    bool line_is_first() const SENNIT_REQUIRES(lock_) {
        return heap_.size() == 0 || (!line_.empty() && line_.first().key <= heap_[0].key);
    }
    Item *first() const SENNIT_REQUIRES(lock_) {
        return line_is_first() ? line_.first().item : heap_[0].item;
    }
    Item *take_first() SENNIT_REQUIRES(lock_);
    void remove(Item *item) SENNIT_REQUIRES(lock_);
    void add_to_heap(const Keyed &keyed) SENNIT_REQUIRES(lock_);
    void place(std::size_t at, const Keyed &keyed) SENNIT_REQUIRES(lock_);
    void rise(std::size_t at, const Keyed &keyed) SENNIT_REQUIRES(lock_);
    void sink(std::size_t at, const Keyed &keyed) SENNIT_REQUIRES(lock_);
    bool holds(const Keyed &keyed, std::uintptr_t position) const;
    bool line_is_sound(std::uint32_t &count) const SENNIT_REQUIRES(lock_);
    bool heap_is_sound() const SENNIT_REQUIRES(lock_);

    [[no_unique_address]] AliveMark alive_;
    SpinLock lock_;
    Atomic<std::uint32_t> count_{0};
    Line line_ SENNIT_GUARDED_BY(lock_);
    Array<Keyed, 512> heap_ SENNIT_GUARDED_BY(lock_);
    [[no_unique_address]] WholeChecks checks_ SENNIT_GUARDED_BY(lock_);
};

} // namespace sennit::sched
