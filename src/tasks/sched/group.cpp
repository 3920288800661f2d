// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/group.h"

#include "base/assert.h"
#include "base/message.h"

#include <cstdlib>
#include <new>

namespace sennit::sched {

constinit Atomic<std::int32_t> g_groups_with_tasks{0};
constinit std::atomic<std::int32_t> detail::g_with_unbegun{0};
constinit bool detail::g_counts_idle = false;

void count_idle_workers() {
    detail::g_counts_idle = true;
}

bool Group::quiescent() const {
    std::uint64_t finished = finished_elsewhere.load(std::memory_order_acquire);
    for (int i = 0; i < size; ++i)
        finished += slots[i]->finished.load(std::memory_order_acquire);
    std::uint64_t created = created_elsewhere.load(std::memory_order_acquire);
    for (int i = 0; i < size; ++i)
        created += slots[i]->created.load(std::memory_order_acquire);
    SENNIT_ASSERT(finished <= created);
    return finished == created;
}

// Under an ordered policy a queue may be no member's own. What comes from outside goes to the first
// queue.
bool Group::any_ready() const {
    const auto any = [](int count, auto ready) {
        for (int i = 0; i < count; ++i)
            if (ready(i) > 0)
                return true;
        return false;
    };
    return ordered() ? any(machine().domains, [&](int i) { return queues[i].count(); })
                     : any(size, [&](int i) { return slots[i]->queue.count(); });
}

Item *Group::take_any(const Sought &sought) {
    Item *item = nullptr;
    if (!has_tasks.load(std::memory_order_relaxed))
        return item;
    if (ordered())
        for (int i = 0; i < machine().domains && !item; ++i)
            item = queues[i].take_any(sought);
    else
        for (int i = 0; i < size && !item; ++i)
            item = slots[i]->queue.take_any(sought);
    return item;
}

Slot *Memberships::find_unbegun() const {
    for (Slot *mine = first_; mine; mine = mine->next_of_worker)
        if (helps_ ? mine->group->has_unbegun(*mine) : mine->group->must_begin(*mine))
            return mine;
    return nullptr;
}

bool Memberships::must_begin() const {
    for (const Slot *mine = first_; mine; mine = mine->next_of_worker)
        if (mine->group->must_begin(*mine))
            return true;
    return false;
}

void Memberships::settle() const {
    for (const Slot *mine = first_; mine; mine = mine->next_of_worker)
        if (mine->group->can_settle())
            mine->group->settle();
}

void Memberships::count_asleep(int more, bool light) const {
    for (const Slot *mine = first_; mine; mine = mine->next_of_worker) {
        Group &group = *mine->group;
        SENNIT_ASSERT(more > 0 || group.sleepers.load(std::memory_order_relaxed) > 0);
        group.sleepers.fetch_add(more, std::memory_order_relaxed);
        if (!light)
            continue;
        SENNIT_ASSERT(more > 0 || group.light_sleepers.load(std::memory_order_relaxed) > 0);
        group.light_sleepers.fetch_add(more, std::memory_order_relaxed);
    }
}

// A slot that it enters while it is idle, in a call of the program's, is not counted before it has
// nothing to do once more.
void Memberships::count_idle(bool idle) const {
    for (Slot *mine = first_; mine; mine = mine->next_of_worker) {
        if (mine->idle == idle)
            continue;
        mine->idle = idle;
        mine->group->idle.fetch_add(idle ? 1 : -1, std::memory_order_relaxed);
    }
}

void make_queues(Group &group) {
    const auto count = static_cast<std::size_t>(machine().domains);
    void *memory = std::aligned_alloc(kCacheLine, count * sizeof(OrderedQueue));
    if (!memory)
        fatal("no memory for a team's queues (%zu bytes)", count * sizeof(OrderedQueue));
    group.queues = new (memory) OrderedQueue[count];
}

void drop_queues(Group &group) {
    for (int i = 0; group.queues && i < machine().domains; ++i) {
        SENNIT_ASSERT(group.queues[i].count() == 0);
        group.queues[i].~OrderedQueue();
    }
    std::free(group.queues);
}

} // namespace sennit::sched
