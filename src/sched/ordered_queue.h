// SPDX-License-Identifier: Apache-2.0
// The ready tasks of several workers in one order, that of a policy (sched/policy/rules.h). It is a
// binary heap, because creation order cannot be kept by lists of arrivals. A task's key can change
// while it is queued. A spin lock guards the queue; count() may be read without it, as a hint.
#pragma once

#include "base/assert.h"
#include "base/compiler.h"
#include "base/spin.h"
#include "sched/node.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

class alignas(kCacheLine) OrderedQueue {
  public:
    OrderedQueue() = default;
    OrderedQueue(const OrderedQueue &) = delete;
    OrderedQueue &operator=(const OrderedQueue &) = delete;
    ~OrderedQueue();

    std::uint32_t count() const { return count_.load(std::memory_order_relaxed); }

    void push(Node *node);
    // The first in order; null when empty.
    Node *take() {
        return take_if([](const Node *) { return true; });
    }
    // The first, if accept(node).
    template <class Accept>
    Node *take_if(Accept accept) {
        if (count() == 0)
            return nullptr;
        lock_.lock();
        Node *node = count() && accept(heap_[0].node) ? take_first() : nullptr;
        lock_.unlock();
        return node;
    }

    // The priority of a node that may be queued somewhere, or about to be, is another now. The node
    // must not be freed meanwhile.
    static void moved(Node *node);

  private:
    struct Entry {
        std::uint64_t key;
        Node *node;
    };

    Node *take_first();
    void place(std::uint32_t at, const Entry &entry);
    void rise(std::uint32_t at, const Entry &entry);
    void sink(std::uint32_t at, const Entry &entry);
    void grow();

    [[no_unique_address]] AliveMark alive_;
    SpinLock lock_;
    std::atomic<std::uint32_t> count_{0};
    std::uint32_t capacity_ = 0;
    Entry *heap_ = nullptr;
};

} // namespace sennit::sched
