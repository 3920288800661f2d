// SPDX-License-Identifier: Apache-2.0
#include "node/look.h"

#include "base/clock.h"
#include "base/spin.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <utility>

namespace sennit::node {
namespace {

// Threads of the slot's process that want a core now, or will in a moment.
int wanted(const CoreTable &table, int slot, const CoreUse &use) {
    const int now = table.wants(slot) + use.without.load(std::memory_order_relaxed);
    const int asked = use.asked.load(std::memory_order_relaxed);
    if (asked <= 0)
        return now;
    // A process in another time namespace has another clock: what it asks is never kept for longer.
    const std::int64_t left = use.asked_until_ns.load(std::memory_order_relaxed) - monotonic_ns();
    return left > 0 && left <= kAskedNs ? now + asked : now;
}

bool is_allowed(void *members, int core, int claimant) {
    const auto &of = *static_cast<Participants *>(members);
    return of.board->slot(of.slots[claimant]).member.cores.has(core);
}

// Made by the first look, for most processes never look: they are spared to write the memory.
SpinLock g_looking;
alignas(Participants) std::byte g_members[sizeof(Participants)] SENNIT_GUARDED_BY(g_looking);
bool g_made SENNIT_GUARDED_BY(g_looking) = false;

Participants &members() SENNIT_REQUIRES(g_looking) {
    return *std::launder(reinterpret_cast<Participants *>(g_members));
}

} // namespace

// Cores and claimants as they are now; what changes meanwhile may be seen or not.
void Participants::read(Board &of) {
    board = &of;
    std::fill_n(claimant_of, board->slots_end(), static_cast<std::int16_t>(kNobody));
    count = 0;
    board->each([&](int number, BoardSlot &slot) {
        const CoreUse &use = slot.cores;
        if (use.counts.load(std::memory_order_acquire) == 0)
            return;
        const std::uint64_t job = slot.job.load(std::memory_order_relaxed);
        int program = number; // the first slot of the job stands for it
        for (int i = 0; i < count; ++i)
            if (board->slot(slots[i]).job.load(std::memory_order_relaxed) == job) {
                program = claimants[i].program;
                break;
            }
        Claimant &claimant = claimants[count];
        claimant = {};
        claimant.program = program;
        claimant.share = slot.member.share;
        claimant.priority = slot.member.priority;
        claimant.leftover = slot.member.leftover;
        claimant.wants = wanted(board->core_table(), number, use);
        claimant.used_ns = use.used_ns.load(std::memory_order_relaxed);
        claimant.progress = static_cast<double>(use.progress.load(std::memory_order_relaxed));
        const Memory::Program *const known = find_program(board->policy_memory(), program);
        claimant.limit = known ? known->limit : 0;
        slots[count] = number;
        claimant_of[number] = static_cast<std::int16_t>(count++);
    });
    const CoreTable &table = board->core_table();
    cores_count = table.end();
    for (int core = 0; core < cores_count; ++core) {
        const CoreState now = table.state(core);
        cores[core] = {find(now.owner), find(now.user), table.domain(core)};
        recalled[core] = now.recalled;
        if (cores[core].owner != kNobody)
            ++claimants[cores[core].owner].owns;
        if (cores[core].user != kNobody)
            ++claimants[cores[core].user].uses;
    }
}

View Participants::view(int asker) {
    claimants[asker].wants = std::max(claimants[asker].wants, 1);
    return view();
}

View Participants::view() const {
    return {{claimants, static_cast<std::size_t>(count)},
            {cores, static_cast<std::size_t>(cores_count)},
            {is_allowed, const_cast<Participants *>(this)}};
}

Look::Look(Board &board) {
    g_looking.lock();
    if (!std::exchange(g_made, true))
        new (g_members) Participants;
    members().read(board);
}

Look::~Look() {
    g_looking.unlock();
}

Participants *Look::operator->() const {
    g_looking.assert_held(); // as long as the look lives
    return &members();
}

void Look::after_fork_in_child() {
    g_looking.after_fork_in_child();
}

const CorePolicy &policy_on(Board &board) {
    const PoolSettings &pool = board.pool();
    const CorePolicy *policy =
        pool.named.load(std::memory_order_acquire) != 0 ? policy_of(pool.policy) : nullptr;
    return policy ? *policy : *policy_of("lend");
}

void tell_of_free_core(Board &board, const CorePolicy &policy, int core) {
    int slot = kNobody;
    {
        const Look look(board);
        if (core >= look->cores_count || look->cores[core].user != kNobody)
            return;
        const int receiver = policy.receiver(look->view(), core);
        if (receiver != kNobody)
            slot = look->slots[receiver];
    }
    if (slot != kNobody)
        board.slot(slot).cores.bell.ring();
}

void divide_cores(Board &board) {
    CoreTable &table = board.core_table();
    static std::array<int, kMostCores> owners; // of who looks
    std::uint32_t seen = 0;
    do {
        seen = table.changes();
        const Look look(board);
        divide(look->view(), board.policy_memory(),
               {owners.data(), static_cast<std::size_t>(look->cores_count)});
        for (int core = 0; core < look->cores_count; ++core)
            table.set_owner(core, owners[core] == kNobody ? kNobody : look->slots[owners[core]]);
        table.note_divided(seen);
    } while (table.changes() != seen);
}

void rethink_cores(Board &board) {
    const auto think = [&] {
        const Look look(board);
        return policy_on(board).rethink(look->view(), monotonic_ns(), board.policy_memory());
    };
    if (think())
        divide_cores(board);
    // A program may hold more cores than it gains from. It gives them back at its next scheduling
    // points.
    const Look look(board);
    for (int core; (core = surplus(look->view(), look->are_recalled())) != kNobody;) {
        look->recalled[core] = true;
        board.core_table().recall(core, kNobody);
    }
}

} // namespace sennit::node
