// SPDX-License-Identifier: Apache-2.0
// Hand-shakes of ranks that sleep on their bells, step by step as the code does them. Each model
// also has a version with a step in the wrong place, which the checker must refuse.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

// ---- sends that need the receiver: node/board.h -----------------------------------------------

// Threads 0 and 1 send, and sleep until the receiver, thread 2, has taken their messages.
struct Askers {
    int pc[3] = {};
    bool taken[2] = {};
    bool asks[2] = {};
    bool marked = false;
    bool armed[2] = {};
    int rings[2] = {};
    int seen[2] = {};
    auto operator<=>(const Askers &) const = default;
};

Outcome asker_step(Askers &s, int sender, bool right) {
    int &pc = s.pc[sender];
    switch (pc) {
    case 0:
        s.asks[sender] = true;
        pc = 1;
        return Outcome::ran;
    case 1:
    case 2: // arm the bell, then mark the receiver; the wrong one marks first
        if ((pc == 1) == right) {
            s.seen[sender] = s.rings[sender];
            s.armed[sender] = true;
        } else {
            s.marked = true;
        }
        ++pc;
        return Outcome::ran;
    case 3: // a test
        pc = s.taken[sender] ? 5 : 4;
        return Outcome::ran;
    case 4: // the futex, without a timer
        if (s.rings[sender] == s.seen[sender])
            return Outcome::waits;
        pc = s.taken[sender] ? 5 : 0;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

// Takes a message, leaves MPI, and rings those that ask; then the same with the other one.
Outcome receiver_step(Askers &s) {
    int &pc = s.pc[2];
    constexpr int steps = 4; // a message
    if (pc == 2 * steps)
        return Outcome::ended;
    const int step = pc % steps;
    if (step == 0) {
        s.taken[pc / steps] = true;
        ++pc;
    } else if (step == 1) {
        pc += s.marked ? 1 : 3;
        s.marked = false;
    } else {
        const int sender = step - 2;
        if (s.asks[sender] && s.armed[sender]) {
            s.armed[sender] = false;
            ++s.rings[sender];
        }
        ++pc;
    }
    return Outcome::ran;
}

TEST(Interleavings, WhoAsksForAnAnswerIsRung) {
    for (const bool right : {true, false}) {
        const std::string failure =
            failure_of(Askers{}, 3, [&](Askers &s, int thread, std::string &) {
                return thread < 2 ? asker_step(s, thread, right) : receiver_step(s);
            });
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

// ---- both ends of a long message: Vigil::arm (mpi/crowd/vigil.cpp) -----------------------------

constexpr int kPieces = 3;

struct Ends {
    int pc[2] = {};
    int armed[2] = {};
    int rings[2] = {};
    int seen[2] = {};
    int moved = 0; // pieces, by the test of one end and the other in turns
    auto operator<=>(const Ends &) const = default;
};

void test_message(Ends &s, int end) {
    if (s.moved < kPieces && s.moved % 2 == end)
        ++s.moved;
}

// Neither has a timer. The ring is one step: schedules.Bell.* runs it. The wrong end rings
// before it arms its bell.
Outcome end_step(Ends &s, int end, bool right) {
    int &pc = s.pc[end];
    const int other = 1 - end;
    switch (pc) {
    case 0:
    case 1:
        if ((pc == 0) == right) {
            s.seen[end] = s.rings[end];
            s.armed[end] = 1;
        } else if (s.armed[other] != 0) {
            s.armed[other] = 0;
            ++s.rings[other];
        }
        ++pc;
        return Outcome::ran;
    case 2:
        test_message(s, end);
        pc = s.moved == kPieces ? 9 : 3;
        return Outcome::ran;
    case 3: // at the end of the message, a timer wakes the one that sleeps
        if (s.rings[end] == s.seen[end] && s.moved < kPieces)
            return Outcome::waits;
        pc = 4;
        return Outcome::ran;
    case 4: // woken, it tests before it arms
        test_message(s, end);
        pc = s.moved == kPieces ? 9 : 0;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, BothEndsOfALongMessageDoNotSleepAtOnce) {
    for (const bool right : {true, false}) {
        const std::string failure = failure_of(
            Ends{}, 2, [&](Ends &s, int end, std::string &) { return end_step(s, end, right); });
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

} // namespace
} // namespace sennit::model
