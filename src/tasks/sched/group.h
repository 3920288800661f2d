// SPDX-License-Identifier: Apache-2.0
// A Group is the threads of one team, a Slot one worker's membership in it. A worker has several
// slots when a task of its team encounters a nested region: it is a thread of the outer team and of
// the inner one. It takes tasks from every group that it has a slot in.
//
// Invariant: created and finished tasks are counted where they happen, and the counts only grow. So
// two passes over the slots tell whether all are finished: quiescent().
#pragma once

#include "base/assert.h"
#include "base/compiler.h"
#include "base/spin.h"
#include "tasks/fiber/context.h"
#include "tasks/sched/ordered_queue.h"
#include "tasks/sched/queue.h"

#include <atomic>
#include <cstdint>

namespace sennit {
struct Task;
}

namespace sennit::sched {

class Worker;
struct Slot;

// The threads of a team as the scheduler sees them.
struct Group {
    int size = 0;
    Slot **slots = nullptr;
    OrderedQueue *queues = nullptr; // where ordered(): of each NUMA domain
    // Set when the first task is created; cleared by the barrier. Spares barriers the counting.
    Atomic<bool> has_tasks{false};
    void note_tasks();
    void forget_tasks();
    // The region is cancelled: tasks that have not begun are discarded.
    Atomic<bool> cancelled{false};
    // Completions by threads that have no slot here (omp_fulfill_event of a foreign thread), and
    // creations (by tasks that free agents run).
    Atomic<std::uint64_t> finished_elsewhere{0};
    Atomic<std::uint64_t> created_elsewhere{0};
    // Threads that have no slot here and are at work on the group. They may touch it once more
    // after its last task has finished, so who frees the group waits for them. When all tasks have
    // finished, no new ones come.
    Atomic<int> visitors{0};
    alignas(kCacheLine) Atomic<int> sleepers{0};
    // Of them, who wakes up by himself after a time and looks for work.
    Atomic<int> light_sleepers{0};
    // Workers with nothing to do, awake or asleep; only where counts_idle(). A hint.
    Atomic<int> idle{0};

    // Have all tasks ever created here finished? Every counter only grows and has one writer. All
    // `finished` are read before all `created`: finished(t1) <= created(t1) <= created(t2), so
    // equality means that nothing was unfinished at t1. It stays so if no thread of the group can
    // create tasks (all wait at the barrier).
    bool quiescent() const;

    // Is a task in any of the queues?
    bool any_ready() const;
    // A task that is sought, wherever in the queues it is. For who can run no other one.
    Item *take_any(const Sought &sought);

    // Relaxed: before the push or the count that lets a task finish, and these are ordered before
    // the end of the group. Release: pairs with the acquire of who frees the group.
    void visit() { visitors.fetch_add(1, std::memory_order_relaxed); }
    void leave() {
        [[maybe_unused]] const int before = visitors.fetch_sub(1, std::memory_order_release);
        SENNIT_ASSERT(before > 0);
    }

    // Called by a worker of the group that has nothing to do: if all tasks have finished, release
    // who waits for that. can_settle() asks, cheaply, whether settle() would do something. (Free
    // agents see here whether they are called, openmp/team/free_agents.h.)
    virtual void settle() {}
    virtual bool can_settle() const { return false; }

    // Threads of the group that have not begun: those of a team with more threads than workers. A
    // worker with nothing else to do asks, for a slot that it has here, and begins one on the
    // current stack. False: there was none any more.
    virtual bool has_unbegun(const Slot & /*mine*/) const { return false; }
    virtual bool begin_one(Worker & /*worker*/, Slot & /*mine*/) { return false; }
    // Are some of them the worker's own? If not, others begin them if it does not.
    virtual bool must_begin(const Slot & /*mine*/) const { return false; }

