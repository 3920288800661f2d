// SPDX-License-Identifier: Apache-2.0
#include "omp/loops/exposed_taskloop.h"

#include "omp/env/split.h"
#include "omp/events/events.h"
#include "omp/loops/exposed.h"
#include "omp/loops/workshares.h"
#include "omp/team/virtual_team.h"

#include <algorithm>
#include <new>

namespace sennit::omp {
namespace {

constexpr std::uint64_t kMostTasksPerThread = 4; // where others take them

// Those that wait in the region, at a barrier say, and those that have had their part in it: a
// hint.
int idle_workers(const Team &team) {
    int idle = 0;
    for (int i = 0; i < team.size; ++i) {
        const sched::Slot *const slot = team.slots[i];
        const sched::Worker *const worker = slot->worker.load(std::memory_order_acquire);
        if (worker && slot->is_at_home() && worker->idle_since() != 0)
            ++idle;
    }
    return std::min(std::max(idle, team.threads->idle_workers(team)), team.workers - 1);
}

} // namespace

ExposedTaskloop *ExposedTaskloop::begin(sched::Worker &worker, const void *entry,
                                        std::uint64_t trip, std::uint64_t *tasks) {
    auto &team = *static_cast<Team *>(worker.task->team);
    if (trip == 0 || !split_adapts() || !team.threads || ompt::on())
        return nullptr;
    workshares_of(team);
    LoopHistory &history = *history_of(team);
    const std::uint64_t key = LoopHistory::key_of(entry, 0, trip);
    const auto most = kMostTasksPerThread * static_cast<std::uint64_t>(team.size);
    *tasks = history.tasks(key, idle_workers(team), std::min(most, trip));
    return new (worker.heap.allocate(sizeof(ExposedTaskloop)))
        ExposedTaskloop(history, worker, key, *tasks);
}

// Each caller's count of `taken_` is there for the last one: release and acquire of `left_`.
void ExposedTaskloop::note_run(sched::Worker &worker, std::uint64_t tasks) {
    if (&worker != &creator_)
        taken_.fetch_add(tasks, std::memory_order_relaxed);
    if (left_.fetch_sub(tasks, std::memory_order_acq_rel) != tasks)
        return;
    history_.end(key_, offered_, taken_.load(std::memory_order_relaxed));
    worker.heap.release(this);
}

} // namespace sennit::omp
