// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/ordered_queue.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/message.h"

#include <atomic>
#include <cstdlib>

namespace sennit::sched {
namespace {

constexpr std::uint32_t kFirstCapacity = 512;

decltype(auto) queue_of(Item *item) {
    return atomic_at(item->queue);
}

} // namespace

bool OrderedQueue::holds(const Keyed &keyed, std::uintptr_t position) const {
    return keyed.item && keyed.item->position == position &&
           queue_of(keyed.item).load(std::memory_order_relaxed) == this;
}

// Adds to `count` how many tasks it has. Keys are those of the places: a task's priority may change
// at any time, and moved() follows.
bool OrderedQueue::line_is_sound(std::uint32_t &count) const {
    if (line_.tail - line_.head > line_.capacity || (!line_.empty() && !line_.first().item))
        return false;
    for (std::uint32_t place = line_.head; place != line_.tail; ++place) {
        const Keyed &keyed = line_.at(place);
        if (place != line_.head && keyed.key < line_.at(place - 1).key)
            return false;
        if (keyed.item && !holds(keyed, kInLine | place))
            return false;
        count += keyed.item ? 1 : 0;
    }
    return true;
}

bool OrderedQueue::heap_is_sound() const {
    for (std::size_t at = 0; at < heap_.size(); ++at)
        if (!holds(heap_[at], at) || heap_[at].key < heap_[at == 0 ? 0 : (at - 1) / 2].key)
            return false;
    return true;
}

bool OrderedQueue::is_sound() const {
    lock_.assert_held(); // or nobody else has the queue
    auto found = static_cast<std::uint32_t>(heap_.size());
    return line_is_sound(found) && heap_is_sound() && count() == found;
}

OrderedQueue::~OrderedQueue() {
    std::free(line_.fields);
    heap_.release();
}

void OrderedQueue::push(Item *item) {
    const Guard guard(lock_);
    SENNIT_ASSERT(!queue_of(item).load(std::memory_order_relaxed)); // in no queue yet
    // Either we see the new priority, or the thread that changes it sees us. Both sides store first
    // and then load, sequentially consistent (Dekker); see moved().
    queue_of(item).store(this, std::memory_order_seq_cst);
    count_.store(count() + 1, std::memory_order_relaxed);
    const Keyed keyed{key_of(*item), item};
    if (SENNIT_LIKELY(line_.may_join(keyed.key))) {
        if (line_.tail - line_.head == line_.capacity)
            line_.grow();
        item->position = kInLine | line_.tail;
        line_.at(line_.tail++) = keyed;
    } else {
        add_to_heap(keyed);
    }
    SENNIT_ASSERT(!checks_.due(count()) || is_sound());
}

void OrderedQueue::moved(Item *item) {
    OrderedQueue *queue = queue_of(item).load(std::memory_order_seq_cst);
    if (!queue)
        return;
    SENNIT_ASSERT(queue->alive_.intact()); // node.h: nobody else writes there
    const Guard guard(queue->lock_);
    // It may have been taken meanwhile. Only now is the answer final.
    if (queue_of(item).load(std::memory_order_relaxed) != queue)
        return;
    const auto at = static_cast<std::uint32_t>(item->position);
    const Keyed keyed{key_of(*item), item};
    if (item->position & kInLine) {
        if (keyed.key != queue->line_.at(at).key) {
            queue->line_.leave(at);
            queue->add_to_heap(keyed);
        }
    } else if (keyed.key < queue->heap_[at].key) {
        queue->rise(at, keyed);
    } else {
        queue->sink(at, keyed);
    }
    SENNIT_ASSERT(!queue->checks_.due(queue->count()) || queue->is_sound());
}

Item *OrderedQueue::take_first() {
    SENNIT_ASSERT(count() > 0);
    count_.store(count() - 1, std::memory_order_relaxed);
    Item *item = nullptr;
    if (line_is_first()) {
        item = line_.first().item;
        line_.leave(line_.head);
    } else {
        item = heap_[0].item;
        const Keyed &last = heap_.back(); // stays there
        heap_.pop();
        if (heap_.size() > 0)
            sink(0, last);
    }
    SENNIT_ASSERT(queue_of(item).load(std::memory_order_relaxed) == this);
    queue_of(item).store(nullptr, std::memory_order_relaxed);
    SENNIT_ASSERT(!checks_.due(count()) || is_sound());
    return item;
}

void OrderedQueue::remove(Item *item) {
    count_.store(count() - 1, std::memory_order_relaxed);
    if (item->position & kInLine) {
        line_.leave(static_cast<std::uint32_t>(item->position));
    } else {
        const std::size_t at = item->position;
        const Keyed last = heap_.back();
        heap_.pop();
        if (at < heap_.size()) { // else it was the last one itself
            rise(at, last);
            sink(last.item->position, last);
        }
    }
    queue_of(item).store(nullptr, std::memory_order_relaxed);
    SENNIT_ASSERT(!checks_.due(count()) || is_sound());
}

Item *OrderedQueue::take_any(const Sought &sought) {
    if (count() == 0)
        return nullptr;
    const Guard guard(lock_);
    const Keyed *found = nullptr;
    for (std::uint32_t place = line_.head; place != line_.tail && !found; ++place)
        if (const Keyed &keyed = line_.at(place); keyed.item && sought.is(keyed.item))
            found = &keyed;
    for (const Keyed &keyed : heap_)
        if ((!found || keyed.key < found->key) && sought.is(keyed.item))
            found = &keyed;
    if (!found)
        return nullptr;
    Item *const item = found->item;
    remove(item);
    return item;
}

void OrderedQueue::Line::leave(std::uint32_t place) {
    at(place).item = nullptr;
    while (head != tail && !first().item)
        ++head;
}

void OrderedQueue::Line::grow() {
    const std::uint32_t more = capacity ? capacity * 2 : kFirstCapacity;
    auto *fresh = static_cast<Keyed *>(std::malloc(more * sizeof(Keyed)));
    if (!fresh)
        fatal("no memory for a queue of %u ready tasks", more);
    for (std::uint32_t place = head; place != tail; ++place)
        fresh[place & (more - 1)] = at(place);
    std::free(fields);
    fields = fresh;
    capacity = more;
}

void OrderedQueue::add_to_heap(const Keyed &keyed) {
    if (!heap_.push(keyed))
        fatal("no memory for a queue of %zu ready tasks", heap_.size() + 1);
    rise(heap_.size() - 1, keyed);
}

void OrderedQueue::place(std::size_t at, const Keyed &keyed) {
    heap_[at] = keyed;
    keyed.item->position = at;
}

void OrderedQueue::rise(std::size_t at, const Keyed &keyed) {
    const Keyed mine = keyed; // which may be overwritten on the way
    while (at > 0) {
        const std::size_t parent = (at - 1) / 2;
        if (heap_[parent].key <= mine.key)
            break;
        place(at, heap_[parent]);
        at = parent;
    }
    place(at, mine);
}

void OrderedQueue::sink(std::size_t at, const Keyed &keyed) {
    const Keyed mine = keyed;
    for (;;) {
        std::size_t child = 2 * at + 1;
        if (child >= heap_.size())
            break;
        if (child + 1 < heap_.size() && heap_[child + 1].key < heap_[child].key)
            ++child;
        if (mine.key <= heap_[child].key)
            break;
        place(at, heap_[child]);
        at = child;
    }
    place(at, mine);
}

namespace detail {
policy::Rules g_rules;
policy::Machine g_machine;
} // namespace detail

static std::atomic<std::uint32_t> g_age{0};

void order_setup() {
    detail::g_rules = policy::rules_of(config().policy, config().order);
}

void set_machine(const policy::Machine &machine) {
    detail::g_machine = machine;
}

std::uint32_t next_age() {
    return g_age.fetch_add(1, std::memory_order_relaxed);
}

} // namespace sennit::sched
