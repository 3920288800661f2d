// SPDX-License-Identifier: Apache-2.0
// What processes that may be killed at any step leave on the board of a node, and how a core comes
// back to its owner, step by step as the code does it. Each model also has versions with a step in
// the wrong place, which the checker must refuse.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

// ---- slots of the dead: Board::sweep, join, clear (node/board.cpp); CoreTable::want, release
// -----

enum Actor { kNone, kMember, kSweeper, kJoiner };

struct Dying {
    int pc[5] = {};
    bool dead[4] = {};
    Actor holder = kMember;
    bool counts = false;
    bool uses = false; // the core's word names the slot
    int wants = 0;
    bool bit = false; // Wanters
    int sum = 0;      // of what all want; only where it is a word of its own
    int taken[4] = {};
    auto operator<=>(const Dying &) const = default;
};

enum class Burial { right, clears_what_it_saw, counts_first, sum_apart, leaves_the_bit };

constexpr int kClear = 20, kCleared = 30;

// One step of Board::clear(), by whoever has the slot's `holder`.
void clear_step(Dying &s, int &pc, Actor who, std::string &broken, Burial burial) {
    const int last = kCleared - 1;
    switch (pc) {
    case kClear:
        pc = s.counts ? pc + 1 : last;
        if (burial == Burial::counts_first)
            s.counts = false;
        return;
    case kClear + 1:
        s.uses = false;
        ++pc;
        return;
    case kClear + 2:
        s.taken[who] = s.wants;
        s.wants = 0;
        ++pc;
        return;
    case kClear + 3:
        if (burial == Burial::sum_apart)
            s.sum -= s.taken[who];
        pc = kClear + 4;
        return;
    case kClear + 4:
        if (burial != Burial::leaves_the_bit)
            s.bit = false;
        pc = kClear + 5;
        return;
    case kClear + 5:
        s.counts = false;
        pc = last;
        return;
    default:
        if (s.holder == kJoiner && who != kJoiner)
            broken = "a living process loses its slot";
        s.holder = kNone;
        pc = kCleared;
    }
}

// The one who had the slot first: wants a core, has it, gives it, leaves.
Outcome member_step(Dying &s, std::string &broken, Burial burial) {
    int &pc = s.pc[0];
    const int sum = burial == Burial::sum_apart ? 1 : 0;
    switch (pc) {
    case 0:
        s.counts = true;
        break;
    case 1:
        ++s.wants;
        break;
    case 2:
        s.sum += sum;
        break;
    case 3:
        s.bit = true;
        break;
    case 4:
        s.uses = true;
        break;
    case 5:
        --s.wants;
        break;
    case 6:
        s.sum -= sum;
        break;
    case 7:
        s.bit = false;
        break;
    case 8:
        s.uses = false;
        pc = kClear;
        return Outcome::ran;
    case kCleared:
        return Outcome::ended;
    default:
        clear_step(s, pc, kMember, broken, burial);
        return Outcome::ran;
    }
    ++pc;
    return Outcome::ran;
}

// Who sweeps looks once, who joins until it has the slot.
Outcome sweep_step(Dying &s, int thread, std::string &broken, Burial burial) {
    int &pc = s.pc[thread];
    const Actor me = thread == 1 ? kSweeper : kJoiner;
    if (pc == 0) { // who holds it has died?
        if (s.dead[s.holder])
            pc = 1;
        else if (me == kSweeper)
            pc = kCleared;
        else if (s.holder == kNone)
            pc = 10;
        else
            return Outcome::waits;
        return Outcome::ran;
    }
    if (pc == 1) { // take it over
        if (burial == Burial::clears_what_it_saw)
            pc = kClear;
        else if (s.dead[s.holder])
            pc = kClear, s.holder = me;
        else
            pc = me == kSweeper ? kCleared : 0;
        return Outcome::ran;
    }
    if (pc == 10) {
        pc = s.holder == kNone ? 11 : 0;
        s.holder = s.holder == kNone ? kJoiner : s.holder;
        return Outcome::ran;
    }
    if (pc == 11) {
        if (s.counts || s.uses || s.wants != 0 || s.bit || s.sum != 0)
            broken = "a new member has what the dead one has left";
        return Outcome::ended;
    }
    if (pc == kCleared && me == kSweeper)
        return Outcome::ended;
    if (pc == kCleared)
        pc = 0;
    else
        clear_step(s, pc, me, broken, burial);
    return Outcome::ran;
}

// Thread 0 is a member, 1 sweeps, 2 joins; 3 and 4 kill the first two, at any of their steps.
Outcome dying_step(Dying &s, int thread, std::string &broken, Burial burial) {
    if (thread < 2 && s.dead[thread == 0 ? kMember : kSweeper])
        return Outcome::ended;
    if (thread == 0)
        return member_step(s, broken, burial);
    if (thread < 3)
        return sweep_step(s, thread, broken, burial);
    if (s.pc[thread]++ != 0)
        return --s.pc[thread], Outcome::ended;
    s.dead[thread == 3 ? kMember : kSweeper] = true;
    return Outcome::ran;
}

TEST(Interleavings, ASlotOfTheDeadIsFreedOnce) {
    for (const Burial burial : {Burial::right, Burial::clears_what_it_saw, Burial::counts_first,
                                Burial::sum_apart, Burial::leaves_the_bit}) {
        const std::string failure = failure_of(Dying{}, 5, dying_step, burial);
        EXPECT_EQ(failure.empty(), burial == Burial::right) << failure;
    }
}

