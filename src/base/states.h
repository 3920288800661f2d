// SPDX-License-Identifier: Apache-2.0
// The state of an object, kept only where SENNIT_CHECKED is defined. There
// SENNIT_ASSERT(object.state.step(State::next)) ends the program if no such step is allowed.
// Elsewhere the member is empty (declare it [[no_unique_address]]), and nothing is evaluated.
//
// Accesses are relaxed, so they order nothing: the code around makes sure that only one thread at a
// time takes a step.
#pragma once

#include "base/assert.h"

#include <atomic>

namespace sennit {

// A set of states, for tables of steps.
template <class State, class... More>
constexpr unsigned states(State first, More... more) {
    return ((1u << static_cast<unsigned>(first)) | ... | (1u << static_cast<unsigned>(more)));
}

// may_follow(from) is the set of states that come next.
template <class State, unsigned (*may_follow)(State)>
class States {
#if defined(SENNIT_CHECKED)
  public:
    explicit States(State first) : now_(first) {}
    bool step(State to) {
        const State from = now_.exchange(to, std::memory_order_relaxed);
        return (may_follow(from) >> static_cast<unsigned>(to) & 1u) != 0;
    }
    bool is(State state) const { return now_.load(std::memory_order_relaxed) == state; }
    void restart(State state) { now_.store(state, std::memory_order_relaxed); }

  private:
    std::atomic<State> now_;
#else
  public:
    constexpr explicit States(State) {}
    bool step(State) { return true; }
    bool is(State) const { return true; }
    void restart(State) {}
#endif
};

} // namespace sennit
