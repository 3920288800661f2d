// SPDX-License-Identifier: Apache-2.0
#include "sched/queue.h"

#include "base/message.h"

#include <cstdlib>
#include <new>

namespace sennit::sched {

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
};

ReadyQueue::~ReadyQueue() {
    std::free(levels_);
}

void ReadyQueue::push_level(Node *node, Place place) {
    if (!levels_) {
        void *memory = std::malloc(sizeof(Levels));
        if (!memory)
            fatal("no memory for a priority queue (%zu bytes)", sizeof(Levels));
        levels_ = new (memory) Levels;
    }
    const int level = node->priority < kLevels ? node->priority : kLevels - 1;
    levels_->lists[level].push(node, place);
    levels_->mark(level);
}

Node *ReadyQueue::take_level(Place end) {
    const int level = levels_->highest();
    if (level < 0)
        return nullptr;
    Node *node = levels_->lists[level].take(end);
    if (!levels_->lists[level].head)
        levels_->clear(level);
    return node;
}

Node *ReadyQueue::peek_level() {
    const int level = levels_->highest();
    return level < 0 ? nullptr : levels_->lists[level].head;
}

int ReadyQueue::steal_batch(ReadyQueue &victim, int most) {
    Node *chain = nullptr; // newest of the stolen first
    int taken = 0;
    if (!victim.lock_.try_lock())
        return 0;
    while (taken < most) {
        Node *node = victim.normal_.take(Place::back);
        if (!node)
            break;
        node->prev = chain;
        chain = node;
        ++taken;
    }
    victim.add(-taken);
    victim.lock_.unlock();
    if (taken == 0)
        return 0;
    lock_.lock();
    while (chain) {
        Node *before = chain->prev;
        normal_.push(chain, Place::back);
        chain = before;
    }
    add(taken);
    lock_.unlock();
    return taken;
}

} // namespace sennit::sched
