// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/own_binding.h"

#include "base/spin.h"
#include "openmp/env/affinity.h"
#include "openmp/env/split.h"
#include "openmp/team/team.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace sennit::omp {
namespace {

// What a thread of the split region has asked for. Its bytes are written once, before `state` says
// so by release: a thread that binds itself again while the first sets are still to come into force
// is not worth a lock.
struct Bound {
    enum State : int { nothing, being_written, asked, in_force };
    std::atomic<int> state{nothing};
    CpuSet set;
};

// Made by the first thread that asks, and kept.
struct Bindings {
    SpinLock lock; // they are made once
    std::atomic<Bound *> of_threads{nullptr};
    int threads = 0; // written before `of_threads`

    Bound *of(int thread) {
        Bound *const all = of_threads.load(std::memory_order_acquire);
        return all && thread < threads ? &all[thread] : nullptr;
    }
    void make(int count) {
        const Guard guard(lock);
        if (!of_threads.load(std::memory_order_relaxed)) {
            threads = count;
            of_threads.store(new (std::nothrow) Bound[static_cast<std::size_t>(count)],
                             std::memory_order_release);
        }
    }
};
constinit Bindings g_bindings;

} // namespace

void note_own_binding(bool of_caller, std::size_t bytes, const cpu_set_t *set) {
    sched::Worker *const worker = sched::Worker::self();
    if (split_workers() == 0 || !worker || !worker->slot)
        return;
    const Member &member = member_of(*worker);
    const Team &team = *member.team;
    if (!team.threads) // each thread has a worker
        return;
    end_split_of_bound_threads();
    if (!of_caller)
        return;
    g_bindings.make(team.size);
    Bound *const own = g_bindings.of(member.index);
    int before = Bound::nothing;
    if (!own || !own->state.compare_exchange_strong(before, Bound::being_written))
        return;
    std::memcpy(own->set.data(), set, std::min(bytes, CpuSet::kBytes));
    own->state.store(Bound::asked, std::memory_order_release);
    look_at_affinity();
}

void bind_as_bound(const Member &member) {
    Bound *const own = g_bindings.of(member.index);
    int before = Bound::asked;
    if (!own || !member.team->outer || member.team->threads || member.team->level != 1 ||
        !own->state.compare_exchange_strong(before, Bound::in_force, std::memory_order_acquire))
        return;
    sched_setaffinity(0, CpuSet::kBytes, reinterpret_cast<const cpu_set_t *>(own->set.data()));
}

} // namespace sennit::omp
