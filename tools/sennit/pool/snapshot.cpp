// SPDX-License-Identifier: Apache-2.0
#include "pool/snapshot.h"

#include "pool/pool_board.h"

#include "base/clock.h"
#include "decide/cores/moldable.h"
#include "node/identity.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace sennit::tool {
namespace {

MemberNow describe(node::Board &board, int number, node::BoardSlot &slot) {
    const auto get = [](const auto &word) { return word.load(std::memory_order_relaxed); };
    const node::CoreUse &use = slot.cores;
    MemberNow one;
    one.slot = number;
    one.identity = get(slot.holder);
    one.pid = node::pid_of(one.identity);
    one.rank = slot.member.rank;
    one.program =
        std::string(slot.member.program, strnlen(slot.member.program, sizeof slot.member.program));
    one.share = slot.member.share;
    one.priority = slot.member.priority;
    one.leftover = slot.member.leftover;
    one.shares_cores = use.counts.load(std::memory_order_acquire) != 0;
    one.waits = slot.bell.armed();
    one.wants = board.core_table().wants(number);
    one.without = get(use.without);
    one.used_ns = get(use.used_ns);
    one.borrowed_ns = get(use.borrowed_ns);
    one.moves = get(use.borrowed) + get(use.recalled);
    one.kept = get(use.kept);
    one.slept = get(use.slept);
    one.late = get(use.late);
    one.progress = get(use.progress);
    one.counts = slot.spent.read(one.spent);
    return one;
}

// A process may have a place for its times alone. Then they are those of its other place, if it has
// one. Nothing moves while places are looked for: who is taken out is marked first.
void put_together(std::vector<MemberNow> &members) {
    std::vector<int> put; // slots
    for (const MemberNow &times : members) {
        if (!times.counts || times.shares_cores)
            continue;
        const auto other = std::find_if(members.begin(), members.end(), [&](const MemberNow &one) {
            return one.pid == times.pid && one.slot != times.slot && !one.counts;
        });
        if (other == members.end())
            continue;
        other->counts = true;
        other->spent = times.spent;
        put.push_back(times.slot);
    }
    std::erase_if(members, [&](const MemberNow &one) {
        return std::find(put.begin(), put.end(), one.slot) != put.end();
    });
}

// What a policy has learned is of all processes of a program together.
void tell_speeds(node::Board &board, Snapshot &snapshot) {
    for (MemberNow &one : snapshot.members) {
        const node::Memory::Program *const known =
            node::find_program(board.policy_memory(), one.job);
        if (!known || !one.shares_cores)
            continue;
        node::Memory::Program copy = *known; // which others may write just now
        copy.speed_count = std::clamp(copy.speed_count, 0, node::Memory::kMostSpeeds);
        const node::Curve curve(copy);
        one.speeds.assign(curve.speeds().begin(), curve.speeds().end());
        one.speed_up = curve.speed_up(snapshot.owned_by(one.job));
    }
}

} // namespace

const MemberNow *Snapshot::find(int slot) const {
    const auto at = std::find_if(members.begin(), members.end(),
                                 [&](const MemberNow &one) { return one.slot == slot; });
    return at == members.end() ? nullptr : &*at;
}

std::vector<int> Snapshot::jobs() const {
    std::vector<int> found;
    for (const MemberNow &one : members)
        if (one.shares_cores && std::find(found.begin(), found.end(), one.job) == found.end())
            found.push_back(one.job);
    return found;
}

int Snapshot::owned_by(int job) const {
    int sum = 0;
    for (const MemberNow &one : members)
        sum += one.job == job ? one.owns : 0;
    return sum;
}

Snapshot look_at(node::Board &board) {
    Snapshot snapshot;
    snapshot.now_ns = monotonic_ns();
    std::map<std::uint64_t, int> jobs; // the first slot that shares cores, as policies see it
    board.each([&](int number, node::BoardSlot &slot) {
        const std::uint64_t job = slot.job.load(std::memory_order_relaxed);
        if (job == 0 || job == keeper_job)
            return;
        // Who has died keeps its slot until somebody sweeps the board, maybe nobody.
        if (!node::is_alive(slot.holder.load(std::memory_order_relaxed)))
            return;
        MemberNow one = describe(board, number, slot);
        if (one.identity == 0) // it has just left
            return;
        one.job = jobs.emplace(job, number).first->second;
        const bool is_first = std::none_of(
            snapshot.members.begin(), snapshot.members.end(),
            [&](const MemberNow &other) { return other.job == one.job && other.shares_cores; });
        if (one.shares_cores && is_first) {
            for (MemberNow &other : snapshot.members)
                other.job = other.job == one.job ? number : other.job;
            jobs[job] = one.job = number;
        }
        snapshot.members.push_back(std::move(one));
    });
    put_together(snapshot.members);
    for (MemberNow &one : snapshot.members)
        one.spent = one.counts ? one.spent.until(snapshot.now_ns) : SpentNow();
    node::Cores of_anybody = board.pool().cores;
    for (const MemberNow &one : snapshot.members)
        if (one.shares_cores)
            of_anybody.add(board.slot(one.slot).member.cores);
    const node::CoreTable &table = board.core_table();
    const auto member = [&](int slot) { return const_cast<MemberNow *>(snapshot.find(slot)); };
    for (int core = 0, end = of_anybody.end(); core < end; ++core) {
        if (!of_anybody.has(core))
            continue;
        const node::CoreState now = table.state(core);
        const node::Hold hold{core, now.use};
        const std::int64_t recalled = table.recalled_since(hold);
        const std::int64_t recalled_ns =
            recalled == 0 ? 0 : std::max<std::int64_t>(0, snapshot.now_ns - recalled);
        snapshot.cores.push_back({core, now.owner, now.user, now.recalled, now.rests,
                                  table.thread_of(hold), recalled_ns});
        MemberNow *const owner = member(now.owner);
        MemberNow *const user = member(now.user);
        if (owner)
            ++owner->owns;
        if (!user)
            continue;
        ++user->uses;
        if (recalled_ns > node::kKeptNs) // still
            ++user->kept;
        const std::int64_t since = snapshot.now_ns - table.since_ns(core);
        user->used_ns += std::max<std::int64_t>(0, since);
        if (owner == user)
            continue;
        ++user->borrowed;
        user->borrowed_ns += std::max<std::int64_t>(0, since);
        if (owner)
            ++owner->lent;
    }
    tell_speeds(board, snapshot);
    return snapshot;
}

} // namespace sennit::tool
