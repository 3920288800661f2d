// SPDX-License-Identifier: Apache-2.0
// The scheduling loop: wait, park, schedule, find, and the switch from fiber to fiber. Fibers
// that give way though they could go on, and workers without work, are in idle.cpp; fibers
// are made in fibers.cpp, threads in threads.cpp.
#include "tasks/sched/worker.h"

#include "base/assert.h"
#include "base/message.h"
#include "base/observed.h"
#include "tasks/sched/client.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/sharing.h"
#include "tasks/trace/counters.h"
#include "tasks/trace/spent_time.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace sennit::sched {

SENNIT_TLS Worker *Worker::t_self_;

namespace {

constexpr int kBriefSpins = wait::kBrief.tests;
// run_more(): how long, and after how many tasks it looks at the clock.
constexpr std::uint64_t kHandoffUs = 2;
constexpr int kLooksAtClock = 4;

} // namespace

// ---- queues ---------------------------------------------------------------------------------

void Worker::push(Slot &where, Item *item) {
    if (ordered()) {
        queue_next(); // it was the only one
        where.group->queues[where.near_domain()].push_ready(item);
    } else {
        where.queue.push(item, ReadyQueue::End::front);
    }
    announce_work(*where.group);
}

void Worker::push_next(Slot &where, Item *item) {
    // Under an ordered policy, only as long as the queue would give it back anyway.
    const bool others = ordered() ? where.ready() > 0 : item->priority > 0;
    if (next_.item || others) {
        push(where, item);
        return;
    }
    if (ordered())
        note_ready(item);
    next_.item = item;
    next_.slot = &where;
}

// The task that was to run next is one of many again.
void Worker::queue_next() {
    if (Item *const next = std::exchange(next_.item, nullptr))
        push(*next_.slot, next);
}

// A ready task of one group. As long as the owner waits for the next region, only a task of the
// last one. What a region's implicit task sets up for its thread (copyin, private copies of a
// reduction) must be there for the explicit tasks.
static Item *find_in(Worker &worker, Steals &steals, Slot &where) {
    if (SENNIT_LIKELY(!where.regions))
        return steals.take(where);
    Item *item = where.is_late() ? nullptr : steals.take(where);
    if (item && where.is_late()) {
        worker.push(where, item);
        item = nullptr;
    }
    return item;
}

Item *Worker::find(Slot *&where) {
    if (Item *item = next_.item) {
        where = next_.slot;
        next_.item = nullptr;
        return item;
    }
    where = slot;
    if (Item *item = find_in(*this, steals_, *where)) {
        where = where->home();
        return item;
    }
    for (Slot *other = memberships_.first(); other; other = other->next_of_worker) {
        if (other == slot)
            continue;
        where = other;
        if (Item *item = find_in(*this, steals_, *other))
            return item;
    }
    return nullptr;
}

// On the path of every task that is not called by its creator: always inline.
[[gnu::always_inline]] inline void Worker::run(Slot &where, Item *item) {
    note_busy();
    rounds_.polls = 0;
    steals_.found_task();
    if (SENNIT_UNLIKELY(poll::pending()))
        give_up_polling(*this);
    client().run(*this, where, item);
    if (SENNIT_UNLIKELY(poll::due())) {
        task = nullptr; // it may be gone, and callers set their own
        rounds_.look(*this);
    }
}

// ---- waiting --------------------------------------------------------------------------------

void Worker::wait(Condition &condition) {
    const Wait *const outer = begin_wait(*this, condition);
    if (observed::by(observed::kTrace | observed::kAccounts | observed::kFreeAgents))
        client().waits(*this, condition, true);
    wait_for(condition);
    note_busy();
    if (observed::by(observed::kTrace | observed::kAccounts | observed::kFreeAgents))
        client().waits(*this, condition, false);
    end_wait(*this, outer);
}

