// SPDX-License-Identifier: Apache-2.0
#include "openmp/sync/reduction.h"

#include "base/message.h"
#include "openmp/team/free_agents.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sennit {

struct TaskReductions {
    TaskReductions *outer;
    int items;
    int threads;
    TaskReductionItem *item; // [items]
    // [items * threads], null until first used. A thread makes its own. Others may look at it.
    std::atomic<void *> *copies;

    std::atomic<void *> &copy(int index, int thread) { return copies[index * threads + thread]; }
};

namespace omp {
namespace {

void *checked(void *memory, std::size_t size) {
    if (!memory)
        fatal("no memory for task reductions (%zu bytes)", size);
    return memory;
}

// Is `shared` the item's original or inside one of its private copies?
bool names(TaskReductions &scope, int index, const void *shared) {
    const TaskReductionItem &item = scope.item[index];
    const auto at = reinterpret_cast<std::uintptr_t>(shared);
    auto inside = [&](const void *base) {
        const auto low = reinterpret_cast<std::uintptr_t>(base);
        return base && at >= low && at < low + item.size;
    };
    if (shared == item.shared || inside(item.shared))
        return true;
    for (int thread = 0; thread < scope.threads; ++thread)
        if (inside(scope.copy(index, thread).load(std::memory_order_acquire)))
            return true;
    return false;
}

} // namespace

int reduction_threads(const sched::Worker &worker) {
    return worker.task->team->size;
}

TaskReductions *reductions_begin(sched::Worker &worker, const TaskReductionItem *items, int count,
                                 TaskReductions *outer) {
    const int threads = reduction_threads(worker);
    const auto n = static_cast<std::size_t>(count);
    const std::size_t size = sizeof(TaskReductions) + n * sizeof(TaskReductionItem) +
                             n * static_cast<std::size_t>(threads) * sizeof(std::atomic<void *>);
    void *memory = checked(std::calloc(1, size), size);
    auto *scope = static_cast<TaskReductions *>(memory);
    scope->outer = outer;
    scope->items = count;
    scope->threads = threads;
    scope->item = reinterpret_cast<TaskReductionItem *>(scope + 1);
    scope->copies = reinterpret_cast<std::atomic<void *> *>(scope->item + count);
    std::memcpy(scope->item, items, n * sizeof(TaskReductionItem));
    return scope;
}

void *reductions_private(sched::Worker &worker, TaskReductions *scope, void *shared) {
    // On a free agent, of a scope that its task has begun. The tasks of the scope stay in the team,
    // so nobody else is at the original before it ends.
    if (is_free_agent(*worker.slot))
        return shared;
    const int thread = worker.slot->index;
    for (; scope; scope = scope->outer) {
        for (int i = 0; i < scope->items; ++i) {
            if (!names(*scope, i, shared))
                continue;
            std::atomic<void *> &mine = scope->copy(i, thread);
            if (!mine.load(std::memory_order_relaxed)) {
                const TaskReductionItem &item = scope->item[i];
                const std::size_t size = (item.size + kCacheLine - 1) & ~(kCacheLine - 1);
                void *made = checked(std::aligned_alloc(kCacheLine, size), size);
                if (item.init)
                    item.init(made, item.original);
                else
                    std::memset(made, 0, item.size);
                mine.store(made, std::memory_order_release);
            }
            return mine.load(std::memory_order_relaxed);
        }
    }
    return nullptr;
}

void reductions_end(sched::Worker &, TaskReductions *scope) {
    for (int i = 0; i < scope->items; ++i) {
        const TaskReductionItem &item = scope->item[i];
        for (int thread = 0; thread < scope->threads; ++thread) {
            void *copy = scope->copy(i, thread).load(std::memory_order_acquire);
            if (!copy)
                continue;
            item.combine(item.shared, copy);
            if (item.finish)
                item.finish(copy);
            std::free(copy);
        }
    }
    std::free(scope);
}

} // namespace omp
} // namespace sennit
