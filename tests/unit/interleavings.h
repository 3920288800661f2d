// SPDX-License-Identifier: Apache-2.0
// A small exhaustive checker: every interleaving of a few threads, each a list of atomic steps.
//
// A model is a State (copyable, ordered) and a function step(state, thread) that does the thread's
// next access to shared memory and says whether it ran, waits, or has ended. The checker visits
// every reachable state once, and fails where a step broke its model's rules or where somebody
// waits and nobody can go on. Interleavings are sequentially consistent: what orders the accesses
// of the real thing is argued beside its code. tests/schedules runs the real code instead.
#pragma once

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sennit::model {

enum class Outcome { ran, waits, ended };

// `broken` is set by a step that finds a rule broken.
template <class State>
struct Interleavings {
    std::set<State> seen;
    std::size_t ends = 0;
    std::string failure;

    template <class Step>
    void explore(const State &start, int threads, Step step) {
        std::vector<State> to_visit{start}; // no recursion: a model may be thousands of steps deep
        while (!to_visit.empty() && failure.empty()) {
            const State state = std::move(to_visit.back());
            to_visit.pop_back();
            if (seen.insert(state).second)
                visit(state, threads, step, to_visit);
        }
    }

  private:
    template <class Step>
    void visit(const State &state, int threads, Step &step, std::vector<State> &to_visit) {
        bool moved = false, waiting = false;
        for (int thread = 0; thread < threads; ++thread) {
            State next = state;
            std::string broken;
            const Outcome outcome = step(next, thread, broken);
            if (!broken.empty()) {
                failure = broken;
                return;
            }
            waiting |= outcome == Outcome::waits;
            if (outcome != Outcome::ran)
                continue;
            moved = true;
            to_visit.push_back(std::move(next));
        }
        if (moved)
            return;
        ++ends;
        if (waiting)
            failure = "somebody waits for ever";
    }
};

// The step has what is `given` as more arguments: which version it is.
template <class State, class Step, class... Given>
std::string failure_of(const State &start, int threads, Step step, Given... given) {
    Interleavings<State> all;
    all.explore(start, threads, [&](State &state, int thread, std::string &broken) {
        return step(state, thread, broken, given...);
    });
    return all.failure.empty() && all.ends == 0 ? "the model never ends" : all.failure;
}

} // namespace sennit::model
