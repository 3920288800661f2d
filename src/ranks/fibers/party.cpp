// SPDX-License-Identifier: Apache-2.0
#include "ranks/fibers/party.h"

#include "node/pool.h"

#include <new>

namespace sennit::virt {
namespace {

// Others of the party run meanwhile, and fibers take turns on them.
constexpr std::int64_t kForeverNs = std::int64_t{1} << 60;

// What the party tells of itself: what its ranks do, together. False: they are not on the board.
bool member_of(node::Board &board, std::uint64_t job, node::ProcessInfo &member) {
    bool found = false;
    board.each([&](int, const node::BoardSlot &slot) {
        if (slot.job.load(std::memory_order_relaxed) != job)
            return;
        if (!found) {
            member = slot.member;
        } else {
            member.cores.add(slot.member.cores);
            member.threads += slot.member.threads;
        }
        found = true;
    });
    member.rank = -1;
    return found;
}

} // namespace

bool Parties::open() {
    node::Reason reason; // the ranks tell it
    const node::Membership membership = node::read_membership(reason);
    is_open_ = membership.in_pool && board_.open(membership.path, reason);
    return is_open_;
}

Party *Parties::find(std::uint64_t job) {
    for (int i = 0; i < end_.load(std::memory_order_relaxed); ++i)
        if (parties_[i].job == job)
            return &parties_[i];
    return nullptr;
}

Party *Parties::claim() {
    for (int i = 0; i < end_.load(std::memory_order_relaxed); ++i) {
        Party &party = parties_[i];
        if (party.job == 0 || !party.is_unserved())
            continue;
        party.asking.store(true);
        party.users.fetch_add(1, std::memory_order_relaxed);
        return &party;
    }
    return nullptr;
}

void Parties::follow(const FiberTable &fibers, SpinLock &lock) {
    if (!is_open_)
        return;
    bool is_there[kMost] = {};
    fibers.each([&](const RankFiber &fiber) {
        const std::uint64_t job = fiber.job.load(std::memory_order_acquire);
        if (job == 0 || fiber.in_use.load() == 0 || fiber.main.load() != &fiber)
            return;
        Party *party = find(job); // nobody else changes what it finds
        if (!party)
            party = begin(job, lock);
        if (party)
            is_there[party - parties_] = true;
    });
    for (int i = 0; i < end_.load(std::memory_order_relaxed); ++i)
        if (parties_[i].job != 0 && !is_there[i])
            end(parties_[i], lock);
}

// acquire: the last user's last step comes before what a new program does.
Party *Parties::take_unused() {
    const int last = end_.load(std::memory_order_relaxed);
    for (int i = 0; i < last; ++i)
        if (parties_[i].job == 0 && parties_[i].users.load(std::memory_order_acquire) == 0)
            return &parties_[i];
    if (last == kMost)
        return nullptr;
    end_.store(last + 1, std::memory_order_release);
    return &parties_[last];
}

Party *Parties::begin(std::uint64_t job, SpinLock &lock) {
    node::ProcessInfo member;
    if (!member_of(board_, job, member))
        return nullptr;
    Party *const party = take_unused();
    node::BoardSlot *const slot = party ? board_.join(job, member) : nullptr;
    if (!slot)
        return nullptr;
    delete party->share;
    party->share = new node::Share;
    party->slot = slot;
    party->share->set_patience(kForeverNs);
    party->share->begin(board_, *slot);
    const Guard guard(lock);
    party->job = job;
    return party;
}

// Carriers that still have a core of the party's find that they have lost it, and give it back to
// nobody.
void Parties::end(Party &party, SpinLock &lock) {
    {
        const Guard guard(lock);
        if (party.ready.first)
            return; // a fiber that is about to go: next time
        party.job = 0;
    }
    party.share->end();
    board_.leave(*party.slot);
}

} // namespace sennit::virt