  protected:
    ~Group() = default;
};

// Groups that may have threads that have not begun; a hint, so relaxed. Zero: nobody asks.
namespace detail {
[[gnu::visibility("hidden")]] extern std::atomic<std::int32_t> g_with_unbegun;
}
inline void note_unbegun(int more) {
    detail::g_with_unbegun.fetch_add(more, std::memory_order_relaxed);
}
inline bool anything_unbegun() {
    return SENNIT_UNLIKELY(detail::g_with_unbegun.load(std::memory_order_relaxed) != 0);
}

// Do groups count their idle workers? From the start, or never.
namespace detail {
[[gnu::visibility("hidden")]] extern bool g_counts_idle;
}
inline bool counts_idle() {
    return SENNIT_UNLIKELY(detail::g_counts_idle);
}
void count_idle_workers();

// The queues of a group; only where ordered().
void make_queues(Group &group);
void drop_queues(Group &group);

// Groups that have tasks. Zero: no thread runs a deferred task, nor could any start to.
extern Atomic<std::int32_t> g_groups_with_tasks;

// Counted before it is seen: who runs a task of the group finds the count above zero.
inline void Group::note_tasks() {
    if (has_tasks.load(std::memory_order_acquire))
        return;
    g_groups_with_tasks.fetch_add(1, std::memory_order_relaxed);
    if (has_tasks.exchange(true, std::memory_order_acq_rel))
        g_groups_with_tasks.fetch_sub(1, std::memory_order_relaxed);
}

// Of a group in which nobody creates tasks just now.
inline void Group::forget_tasks() {
    if (!has_tasks.load(std::memory_order_relaxed))
        return;
    SENNIT_ASSERT(g_groups_with_tasks.load(std::memory_order_relaxed) > 0);
    has_tasks.store(false, std::memory_order_relaxed);
    g_groups_with_tasks.fetch_sub(1, std::memory_order_relaxed);
}

// Checked builds follow them. A slot is
//     vacant    without a worker
//     working   its worker has a part in the group's region
//     docked    its worker waits for the next region to begin; meanwhile it helps with the last one
enum class SlotState : std::uint8_t { vacant, working, docked };
constexpr unsigned after(SlotState state) {
    using enum SlotState;
    switch (state) {
    case vacant:
        return states(working);
    case working:
        return states(docked, vacant);
    case docked:
        return states(working); // also where the group ends: it is left from there
    }
    return 0;
}

struct alignas(kCacheLine) Slot {
    ReadyQueue queue;
    Group *group = nullptr;
    int index = 0;
    // NUMA domain of the owner, which writes it; others read it to find tasks nearby.
    std::atomic<int> domain{0};
    std::atomic<Worker *> worker{nullptr}; // null while nobody is the member
    Slot *next_of_worker = nullptr;        // list of the worker's slots
    // Where tasks run that do not run on top of this slot's implicit task: a slot that the worker
    // keeps when that has ended. Another one where a worker has several threads of the group: the
    // worker writes it, and others who count workers look at it.
    std::atomic<Slot *> home_{this};
    Slot *home() const { return home_.load(std::memory_order_relaxed); }
    void move_in_with(Slot &other) { home_.store(&other, std::memory_order_relaxed); }
    bool is_at_home() const { return home() == this; } // one for each worker; a hint for others
    std::uint32_t random = 1;
    bool full = false;  // the owner's: the queue was found long, see is_long()
    bool alone = false; // the only member of its group
    bool idle = false;  // the owner's: the group counts it as idle
    // Not in a parallel region: programs rely on finding their tasks done.
    bool outside = false;
    // The floating-point control that explicit tasks on a stack of their own start with on this
    // thread: the implicit task's, when it last waited or rested. Other tasks run on top of a
    // waiting task, with the control that they find there.
    Task *own_task = nullptr; // the implicit one
    fiber::FpControl control = fiber::fp_control();
    // While the owner waits for its group's next region: the count of regions that have begun.
    const Atomic<std::uint32_t> *regions = nullptr;
    std::uint32_t regions_seen = 0; // those that the owner had a part in
    // Written by the worker alone, read by quiescent().
    alignas(kCacheLine) Atomic<std::uint64_t> created{0};
    Atomic<std::uint64_t> finished{0};
    // The owner's: value of `created` at which the room above looks around.
    std::uint64_t next_look = 0;

    [[no_unique_address]] States<SlotState, after> state{SlotState::vacant};