// Does it look, in this round of wait_for(), for threads of its groups that have not begun? Such a
// look takes longer than a spin, and the brief spins are soon over.
static bool looks_for_unbegun(int round) {
    return round == 0 || round >= kBriefSpins;
}

static Item *take_accepted(Condition &condition, Slot &mine) {
    const auto accept = [&](const Item *item) { return condition.accepts(item); };
    return ordered() ? mine.group->queues[mine.near_domain()].take_if(accept)
                     : mine.queue.take_front_if(accept);
}

void Worker::wait_for(Condition &condition) {
    Slot &mine = *slot;
    mine.note_control(task);
    Task *const self = task;
    const auto bury = condition.bury;
    std::uint64_t patience_end = 0;
    int look_at = 0; // the round of the next look at the others' queues
    // A thread that waits for all tasks of its region need not ask while it holds the next of them.
    const auto more = [&] {
        return next_.item && next_.slot == &mine && bury == Condition::Bury::own_group &&
               !mine.regions;
    };
    for (int rounds = 0; more() || !condition.done(); ++rounds) {
        if (bury != Condition::Bury::own_group || next_.slot != &mine)
            queue_next();
        if (fibers.ready.first() || inbox_.any() || poll::pending() ||
            (anything_unbegun() && looks_for_unbegun(rounds) && memberships_.unbegun()))
            return park(condition);
        Item *item = nullptr;
        if (bury == Condition::Bury::own_group) {
            item = next_.item;
            next_.item = nullptr;
            if (!item && rounds >= look_at) {
                item = find_in(*this, steals_, mine);
                look_at = rounds + steals_.next_pause();
            }
        } else if (bury == Condition::Bury::accepted && mine.ready())
            item = take_accepted(condition, mine);
        if (item) {
            run(mine, item);
            task = self;
            slot = &mine;
            rounds = 0;
            look_at = 0;
            patience_end = 0;
            continue;
        }
        if (bury != Condition::Bury::own_group && anything_to_do())
            return park(condition);
        const bool yields = crowded();
        if (!yields) {
            cpu_relax();
            if (rounds < kBriefSpins)
                continue;
        }
        const std::uint64_t budget = condition.patient ? patience(*this) : 0;
        if (budget == 0)
            return park(condition);
        const std::uint64_t now = ticks();
        if (patience_end == 0) {
            patience_end = now + budget;
            if (counts_idle())
                note_idle();
        } else if (now > patience_end || anything_to_do(&mine))
            return park(condition);
        if (yields) {
            give_processor(*this);
            rounds = std::max(rounds, kBriefSpins); // such a round may take long
        }
    }
    queue_next();
}

// The fiber is parked before others can see it, for they may resume it at once.
bool Worker::arm(Condition &condition, Fiber &me) {
    SENNIT_ASSERT(me.state.step(FiberState::parked));
    if (condition.arm(&me))
        return true;
    SENNIT_ASSERT(me.state.step(FiberState::running));
    return false;
}

// The current fiber is armed no more, and runs. False: somebody makes it ready just now.
bool Worker::withdraw(Condition &condition) {
    Fiber &me = *current();
    if (!condition.disarm(&me))
        return false;
    SENNIT_ASSERT(me.state.step(FiberState::running));
    return true;
}

// Must the task end before the condition holds, for which a fiber with the slot `its` waits?
static bool waits_for(Condition &condition, const Slot &its, const Slot &where, const Item *item) {
    if (condition.bury == Condition::Bury::own_group)
        return where.group == its.group;
    return condition.bury == Condition::Bury::accepted && condition.accepts(item);
}

// May the task run on top of the current fiber, which waits? It might want a lock that a task on
// the fiber holds. If locks were not yet counted when that one took it, nobody knows. But what must
// end before the condition holds waits for such a lock in vain wherever it runs.
SENNIT_COLD static bool may_bury(const Worker &worker, Condition &condition, const Slot &where,
                                 const Item *item) {
    const Fiber &current = *worker.current();
    if (!condition.may_be_buried || !may_bury(current))
        return false;
    if (current.locks_known && current.locks == 0)
        return true;
    return waits_for(condition, *worker.slot, where, item);
}

