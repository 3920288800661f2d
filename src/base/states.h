// SPDX-License-Identifier: Apache-2.0
// The state of an object, followed where SENNIT_CHECKED is defined.
// SENNIT_ASSERT(object.state.step( State::next)) ends the program when the object's machine has no
// such step. Elsewhere the member is empty (declare it [[no_unique_address]]) and nothing is
// evaluated.
//
// Relaxed: it orders nothing. Who takes a step has the object for himself, as the code around says.
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
