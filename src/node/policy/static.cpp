// SPDX-License-Identifier: Apache-2.0
#include "node/policy/static.h"

#include "node/policy/rules.h"

namespace sennit::node {

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
    Order order(view);
    int best = kNobody;
    for (int one = 0; one < count_of(view.claimants); ++one)
        if (claimant_of(view, one).leftover && wants_to_borrow(view, core, one) &&
            (best == kNobody || order.comes_before(core, one, best, Moved::no)))
            best = one;
    return best;
}

int Static::recalls(const View &view, int claimant, std::span<const bool> is_recalled) const {
    Order order(view);
    const OwnCores own = own_cores_in_use(view, order, claimant, is_recalled);
    return own.recalled < claimant_of(view, claimant).wants ? own.next : kNobody;
}

bool Static::rethink(const View &view, std::int64_t, Memory &) const {
    return somebody_waits_for_a_turn(view);
}

} // namespace sennit::node