// What another fiber of the worker, in park(), waits for, if a task may run on top of it; null:
// none may. Its locks do not matter: the task must end before it can go on.
SENNIT_COLD static Condition *buried_by(const Worker &worker, const Fiber &fiber) {
    const Wait *const wait = fiber.waits.load(std::memory_order_relaxed);
    if (&fiber == worker.current() || !fiber.slot || !wait)
        return nullptr;
    auto &condition = static_cast<Condition &>(const_cast<Wait &>(*wait));
    const auto left = reinterpret_cast<std::uintptr_t>(fiber.context.pointer) -
                      reinterpret_cast<std::uintptr_t>(fiber.context.stack_low);
    return condition.may_be_buried && left > fiber.context.stack_size / 4 ? &condition : nullptr;
}

// Another fiber of the worker, in park(), on top of which a task may run, and for which
// `takes(fiber, condition)`; null: none.
//
// Called where no fiber is ready: those that are neither current nor in the cache are armed, each
// for the Condition that it waits for last. Or another thread has woken one meanwhile, and its
// disarm() fails. Where tasks roam, others may take such a fiber.
template <class Takes>
SENNIT_COLD static Fiber *find_buried(Worker &worker, Takes takes) {
    Fiber *found = nullptr;
    if (observed::by(observed::kRoaming))
        return found;
    worker.fibers.each([&](Fiber &fiber) {
        Condition *const condition = found ? nullptr : buried_by(worker, fiber);
        if (condition && takes(fiber, *condition))
            found = &fiber;
    });
    return found;
}

// The one that waits for this task, armed no more. If nobody has a stack, the task can run on top
// of that fiber alone. Others are not buried: what they wait for may come before the task ends.
SENNIT_COLD static Fiber *find_bearer(Worker &worker, const Slot &where, const Item *item) {
    return find_buried(worker, [&](Fiber &fiber, Condition &condition) {
        return waits_for(condition, *fiber.slot, where, item) && condition.disarm(&fiber);
    });
}

// One that waits for some task in the queues of its team, and that task for the handoff. For find()
// gives the same task again and again, in front of those that could run.
SENNIT_COLD static Fiber *find_bearer_of_any(Worker &worker, Handoff &handoff) {
    return find_buried(worker, [&](Fiber &fiber, Condition &condition) {
        if (condition.bury != Condition::Bury::accepted)
            return false;
        Item *const item = condition.take_accepted();
        if (!item)
            return false;
        [[maybe_unused]] const bool disarmed = condition.disarm(&fiber); // it cannot hold yet
        SENNIT_ASSERT(disarmed);
        handoff.give(*fiber.slot, item, fiber.slot->control);
        handoff.accepted = true;
        return true;
    });
}

// There is no stack to begin a thread on. It cannot begin on top of the fiber that waits: each of
// the two may be waiting for the other one. Until the worker is busy it helps nobody (become_busy),
// and so may sleep.
SENNIT_COLD static void begin_none(Memberships &memberships) {
    if (memberships.must_begin())
        fatal("no memory for the stacks of threads that share a worker: lower SENNIT_SPLIT or "
              "OMP_STACKSIZE");
    memberships.let_help(false);
}

// On the stack of the current task, which waits, and is not armed.
SENNIT_COLD void Worker::run_on_top(Slot &where, Item *item) {
    Slot *const home = slot;
    Task *const self = task;
    run(where, item);
    slot = home;
    task = self;
    queue_next(); // the current task may go on for long
}

// The same for what take_accepted() has found. The task counts as one that goes on meanwhile.
SENNIT_COLD void Worker::run_on_top_as_awaited(Slot &where, Item *item) {
    const Wait &wait = *current()->waits.load(std::memory_order_relaxed);
    const bool is_observed =
        observed::by(observed::kTrace | observed::kAccounts | observed::kFreeAgents);
    if (is_observed)
        client().waits(*this, wait, false);
    run_on_top(where, item);
    if (is_observed)
        client().waits(*this, wait, true);
}

