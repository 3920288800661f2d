// SPDX-License-Identifier: Apache-2.0
// Two heaps with four children a node: events by time, and ready tasks in a policy's order. Four
// children of 16 bytes are one cache line.
#pragma once

#include "machine.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sennit::sim {

// Events at one time leave in the order of their arrival, so runs are reproducible.
class EventQueue {
  public:
    struct Event {
        Time time;
        std::uint32_t what; // kind in the upper bits; see pack()
    };

    bool empty() const { return heap_.empty(); }
    std::uint32_t next() const { return what_of(heap_[0]); }
    Time next_time() const { return static_cast<Time>(heap_[0] >> 64); }
    // Visit what may come after the next event: the root's children.
    template <class Visitor>
    void each_second(Visitor visit) const {
        const std::size_t end = std::min<std::size_t>(heap_.size(), 5);
        for (std::size_t at = 1; at < end; ++at)
            visit(what_of(heap_[at]));
    }

    void push(Time time, std::uint32_t what) {
        const Entry event = static_cast<Entry>(time) << 64 | Entry{sequence_++} << 32 | what;
        std::size_t at = heap_.size();
        heap_.push_back(event);
        while (at > 0) {
            const std::size_t parent = (at - 1) / 4;
            if (heap_[parent] < event)
                break;
            heap_[at] = heap_[parent];
            at = parent;
        }
        heap_[at] = event;
    }

    Event pop() {
        const Entry first = heap_[0];
        const Entry last = heap_.back();
        heap_.pop_back();
        Entry *const heap = heap_.data();
        const std::size_t size = heap_.size();
        if (size > 0) {
            std::size_t at = 0;
            for (std::size_t child = 1; child < size; child = 4 * at + 1) {
                const std::size_t least =
                    child + 4 <= size ? least_of_four(heap, child) : least_of(heap, child, size);
                if (last < heap[least])
                    break;
                heap[at] = heap[least];
                at = least;
            }
            heap[at] = last;
        }
        return {static_cast<Time>(first >> 64), what_of(first)};
    }

  private:
    // The time, the count of events (it may wrap: then a few at one time change places), what.
    // One number, so that the least of four is found without a branch: which it is, nobody can
    // predict.
    __extension__ using Entry = unsigned __int128;

    static std::uint32_t what_of(Entry entry) { return static_cast<std::uint32_t>(entry); }
    static std::size_t least_of_four(const Entry *heap, std::size_t at) {
        const std::size_t left = at + (heap[at + 1] < heap[at]);
        const std::size_t right = at + 2 + (heap[at + 3] < heap[at + 2]);
        return heap[right] < heap[left] ? right : left;
    }
    static std::size_t least_of(const Entry *heap, std::size_t at, std::size_t end) {
        std::size_t least = at;
        while (++at < end)
            least = heap[at] < heap[least] ? at : least;
        return least;
    }

    std::vector<Entry> heap_;
    std::uint32_t sequence_ = 0;
};

// Ready tasks, least key first. A task whose key changes is pushed once more; entries that no
// longer hold are found out when they come up (`holds(key, task)`), so nobody has to know where a
// task stands: that would cost a cache miss for each step in the heap.
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
            const Entry first = heap_[0];
            const Entry last = heap_.back();
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
        for (const Entry &entry : heap_)
            if (holds(entry.key, entry.task))
                heap_[kept++] = entry;
        heap_.resize(kept);
        for (std::size_t at = kept / 4 + 1; at-- > 0;)
            if (at < kept)
                sink(at, heap_[at]);
    }

  private:
    struct Entry {
        std::uint64_t key;
        std::uint32_t task;
    };

    void rise(std::size_t at, Entry entry) {
        while (at > 0) {
            const std::size_t parent = (at - 1) / 4;
            if (heap_[parent].key <= entry.key)
                break;
            heap_[at] = heap_[parent];
            at = parent;
        }
        heap_[at] = entry;
    }
    void sink(std::size_t at, Entry entry) {
        for (;;) {
            const std::size_t child = 4 * at + 1;
            if (child >= heap_.size())
                break;
            std::size_t least = child;
            const std::size_t end = child + 4 < heap_.size() ? child + 4 : heap_.size();
            for (std::size_t other = child + 1; other < end; ++other)
                if (heap_[other].key < heap_[least].key)
                    least = other;
            if (entry.key <= heap_[least].key)
                break;
            heap_[at] = heap_[least];
            at = least;
        }
        heap_[at] = entry;
    }

    std::vector<Entry> heap_;
};

} // namespace sennit::sim
