// SPDX-License-Identifier: Apache-2.0
// What the policies have in common: who comes before whom at a core, and what is on its way.
#pragma once

#include "node/policy/policy.h"

namespace sennit::node {

inline const Claimant &claimant_of(const View &view, int claimant) {
    return view.claimants[static_cast<std::size_t>(claimant)];
}
inline const Core &core_of(const View &view, int core) {
    return view.cores[static_cast<std::size_t>(core)];
}
inline int count_of(std::span<const Claimant> all) {
    return static_cast<int>(all.size());
}
inline int count_of(std::span<const Core> all) {
    return static_cast<int>(all.size());
}

// Cores that the claimants of a program use.
int used_by_program(const View &view, int program);
// Does the claimant own a core in the domain?
bool is_near(const View &view, int claimant, int domain);
// Of others' cores: would it use one?
bool may_borrow(const View &view, int claimant);
bool wants_to_borrow(const View &view, int core, int claimant);

// A free core whose owner is about to take it.
bool is_kept_for_owner(const View &view, int core);

// At a core that neither owns: does `one` come before `other`? By priority, then by the fewest
// cores for its share; who owns none in the core's domain counts its cores twice. `moved`: if one
// core had gone from `other` to `one` already. So nobody asks for a core that it would have to give
// back.
enum class Moved : bool { no, yes };
bool comes_before(const View &view, int core, int one, int other, Moved moved);

// An own core of the claimant's that another uses, and is asked to leave: how many. And the one
// from which the user that is last in line is to go; kNobody: none.
struct OwnCores {
    int recalled = 0;
    int next = kNobody;
};
OwnCores own_cores_in_use(const View &view, int claimant, std::span<const bool> is_recalled);

// Does somebody want a core, who has none, and nobody will give it one? It needs its turn.
bool somebody_waits_for_a_turn(const View &view);

} // namespace sennit::node