// ---- cores that are wanted back: CoreTable::recall, Share::recall, leave ------------------------

struct Recalling {
    int pc[3] = {};
    int user = 0; // process 0 borrows the core of process 1; -1: nobody
    int use = 1;
    int mine[3] = {1, 0, 0}; // the number of its use
    bool recalled = false;
    int wants = 0; // of process 1
    bool armed = false;
    int rings = 0;
    int seen[3] = {};
    auto operator<=>(const Recalling &) const = default;
};

enum class Recall { right, never, marks_without_a_look, wants_after_the_look };

// Thread 0 borrows: at its scheduling points it leaves if it is to. `gives`: sooner, too.
Outcome borrower_step(Recalling &s, bool gives) {
    int &pc = s.pc[0];
    switch (pc) {
    case 0: // is_to_leave()
        if (!gives && !s.recalled && s.use == s.mine[0])
            return Outcome::waits; // computes
        break;
    case 1: // give()
        if (s.user == 0 && s.use == s.mine[0]) {
            s.user = -1;
            s.recalled = false;
        }
        break;
    case 2: // pass_on()
        if (s.wants != 0 && s.armed) {
            s.armed = false;
            ++s.rings;
        }
        break;
    default:
        return Outcome::ended;
    }
    ++pc;
    return Outcome::ran;
}

// Threads 1 and 2, of the owner, want the core one after the other, and give it.
Outcome owner_step(Recalling &s, int thread, std::string &broken, Recall recall) {
    int &pc = s.pc[thread];
    constexpr int kHas = 10, kEnd = 20;
    const bool says_first = recall != Recall::wants_after_the_look;
    const auto to = [&](int next) {
        pc = next;
        return Outcome::ran;
    };
    switch (pc) {
    case 0:
        s.wants += says_first ? 1 : 0;
        return to(1);
    case 1: // take()
    case 5:
        if (s.user != -1)
            return to(pc == 1 ? 2 : 7);
        s.user = 1;
        s.mine[thread] = ++s.use;
        s.recalled = false;
        return to(kHas);
    case 2: // does another process use it?
        return to(s.user == 0 && recall != Recall::never ? 3 : 4);
    case 3: // recall()
        if (recall == Recall::marks_without_a_look || s.user == 0)
            s.recalled = true;
        return to(4);
    case 4:
        s.armed = true;
        s.seen[thread] = s.rings;
        return to(says_first ? 5 : 6);
    case 6: // too late
        ++s.wants;
        return to(7);
    case 7: // sleeps, without a timer
        return s.rings == s.seen[thread] ? Outcome::waits : to(4);
    case kHas:
        s.wants -= says_first || s.seen[thread] != 0 ? 1 : 0;
        return to(kHas + 1);
    case kHas + 1: // at a scheduling point
        if (s.recalled)
            broken = "a thread of the owner is to leave its own core";
        return to(kHas + 2);
    case kHas + 2:
        s.user = -1;
        return to(kHas + 3);
    case kHas + 3:
        if (s.wants != 0 && s.armed) {
            s.armed = false;
            ++s.rings;
        }
        return to(kEnd);
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, WhoWantsItsCoreBackHasIt) {
    for (const Recall recall : {Recall::right, Recall::never, Recall::marks_without_a_look,
                                Recall::wants_after_the_look}) {
        std::string failure;
        for (const bool gives : {false, true})
            failure +=
                failure_of(Recalling{}, 3, [&](Recalling &s, int thread, std::string &broken) {
                    return thread == 0 ? borrower_step(s, gives)
                                       : owner_step(s, thread, broken, recall);
                });
        EXPECT_EQ(failure.empty(), recall == Recall::right) << failure;
    }
}

struct Slices {
    int pc[2] = {};
    bool shares = true;
    bool noted = false; // the former slice
    bool is_short = false;
    auto operator<=>(const Slices &) const = default;
};

// tasks/sched/sharing.cpp: thread 0 shortens its slice, while thread 1 ends sharing. `looks`:
// thread 0 looks afterwards whether cores are shared still.
Outcome slice_step(Slices &s, int thread, std::string &broken, bool looks) {
    int &pc = s.pc[thread];
    constexpr int kEnd = 10;
    const auto to = [&](int next) {
        pc = next;
        if (s.pc[0] == kEnd && s.pc[1] == kEnd && s.is_short)
            broken = "the slice stays short";
        return Outcome::ran;
    };
    if (pc == kEnd)
        return Outcome::ended;
    if (thread == 1) {
        switch (pc) {
        case 0:
            s.shares = false;
            return to(1);
        case 1:
            return to(std::exchange(s.noted, false) ? 2 : kEnd);
        default:
            s.is_short = false;
            return to(kEnd);
        }
    }
    switch (pc) {
    case 0:
        s.noted = true;
        return to(1);
    case 1:
        s.is_short = true;
        return to(2);
    case 2:
        return to(looks && !s.shares ? 3 : kEnd);
    case 3:
        s.noted = false;
        return to(4);
    default:
        s.is_short = false;
        return to(kEnd);
    }
}

TEST(Interleavings, NoSliceStaysShort) {
    EXPECT_EQ(failure_of(Slices{}, 2, slice_step, true), "");
    EXPECT_NE(failure_of(Slices{}, 2, slice_step, false), "");
}

} // namespace
} // namespace sennit::model
