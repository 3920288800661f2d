// SPDX-License-Identifier: Apache-2.0
// A heap with four children a node, which are one cache line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sennit::sim {

// Ready tasks in a policy's order: least key first. A task whose key changes is pushed once more.
// Keys that no longer hold are found out when they come up (`holds(key, task)`), so nobody has
// to know where a task stands: that would cost a cache miss for each step in the heap.
class ReadyQueue {
  public:
    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }
    std::uint32_t first() const { return heap_[0].task; }
    // Visit those of whom one will be the second: the root's children.
    template <class Visitor>
    void each_second(Visitor visit) const {
        const std::size_t end = std::min<std::size_t>(heap_.size(), 5);
        for (std::size_t at = 1; at < end; ++at)
            visit(heap_[at].task);
    }

    void push(std::uint64_t key, std::uint32_t task) {
        heap_.push_back({});
        rise(heap_.size() - 1, {key, task});
    }
    // The first that holds, or `none`.
    template <class Holds>
    std::uint32_t pop(Holds holds, std::uint32_t none) {
        while (!heap_.empty()) {
            const Keyed first = heap_[0];
            const Keyed last = heap_.back();
            heap_.pop_back();
            if (!heap_.empty())
                sink(0, last);
            if (holds(first.key, first.task))
                return first.task;
        }
        return none;
    }
    // Throw out what does not hold.
    template <class Holds>
    void tidy(Holds holds) {
        std::size_t kept = 0;
        for (const Keyed &keyed : heap_)
            if (holds(keyed.key, keyed.task))
                heap_[kept++] = keyed;
        heap_.resize(kept);
        for (std::size_t at = kept / 4 + 1; at-- > 0;)
            if (at < kept)
                sink(at, heap_[at]);
    }

  private:
    struct Keyed {
        std::uint64_t key;
        std::uint32_t task;
    };

    void rise(std::size_t at, Keyed keyed) {
        while (at > 0) {
            const std::size_t parent = (at - 1) / 4;
            if (heap_[parent].key <= keyed.key)
                break;
            heap_[at] = heap_[parent];
            at = parent;
        }
        heap_[at] = keyed;
    }
    void sink(std::size_t at, Keyed keyed) {
        for (;;) {
            const std::size_t child = 4 * at + 1;
            if (child >= heap_.size())
                break;
            std::size_t least = child;
            const std::size_t end = child + 4 < heap_.size() ? child + 4 : heap_.size();
            for (std::size_t other = child + 1; other < end; ++other)
                if (heap_[other].key < heap_[least].key)
                    least = other;
            if (keyed.key <= heap_[least].key)
                break;
            heap_[at] = heap_[least];
            at = least;
        }
        heap_[at] = keyed;
    }

    std::vector<Keyed> heap_;
};

} // namespace sennit::sim
