// SPDX-License-Identifier: Apache-2.0
// Task reductions: task_reduction/in_reduction and reduction(task, ...) (OpenMP 5.2, 5.5.9-5.5.11).
// Each thread of the team gets a private copy of each item on first use; the copies are combined at
// the end of the taskgroup or region.
#pragma once

#include "openmp/team/team.h"

#include <cstddef>

namespace sennit {

struct TaskReductionItem {
    void *shared;     // the original
    std::size_t size; // bytes
    void *original;   // what the initializer sees as omp_orig (kmp), or null
    // init may be null (zero-fill), final may be null.
    void (*init)(void *priv, void *original);
    void (*combine)(void *into, void *from);
    void (*finish)(void *priv);
};

namespace omp {
// Of the current task's team: who may have private copies.
int reduction_threads(const sched::Worker &worker);
// Start a reduction scope with `count` items, copied; `outer` is found first by enclosing lookups.
TaskReductions *reductions_begin(sched::Worker &worker, const TaskReductionItem *items, int count,
                                 TaskReductions *outer);
// This thread's private copy of the item whose original is (or contains) `shared`; looks through
// enclosing scopes; null when there is none.
void *reductions_private(sched::Worker &worker, TaskReductions *scope, void *shared);
// Combine all copies into the originals and free the scope; no task uses it any more.
void reductions_end(sched::Worker &worker, TaskReductions *scope);
} // namespace omp
} // namespace sennit
