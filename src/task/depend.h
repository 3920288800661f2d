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
#include "task/lifecycle.h"
#include "task/task.h"

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
// The table forgets one of the node's places.
inline void drop_place(sched::Worker *worker, DependNode *node) {
    SENNIT_ASSERT(node->places > 0);
    if (--node->places == 0)
        drop_node(worker, node);
}
void drop_table(sched::Worker *worker, DependTable *table);

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
        // Who finds that just its own is missing is the last, and nobody else looks: it need not
        // write. Acquire pairs with the release of those before.
        SENNIT_ASSERT(successor->missing.load(std::memory_order_relaxed) > 0);
        if (successor->missing.load(std::memory_order_acquire) == 1 ||
            successor->missing.fetch_sub(1, std::memory_order_acq_rel) == 1)
            ready(*successor);
        edge = next;
    }
}

} // namespace task
} // namespace sennit
