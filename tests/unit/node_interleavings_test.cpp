// SPDX-License-Identifier: Apache-2.0
// Hand-shakes between processes on the board of a node, step by step as the code does them. Each
// model also has a version with a step in the wrong place, which the checker must refuse.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

// ---- doorbells: Bell::ring, arm, sleep (node/bell.h); Vigil (mpi/crowd/vigil.cpp) --------------

struct Bells {
    int pc[4] = {};
    int armed = 0, rings = 0;
    int seen[2] = {};
    bool message[2] = {};
    auto operator<=>(const Bells &) const = default;
};

// Threads 0 and 1 of a rank wait on its bell for a message each, 2 and 3 send one each.
Outcome bell_step(Bells &s, int thread, bool right) {
    int &pc = s.pc[thread];
    if (thread < 2) {
        switch (pc) {
        case 0:
            s.seen[thread] = s.rings;
            pc = 1;
            return Outcome::ran;
        case 1:
        case 2: // say that it sleeps, then look once more; the wrong one looks first
            if ((pc == 1) == right)
                s.armed = 1;
            else if (s.message[thread])
                pc = 9;
            ++pc;
            return Outcome::ran;
        case 3: // the futex, without a timer
            if (s.rings == s.seen[thread])
                return Outcome::waits;
            pc = s.message[thread] ? 10 : 0;
            return Outcome::ran;
        default:
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0:
        s.message[thread - 2] = true;
        pc = 1;
        return Outcome::ran;
    case 1:
        pc = s.armed != 0 ? 2 : 10;
        return Outcome::ran;
    case 2: // of several that ring, one wakes
        pc = s.armed != 0 ? 3 : 10;
        s.armed = 0;
        return Outcome::ran;
    case 3:
        ++s.rings;
        pc = 10;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, WhoSleepsOnABellHearsOfItsMessage) {
    for (const bool right : {true, false}) {
        const std::string failure =
            failure_of(Bells{}, 4, [&](Bells &s, int thread, std::string &) {
                return bell_step(s, thread, right);
            });
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

// ---- slots of the dead: Board::sweep, join (node/board.cpp) ------------------------------------

struct Sweeping {
    int pc[3] = {};
    int holder = 9; // 9: has died
    int job = 7;    // what the dead one has left
    bool clearing[2] = {};
    auto operator<=>(const Sweeping &) const = default;
};

// Threads 0 and 1 sweep, 2 joins. The wrong sweeper clears what it has only looked at.
Outcome sweeping_step(Sweeping &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    constexpr int kEnd = 10;
    if (pc == kEnd)
        return Outcome::ended;
    if (thread == 2) {
        if (pc == 0) { // claim it when it is free
            if (s.holder != 0)
                return Outcome::waits;
            s.holder = 3;
            pc = 1;
            return Outcome::ran;
        }
        s.job = 8; // tells the rest
        pc = kEnd;
        return Outcome::ran;
    }
    switch (pc) {
    case 0: // who holds it has died?
        pc = s.holder == 9 ? 1 : kEnd;
        return Outcome::ran;
    case 1: // take it over
        if (right && s.holder != 9) {
            pc = kEnd;
            return Outcome::ran;
        }
        s.holder = right ? thread + 1 : s.holder;
        pc = 2;
        return Outcome::ran;
    case 2:
        if (s.job == 8)
            broken = "what a living process tells is cleared";
        s.job = 0;
        pc = 3;
        return Outcome::ran;
    default:
        if (s.holder == 3)
            broken = "a living process loses its slot";
        s.holder = 0;
        pc = kEnd;
        return Outcome::ran;
    }
}

TEST(Interleavings, ASlotOfTheDeadIsFreedOnce) {
    for (const bool right : {true, false}) {
        const std::string failure =
            failure_of(Sweeping{}, 3, [&](Sweeping &s, int thread, std::string &broken) {
                return sweeping_step(s, thread, broken, right);
            });
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

} // namespace
} // namespace sennit::model
