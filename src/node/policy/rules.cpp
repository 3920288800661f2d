// SPDX-License-Identifier: Apache-2.0
#include "node/policy/rules.h"

namespace sennit::node {

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

bool is_program_near(const View &view, int program, int domain) {
    for (const Core &core : view.cores)
        if (core.domain == domain && core.owner != kNobody &&
            claimant_of(view, core.owner).program == program)
            return true;
    return false;
}

// Cores of another domain count twice.
double load(double uses, double share, bool near) {
    return (near ? 1 : 2) * uses / (share > 0 ? share : 1e-9);
}

} // namespace

bool comes_before(const View &view, int core, int one, int other, Moved moved) {
    const Claimant &a = claimant_of(view, one), &b = claimant_of(view, other);
    if (a.leftover != b.leftover)
        return b.leftover;
    if (a.priority != b.priority)
        return a.priority > b.priority;
    const int domain = core_of(view, core).domain;
    const int step = moved == Moved::yes ? 1 : 0;
    const auto compare = [&](double mine, double its) { return step ? mine <= its : mine < its; };
    if (a.program != b.program) {
        const double mine = load(used_by_program(view, a.program) + step, a.share,
                                 is_program_near(view, a.program, domain));
        const double its = load(used_by_program(view, b.program) - step, b.share,
                                is_program_near(view, b.program, domain));
        return mine == its && !step ? a.program < b.program : compare(mine, its);
    }
    const double mine = load(a.uses + step, 1, is_near(view, one, domain));
    const double its = load(b.uses - step, 1, is_near(view, other, domain));
    return mine == its && !step ? one < other : compare(mine, its);
}

OwnCores own_cores_in_use(const View &view, int claimant, std::span<const bool> is_recalled) {
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
                  comes_before(view, core, core_of(view, found.next).user, one.user, Moved::no)))
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

int best_free(const Policy &policy, const View &view, int claimant) {
    int best = kNobody, best_worth = 0;
    for (int core = 0; core < count_of(view.cores); ++core) {
        const Core &one = core_of(view, core);
        if (one.user != kNobody)
            continue;
        const int worth = one.owner == claimant ? 3 : is_near(view, claimant, one.domain) ? 2 : 1;
        if (worth > best_worth && policy.may_take(view, core, claimant)) {
            best = core;
            best_worth = worth;
        }
    }
    return best;
}

} // namespace sennit::node
