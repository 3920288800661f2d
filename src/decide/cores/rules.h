// SPDX-License-Identifier: Apache-2.0
// What the policies have in common: which claimant comes first at a core, and which cores are on
// their way to another user.
#pragma once

#include "decide/cores/policy.h"

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

// The number of cores that any claimant which is to own some may use. In a container, other cores
// exist, but nobody may use them.
int usable_cores(const View &view);
// The number of cores that the claimants of a program use.
int used_by_program(const View &view, int program);
// Does the claimant own a core in the domain?
bool is_near(const View &view, int claimant, int domain);
// May the claimant use a core of others? Does it want to use this one?
bool may_borrow(const View &view, int claimant);
bool wants_to_borrow(const View &view, int core, int claimant);

// Is this a free core that its owner is about to take?
bool is_kept_for_owner(const View &view, int core);

// Which of two claimants comes first at a core that neither of them owns? A `leftover` claimant
// comes last. Else the one with the higher priority comes first, then the one with fewer cores for
// its share. The cores of a claimant that owns none in the core's domain count twice.
//
// `moved` asks what would be true if one core had gone from `other` to `one` already. So nobody
// asks for a core that it would have to give back.
//
// The numbers are counted once, at the first question. For claimants beyond kCounted they are
// counted each time, because an Order lies on stacks that may be small.
enum class Moved : bool { no, yes };
class TakingOrder {
  public:
    explicit TakingOrder(const View &view) : view_(view) {}
    bool comes_before(int core, int one, int other, Moved moved);

  private:
    struct Standing {
        int program_uses;
        std::uint32_t domains; // those in which it owns cores; one bit each
        std::uint32_t program_domains;
    };
    static constexpr int kCounted = 128;

    void count();
    int first_of_program(int claimant) const;
    Standing counted(int claimant) const;
    double load(int claimant, int core, bool of_program, int more) const;

    const View &view_;
    int known_ = 0; // for so many claimants, from the first, the numbers are counted
    Standing of_[kCounted];
};

// The cores of a claimant that others use. `recalled`: how many of these the users are asked to
// leave. `next`: the one whose user comes last, and is to leave next; kNobody: there is none.
struct OwnCores {
    int recalled = 0;
    int next = kNobody;
};
OwnCores own_cores_in_use(const View &view, TakingOrder &order, int claimant,
                          std::span<const bool> is_recalled);

// Is there a claimant that wants a core, uses none and owns none? Nobody will give it one, so it
// needs a turn.
bool somebody_waits_for_a_turn(const View &view);

} // namespace sennit::node
