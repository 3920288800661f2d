// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/queue.h"

#include "base/message.h"

#include <cstdlib>
#include <new>

namespace sennit::sched {

namespace {

constexpr std::uint32_t kFirstCapacity = 512;

int level_of(const Item &item) {
    return item.priority < kLevels ? item.priority : kLevels - 1;
}

struct List {
    Item *head = nullptr;
    Item *tail = nullptr;

    void push(Item *item, ReadyQueue::End end) {
        if (end == ReadyQueue::End::front) {
            item->prev = nullptr;
            item->next = head;
            (head ? head->prev : tail) = item;
            head = item;
        } else {
            item->next = nullptr;
            item->prev = tail;
            (tail ? tail->next : head) = item;
            tail = item;
        }
    }
    Item *at(ReadyQueue::End end) const { return end == ReadyQueue::End::front ? head : tail; }
    Item *take(ReadyQueue::End end) {
        Item *item = at(end);
        if (item)
            remove(item);
        return item;
    }
    void remove(Item *item) {
        (item->prev ? item->prev->next : head) = item->next;
        (item->next ? item->next->prev : tail) = item->prev;
    }
    // How many items of this level it has; -1: its links, or an item's priority, are wrong.
    std::int64_t count_sound(int level) const {
        std::int64_t count = 0;
        const Item *before = nullptr;
        for (const Item *item = head; item; before = item, item = item->next, ++count)
            if (item->prev != before || level_of(*item) != level)
                return -1;
        return tail == before ? count : -1;
    }
};

} // namespace

struct ReadyQueue::Levels {
    std::uint64_t groups = 0;               // bit g: words[g] != 0
    std::uint64_t words[kLevels / 64] = {}; // bit b of words[g]: lists[64 g + b] is not empty
    List lists[kLevels];

    int highest() const {
        if (groups == 0)
            return -1;
        const int group = 63 - __builtin_clzll(groups);
        return 64 * group + 63 - __builtin_clzll(words[group]);
    }
    void mark(int level) {
        words[level / 64] |= std::uint64_t{1} << (level % 64);
        groups |= std::uint64_t{1} << (level / 64);
    }
    void clear(int level) {
        words[level / 64] &= ~(std::uint64_t{1} << (level % 64));
        if (words[level / 64] == 0)
            groups &= ~(std::uint64_t{1} << (level / 64));
    }
    bool is_marked(int level) const {
        return (words[level / 64] >> (level % 64) & 1) != 0 && (groups >> (level / 64) & 1) != 0;
    }
    // How many tasks there are; -1: a list or a mark is wrong.
    std::int64_t count_sound() const {
        std::int64_t total = 0;
        for (int level = 0; level < kLevels; ++level) {
            const std::int64_t count = lists[level].count_sound(level);
            if (count < 0 || is_marked(level) != (count > 0))
                return -1;
            total += count;
        }
        return total;
    }
};

bool ReadyQueue::is_sound() const {
    lock_.assert_held(); // or nobody else has the queue
    if ((capacity_ & (capacity_ - 1)) != 0 || size_ > capacity_ ||
        (head_ != 0 && head_ >= capacity_))
        return false;
    for (std::uint32_t i = 0; i < size_; ++i)
        if (const Item *item = ring_[(head_ + i) & (capacity_ - 1)]; !item || item->priority > 0)
            return false;
    const std::int64_t levels = levels_ ? levels_->count_sound() : 0;
    return levels >= 0 && count() == size_ + static_cast<std::uint64_t>(levels);
}

ReadyQueue::~ReadyQueue() {
    std::free(levels_);
    std::free(ring_);
}

void ReadyQueue::push_level(Item *item, End end) {
    if (!levels_) {
        void *memory = std::malloc(sizeof(Levels));
        if (!memory)
            fatal("no memory for a priority queue (%zu bytes)", sizeof(Levels));
        levels_ = new (memory) Levels;
    }
    const int level = level_of(*item);
    levels_->lists[level].push(item, end);
    levels_->mark(level);
}

Item *ReadyQueue::take_level(End end) {
    const int level = levels_->highest();
    if (level < 0)
        return nullptr;
    Item *item = levels_->lists[level].take(end);
    if (!levels_->lists[level].head)
        levels_->clear(level);
    return item;
}

Item *ReadyQueue::peek_level(End end) {
    const int level = levels_->highest();
    return level < 0 ? nullptr : levels_->lists[level].at(end);
}

Item *ReadyQueue::take_any(const Sought &sought) {
    if (count() == 0)
        return nullptr;
    const Guard guard(lock_);
    Item *item = levels_ ? take_any_level(sought) : nullptr;
    if (!item)
        item = take_any_normal(sought);
    if (item)
        add(-1);
    return item;
}

Item *ReadyQueue::take_any_level(const Sought &sought) {
    for (int level = levels_->highest(); level > 0; --level) {
        List &list = levels_->lists[level];
        for (Item *item = list.head; item; item = item->next) {
            if (!sought.is(item))
                continue;
            list.remove(item);
            if (!list.head)
                levels_->clear(level);
            return item;
        }
    }
    return nullptr;
}

Item *ReadyQueue::take_any_normal(const Sought &sought) {
    const auto at = [this](std::uint32_t i) -> Item *& {
        return ring_[(head_ + i) & (capacity_ - 1)];
    };
    for (std::uint32_t i = 0; i < size_; ++i) {
        Item *const item = at(i);
        if (!sought.is(item))
            continue;
        for (--size_; i < size_; ++i)
            at(i) = at(i + 1);
        return item;
    }
    return nullptr;
}

void ReadyQueue::grow() {
    const std::uint32_t capacity = capacity_ ? capacity_ * 2 : kFirstCapacity;
    auto **ring = static_cast<Item **>(std::malloc(capacity * sizeof(Item *)));
    if (!ring)
        fatal("no memory for a queue of %u ready tasks", capacity);
    for (std::uint32_t i = 0; i < size_; ++i)
        ring[i] = ring_[(head_ + i) & (capacity_ - 1)];
    std::free(ring_);
    ring_ = ring;
    capacity_ = capacity;
    head_ = 0;
}

int ReadyQueue::steal_batch(ReadyQueue &victim, int most) {
    Item *stolen[kMostStolen];
    if (!victim.lock_.try_lock())
        return 0;
    int taken = 0;
    {
        const Guard guard(victim.lock_, AlreadyHeld{});
        while (taken < most && victim.size_ > 0)
            stolen[taken++] = victim.take_normal(End::back);
        victim.add(-taken);
    }
    if (taken == 0)
        return 0;
    const Guard guard(lock_);
    for (int i = taken; i-- > 0;)
        push_normal(stolen[i], End::back);
    add(taken);
    return taken;
}

} // namespace sennit::sched
