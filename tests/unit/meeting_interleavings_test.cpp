// SPDX-License-Identifier: Apache-2.0
// Ranks that meet on the board of a node, step by step as the code does it. Each model also has a
// version with a step in the wrong place, which the checker must refuse.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

// ---- calls without messages: Assembly (node/assembly.h), AssembledCall (mpi/crowd/assembled.cpp)

constexpr int kMembers = 3, kCalls = 2;

struct Meeting {
    int pc[kMembers] = {};
    int call[kMembers] = {1, 1, 1}; // the one that the member is in, or comes to
    int here = 0, over = 0;
    int part[kMembers] = {};
    int result = 0;
    bool armed[kMembers] = {};
    bool rung[kMembers] = {};
    int next[kMembers] = {}; // whom the last one rings next
    auto operator<=>(const Meeting &) const = default;
};

enum class Slip { none, looks_before_arming, ends_before_the_result, leaves_early, clears_late };

// Each member comes to kCalls calls: 1 for its part, and the sum is the number of members. A part
// is its call's number, so that one of another call is found out.
Outcome meeting_step(Meeting &s, int member, std::string &broken, Slip slip) {
    int &pc = s.pc[member];
    int &call = s.call[member];
    const auto to = [&](int next) {
        pc = next;
        return Outcome::ran;
    };
    switch (pc) {
    case 0: // lays its part down
        s.part[member] = call;
        return to(1);
    case 1: // counts itself
        return to(++s.here == kMembers ? 10 : slip == Slip::looks_before_arming ? 3 : 2);
    case 2: // arms its bell
        s.rung[member] = false;
        s.armed[member] = true;
        return to(slip == Slip::looks_before_arming ? 4 : 3);
    case 3: // is it over?
        if (s.over == call)
            return to(5);
        if (slip == Slip::leaves_early && call == 1)
            return to(5);
        return to(slip == Slip::looks_before_arming ? 2 : 4);
    case 4: // sleeps, without a timer
        if (!s.rung[member])
            return Outcome::waits;
        s.armed[member] = false;
        return to(slip == Slip::looks_before_arming ? 3 : 2);
    case 5: // takes the result
        if (s.result != kMembers * call)
            broken = "a result of another call";
        s.armed[member] = false;
        return to(++call > kCalls ? 20 : 0);
    case 10: // the last one
        if (slip == Slip::ends_before_the_result) {
            s.over = call;
            return to(11);
        }
        [[fallthrough]];
    case 11: {
        int sum = 0;
        for (const int part : s.part)
            sum += part;
        s.result = sum;
        return to(12);
    }
    case 12:
    case 13: // `here` for the next call, then lets the others go
        if ((pc == 12) == (slip != Slip::clears_late))
            s.here = 0;
        else
            s.over = call;
        s.next[member] = 0;
        return to(pc + 1);
    case 14: // rings all, one after the other: Bells, above, is the model of a ring
        if (s.next[member] == kMembers)
            return to(5);
        s.rung[s.next[member]] = s.rung[s.next[member]] || s.armed[s.next[member]];
        ++s.next[member];
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, RanksThatMeetTakeTheResultOfTheirCall) {
    for (const Slip slip : {Slip::none, Slip::looks_before_arming, Slip::ends_before_the_result,
                            Slip::leaves_early, Slip::clears_late}) {
        const std::string failure =
            failure_of(Meeting{}, kMembers, [&](Meeting &s, int member, std::string &broken) {
                return meeting_step(s, member, broken, slip);
            });
        EXPECT_EQ(failure.empty(), slip == Slip::none) << static_cast<int>(slip) << failure;
    }
}

// The agreement on a new communicator (mpi/crowd/children.cpp): each member brings its offer to a
// call, reads those of all, and comes to a second call. Then it brings something else to a third
// one. What the last one to come does is one step: the model above has its parts.
struct Exchange {
    int pc[kMembers] = {};
    int here = 0, over = 0;
    int part[kMembers] = {};
    int next[kMembers] = {}; // whose offer the member reads next
    auto operator<=>(const Exchange &) const = default;
};

Outcome exchange_step(Exchange &s, int member, std::string &broken, bool meets_again) {
    int &pc = s.pc[member];
    const auto to = [&](int next) {
        pc = next;
        return Outcome::ran;
    };
    const auto come = [&](int call) {
        if (++s.here == kMembers) {
            s.here = 0;
            s.over = call;
        }
        return to(pc + 1);
    };
    constexpr int offer = 1, other = 3;
    switch (pc) {
    case 0:
        s.part[member] = offer;
        return to(1);
    case 1:
        return come(1);
    case 2:
        return s.over < 1 ? Outcome::waits : to(3);
    case 3:
        if (s.part[s.next[member]] != offer)
            broken = "what was brought to another call";
        return ++s.next[member] < kMembers ? Outcome::ran : to(meets_again ? 4 : 6);
    case 4:
        return come(2);
    case 5:
        return s.over < 2 ? Outcome::waits : to(6);
    case 6:
        s.part[member] = other;
        return to(7);
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, RanksThatAgreeReadTheOffersOfAll) {
    for (const bool right : {true, false}) {
        const std::string failure =
            failure_of(Exchange{}, kMembers, [&](Exchange &s, int member, std::string &broken) {
                return exchange_step(s, member, broken, right);
            });
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

// Two threads of one rank, whose calls have the numbers 1 and 2: the second comes to its call when
// the first is through with its own. Here that one is over at once.
struct InTurn {
    int pc[2] = {};
    int next = 1, through = 0; // call 1 has its number
    bool armed = false, rung = false;
    auto operator<=>(const InTurn &) const = default;
};

Outcome in_turn_step(InTurn &s, int thread, bool says_first) {
    int &pc = s.pc[thread];
    const auto to = [&](int next) {
        pc = next;
        return Outcome::ran;
    };
    if (thread == 0) {
        switch (pc) {
        case 0:
        case 1: // is through; does anybody come after it?
            if ((pc == 0) == says_first) {
                s.through = 1;
                return to(pc + 1);
            }
            return s.next == 1 ? to(says_first ? 10 : 3) : to(pc + 1);
        case 2:
            s.rung = s.rung || s.armed;
            return to(10);
        case 3:
            s.through = 1;
            return to(10);
        default:
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0: // takes its number
        s.next = 2;
        return to(1);
    case 1: // its turn?
    case 3:
        return to(s.through == 1 ? 10 : pc + 1);
    case 2:
        s.rung = false;
        s.armed = true;
        return to(3);
    case 4:
        if (!s.rung)
            return Outcome::waits;
        return to(2);
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, TheNextCallOfARankHearsOfItsTurn) {
    for (const bool right : {true, false}) {
        const std::string failure =
            failure_of(InTurn{}, 2, [&](InTurn &s, int thread, std::string &) {
                return in_turn_step(s, thread, right);
            });
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

} // namespace
} // namespace sennit::model
