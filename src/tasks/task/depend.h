// SPDX-License-Identifier: Apache-2.0
// Dependences between sibling tasks (OpenMP 5.2, 15.9).
//
// Each generating task has a table: address -> the last two generations of accesses. A generation
// is one writer, or a set of tasks that may run in any order among each other (in; inoutset;
// mutexinoutset). A new access joins the current generation when it is of the same shared kind, and
// then depends on the one before; otherwise it opens a generation and depends on the current one.
// Only the generating task touches its table, so there are no locks on it.
//
// A task's node is in the task's own memory, so a release that finds a successor finds its task at
// a known place; the memory stays until the tables have forgotten the node (references).
//
// The list of successors is a Treiber stack. A completing task closes it by one exchange, and who
// finds it closed knows that the predecessor is done. `missing` starts at kBias, so it cannot reach
// zero while edges are still being added. The creator takes kBias off at the end.
#pragma once

#include "base/assert.h"
#include "base/spin.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/task.h"

#include <atomic>
#include <cstddef>
#include <new>

namespace sennit {

namespace task {

class Linking; // priorities.h

// Add `node` behind its predecessors in the table of `parent`, and tell `linking` about them, if
// given. True when nothing is missing.
bool add_depends(sched::Worker &worker, Task &parent, DependNode &node, const Depend *depends,
                 int count, Linking *linking = nullptr);

// The node of `task`, or one on its own for a waiter without a task.
inline DependNode *make_node(sched::Worker &worker, Task *task) {
    void *memory = task ? task->node : worker.heap.allocate(sizeof(DependNode));
    auto *node = new (memory) DependNode;
    node->task = task;
    return node;
}

// With its memory, the task's if it has one.
void free_node(sched::Worker *worker, DependNode *node);
// Take a reference away. Only a holder of a reference makes another one. So who finds just one left
// holds it itself, and frees the node. Acquire pairs with the release of those that went before.
inline void drop_node(sched::Worker *worker, DependNode *node) {
    SENNIT_ASSERT(node->references.load(std::memory_order_relaxed) > 0);
    if (node->references.load(std::memory_order_acquire) == 1 ||
        node->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        free_node(worker, node);
}
// As long as the node has its bias, its task cannot run, and nobody else counts references. A node
// that has places already is not in need of another reference.
inline void count_place(DependNode &node) {
    if (node.places++ == 0)
        node.references.store(2, std::memory_order_relaxed);
}
// The table forgets one of the node's places.
inline void drop_place(sched::Worker *worker, DependNode *node) {
    SENNIT_ASSERT(node->places > 0);
    if (--node->places == 0)
        drop_node(worker, node);
}
void drop_table(sched::Worker *worker, DependTable *table);
// Is every address where it is looked for, and every node counted as often as it is in the table?
// For the generating task: meanwhile it counts its nodes' places.
bool is_sound(const DependTable &table);

// A node that `creator` has waited for may become that of the task which it begins next. It is kept
// until that task takes it, or the creator adds another node or ends. Until then no other node
// depends on it.
void keep_waited(Task &creator, DependNode *node);
DependNode *take_waited(Task &creator); // null when there is none

// Close the list of successors and call ready(successor) for each that misses nothing any more.
// `worker` is the caller's, null on a thread without one: the edges' memory goes back through it.
template <class Ready>
void release_successors(sched::Worker *worker, DependNode &node, Ready ready);

template <class Ready>
void release_successors(sched::Worker *worker, DependNode &node, Ready ready) {
    // acq_rel: the body's writes are visible to successors; edges' contents are visible to us.
    DependEdge *edge = node.successors.exchange(DependNode::closed(), std::memory_order_acq_rel);
    SENNIT_ASSERT(edge != DependNode::closed()); // once
    while (edge) {
        DependEdge *next = edge->next;
        DependNode *successor = edge->successor;
        // It was written elsewhere, and its task may be run next.
        constexpr std::size_t kBefore = sizeof(Task) - sizeof(DependNode); // it stands last
        const auto *task = reinterpret_cast<const std::byte *>(successor) - kBefore;
        for (std::size_t line = 0; line <= sizeof(Task); line += kCacheLine)
            __builtin_prefetch(task + line, 1);
        if (edge != &successor->own_edge)
            release_block(worker, edge);
        // The predecessor that finds just its own missing is the last, and nobody else looks: it
        // need not write. Acquire pairs with the release of those before.
        SENNIT_ASSERT(successor->missing.load(std::memory_order_relaxed) > 0);
        if (successor->missing.load(std::memory_order_acquire) == 1 ||
            successor->missing.fetch_sub(1, std::memory_order_acq_rel) == 1)
            ready(*successor);
        edge = next;
    }
}

} // namespace task

// mutexinoutset: tasks with the same item run in any order, one at a time (OpenMP 5.2, 15.9.5).
//
// A task takes all of its items at once, or none. If it takes none, it waits for one of them: a
// deferred task stands in that item's list and in no queue, an undeferred one waits on its fiber.
// A task that lets items go gives them to the tasks that have waited longest, to each all of its
// items at once. So nobody ever waits for an item that is free, and every wait ends with the task
// that holds the item.
//
// One lock guards the items of a generating task, with their lists.

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
    bool held SENNIT_GUARDED_BY(guard.lock) = false;
    DependNode *first SENNIT_GUARDED_BY(guard.lock) = nullptr; // of those that wait, the oldest
    DependNode *last SENNIT_GUARDED_BY(guard.lock) = nullptr;
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
