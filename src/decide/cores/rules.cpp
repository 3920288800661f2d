// SPDX-License-Identifier: Apache-2.0
#include "decide/cores/rules.h"

#include <algorithm>

namespace sennit::node {

int usable_cores(const View &view) {
    int sum = 0;
    for (int core = 0; core < count_of(view.cores); ++core)
        for (int one = 0; one < count_of(view.claimants); ++one)
            if (!claimant_of(view, one).leftover && view.allowed(core, one)) {
                ++sum;
                break;
            }
    return sum;
}

int used_by_program(const View &view, int program) {
    int sum = 0;
    for (const Claimant &one : view.claimants)
        if (one.program == program)
            sum += one.uses;
    return sum;
}

bool is_near(const View &view, int claimant, int domain) {
    for (const Core &core : view.cores)
        if (core.domain == domain && core.owner == claimant)
            return true;
    return false;
}

bool may_borrow(const View &view, int claimant) {
    const Claimant &one = claimant_of(view, claimant);
    return one.limit == 0 || used_by_program(view, one.program) < one.limit;
}

bool wants_to_borrow(const View &view, int core, int claimant) {
    return claimant_of(view, claimant).wants > 0 && view.allowed(core, claimant) &&
           may_borrow(view, claimant);
}

bool is_kept_for_owner(const View &view, int core) {
    const int owner = core_of(view, core).owner;
    if (owner == kNobody || !view.allowed(core, owner))
        return false;
    int free = 0; // it takes the first ones, say
    for (int other = 0; other < core; ++other)
        free += core_of(view, other).owner == owner && core_of(view, other).user == kNobody ? 1 : 0;
    return free < claimant_of(view, owner).wants;
}

namespace {

std::uint32_t domain_bit(int domain) {
    return std::uint32_t{1} << (static_cast<unsigned>(domain) % 32);
}

} // namespace

int TakingOrder::first_of_program(int claimant) const {
    int first = 0;
    while (claimant_of(view_, first).program != claimant_of(view_, claimant).program)
        ++first;
    return first;
}

TakingOrder::Standing TakingOrder::counted(int claimant) const {
    Standing found{};
    const int program = claimant_of(view_, claimant).program;
    found.program_uses = used_by_program(view_, program);
    for (const Core &core : view_.cores) {
        if (core.owner == kNobody || claimant_of(view_, core.owner).program != program)
            continue;
        found.program_domains |= domain_bit(core.domain);
        found.domains |= core.owner == claimant ? domain_bit(core.domain) : 0;
    }
    return found;
}

// The sums of a program are made at its first claimant, then told to the others.
void TakingOrder::count() {
    const int claimants = count_of(view_.claimants);
    known_ = std::min(claimants, kCounted);
    std::fill(of_, of_ + known_, Standing{});
    for (int one = 0; one < claimants; ++one)
        if (const int first = first_of_program(one); first < known_)
            of_[first].program_uses += claimant_of(view_, one).uses;
    for (const Core &core : view_.cores) {
        if (core.owner == kNobody)
            continue;
        if (core.owner < known_)
            of_[core.owner].domains |= domain_bit(core.domain);
        if (const int first = first_of_program(core.owner); first < known_)
            of_[first].program_domains |= domain_bit(core.domain);
    }
    for (int one = 0; one < known_; ++one) {
        const Standing &first = of_[first_of_program(one)];
        of_[one].program_uses = first.program_uses;
        of_[one].program_domains = first.program_domains;
    }
}

double TakingOrder::load(int claimant, int core, bool of_program, int more) const {
    const Standing one = claimant < known_ ? of_[claimant] : counted(claimant);
    const std::uint32_t domains = of_program ? one.program_domains : one.domains;
    const int uses = of_program ? one.program_uses : claimant_of(view_, claimant).uses;
    const double share = of_program ? claimant_of(view_, claimant).share : 1;
    const bool near = (domains & domain_bit(core_of(view_, core).domain)) != 0;
    return (near ? 1 : 2) * (uses + more) / std::max(share, 1e-9);
}

bool TakingOrder::comes_before(int core, int one, int other, Moved moved) {
    const Claimant &a = claimant_of(view_, one), &b = claimant_of(view_, other);
    if (a.leftover != b.leftover)
        return b.leftover;
    if (a.priority != b.priority)
        return a.priority > b.priority;
    if (known_ == 0)
        count();
    const bool programs = a.program != b.program;
    const int step = moved == Moved::yes ? 1 : 0;
    const double mine = load(one, core, programs, step), its = load(other, core, programs, -step);
    if (step != 0)
        return mine <= its;
    if (mine == its)
        return programs ? a.program < b.program : one < other;
    return mine < its;
}

OwnCores own_cores_in_use(const View &view, TakingOrder &order, int claimant,
                          std::span<const bool> is_recalled) {
    OwnCores found;
    for (int core = 0; core < count_of(view.cores); ++core) {
        const Core &one = core_of(view, core);
        if (one.owner != claimant || one.user == claimant || one.user == kNobody ||
            !view.allowed(core, claimant))
            continue;
        if (is_recalled[static_cast<std::size_t>(core)])
            ++found.recalled;
        else if (found.next == kNobody ||
                 (one.user != core_of(view, found.next).user &&
                  order.comes_before(core, core_of(view, found.next).user, one.user, Moved::no)))
            found.next = core;
    }
    return found;
}

bool somebody_waits_for_a_turn(const View &view) {
    for (const Claimant &one : view.claimants)
        if (!one.leftover && one.wants > 0 && one.uses == 0 && one.owns == 0)
            return true;
    return false;
}

int surplus(const View &view, std::span<const bool> is_recalled) {
    for (int core = 0; core < count_of(view.cores); ++core) {
        const Core &one = core_of(view, core);
        if (one.user == kNobody || one.user == one.owner ||
            is_recalled[static_cast<std::size_t>(core)])
            continue;
        const Claimant &user = claimant_of(view, one.user);
        if (user.limit == 0)
            continue;
        int leaving = 0;
        for (int other = 0; other < count_of(view.cores); ++other)
            leaving += is_recalled[static_cast<std::size_t>(other)] &&
                               core_of(view, other).user != kNobody &&
                               claimant_of(view, core_of(view, other).user).program == user.program
                           ? 1
                           : 0;
        if (used_by_program(view, user.program) - leaving > user.limit)
            return core;
    }
    return kNobody;
}

int best_free(const CorePolicy &policy, const View &view, int claimant) {
    int near = kNobody, any = kNobody;
    for (int core = 0; core < count_of(view.cores); ++core) {
        const Core &one = core_of(view, core);
        const bool own = one.owner == claimant;
        if (one.user != kNobody || (!own && near != kNobody))
            continue;
        const bool is_in_domain = own || is_near(view, claimant, one.domain);
        if ((!is_in_domain && any != kNobody) || !policy.may_take(view, core, claimant))
            continue;
        if (own)
            return core;
        (is_in_domain ? near : any) = core;
    }
    return near != kNobody ? near : any;
}

} // namespace sennit::node
