// SPDX-License-Identifier: Apache-2.0
#include "decide/cores/lend.h"

#include "decide/cores/policy.h"
#include "decide/cores/rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sennit::node {
namespace {

int free_own_cores(const View &view, int claimant) {
    int sum = 0;
    for (const Core &core : view.cores)
        sum += core.user == kNobody && core.owner == claimant ? 1 : 0;
    return sum;
}

// The claimant that is first in line for the core once it is free, if its owner does not want it.
int first_in_line(const View &view, TakingOrder &order, int core) {
    int best = kNobody;
    for (int one = 0; one < count_of(view.claimants); ++one)
        if (wants_to_borrow(view, core, one) &&
            (best == kNobody || order.comes_before(core, one, best, Moved::no)))
            best = one;
    return best;
}

// Cores on their way to the claimant that are not its own.
int borrowed_soon(const View &view, TakingOrder &order, int claimant,
                  std::span<const bool> is_recalled) {
    int sum = 0;
    for (int core = 0; core < count_of(view.cores); ++core)
        sum += is_recalled[static_cast<std::size_t>(core)] &&
                       core_of(view, core).owner != claimant &&
                       core_of(view, core).user != claimant && !is_kept_for_owner(view, core) &&
                       first_in_line(view, order, core) == claimant
                   ? 1
                   : 0;
    return sum;
}

// May it ask the user of a core that neither of them owns to go?
bool may_displace(const View &view, TakingOrder &order, int core, int claimant) {
    const Core &one = core_of(view, core);
    return one.user != kNobody && one.user != claimant && one.owner != one.user &&
           one.owner != claimant && !is_kept_for_owner(view, core) &&
           view.allowed(core, claimant) && order.comes_before(core, claimant, one.user, Moved::yes);
}

} // namespace

// While there are enough free cores for all who come before it, it does not wait for them.
bool Lend::may_take(const View &view, int core, int claimant) const {
    if (!view.allowed(core, claimant))
        return false;
    if (core_of(view, core).owner == claimant)
        return true;
    if (is_kept_for_owner(view, core) || !may_borrow(view, claimant))
        return false;
    TakingOrder order(view);
    int wanted = 0;
    for (int one = 0; one < count_of(view.claimants); ++one)
        if (one != claimant && wants_to_borrow(view, core, one) &&
            order.comes_before(core, one, claimant, Moved::no))
            wanted += std::max(0, claimant_of(view, one).wants - free_own_cores(view, one));
    if (wanted == 0)
        return true;
    int free = 0;
    for (int other = 0; other < count_of(view.cores); ++other)
        free += core_of(view, other).user == kNobody && !is_kept_for_owner(view, other) ? 1 : 0;
    return wanted < free;
}

int Lend::receiver(const View &view, int core) const {
    if (is_kept_for_owner(view, core))
        return core_of(view, core).owner;
    TakingOrder order(view);
    return first_in_line(view, order, core);
}

int Lend::recalls(const View &view, int claimant, std::span<const bool> is_recalled) const {
    const int wants = claimant_of(view, claimant).wants;
    TakingOrder order(view);
    const OwnCores own = own_cores_in_use(view, order, claimant, is_recalled);
    if (own.recalled >= wants)
        return kNobody;
    if (own.next != kNobody)
        return own.next;
    if (!may_borrow(view, claimant) ||
        own.recalled + borrowed_soon(view, order, claimant, is_recalled) >= wants)
        return kNobody;
    int best = kNobody;
    bool best_near = false;
    for (int core = 0; core < count_of(view.cores); ++core) {
        if (is_recalled[static_cast<std::size_t>(core)] ||
            !may_displace(view, order, core, claimant))
            continue;
        const bool near = is_near(view, claimant, core_of(view, core).domain);
        const int user = core_of(view, core).user;
        const int best_user = best == kNobody ? kNobody : core_of(view, best).user;
        if (best == kNobody || (near && !best_near) ||
            (near == best_near && user != best_user &&
             order.comes_before(core, best_user, user, Moved::no))) {
            best = core;
            best_near = near;
        }
    }
    return best;
}

bool Lend::rethink(const View &view, std::int64_t, Memory &) const {
    return somebody_waits_for_a_turn(view);
}

bool Static::may_take(const View &view, int core, int claimant) const {
    if (!view.allowed(core, claimant))
        return false;
    return core_of(view, core).owner == claimant ||
           (claimant_of(view, claimant).leftover && !is_kept_for_owner(view, core));
}

