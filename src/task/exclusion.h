// SPDX-License-Identifier: Apache-2.0
// mutexinoutset: tasks with the same item run in any order, one at a time (OpenMP 5.2, 15.9.5).
//
// A task takes all of its items at once, or none. If it takes none, it waits for one of them: a
// deferred task stands in that item's list and in no queue, an undeferred one waits on its fiber.
// Who lets items go gives them to those who have waited longest, to each all of its items at once.
// So nobody ever waits for an item that is free, and every wait ends with the task that holds the
// item.
//
// One lock guards the items of a generating task, with their lists.
#pragma once

#include "base/spin.h"
#include "task/task.h"

#include <atomic>

namespace sennit {

// The items that one task generates. Lives as long as one of them.
struct ExclusionLock {
    SpinLock lock;
    std::atomic<int> references{1};
};

// An item, as long as tasks with it follow each other without another kind of access in between.
struct DependMutex {
    explicit DependMutex(ExclusionLock &table) : guard(table) {}
    ExclusionLock &guard;
    std::atomic<int> references{1};
    // Under the lock:
    bool held = false;
    DependNode *first = nullptr; // of those who wait for it, the oldest
    DependNode *last = nullptr;
};

// The items of a task; as many pointers follow.
struct MutexSet {
    int count;
    bool taken;
    DependNode *next; // who waits for the same item

    DependMutex **begin() { return reinterpret_cast<DependMutex **>(this + 1); }
    DependMutex **end() { return begin() + count; }
    ExclusionLock &guard() { return (*begin())->guard; } // the same for all
};

namespace task {

// A new item of the generating task with `table_lock`, which is made with the first one. Table and
// generation drop what they were given.
DependMutex *make_mutex(ExclusionLock *&table_lock);
void drop_mutex(DependMutex *mutex);
void drop_exclusion_lock(ExclusionLock *lock);

// While the creator adds the accesses of `node`.
void add_mutex(DependNode &node, DependMutex &mutex);

// The task is to begin: true when all of its items are its own. Otherwise the node waits, and who
// gives it the items calls node_ready() for it, which may be before this returns.
bool take_mutexes(DependNode &node);
// It is complete: let them go.
void release_mutexes(sched::Worker *worker, DependNode &node);
// Forget the items that a node has never taken, or let go.
void free_mutexes(DependNode &node);

} // namespace task
} // namespace sennit
