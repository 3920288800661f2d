// SPDX-License-Identifier: Apache-2.0
// The ready tasks of one team member, under the policy `steal`.
//
// Nearly every task has priority 0. For these there is a ring of pointers: a thief that takes many
// reads two cache lines of it, and touches no task while it holds the lock. Higher priorities are
// 1024 intrusive lists under a two-level bitmap, made when the first such task comes. To take the
// highest is O(1) (communication-aware scheduling, section 4.1, uses red-black trees).
//
// A spin lock guards it. An uncontended exchange costs what the fence of a lock-free deque costs,
// and under a lock priorities, both ends and conditional takes need no further argument. count()
// may be read without the lock, as a hint.
#pragma once

#include "base/assert.h"
#include "base/spin.h"
#include "tasks/sched/ordered_queue.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

class ReadyQueue {
  public:
    enum class End { front, back };

    ReadyQueue() = default;
    ReadyQueue(const ReadyQueue &) = delete;
    ReadyQueue &operator=(const ReadyQueue &) = delete;
    ~ReadyQueue();

    std::uint32_t count() const { return count_.load(std::memory_order_relaxed); }

    void push(Item *item, End end) {
        const Guard guard(lock_);
        if (__builtin_expect(item->priority > 0, 0))
            push_level(item, end);
        else
            push_normal(item, end);
        add(1);
    }

    // The owner's next task: highest priority, then the front; null when empty.
    Item *take_front() { return take(End::front); }

    // A thief's: highest priority, then the given end. A busy lock counts as empty.
    Item *steal(End end) {
        if (!lock_.try_lock())
            return nullptr;
        const Guard guard(lock_, AlreadyHeld{});
        return take_locked(end);
    }

    // The task that take_front or steal would give, if accept(item). They look at no other.
    template <class Accept>
    Item *take_front_if(Accept accept) {
        const Guard guard(lock_);
        return take_locked_if(End::front, accept);
    }
    template <class Accept>
    Item *steal_if(End end, Accept accept) {
        if (count() == 0 || !lock_.try_lock())
            return nullptr;
        const Guard guard(lock_, AlreadyHeld{});
        return take_locked_if(end, accept);
    }

    // The first of those that are sought: highest priority, then from the front on. The others stay
    // where they are.
    Item *take_any(const Sought &sought);

    static constexpr int kMostStolen = 32;
    // Move up to `most` (<= kMostStolen) tasks of priority 0 from the back of `victim` to the back
    // of this queue, in the order that they had; returns how many.
    int steal_batch(ReadyQueue &victim, int most);

    // Is every task where its priority says, and counted once? Under the lock, or alone.
    bool is_sound() const;

  private:
    struct Levels; // the priorities above 0

    Item *take(End end) {
        if (count() == 0)
            return nullptr;
        const Guard guard(lock_);
        return take_locked(end);
    }
    template <class Accept>
    Item *take_locked_if(End end, Accept accept) SENNIT_REQUIRES(lock_) {
        Item *item = peek_locked(end);
        if (item && accept(item))
            take_locked(end);
        else
            item = nullptr;
        return item;
    }
    Item *peek_locked(End end) SENNIT_REQUIRES(lock_) {
        if (__builtin_expect(levels_ != nullptr, 0))
            if (Item *item = peek_level(end))
                return item;
        if (size_ == 0)
            return nullptr;
        return ring_[end == End::front ? head_ : (head_ + size_ - 1) & (capacity_ - 1)];
    }
    Item *take_locked(End end) SENNIT_REQUIRES(lock_) {
        Item *item = nullptr;
        if (__builtin_expect(levels_ != nullptr, 0))
            item = take_level(end);
        if (!item)
            item = take_normal(end);
        if (item)
            add(-1);
        return item;
    }
    // With the lock, so a plain read-modify-write is enough.
    void add(int change) SENNIT_REQUIRES(lock_) {
        SENNIT_ASSERT(change >= 0 || count() >= static_cast<std::uint32_t>(-change));
        count_.store(count_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(change),
                     std::memory_order_relaxed);
        SENNIT_ASSERT(!checks_.due(count()) || is_sound());
    }
    void push_normal(Item *item, End end) SENNIT_REQUIRES(lock_) {
        if (__builtin_expect(size_ == capacity_, 0))
            grow();
        if (end == End::front) {
            head_ = (head_ - 1) & (capacity_ - 1);
            ring_[head_] = item;
        } else {
            ring_[(head_ + size_) & (capacity_ - 1)] = item;
        }
        ++size_;
    }
    Item *take_normal(End end) SENNIT_REQUIRES(lock_) {
        if (size_ == 0)
            return nullptr;
        --size_;
        if (end == End::back)
            return ring_[(head_ + size_) & (capacity_ - 1)];
        Item *item = ring_[head_];
        head_ = (head_ + 1) & (capacity_ - 1);
        return item;
    }
    void grow() SENNIT_REQUIRES(lock_);
    void push_level(Item *item, End end) SENNIT_REQUIRES(lock_);
    Item *take_level(End end) SENNIT_REQUIRES(lock_);
    Item *peek_level(End end) SENNIT_REQUIRES(lock_);
    Item *take_any_level(const Sought &sought) SENNIT_REQUIRES(lock_);
    Item *take_any_normal(const Sought &sought) SENNIT_REQUIRES(lock_);

    SpinLock lock_;
    Atomic<std::uint32_t> count_{0};
    // Of priority 0: size_ items from head_ on, the front first.
    Item **ring_ SENNIT_GUARDED_BY(lock_) = nullptr;
    std::uint32_t capacity_ SENNIT_GUARDED_BY(lock_) = 0; // of ring_, a power of two
    std::uint32_t head_ SENNIT_GUARDED_BY(lock_) = 0;
    std::uint32_t size_ SENNIT_GUARDED_BY(lock_) = 0;
    Levels *levels_ SENNIT_GUARDED_BY(lock_) SENNIT_POINTS_TO_GUARDED_BY(lock_) = nullptr;
    [[no_unique_address]] WholeChecks checks_ SENNIT_GUARDED_BY(lock_);
};

} // namespace sennit::sched