// There is no stack: the task that waits runs what it waits for on its own, as far as that is
// ready. False: there is none, and it is still armed.
SENNIT_COLD bool Worker::run_accepted(Condition &condition) {
    Fiber &me = *current();
    if (condition.bury != Condition::Bury::accepted || !may_bury(me))
        return false;
    Item *const item = condition.take_accepted();
    if (!item)
        return false;
    [[maybe_unused]] const bool disarmed = condition.disarm(&me); // for it cannot hold yet
    SENNIT_ASSERT(disarmed && me.state.step(FiberState::running));
    run_on_top_as_awaited(*slot, item);
    return true;
}

// Wait for make_ready on an armed fiber. As long as there is only idling to do, the loop runs on
// the waiting fiber's own stack. Whatever may suspend, or outlast the wait, gets another fiber.
void Worker::park(Condition &condition) {
    Fiber *me = current();
    if (!arm(condition, *me))
        return;
    // On the disarmed fiber. Is the wait over after the task?
    const auto bury = [&](Slot &where, Item *item) {
        if (std::exchange(handoff_.accepted, false))
            run_on_top_as_awaited(where, item);
        else
            run_on_top(where, item);
        return condition.done() || !arm(condition, *me);
    };
    // Back when somebody popped us, or gave us a task to bear. Is the wait over?
    const auto leave_for = [&](Fiber *other) {
        switch_to(other);
        Item *const item = std::exchange(handoff_.item, nullptr);
        return SENNIT_LIKELY(!item) || bury(*handoff_.slot, item);
    };
    for (;;) {
        if (Fiber *fiber = next_ready()) {
            if (fiber == me) {
                SENNIT_ASSERT(me->state.step(FiberState::running));
                note_busy();
                return;
            }
            if (leave_for(fiber))
                return;
            continue;
        }
        Slot *where = nullptr;
        if (Item *item = find(where)) {
            Fiber *fresh = fibers.take();
            if (SENNIT_LIKELY(fresh != nullptr)) {
                handoff_.give(*where, item, where->control);
                if (leave_for(fresh))
                    return;
                continue;
            }
            // There is no memory for a stack. Rather than stop, bury this fiber, if that is safe,
            // and it can still be withdrawn. Or the one that waits for the task.
            if (may_bury(*this, condition, *where, item) && condition.disarm(me)) {
                SENNIT_ASSERT(me->state.step(FiberState::running));
                if (bury(*where, item))
                    return;
                continue;
            }
            if (Fiber *const bearer = find_bearer(*this, *where, item)) {
                handoff_.give(*where, item, where->control);
                if (leave_for(bearer))
                    return;
                continue;
            }
            client().put_back(*this, *where, item);
            if (run_accepted(condition)) {
                if (condition.done() || !arm(condition, *me))
                    return;
            } else if (Fiber *const other = find_bearer_of_any(*this, handoff_)) {
                if (leave_for(other))
                    return;
            } else if (idle(&condition)) {
                return;
            }
            continue;
        }
        // What it accepts does not come to this worker's queues.
        if (SENNIT_UNLIKELY(condition.beyond_team) && observed::by(observed::kLocks) &&
            run_accepted(condition)) {
            if (condition.done() || !arm(condition, *me))
                return;
            continue;
        }
        // A poll calls functions of the program, which may wait for a lock themselves. They would
        // keep this fiber from going on: so another one polls, if there is a stack. A thread that
        // begins waits for the other threads of its team.
        const bool begins = memberships_.unbegun() != nullptr;
        if (poll::pending() || begins)
            if (Fiber *fresh = fibers.take()) {
                if (leave_for(fresh))
                    return;
                continue;
            }
        if (SENNIT_UNLIKELY(begins) && !poll::pending())
            begin_none(memberships_);
        if (idle(&condition))
            return;
    }
}

