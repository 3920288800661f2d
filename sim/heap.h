// SPDX-License-Identifier: Apache-2.0
// Two heaps with four children a node: events by time, and ready tasks in a policy's order. Four
// children of 16 bytes are one cache line.
#pragma once

#include "machine.h"

#include <cstdint>
#include <vector>

namespace sennit::sim {

// Events at one time leave in the order of their arrival, so runs are reproducible.
class EventQueue {
  public:
    struct Event {
        Time time;
        std::uint32_t sequence;
        std::uint32_t what; // kind in the upper bits; see pack()
    };

    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }
    Time next_time() const { return heap_[0].time; }

    void push(Time time, std::uint32_t what) {
        const Event event{time, sequence_++, what};
        std::size_t at = heap_.size();
        heap_.push_back(event);
        while (at > 0) {
            const std::size_t parent = (at - 1) / 4;
            if (!before(event, heap_[parent]))
                break;
            heap_[at] = heap_[parent];
            at = parent;
        }
        heap_[at] = event;
    }

    Event pop() {
        const Event first = heap_[0];
        const Event last = heap_.back();
        heap_.pop_back();
        const std::size_t size = heap_.size();
        if (size == 0)
            return first;
        std::size_t at = 0;
        for (;;) {
            const std::size_t child = 4 * at + 1;
            if (child >= size)
                break;
            std::size_t least = child;
            const std::size_t end = child + 4 < size ? child + 4 : size;
            for (std::size_t other = child + 1; other < end; ++other)
                if (before(heap_[other], heap_[least]))
                    least = other;
            if (!before(heap_[least], last))
                break;
            heap_[at] = heap_[least];
            at = least;
        }
        heap_[at] = last;
        return first;
    }

  private:
    // The count may wrap: of two events at one time the difference is small.
    static bool before(const Event &a, const Event &b) {
        return a.time != b.time ? a.time < b.time
                                : static_cast<std::int32_t>(a.sequence - b.sequence) < 0;
    }

    std::vector<Event> heap_;
    std::uint32_t sequence_ = 0;
};

// Least key first. `moved(task, position)` is told where a task is, so that its key can change.
class ReadyQueue {
  public:
    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }

    template <class Moved>
    void push(std::uint64_t key, std::uint32_t task, Moved moved) {
        heap_.push_back({});
        rise(heap_.size() - 1, {key, task}, moved);
    }
    template <class Moved>
    std::uint32_t pop(Moved moved) {
        const std::uint32_t first = heap_[0].task;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty())
            sink(0, last, moved);
        return first;
    }
    template <class Moved>
    void change(std::uint32_t position, std::uint64_t key, Moved moved) {
        const Entry entry{key, heap_[position].task};
        if (key < heap_[position].key)
            rise(position, entry, moved);
        else
            sink(position, entry, moved);
    }

  private:
    struct Entry {
        std::uint64_t key;
        std::uint32_t task;
    };

    template <class Moved>
    void rise(std::size_t at, Entry entry, Moved moved) {
        while (at > 0) {
            const std::size_t parent = (at - 1) / 4;
            if (heap_[parent].key <= entry.key)
                break;
            put(at, heap_[parent], moved);
            at = parent;
        }
        put(at, entry, moved);
    }
    template <class Moved>
    void sink(std::size_t at, Entry entry, Moved moved) {
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
            put(at, heap_[least], moved);
            at = least;
        }
        put(at, entry, moved);
    }
    template <class Moved>
    void put(std::size_t at, const Entry &entry, Moved moved) {
        heap_[at] = entry;
        moved(entry.task, static_cast<std::uint32_t>(at));
    }

    std::vector<Entry> heap_;
};

} // namespace sennit::sim
