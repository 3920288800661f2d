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

// Cores that anybody who is to own some may use: in a container the others are not there.
int usable_cores(const View &view);
// Cores that the claimants of a program use.
int used_by_program(const View &view, int program);
// Does the claimant own a core in the domain?
bool is_near(const View &view, int claimant, int domain);
// Of others' cores: would it use one?
bool may_borrow(const View &view, int claimant);
bool wants_to_borrow(const View &view, int core, int claimant);

// A free core whose owner is about to take it.
bool is_kept_for_owner(const View &view, int core);

// Who comes before whom at a core that neither of them owns: by priority, then by the fewest cores
// for its share; who owns none in the core's domain counts its cores twice. `moved`: if one core
// had gone from `other` to `one` already. So nobody asks for a core that it would have to give
// back. What is counted for that is counted once, when it is first asked; of claimants beyond
// kCounted each time, for this lies on stacks that may be small.
enum class Moved : bool { no, yes };
class Order {
  public:
    explicit Order(const View &view) : view_(view) {}
    bool comes_before(int core, int one, int other, Moved moved);

  private:
    struct Standing {
        int program_uses;
        std::uint32_t domains; // in which it owns cores; one bit each
        std::uint32_t program_domains;
    };
    static constexpr int kCounted = 128;

    void count();
    int first_of_program(int claimant) const;
    Standing counted(int claimant) const;
    double load(int claimant, int core, bool of_program, int more) const;

    const View &view_;
    int known_ = 0; // of claimants, from the first
    Standing of_[kCounted];
};

// An own core of the claimant's that another uses, and is asked to leave: how many. And the one
// from which the user that is last in line is to go; kNobody: none.
struct OwnCores {
    int recalled = 0;
    int next = kNobody;
};
OwnCores own_cores_in_use(const View &view, Order &order, int claimant,
                          std::span<const bool> is_recalled);

// Does somebody want a core, who has none, and nobody will give it one? It needs its turn.
bool somebody_waits_for_a_turn(const View &view);

} // namespace sennit::node
