// SPDX-License-Identifier: Apache-2.0
#include "task/exclusion.h"

#include "base/assert.h"
#include "base/message.h"
#include "task/lifecycle.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace sennit::task {
namespace {

void *checked(void *memory, std::size_t size) {
    if (!memory)
        fatal("no memory for task dependences (%zu bytes)", size);
    return memory;
}

// An item that is not free; null when all are.
DependMutex *held_one(MutexSet &set) {
    for (DependMutex *mutex : set)
        if (mutex->held)
            return mutex;
    return nullptr;
}

void take_all(MutexSet &set) {
    SENNIT_ASSERT(!set.taken && !held_one(set));
    for (DependMutex *mutex : set)
        mutex->held = true;
    set.taken = true;
}

void append(DependMutex &mutex, DependNode &node) {
    SENNIT_ASSERT(mutex.held);
    node.mutexes->next = nullptr;
    (mutex.last ? mutex.last->mutexes->next : mutex.first) = &node;
    mutex.last = &node;
}

DependNode *take_first(DependMutex &mutex) {
    DependNode *node = mutex.first;
    if (!node)
        return nullptr;
    mutex.first = std::exchange(node->mutexes->next, nullptr);
    if (!mutex.first)
        mutex.last = nullptr;
    return node;
}

// Until somebody holds the item again, or nobody waits for it. A task that lacks another item waits
// for that one from now on.
void give_away(DependMutex &mutex, DependNode *&granted) {
    while (!mutex.held) {
        DependNode *node = take_first(mutex);
        if (!node)
            return;
        if (DependMutex *other = held_one(*node->mutexes)) {
            append(*other, *node);
        } else {
            take_all(*node->mutexes);
            node->mutexes->next = std::exchange(granted, node);
        }
    }
}

} // namespace

DependMutex *make_mutex(ExclusionLock *&table_lock) {
    if (!table_lock)
        table_lock =
            new (checked(std::malloc(sizeof(ExclusionLock)), sizeof(ExclusionLock))) ExclusionLock;
    table_lock->references.fetch_add(1, std::memory_order_relaxed);
    return new (checked(std::malloc(sizeof(DependMutex)), sizeof(DependMutex)))
        DependMutex(*table_lock);
}

// acq_rel: what the other tasks did with the item comes before the end.
void drop_exclusion_lock(ExclusionLock *lock) {
    if (lock->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        std::free(lock);
}

void drop_mutex(DependMutex *mutex) {
    if (mutex->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    SENNIT_ASSERT(!mutex->held && !mutex->first);
    drop_exclusion_lock(&mutex->guard);
    std::free(mutex);
}

void add_mutex(DependNode &node, DependMutex &mutex) {
    MutexSet *set = node.mutexes;
    if (set && std::find(set->begin(), set->end(), &mutex) != set->end())
        return;
    const int count = set ? set->count : 0;
    const std::size_t bytes =
        sizeof(MutexSet) + static_cast<std::size_t>(count + 1) * sizeof(DependMutex *);
    set = static_cast<MutexSet *>(checked(std::realloc(set, bytes), bytes));
    *set = {.count = count + 1, .taken = false, .next = nullptr};
    set->begin()[count] = &mutex;
    node.mutexes = set;
    mutex.references.fetch_add(1, std::memory_order_relaxed);
}

bool take_mutexes(DependNode &node) {
    MutexSet &set = *node.mutexes;
    // The item was given to the task, and then the task was queued. So this is ordered by the
    // queue's own operations.
    if (set.taken)
        return true;
    SpinLock &lock = set.guard().lock;
    lock.lock();
    DependMutex *held = held_one(set);
    if (held)
        append(*held, node);
    else
        take_all(set);
    lock.unlock();
    return !held;
}

void release_mutexes(sched::Worker *worker, DependNode &node) {
    MutexSet &set = *node.mutexes;
    SENNIT_ASSERT(set.taken);
    DependNode *granted = nullptr;
    SpinLock &lock = set.guard().lock;
    lock.lock();
    for (DependMutex *mutex : set)
        mutex->held = false;
    for (DependMutex *mutex : set)
        give_away(*mutex, granted);
    lock.unlock();
    set.taken = false;
    free_mutexes(node);
    while (granted) {
        DependNode *next = std::exchange(granted->mutexes->next, nullptr); // it may be gone then
        node_ready(worker, *granted, Then::queue);
        granted = next;
    }
}

void free_mutexes(DependNode &node) {
    MutexSet *set = std::exchange(node.mutexes, nullptr);
    SENNIT_ASSERT(!set->taken);
    for (DependMutex *mutex : *set)
        drop_mutex(mutex);
    std::free(set);
}

} // namespace sennit::task
