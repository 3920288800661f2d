// SPDX-License-Identifier: Apache-2.0
// What queues hold: the intrusive part of a task.
#pragma once

#include "sched/policy/rules.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

class OrderedQueue;

struct Node {
    union {
        Node *next;
        OrderedQueue *queue; // the ordered queue that holds it; atomic access, see OrderedQueue
    };
    union {
        Node *prev;
        std::uintptr_t position; // in that queue
    };
    int priority;      // 0 .. kLevels - 1; others may raise it, so relaxed atomic access
    std::uint32_t age; // how many tasks came before; ordered queues only

    int current_priority() const {
        return std::atomic_ref(const_cast<int &>(priority)).load(std::memory_order_seq_cst);
    }
    void change_priority(int to) { std::atomic_ref(priority).store(to, std::memory_order_seq_cst); }
};

inline constexpr int kLevels = policy::kMostPriority + 1;

} // namespace sennit::sched
