// SPDX-License-Identifier: Apache-2.0
// Task reductions of GCC's making: the compiler lays out, initializes and combines the private
// copies; the runtime only provides their memory and finds them.
//
// The compiler's array: [0] number of items, [1] bytes of a thread's chunk, [2] alignment, then
// (from us) the address of thread 0's chunk, [3] allocator or -1, [4] next array of the same
// construct, then (from us) the enclosing scope's, [5] ours, [6] (from us) end of the chunks, and
// from [7] on three words an item: address of the original, offset in the chunk, ours.
#include "openmp/gomp/gomp.h"
#include "openmp/sync/reduction.h"
#include "openmp/sync/regions.h"
#include "openmp/team/free_agents.h"

#include "base/message.h"
#include "tasks/task/task.h"

#include <cstdlib>
#include <cstring>

using namespace sennit;
using gomp::Function;

extern "C" {
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_end(void);
}

namespace {

enum Field { kItems, kChunk, kBase, kAllocator, kNext, kOurs, kEnd, kFirstItem };

std::uintptr_t *next_of(std::uintptr_t *array) {
    return reinterpret_cast<std::uintptr_t *>(array[kNext]);
}

std::uintptr_t *scope_of(const Taskgroup *group) {
    return group ? reinterpret_cast<std::uintptr_t *>(group->reductions) : nullptr;
}

void set_scope(Taskgroup &group, std::uintptr_t *data) {
    group.reductions = reinterpret_cast<TaskReductions *>(data);
}

// Give each array of `data` memory for `threads` chunks (or that of `shared`, the same construct's
// arrays of the thread that came first), and put the enclosing scope behind them.
void provide(std::uintptr_t *data, std::uintptr_t *enclosing, std::uintptr_t *shared,
             std::size_t threads) {
    for (std::uintptr_t *array = data;; array = next_of(array)) {
        if (shared) {
            array[kBase] = shared[kBase];
            array[kEnd] = shared[kEnd];
            shared = next_of(shared); // as many arrays as ours
        } else {
            const std::size_t align = array[kBase] < 64 ? 64 : array[kBase];
            const std::size_t size = (array[kChunk] * threads + align - 1) & ~(align - 1);
            void *memory = std::aligned_alloc(align, size);
            if (!memory)
                fatal("no memory for task reductions (%zu bytes)", size);
            std::memset(memory, 0, size);
            array[kBase] = reinterpret_cast<std::uintptr_t>(memory);
            array[kEnd] = array[kBase] + array[kChunk] * threads;
        }
        array[kOurs] = array[kNext] == 0; // marks the construct's last array
        if (array[kOurs]) {
            array[kNext] = reinterpret_cast<std::uintptr_t>(enclosing);
            return;
        }
    }
}

// The item whose original, or one of whose private copies, is at `address`.
struct Found {
    std::uintptr_t *array = nullptr;
    std::uintptr_t offset = 0;
    std::uintptr_t original = 0;
};

Found find(std::uintptr_t *scope, std::uintptr_t address) {
    for (std::uintptr_t *array = scope; array; array = next_of(array)) {
        const bool is_copy = address >= array[kBase] && address < array[kEnd];
        const std::uintptr_t offset = is_copy ? (address - array[kBase]) % array[kChunk] : 0;
        for (std::size_t i = 0; i < array[kItems]; ++i) {
            const std::uintptr_t *item = array + kFirstItem + 3 * i;
            if (item[0] == address || (is_copy && item[1] == offset))
                return {array, item[1], item[0]};
        }
        if (is_copy) // inside an item: an array section's part
            return {array, offset, 0};
    }
    return {};
}

void register_in(sched::Worker &worker, std::uintptr_t *data, std::uintptr_t *shared) {
    Taskgroup &group = *worker.task->taskgroup;
    std::uintptr_t *enclosing = scope_of(&group);
    if (!enclosing)
        enclosing = scope_of(group.outer);
    provide(data, enclosing, shared, static_cast<std::size_t>(omp::reduction_threads(worker)));
    set_scope(group, data);
}

struct ReductionRegion {
    Function function; // first: see omp::Body
    void *data;
    std::uintptr_t *reductions;
    int threads = 0; // that it has had: an inner region may not be cut
};

void reduction_body(omp::Member &member, void *argument) {
    auto &region = *static_cast<ReductionRegion *>(argument);
    if (member.index == 0)
        region.threads = member.team->size;
    sched::Worker &worker = *sched::Worker::self();
    Taskgroup group;
    task::begin_taskgroup(worker, group);
    set_scope(group, region.reductions);
    {
        const ompt::UserCode code(member.record, __builtin_frame_address(0));
        region.function(region.data);
    }
    // The compiler's code combines the copies after the region: every task that uses them must have
    // ended by the join, which waits for all of the team's tasks.
    task::end_taskgroup(worker);
}

} // namespace