    // The owner has had its part in a region. `begun` counts the regions of the group.
    void dock(const Atomic<std::uint32_t> &begun) {
        SENNIT_ASSERT(state.step(SlotState::docked) && !regions);
        regions = &begun;
    }
    // The next one has begun, or the group ends.
    void undock() {
        SENNIT_ASSERT(state.step(SlotState::working) && is_late());
        ++regions_seen;
        regions = nullptr;
    }

    // Before other tasks may start on its thread: `task`, which runs there, waits, rests, or
    // encounters a region.
    void note_control(const Task *task) {
        if (task == own_task)
            control.read();
    }

    void set_domain(int its) { domain.store(its, std::memory_order_relaxed); }
    void stay_near(const Slot &other) { set_domain(other.near_domain()); }
    int near_domain() const { return domain.load(std::memory_order_relaxed); }
    // Tasks that this member would take before it steals.
    std::uint32_t ready() const {
        return ordered() ? group->queues[near_domain()].count() : queue.count();
    }

    // Has a region begun in which the owner has no part yet? Acquire: who has a task of that region
    // sees that it has begun.
    bool is_late() const {
        return regions && regions->load(std::memory_order_acquire) != regions_seen;
    }

    // Are enough tasks queued here, so that the creator had better run its next ones itself? With
    // hysteresis: a creator that refilled the queue for each task that is stolen would spend its
    // time on moving tasks between caches. Not where ordered(): tasks run in order.
    bool is_long(std::uint32_t limit) {
        const std::uint32_t count = queue.count();
        if (full != (count >= (full ? limit / 2 : limit)))
            full = !full;
        return full;
    }

    void count_created() {
        created.store(created.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    void count_finished() {
        finished.store(finished.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
};

// The slots of one worker, the last one that it got first.
//
// Invariant: a slot of the list has this worker.
//
// The worker's own thread calls it.
class Memberships {
  public:
    Slot *first() const { return first_; } // the others by next_of_worker
    void enter(Slot &slot, Worker &worker) {
        SENNIT_ASSERT(!slot.worker.load(std::memory_order_relaxed));
        SENNIT_ASSERT(slot.state.step(SlotState::working));
        slot.worker.store(&worker, std::memory_order_release);
        slot.next_of_worker = first_;
        first_ = &slot;
    }
    void leave(Slot &slot) {
        SENNIT_ASSERT(!slot.idle);
        SENNIT_ASSERT(slot.state.step(SlotState::vacant));
        Slot **at = &first_;
        while (*at != &slot) {
            SENNIT_ASSERT(*at);
            at = &(*at)->next_of_worker;
        }
        *at = slot.next_of_worker;
        slot.worker.store(nullptr, std::memory_order_relaxed);
    }

    // A slot whose group has threads that have not begun.
    Slot *unbegun() const { return anything_unbegun() ? find_unbegun() : nullptr; }
    SENNIT_COLD bool must_begin() const;
    // Are threads that the worker need not begin told by unbegun()?
    void let_help(bool helps) { helps_ = helps; }
    // Open the barriers of the groups that can end now: when all who wait there are parked, nobody
    // else looks.
    void settle() const;
    // In the groups' counts of sleepers, and of idle workers.
    void count_asleep(int more, bool light) const;
    void count_idle(bool idle) const;

    // Is there something to do for a worker without work? Not in the group of `but_for`.
    bool any_work(const Slot *but_for) const {
        for (const Slot *mine = first_; mine; mine = mine->next_of_worker) {
            if (mine == but_for)
                continue;
            const Group &group = *mine->group;
            if (group.has_tasks.load(std::memory_order_relaxed) &&
                (group.can_settle() || group.any_ready()))
                return true;
        }
        return false;
    }
    bool any_ready() const {
        for (const Slot *mine = first_; mine; mine = mine->next_of_worker)
            if (mine->group->has_tasks.load(std::memory_order_relaxed) && mine->group->any_ready())
                return true;
        return false;
    }

  private:
    // Rare: its callers are to stay small.
    SENNIT_COLD Slot *find_unbegun() const;

    Slot *first_ = nullptr;
    bool helps_ = true;
};

} // namespace sennit::sched
