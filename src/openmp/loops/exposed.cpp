// SPDX-License-Identifier: Apache-2.0
#include "openmp/loops/exposed.h"

#include "base/hash.h"
#include "openmp/env/split.h"
#include "openmp/events/events.h"
#include "openmp/loops/lent.h"
#include "openmp/loops/worksharing.h"
#include "openmp/team/spare_threads.h"
#include "openmp/team/virtual_team.h"

#include <algorithm>
#include <bit>
#include <new>

namespace sennit::omp {
namespace {

bool is_any_left(const Member &member, const Loop &loop) {
    return std::any_of(loop.ranges, loop.ranges + member.group->size,
                       [](const StealableRange &range) { return range.left() != 0; });
}

// The caller has nothing left, and nothing is offered. Waits until the caller may take the rest.
// False: meanwhile nothing is left.
bool stays_idle(const Member &member, const Loop &loop) {
    std::uint64_t now = ticks();
    const std::uint64_t end = now + idle_patience(now - loop.began);
    for (; now < end; now = ticks()) {
        if (!is_any_left(member, loop))
            return false;
        wait_a_moment();
    }
    return true;
}

// If there are threads that have not begun, this worker begins some. They come here as well. Only
// the last one waits.
std::uint64_t find_others(const Member &member, const Loop &loop) {
    if (const std::uint64_t count = take_over(member, loop, Takes::offered))
        return count;
    if (!is_any_left(member, loop) || member.team->threads->unbegun() != 0 ||
        !stays_idle(member, loop))
        return 0;
    return take_over(member, loop, Takes::all);
}

SENNIT_NOINLINE bool take_from_others(const Member &member, Loop &loop) {
    const std::uint64_t count = find_others(member, loop);
    loop.ranges[member.index].offer_from(0); // who asks may have it
    if (count != 0)
        loop.taken.fetch_add(count, std::memory_order_relaxed);
    return count != 0;
}

// The loop's final chunk belongs to nobody, as in every loop that is stolen from. `own` is the
// LoopHistory.
template <std::uint64_t kPart>
class Exposed final : public Plan {
  public:
    void begin(Loop &loop, int threads) const override {
        for (int thread = 0; thread < threads; ++thread)
            loop.ranges[thread].assign(0, 0);
        for (int worker = 0; worker < loop.workers; ++worker) {
            std::uint64_t first = 0;
            std::uint64_t last = 0;
            static_share(loop.chunks - 1, loop.workers, worker, &first, &last);
            StealableRange &range = loop.ranges[std::int64_t{threads} * worker / loop.workers];
            range.assign(first, last);
            range.offer_from(last - std::min(loop.offered, last - first));
        }
    }
    bool next(Member &member, Loop &loop, std::uint64_t *first,
              std::uint64_t *last) const override {
        StealableRange &mine = loop.ranges[member.index];
        do {
            const std::uint64_t piece =
                kPart == 0 ? 1 : std::max<std::uint64_t>(mine.left() / std::max(kPart, 1UL), 1);
            std::uint64_t chunk = 0;
            if (const std::uint64_t count = mine.take_some(piece, &chunk)) {
                *first = chunk * loop.chunk;
                *last = *first + count * loop.chunk;
                return true;
            }
        } while (member.work.position == 0 && take_from_others(member, loop));
        return give_final_chunk(member, loop, first, last);
    }
    void end(Loop &loop) const override {
        static_cast<LoopHistory *>(loop.own)->end(
            loop.key, loop.offered * static_cast<std::uint64_t>(loop.workers),
            loop.taken.load(std::memory_order_relaxed));
    }
};

constexpr Exposed<0> kDynamic; // single chunks
constexpr Exposed<2> kGuided;  // half of what the worker has left

} // namespace

std::uint64_t LoopHistory::key_of(const void *region, std::uint32_t construct,
                                  std::uint64_t count) {
    const auto which = std::uint64_t{construct} << 8 | static_cast<unsigned>(std::bit_width(count));
    return reinterpret_cast<std::uintptr_t>(region) ^ (which * kGolden & ~std::uint64_t{15});
}

balance::Exposure &LoopHistory::of(std::uint64_t key) {
    return loops_.of(reinterpret_cast<const void *>(key)); // never looked behind
}

int LoopHistory::begin(std::uint64_t key, int idle, std::uint64_t chunks) {
    constexpr std::uint64_t kMost = 1 << 20;
    const Guard guard(lock_);
    return of(key).pieces(idle, static_cast<int>(std::min(chunks, kMost)) + 1);
}

std::uint64_t LoopHistory::tasks(std::uint64_t key, int idle, std::uint64_t most) {
    const Guard guard(lock_);
    balance::Exposure &exposure = of(key);
    return exposure.is_known()
               ? 1 + static_cast<std::uint64_t>(exposure.pieces(idle, static_cast<int>(most)))
               : most;
}

void LoopHistory::end(std::uint64_t key, std::uint64_t offered, std::uint64_t taken) {
    constexpr std::uint64_t kMost = 1 << 30;
    taken = std::min(taken, kMost);
    const Guard guard(lock_);
    of(key).record(static_cast<int>(std::clamp(offered, taken, kMost)), static_cast<int>(taken));
}

bool begin_exposed(Loop &loop, LoopHistory &history, std::uint64_t count,
                   const LoopSchedule &schedule, const Member &member) {
    const bool guided = schedule.kind == Sched::guided;
    if ((schedule.kind != Sched::dynamic && !guided) || schedule.monotonic || schedule.ordered ||
        schedule.lent || schedule.multiple > 1 || count == 0 || loops_ascend())
        return false;
    loop.describe(count, schedule);
    const Team &team = *member.team;
    loop.plan = guided ? static_cast<const Plan *>(&kGuided) : &kDynamic;
    loop.own = &history;
    loop.key = LoopHistory::key_of(function_of(team), member.work.begun, count);
    loop.began = ticks();
    loop.taken.store(0, std::memory_order_relaxed);
    const std::uint64_t share = (loop.chunks - 1) / static_cast<std::uint64_t>(team.workers);
    loop.offered = static_cast<std::uint64_t>(
        history.begin(loop.key, team.threads->idle_workers(team), share));
    loop.plan->begin(loop, team.size);
    return true;
}

namespace {

constexpr std::uint64_t kMostTasksPerThread = 4; // where others take them

// Those that wait in the region, at a barrier say, and those that have had their part in it: a
// hint.
int idle_workers(const Team &team) {
    int idle = 0;
    for (int i = 0; i < team.size; ++i) {
        const sched::Slot *const slot = team.slots[i];
        const sched::Worker *const worker = slot->worker.load(std::memory_order_acquire);
        if (worker && slot->is_at_home() && worker->activity.idle_since() != 0)
            ++idle;
    }
    return std::min(std::max(idle, team.threads->idle_workers(team)), team.workers - 1);
}

} // namespace

ExposedTaskloop *ExposedTaskloop::begin(sched::Worker &worker, const void *entry,
                                        std::uint64_t trip, std::uint64_t *tasks) {
    auto &team = *static_cast<Team *>(worker.task->team);
    if (trip == 0 || !split_adapts() || !team.threads || team.is_inner() || ompt::on())
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
