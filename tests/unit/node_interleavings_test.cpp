// SPDX-License-Identifier: Apache-2.0
// Cores that rest, where processes share them, step by step as the code does it. Each model also
// has a version with a step in the wrong place, which the checker must refuse.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

// ---- cores that rest: Share::rest, sleep, count_awake (node/share.cpp); Activity::wake ---------

struct Resting {
    int pc[3] = {};
    bool rests = false;
    bool free = false;
    int awake = 0; // of the process of threads 0 and 1
    bool woken = false;
    bool wants = false; // thread 2
    bool rung = false;
    auto operator<=>(const Resting &) const = default;
};

// Thread 0 has the core. It wakes thread 1 of its process, rests, and goes to sleep. Thread 1 finds
// nothing to do and goes to sleep again. Thread 2, of another process, waits for the core.
// `all_give`: thread 1, too, gives what rests.
Outcome resting_step(Resting &s, int thread, bool all_give) {
    int &pc = s.pc[thread];
    constexpr int kEnd = 10;
    const auto sleep = [&](bool gives) { // counts itself out; gives; rings
        if (pc % 3 == 0)
            pc = --s.awake > 0 || !gives ? kEnd : pc + 1;
        else if (pc % 3 == 1) {
            pc = s.rests ? pc + 1 : kEnd;
            s.free = s.free || s.rests;
            s.rests = false;
        } else {
            s.rung = s.rung || s.wants;
            pc = kEnd;
        }
        return Outcome::ran;
    };
    if (pc == kEnd)
        return Outcome::ended;
    if (thread == 0) {
        if (pc == 0) {
            ++s.awake;
            s.woken = true;
            pc = 1;
            return Outcome::ran;
        }
        if (pc == 1) {
            ++s.awake;
            pc = 2;
            return Outcome::ran;
        }
        if (pc == 2) {
            s.rests = true;
            pc = 3;
            return Outcome::ran;
        }
        return sleep(true);
    }
    if (thread == 1) {
        if (pc == 0 && !s.woken)
            return Outcome::waits;
        if (pc == 0) {
            pc = 3;
            return Outcome::ran;
        }
        return sleep(all_give);
    }
    switch (pc) {
    case 0:
        s.wants = true;
        pc = 1;
        return Outcome::ran;
    case 1:
        pc = s.free ? kEnd : 2;
        return Outcome::ran;
    default:
        if (!s.rung)
            return Outcome::waits;
        pc = kEnd;
        return Outcome::ran;
    }
}

TEST(Interleavings, WhatRestsIsGivenByTheLastOneAwake) {
    for (const bool all_give : {true, false}) {
        const std::string failure =
            failure_of(Resting{}, 3, [&](Resting &s, int thread, std::string &) {
                return resting_step(s, thread, all_give);
            });
        EXPECT_EQ(failure.empty(), all_give) << failure;
    }
}

struct GoingOn {
    int pc[2] = {};
    bool rests[2] = {true, true};
    int awake = 2;
    int keep = 0; // of thread 0
    auto operator<=>(const GoingOn &) const = default;
};

// Two threads of one process rest, each with a core. Thread 0 goes to sleep, and gives the first
// core that rests beyond those for whom it keeps one. Thread 1 goes on, with its own core, or, if
// that is gone, with one from elsewhere. `gives`: if it is the last one awake, it gives what rests.
Outcome going_on_step(GoingOn &s, int thread, bool gives) {
    int &pc = s.pc[thread];
    constexpr int kEnd = 10;
    if (pc == kEnd)
        return Outcome::ended;
    if (thread == 0) {
        if (pc == 0) {
            s.keep = --s.awake;
            pc = 1;
        } else if (pc == 1) {
            pc = s.rests[0] + s.rests[1] > s.keep ? 2 : kEnd;
        } else {
            (s.rests[0] ? s.rests[0] : s.rests[1]) = false;
            pc = kEnd;
        }
        return Outcome::ran;
    }
    if (pc == 0) {
        s.rests[1] = false;
        pc = 1;
    } else if (pc == 1) {
        pc = --s.awake == 0 && gives ? 2 : kEnd;
    } else {
        s.rests[0] = s.rests[1] = false;
        pc = kEnd;
    }
    return Outcome::ran;
}

TEST(Interleavings, NothingRestsWhenNobodyIsAwake) {
    for (const bool gives : {true, false}) {
        const std::string failure =
            failure_of(GoingOn{}, 2, [&](GoingOn &s, int thread, std::string &broken) {
                const Outcome outcome = going_on_step(s, thread, gives);
                if (s.pc[0] == 10 && s.pc[1] == 10 && (s.rests[0] || s.rests[1]))
                    broken = "a core rests with nobody";
                return outcome;
            });
        EXPECT_EQ(failure.empty(), gives) << failure;
    }
}

} // namespace
} // namespace sennit::model
