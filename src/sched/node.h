// SPDX-License-Identifier: Apache-2.0
// What queues hold: the intrusive part of a task.
#pragma once

#include "sched/policy/rules.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

class OrderedQueue;

struct Node {
    // For ready queues only: who else keeps tasks in a list has links of his own. Where ordered()
    // (order.h) the OrderedQueue that holds the node, in other processes links of a ReadyQueue.
    // Invariant: where ordered(), `queue` is a queue or null from creation to end. For a task's
    // priority may change at any time before it starts, and OrderedQueue::moved() then looks here.
    union {
        Node *next;
        OrderedQueue *queue; // atomic access, see OrderedQueue
    };
    union {
        Node *prev;
        std::uintptr_t position; // in that queue
    };
    int priority;      // 0 .. kLevels - 1; others may raise it: current_priority()
    std::uint32_t age; // how many tasks came before; ordered queues only

    int current_priority() const {
        return std::atomic_ref(const_cast<int &>(priority)).load(std::memory_order_seq_cst);
    }
    void change_priority(int to) { std::atomic_ref(priority).store(to, std::memory_order_seq_cst); }
};

inline constexpr int kLevels = policy::kMostPriority + 1;

} // namespace sennit::sched
