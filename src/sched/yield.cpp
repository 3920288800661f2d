// SPDX-License-Identifier: Apache-2.0
// Giving way: a fiber that could go on lets another one run, or a task that is called at once.
#include "sched/worker.h"

#include "base/spin.h"
#include "sched/processors.h"

namespace sennit::sched {

namespace {

constexpr unsigned kYieldsBeforeSystem = 16;   // yields that find nothing else to run
constexpr unsigned kYieldsBeforeSettling = 16; // yields to other fibers
constexpr unsigned kYieldsBeforeOthers = 64;   // the same, before other threads have the processor

} // namespace

void Worker::yield() {
    note_control();
    poll_if_due();
    Slot *where = nullptr;
    // A task comes before other fibers. Fibers that yield in turns must not keep tasks from
    // starting that they may be waiting for. Nor must they keep threads of a group from beginning.
    Node *node = find(where);
    Fiber *to = nullptr;
    if (!node && any_unbegun() && (to = take_fiber())) {
        begins_ = true;
    } else if (node) {
        to = take_fiber();
        if (!to) {
            push(*where, node);
            return;
        }
        hand_off(*where, node, where->control);
    } else {
        to = next_ready();
        // What the caller waits for may be behind a barrier.
        if (!to) {
            settle_groups();
            to = next_ready();
        } else if (++busy_yields_ % kYieldsBeforeSettling == 0) {
            settle_groups();
            // Or it may be on a thread that has no processor. Fibers that yield in turns would use
            // up ours.
            if (busy_yields_ % kYieldsBeforeOthers == 0 && crowded())
                yield_processor();
        }
        if (!to) {
            // What we wait for may need our processor.
            const unsigned rounds = yields_in_vain() ? kYieldsBeforeOthers
                                    : crowded()      ? 1
                                                     : kYieldsBeforeSystem;
            if (poll::pending())
                poll();
            else if (++empty_yields_ % rounds == 0)
                yield_processor();
            else
                cpu_relax();
            return;
        }
    }
    make_ready(current());
    switch_to(to);
}

void Worker::yield_to_parked() {
    note_control();
    poll_if_due();
    Fiber *to = any_unbegun() ? take_fiber() : nullptr;
    if (to)
        begins_ = true;
    else
        to = next_ready();
    if (!to && ++busy_yields_ % kYieldsBeforeSettling == 0) {
        settle_groups(); // what the caller waits for may be behind a barrier
        to = next_ready();
    }
    if (!to)
        return;
    make_ready(current());
    switch_to(to);
}

bool Worker::run_on_own_fiber(Slot &where, Node *node, std::uint32_t down_to) {
    note_control();
    Fiber *fresh = take_fiber();
    if (SENNIT_UNLIKELY(!fresh))
        return false;
    // As if the task was called.
    hand_off(*where.home(), node, fiber::fp_control());
    handoff_creator_ = current();
    handoff_down_to_ = down_to;
    // In front of the others. The creator goes on as soon as the task ends or suspends.
    Fiber *me = current();
    SENNIT_ASSERT(me->state.step(FiberState::ready));
    me->next = ready_head_;
    ready_head_ = me;
    if (!ready_tail_)
        ready_tail_ = me;
    switch_to(fresh);
    return true;
}

} // namespace sennit::sched