int Static::receiver(const View &view, int core) const {
    const int owner = core_of(view, core).owner;
    if (owner != kNobody && is_kept_for_owner(view, core))
        return owner;
    TakingOrder order(view);
    int best = kNobody;
    for (int one = 0; one < count_of(view.claimants); ++one)
        if (claimant_of(view, one).leftover && wants_to_borrow(view, core, one) &&
            (best == kNobody || order.comes_before(core, one, best, Moved::no)))
            best = one;
    return best;
}

int Static::recalls(const View &view, int claimant, std::span<const bool> is_recalled) const {
    TakingOrder order(view);
    const OwnCores own = own_cores_in_use(view, order, claimant, is_recalled);
    return own.recalled < claimant_of(view, claimant).wants ? own.next : kNobody;
}

bool Static::rethink(const View &view, std::int64_t, Memory &) const {
    return somebody_waits_for_a_turn(view);
}

namespace {

constexpr double kCatchUp = 1;    // seconds in which one is to get what it has missed
constexpr double kMostBehind = 2; // seconds of all cores: what is longer ago is forgotten
constexpr std::int64_t kShortNs = 1'500'000'000; // it may wait in MPI now, and want more again
constexpr double kHysteresis = 1;                // cores that a target is off before any moves
constexpr double kForgetIdle = .9;               // a look, of one that wants nothing

// The cores that each could have had in the mean: its share of them, but no more than it wanted;
// what it did not want is divided among the others.
void entitle(std::span<const double> shares, std::span<const double> wanted, double cores,
             std::span<double> entitled) {
    std::fill(entitled.begin(), entitled.end(), -1);
    for (;;) {
        double free = cores, sum = 0;
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (entitled[i] >= 0)
                free -= entitled[i];
            else
                sum += shares[i];
        bool again = false;
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (entitled[i] < 0 && wanted[i] <= free * shares[i] / sum) {
                entitled[i] = wanted[i];
                again = true;
            }
        if (again)
            continue;
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (entitled[i] < 0)
                entitled[i] = free * shares[i] / sum;
        return;
    }
}

} // namespace

bool Fair::rethink(const View &view, std::int64_t now_ns, Memory &memory) const {
    const bool turn = somebody_waits_for_a_turn(view);
    ProgramsNow now = programs_now(view, memory);
    const auto count = static_cast<std::size_t>(now.count);
    const int usable = usable_cores(view);
    if (usable == 0)
        return turn;
    const double cores = usable;
    const double seconds = static_cast<double>(now_ns - memory.began_ns) * 1e-9;
    const bool first = memory.began_ns == 0 || now.changed || seconds <= 0;
    double shares[kMostPrograms], used[kMostPrograms], wanted[kMostPrograms],
        entitled[kMostPrograms], wishes[kMostPrograms];
    for (std::size_t i = 0; i < count; ++i) {
        const ProgramNow &one = now.programs[i];
        shares[i] = one.share;
        used[i] = first ? 0
                        : std::max(0., static_cast<double>(one.used_ns - one.row->used_ns) * 1e-9 /
                                           seconds);
        if (one.wants > 0)
            one.row->short_ns = now_ns;
        // Its share of the time, whether or not it could use it just now.
        const bool is_short = one.row->short_ns > 0 && now_ns - one.row->short_ns < kShortNs;
        wanted[i] = is_short ? cores : used[i];
    }
    if (!first && count > 0) {
        entitle({shares, count}, {wanted, count}, cores, {entitled, count});
        for (std::size_t i = 0; i < count; ++i) {
            double &behind = now.programs[i].row->behind;
            const double most = kMostBehind * cores;
            behind = std::clamp(behind + (entitled[i] - used[i]) * seconds, -most, most);
            if (used[i] == 0 && wanted[i] == 0)
                behind *= kForgetIdle;
        }
    }
    begin_measurement(now, now_ns, memory);
    double mean = 0;
    for (const ProgramNow &one : now.all())
        mean += one.row->behind / static_cast<double>(count);
    bool is_off = false;
    for (std::size_t i = 0; i < count; ++i) {
        const ProgramNow &one = now.programs[i];
        wishes[i] = std::clamp(cores * one.share / now.shares + (one.row->behind - mean) / kCatchUp,
                               1., cores);
        is_off |= std::abs(wishes[i] - one.row->target) > kHysteresis;
    }
    if (!is_off)
        return turn;
    int targets[kMostPrograms];
    round_to_sum({wishes, count}, usable, {targets, count});
    bool moved = false;
    for (std::size_t i = 0; i < count; ++i) {
        moved |= targets[i] != now.programs[i].row->target;
        now.programs[i].row->target = targets[i];
    }
    return moved || turn;
}

} // namespace sennit::node
