// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/icv_update.h"

#include "base/hash.h"
#include "base/message.h"
#include "openmp/team/team.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace sennit {

namespace {

// Each set of values that a task ever had while others could inherit it is kept once, for the life
// of the process.
struct Interned {
    Icvs icvs;
    Interned *next;
};
constexpr std::size_t kBuckets = 64;
std::atomic<Interned *> g_interned[kBuckets];

const Icvs *intern(const Icvs &icvs) {
    std::uint64_t hash = 0;
    for (const long value : {long{icvs.nthreads[0]}, long{icvs.nthreads[icvs.nthreads_count - 1]},
                             icvs.chunk, long{icvs.max_active_levels}, long{icvs.thread_limit}})
        hash = hash_after(hash, static_cast<std::uint64_t>(value));
    std::atomic<Interned *> &bucket = g_interned[hash >> 58];
    // A list that only grows at its head. Entries never change. Two threads may add the same.
    Interned *first = bucket.load(std::memory_order_acquire);
    for (const Interned *at = first; at; at = at->next)
        if (at->icvs == icvs)
            return &at->icvs;
    void *memory = std::malloc(sizeof(Interned));
    if (!memory)
        fatal("no memory for a task's settings (%zu bytes)", sizeof(Interned));
    auto *fresh = new (memory) Interned{icvs, first};
    while (!bucket.compare_exchange_weak(fresh->next, fresh, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    return &fresh->icvs;
}

} // namespace

IcvUpdate::IcvUpdate(sched::Worker &worker) : worker_(worker), changed_(*worker.task->icvs) {}

IcvUpdate::~IcvUpdate() {
    Task &task = *worker_.task;
    if (changed_ == *task.icvs)
        return;
    // Nobody can have inherited the values of an implicit task before its team has tasks.
    if (!task.is_explicit() && !task.team->has_tasks.load(std::memory_order_relaxed)) {
        Icvs &own = omp::member_of(worker_).own_icvs;
        own = changed_;
        task.icvs = &own;
    } else {
        task.icvs = intern(changed_);
    }
}

} // namespace sennit
