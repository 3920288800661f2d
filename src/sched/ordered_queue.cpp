// SPDX-License-Identifier: Apache-2.0
#include "sched/ordered_queue.h"

#include "base/assert.h"
#include "base/message.h"
#include "sched/order.h"

#include <cstdlib>

namespace sennit::sched {
namespace {

constexpr std::uint32_t kFirstCapacity = 512;

std::atomic_ref<OrderedQueue *> queue_of(Node *node) {
    return std::atomic_ref(node->queue);
}

} // namespace

OrderedQueue::~OrderedQueue() {
    std::free(heap_);
}

void OrderedQueue::push(Node *node) {
    lock_.lock();
    SENNIT_ASSERT(!queue_of(node).load(std::memory_order_relaxed)); // in no queue yet
    if (count() == capacity_)
        grow();
    // Either we see the new priority, or who changes it sees us: both sides store first and load
    // then, sequentially consistent (Dekker); see moved().
    queue_of(node).store(this, std::memory_order_seq_cst);
    const std::uint32_t at = count();
    count_.store(at + 1, std::memory_order_relaxed);
    rise(at, {key_of(*node), node});
    lock_.unlock();
}

void OrderedQueue::moved(Node *node) {
    OrderedQueue *queue = queue_of(node).load(std::memory_order_seq_cst);
    if (!queue)
        return;
    SENNIT_ASSERT(queue->alive_.intact()); // node.h: nobody else writes there
    queue->lock_.lock();
    // It may have been taken meanwhile; only under the lock is the answer final.
    if (queue_of(node).load(std::memory_order_relaxed) == queue) {
        const auto at = static_cast<std::uint32_t>(node->position);
        const Entry entry{key_of(*node), node};
        if (entry.key < queue->heap_[at].key)
            queue->rise(at, entry);
        else
            queue->sink(at, entry);
    }
    queue->lock_.unlock();
}

Node *OrderedQueue::take_first() {
    Node *node = heap_[0].node;
    queue_of(node).store(nullptr, std::memory_order_relaxed);
    const std::uint32_t left = count() - 1;
    count_.store(left, std::memory_order_relaxed);
    if (left > 0)
        sink(0, heap_[left]);
    return node;
}

void OrderedQueue::place(std::uint32_t at, const Entry &entry) {
    heap_[at] = entry;
    entry.node->position = at;
}

void OrderedQueue::rise(std::uint32_t at, const Entry &entry) {
    const Entry mine = entry; // which may be overwritten on the way
    while (at > 0) {
        const std::uint32_t parent = (at - 1) / 2;
        if (heap_[parent].key <= mine.key)
            break;
        place(at, heap_[parent]);
        at = parent;
    }
    place(at, mine);
}

void OrderedQueue::sink(std::uint32_t at, const Entry &entry) {
    const Entry mine = entry;
    for (;;) {
        std::uint32_t child = 2 * at + 1;
        if (child >= count())
            break;
        if (child + 1 < count() && heap_[child + 1].key < heap_[child].key)
            ++child;
        if (mine.key <= heap_[child].key)
            break;
        place(at, heap_[child]);
        at = child;
    }
    place(at, mine);
}

void OrderedQueue::grow() {
    const std::uint32_t capacity = capacity_ ? capacity_ * 2 : kFirstCapacity;
    auto *heap = static_cast<Entry *>(std::realloc(heap_, capacity * sizeof(Entry)));
    if (!heap)
        fatal("no memory for a queue of %u ready tasks", capacity);
    heap_ = heap;
    capacity_ = capacity;
}

} // namespace sennit::sched