GOMP_API void GOMP_taskgroup_reduction_register(std::uintptr_t *data) {
    register_in(omp::here(), data, nullptr);
}

GOMP_API void GOMP_taskgroup_reduction_unregister(std::uintptr_t *data) {
    for (std::uintptr_t *array = data;; array = next_of(array)) {
        std::free(reinterpret_cast<void *>(array[kBase]));
        if (array[kOurs])
            return;
    }
}

GOMP_API void GOMP_task_reduction_remap(std::size_t count, std::size_t with_original,
                                        void **items) {
    const sched::Worker &worker = omp::here();
    // The compiler's code combines the copies of the team's threads alone.
    if (omp::is_free_agent(*worker.slot))
        fatal("an undeferred task with in_reduction on a free agent: let a thread of the team run "
              "its "
              "creator (SENNIT_THREADSET_TEAM)");
    std::uintptr_t *scope = nullptr;
    for (Taskgroup *group = worker.task->taskgroup; group && !scope; group = group->outer)
        scope = scope_of(group);
    const auto thread = static_cast<std::uintptr_t>(worker.slot->index);
    for (std::size_t i = 0; i < count; ++i) {
        const Found found = find(scope, reinterpret_cast<std::uintptr_t>(items[i]));
        if (!found.array)
            fatal("in_reduction: no enclosing task_reduction for the item at %p", items[i]);
        items[i] = reinterpret_cast<void *>(found.array[kBase] + thread * found.array[kChunk] +
                                            found.offset);
        if (i < with_original)
            items[count + i] = reinterpret_cast<void *>(found.original);
    }
}

GOMP_API unsigned GOMP_parallel_reductions(Function function, void *data, unsigned num_threads,
                                           unsigned flags) {
    sched::Worker &worker = omp::here();
    gomp::announce_proc_bind(flags);
    const int size = gomp::region_size(worker, num_threads, function);
    ReductionRegion region{function, data, *static_cast<std::uintptr_t **>(data)};
    provide(region.reductions, nullptr, nullptr, static_cast<std::size_t>(size));
    omp::parallel(worker, SENNIT_SITE, size, reduction_body, &region);
    return static_cast<unsigned>(region.threads);
}

namespace sennit::gomp {

void workshare_reductions_begin(sched::Worker &worker, std::uintptr_t *reductions) {
    GOMP_taskgroup_start();
    worker.task->taskgroup->of_construct = true;
    // The first thread allocates for all; the construct's shared word tells the others.
    std::atomic<std::uintptr_t> &first = omp::loop_shared_word(worker);
    std::uintptr_t expected = 0;
    constexpr std::uintptr_t kBusy = 1;
    if (first.compare_exchange_strong(expected, kBusy, std::memory_order_acq_rel)) {
        register_in(worker, reductions, nullptr);
        first.store(reinterpret_cast<std::uintptr_t>(reductions), std::memory_order_release);
        return;
    }
    omp::wait_until(worker, [&] {
        expected = first.load(std::memory_order_acquire);
        return expected != kBusy;
    });
    register_in(worker, reductions, reinterpret_cast<std::uintptr_t *>(expected));
}

void workshare_memory(sched::Worker &worker, void **mem) {
    const auto size = reinterpret_cast<std::uintptr_t>(*mem);
    *mem = omp::loop_shared_memory(worker, size);
}

} // namespace sennit::gomp

GOMP_API void GOMP_workshare_task_reduction_unregister(bool cancelled) {
    sched::Worker &worker = omp::here();
    std::uintptr_t *data = scope_of(worker.task->taskgroup);
    GOMP_taskgroup_end();
    if (worker.slot->index == 0)
        GOMP_taskgroup_reduction_unregister(data);
    if (!cancelled)
        omp::barrier(worker);
}
