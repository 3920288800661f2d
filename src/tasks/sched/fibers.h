// SPDX-License-Identifier: Apache-2.0
// The fibers of a worker: the one that runs, those that became ready, those without work, and what
// a fiber without work is to begin with.
//
// Invariant: a fiber that is not the root is in the list of all. Beside that it runs, is parked, or
// is in exactly one of the inbox, the ready fibers and the cache.
//
// The worker's own thread calls them. What anybody may call says so.
#pragma once

#include "base/assert.h"
#include "base/compiler.h"
#include "base/inbox.h"
#include "base/observed.h"
#include "base/spin.h"
#include "tasks/fiber/context.h"
#include "tasks/sched/fiber.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace sennit::sched {

struct Item;

// Fibers that can go on, the oldest first.
class ReadyFibers {
  public:
    Fiber *first() const { return first_; }
    void append(Fiber &fiber) {
        fiber.next = nullptr;
        (last_ ? last_->next : first_) = &fiber;
        last_ = &fiber;
    }
    void prepend(Fiber &fiber) {
        fiber.next = first_;
        first_ = &fiber;
        if (!last_)
            last_ = &fiber;
    }
    // It is not empty.
    void append_all(Inbox<Fiber> &inbox) {
        const auto [oldest, newest] = inbox.take_all();
        (last_ ? last_->next : first_) = oldest;
        last_ = newest;
    }
    void remove_first() {
        first_ = first_->next;
        if (!first_)
            last_ = nullptr;
    }

  private:
    Fiber *first_ = nullptr;
    Fiber *last_ = nullptr;
};

// What a fiber that is about to be switched to runs first.
struct Handoff {
    Item *item = nullptr;
    Slot *slot = nullptr;
    fiber::FpControl control{}; // it starts with
    Fiber *creator = nullptr;   // of a throttled task: waits for it and is to go on soon
    std::uint32_t down_to = 0;  // how many tasks the creator leaves in its queue
    bool begins = false;        // no item: the fiber begins a thread of a group
    bool accepted = false;      // the fiber waits for the item, which was looked for: take_accepted

    void give(Slot &where, Item *what, fiber::FpControl with) {
        SENNIT_ASSERT(!item);
        item = what;
        slot = &where;
        control = with;
    }
};

class Fibers {
  public:
    static void setup(); // once, when the library is loaded
    // `main`: what a new fiber runs. Its first act is arrive().
    explicit Fibers(void (*main)(fiber::Context &)) : main_(main) {}

    // ---- anybody's side
    Fiber *current() const { return current_.load(std::memory_order_relaxed); }
    // visit(fiber) for each of them; their stacks stay mapped meanwhile.
    template <class Visit>
    void each(Visit visit) {
        visit(root);
        lock_.lock();
        for (Fiber *fiber = all_; fiber; fiber = fiber->listed_next)
            visit(*fiber);
        lock_.unlock();
    }

    // ---- the owner's side
    // Is another fiber than the one that runs in the middle of something? Those in the cache are
    // not. Where tasks roam there always may be one: a suspended task that only this worker could
    // go on with, while all others block.
    bool any_parked() const { return stacks_ != cached_; }
    // Not counting those that roam.
    bool any_parked_here() const { return stacks_ - (expects_roaming_ ? 1 : 0) != cached_; }
    // Is there none but the root, which runs, and none in the cache?
    bool only_root() const { return current() == &root && !all_; }

    // A fiber without work, `taken`. Null: there is no memory for its stack.
    Fiber *take() {
        Fiber *const fiber = cache_;
        if (!fiber)
            return make();
        cache_ = fiber->next;
        least_cached_ = std::min(least_cached_, --cached_);
        SENNIT_ASSERT(fiber->state.step(FiberState::taken));
        note_empty(*fiber);
        return fiber;
    }
    // The current one goes into the cache once the thread is off its stack: at the next arrive().
    void leave_current() {
        SENNIT_ASSERT(!leaving_);
        leaving_ = current();
    }
    bool is_leaving(const Fiber &fiber) const { return leaving_ == &fiber; }
    // `to` is the current one from now on, with the exceptions that it handles.
    void make_current(Fiber &from, Fiber &to) {
        if (exceptions_) {
            from.exceptions[0] = std::exchange(exceptions_[0], to.exceptions[0]);
            from.exceptions[1] = std::exchange(exceptions_[1], to.exceptions[1]);
        }
        current_.store(&to, std::memory_order_relaxed);
    }
    // The first thing done on a stack that was switched to.
    void arrive() {
        if (Fiber *const left = std::exchange(leaving_, nullptr))
            recycle(*left);
    }
    // Unmap free stacks that have not been needed lately, not more than `most` at once.
    void trim(int most);
    void unmap_cached() { unmap(cached_); }

    // The calling thread is the worker's from now on. `stack_size`: that of a thread of ours; 0: a
    // thread of the program. `exceptions`: where its C++ runtime keeps those that it handles.
    void adopt_thread(Worker &home, std::size_t stack_size, void **exceptions);
    void after_fork_in_child();

    Fiber root; // the thread's own stack
    ReadyFibers ready;

  private:
    // Nothing runs on it yet.
    static void note_empty(Fiber &fiber) { fiber.locks_known = observed::by(observed::kLocks); }
    Fiber *make();
    void recycle(Fiber &fiber) {
        constexpr int kAtOnce = 8; // unmapping a stack takes microseconds
        SENNIT_ASSERT(fiber.state.step(FiberState::cached));
        fiber.slot = nullptr;
        fiber.task = nullptr;
        fiber.next = cache_;
        cache_ = &fiber;
        if (SENNIT_UNLIKELY(++cached_ > cache_floor()))
            trim(kAtOnce);
    }
    void unmap(int most);
    static int cache_floor();
    void list(Fiber &fiber);
    void unlist(Fiber &fiber);

    std::atomic<Fiber *> current_{nullptr}; // only the owner writes
    Fiber *cache_ = nullptr;                // they wait in their loop for something to do
    Fiber *leaving_ = nullptr;
    void **exceptions_ = nullptr;
    int stacks_ = 0; // fibers but for the root; and one more where tasks roam
    bool expects_roaming_ = false;
    int cached_ = 0;
    int least_cached_ = 0; // in this period of trim()
    int surplus_ = 0;      // nobody needed them in the last one
    std::uint64_t period_end_ = 0;
    void (*const main_)(fiber::Context &);
    SpinLock lock_;
    Fiber *all_ = nullptr; // but for the root; written under lock_
};

} // namespace sennit::sched