// After a throttled task, take more of the queue that is too long, until `end`. This is only done
// while the creator is next: so nobody has waited, and its team is there.
void Worker::run_more(Slot &where, const Fiber *creator, std::uint64_t end) {
    for (int count = 0; fibers.ready.first() == creator &&
                        where.queue.count() >= handoff_.down_to && !inbox_.any();
         ++count) {
        // A look at the clock takes as long as a short task.
        if ((count < kLooksAtClock || count % kLooksAtClock == 0) && ticks() >= end)
            return;
        Item *item = where.queue.take_front();
        if (!item)
            return;
        fiber::set_fp_control(where.control);
        run(where, item);
        task = nullptr;
    }
}

// A thread of the group of `mine`. Only on a fiber that waits for nothing.
static bool begin_one(Worker &worker, Slot &mine) {
    worker.note_busy();
    if (SENNIT_UNLIKELY(poll::pending()))
        give_up_polling(worker);
    const bool begun = mine.group->begin_one(worker, mine);
    worker.task = nullptr;
    return begun;
}

// What a fresh fiber does. It never waits for anything itself, so any task may run on it.
SENNIT_NO_ASAN void Worker::schedule() {
    for (;;) {
        if (Item *item = handoff_.item) {
            handoff_.item = nullptr;
            Slot &where = *handoff_.slot;
            Fiber *const creator = std::exchange(handoff_.creator, nullptr);
            fiber::set_fp_control(handoff_.control);
            const std::uint64_t end = creator ? ticks() + kHandoffUs * ticks_per_us() : 0;
            run(where, item);
            task = nullptr; // it is gone
            if (creator)
                run_more(where, creator, end);
            continue;
        }
        if (SENNIT_UNLIKELY(handoff_.begins)) {
            handoff_.begins = false;
            if (Slot *const mine = memberships_.unbegun())
                begin_one(*this, *mine);
            continue;
        }
        if (Fiber *fiber = next_ready()) {
            fibers.leave_current();
            switch_to(fiber); // returns when we are taken from the cache
            continue;
        }
        Slot *where = nullptr;
        if (Item *item = find(where)) {
            fiber::set_fp_control(where->control);
            run(*where, item);
            task = nullptr;
        } else if (Slot *const mine = memberships_.unbegun(); !mine || !begin_one(*this, *mine)) {
            idle(nullptr);
        }
    }
}

// ---- fibers ---------------------------------------------------------------------------------

void Worker::make_ready(Fiber *fiber) {
    if (t_self_ != this)
        return send(fiber);
    SENNIT_ASSERT(fiber->home == this && fiber->state.step(FiberState::ready));
    fibers.ready.append(*fiber);
}

void Worker::send(Fiber *fiber) {
    SENNIT_ASSERT(fiber->home == this && fiber->state.step(FiberState::ready));
    inbox_.push(*fiber);
    fence_light(); // pairs with fence_before_sleep in sleep()
    if (activity.asleep())
        wake();
}

Fiber *Worker::next_ready() {
    // This is done each time, for fibers that yield in turns keep the list from ever being empty.
    if (inbox_.any())
        fibers.ready.append_all(inbox_);
    Fiber *fiber = fibers.ready.first();
    if (!fiber)
        return nullptr;
    if (SENNIT_UNLIKELY(next_.item != nullptr) && !next_.slot->alone)
        queue_next(); // others may run it meanwhile
    SENNIT_ASSERT(fiber->home == this && fiber->state.is(FiberState::ready));
    fibers.ready.remove_first();
    return fiber;
}

