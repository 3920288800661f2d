// SPDX-License-Identifier: Apache-2.0
// Pushes to a group's queues by threads that need not be members, and who is woken for them.
#include "sched/worker.h"

namespace sennit::sched {

void push_foreign(Group &group, Node *node) {
    group.visit(); // the task may run at once, and be the last
    if (ordered())
        group.queues[0].push_ready(node);
    else
        group.slots[0]->queue.push(node, ReadyQueue::Place::back);
    announce_work(group);
    group.leave();
}

void push_last(Group &group, Node *node) {
    group.visit();
    if (ordered()) {
        node->age = rules().newest ? 0 : next_age();
        group.queues[0].push(node);
    } else {
        group.slots[0]->queue.push(node, ReadyQueue::Place::back);
    }
    announce_work(group);
    group.leave();
}

int count_awake(const Group &group, int most) {
    int awake = 0;
    for (int i = 0; i < group.size && awake < most; ++i) {
        const Slot *const slot = group.slots[i];
        const Worker *const worker = slot->worker.load(std::memory_order_acquire);
        if (worker && slot->is_at_home() && !worker->asleep())
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
        if (worker && worker->asleep()) {
            worker->wake();
            return;
        }
    }
}

} // namespace sennit::sched
