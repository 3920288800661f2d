// SPDX-License-Identifier: Apache-2.0
#include "omp/team/virtual_team.h"

#include "base/message.h"
#include "fiber/fp_control.h"
#include "omp/team/implicit_task.h"

#include <cstdlib>
#include <new>

namespace sennit::omp {

VirtualTeam *VirtualTeam::make(const Team &team) {
    const auto workers = static_cast<std::size_t>(team.workers);
    const std::size_t size = sizeof(VirtualTeam) + workers * sizeof(StealableRange);
    static_assert(sizeof(VirtualTeam) % alignof(StealableRange) == 0);
    void *memory = std::aligned_alloc(kCacheLine, size);
    if (!memory)
        fatal("no memory for a team of threads (%zu bytes): lower SENNIT_SPLIT", size);
    auto *made = new (memory) VirtualTeam;
    made->workers_ = team.workers;
    made->ranges_ = reinterpret_cast<StealableRange *>(made + 1);
    for (int i = 0; i < team.workers; ++i) {
        new (&made->ranges_[i]) StealableRange;
        static_cast<Member *>(team.slots[first_of(i, team)])->lane = i;
    }
    return made;
}

// Under the ranges' locks: a thief of the last region may still be looking. What it finds by then
// is this region's, which is complete.
void VirtualTeam::begin(const Team &team) {
    sched::note_unbegun(1);
    for (int i = 0; i < workers_; ++i)
        ranges_[i].refill(static_cast<std::uint64_t>(first_of(i, team)) + 1,
                          static_cast<std::uint64_t>(first_of(i + 1, team)));
    exhausted_.store(false, std::memory_order_relaxed);
}

bool VirtualTeam::take(int lane, int *number) {
    StealableRange &range = ranges_[lane];
    std::uint64_t mine = 0;
    if (range.left() != 0 && range.take(&mine)) {
        *number = static_cast<int>(mine);
        return true;
    }
    return !exhausted_.load(std::memory_order_relaxed) && steal(lane, number);
}

// From who has most left.
SENNIT_NOINLINE bool VirtualTeam::steal(int lane, int *number) {
    for (;;) {
        StealableRange *victim = nullptr;
        std::uint64_t most = 0;
        for (int i = 0; i < workers_; ++i) {
            const std::uint64_t left = i == lane ? 0 : ranges_[i].left();
            if (left > most) {
                most = left;
                victim = &ranges_[i];
            }
        }
        if (!victim) {
            exhausted_.store(true, std::memory_order_relaxed);
            return false;
        }
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        if (!victim->steal_half(&first, &last))
            continue;
        *number = static_cast<int>(first);
        if (last - first > 1) {
            ranges_[lane].refill(first + 1, last);
            exhausted_.store(false, std::memory_order_relaxed);
        }
        return true;
    }
}

// As a thread of the system would: with the floating-point control of the team's maker, and without
// a trace in the worker's.
void VirtualTeam::run(sched::Worker &worker, Team &team, Member &mine, int number) {
    Member &member = team.member(number);
    member.home = &mine;
    member.node = mine.node;
    const fiber::FpControl control = fiber::fp_control();
    fiber::set_fp_control(team.control);
    start_implicit(worker, member);
    team.body(member, team.data);
    task::retire_implicit(worker, member.implicit);
    fiber::set_fp_control(control);
    worker.task = &mine.implicit;
    worker.slot = &mine;
    arrive(team, Team::kJoin); // last: the region may be over
}

void VirtualTeam::run_others(sched::Worker &worker, Team &team, Member &mine) {
    while (run_one(worker, team, mine)) {
    }
}

bool VirtualTeam::run_one(sched::Worker &worker, Team &team, Member &mine) {
    int number = 0;
    if (!take(mine.lane, &number))
        return false;
    run(worker, team, mine, number);
    return true;
}

bool Team::has_unbegun(const sched::Slot &mine) const {
    return threads && threads->has_any(static_cast<const Member &>(mine));
}

bool Team::begin_one(sched::Worker &worker, sched::Slot &mine) {
    return threads->run_one(worker, *this, static_cast<Member &>(mine));
}

} // namespace sennit::omp
