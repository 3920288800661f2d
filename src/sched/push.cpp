// SPDX-License-Identifier: Apache-2.0
// Pushes to a group's queues by who need not be a member, and who is woken for them.
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

void wake_one(Group &group) {
    for (int i = 0; i < group.size; ++i) {
        Worker *worker = group.slots[i]->worker.load(std::memory_order_acquire);
        if (worker && worker->asleep()) {
            worker->wake();
            return;
        }
    }
}

} // namespace sennit::sched