void Worker::switch_to(Fiber *to) {
    SENNIT_ASSERT(to->home == this && (to == &fibers.root || to->thread == gettid()));
    Fiber *from = current();
    // It is tied: it goes on where it was parked, and never at two places.
    SENNIT_ASSERT(t_self_ == this && to->home == this && to != from);
    SENNIT_ASSERT(to->state.step(FiberState::running));
    SENNIT_ASSERT(fibers.is_leaving(*from) || !from->state.is(FiberState::running));
    from->task = task;
    from->slot = slot;
    if (to->slot) { // a parked fiber; a fresh one keeps the worker's slot and has no task
        task = to->task;
        slot = to->slot;
    } else {
        task = nullptr;
    }
    fibers.make_current(*from, *to);
    note_busy();
    if (SENNIT_UNLIKELY(from->stack.packed) && fiber::overflowed(from->stack))
        fatal("a task has overflown its stack of %zu bytes; raise OMP_STACKSIZE", from->stack.size);
    if (observed::by(observed::kTrace | observed::kTool | observed::kFreeAgents |
                     observed::kWorkTime | observed::kAccounts)) {
        if (observed::by(observed::kWorkTime))
            thread.count_work(*from);
        if (observed::by_anybody())
            client().switched(*this, *from, *to);
    }
    fiber::switch_to(from->context, to->context);
    fibers.arrive();
}

SENNIT_NO_ASAN void Worker::fiber_main(fiber::Context & /*self*/) {
    Worker &worker = *t_self_;
    worker.fibers.arrive();
    worker.schedule();
}

// ---- the thread -------------------------------------------------------------------------------

void Worker::adopt_thread(std::size_t stack_size, void **exceptions) {
    thread.adopt(stack_size != 0);
    fibers.adopt_thread(*this, stack_size, exceptions);
    attribution = {}; // of another thread's time
    t_self_ = this;
}

void Worker::forget_thread() {
    trace::count_out();
    trace::close_counters();
    t_self_ = nullptr;
}

bool Worker::abandon() {
    fibers.unmap_cached();
    Slot *const last = memberships_.first();
    if (!fibers.only_root() || fibers.ready.first() || next_.item || (last && last->next_of_worker))
        return false;
    if (last)
        leave(*last);
    slot = nullptr;
    task = nullptr;
    return true;
}

// Pushes to a group's queues by threads that need not be members, and who is woken for them.

void push_foreign(Group &group, Item *item) {
    group.visit(); // the task may run at once, and be the last
    if (ordered())
        group.queues[0].push_ready(item);
    else
        group.slots[0]->queue.push(item, ReadyQueue::End::back);
    announce_work(group);
    group.leave();
}

void push_last(Group &group, Item *item) {
    group.visit();
    if (ordered()) {
        item->age = rules().newest ? 0 : next_age();
        group.queues[0].push(item);
    } else {
        group.slots[0]->queue.push(item, ReadyQueue::End::back);
    }
    announce_work(group);
    group.leave();
}

int count_awake(const Group &group, int most) {
    int awake = 0;
    for (int i = 0; i < group.size && awake < most; ++i) {
        const Slot *const slot = group.slots[i];
        const Worker *const worker = slot->worker.load(std::memory_order_acquire);
        if (worker && slot->is_at_home() && !worker->activity.asleep())
            ++awake;
    }
    return awake;
}

// Where others compute on our processors, too, a wake-up takes longer than a short task. Threads
// that are awake look at the queues before they sleep. So they are enough if each processor has
// one. But they may be blocked in a system call. So one of the sleepers has to be a light one.
static bool awake_are_enough(const Group &group) {
    return group.light_sleepers.load(std::memory_order_relaxed) > 0 && yields_in_vain() &&
           count_awake(group, g_processors.usable()) >= g_processors.usable();
}

void wake_one(Group &group) {
    if (awake_are_enough(group))
        return;
    for (int i = 0; i < group.size; ++i) {
        Worker *worker = group.slots[i]->worker.load(std::memory_order_acquire);
        if (worker && worker->activity.asleep()) {
            worker->wake();
            return;
        }
    }
}

constinit Client detail::g_client{};
constinit std::atomic<bool> detail::g_outdated{false};

void plug(const Client &client) {
    detail::g_client = client;
}

} // namespace sennit::sched
