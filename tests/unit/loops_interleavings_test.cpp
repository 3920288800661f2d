// SPDX-License-Identifier: Apache-2.0
// What the threads of a team share in a worksharing construct, step by step as the code does it:
// the ring of descriptors, the turn of an ordered loop (openmp/loops/worksharing.cpp); and in its
// team: whether it has tasks (tasks/sched/group.h), and who opens its barrier
// (openmp/team/team.cpp). Each model also has a version with two steps exchanged, which the checker
// must refuse.
#include "interleavings.h"

#include <array>
#include <compare>

namespace sennit::model {
namespace {

// ---- the ring: loop_begin, loop_end ----------------------------------------------------------

constexpr int kRing = 2;
constexpr int kConstructs = 4;
constexpr int kThreads = 2;
enum Setup : signed char { kFree, kBusy, kReady };

struct Descriptor {
    int turn = 0, left = 0, construct = -1; // the construct that it is set up for
    Setup setup = kFree;
    auto operator<=>(const Descriptor &) const = default;
};

struct Ring {
    int pc[kThreads] = {}, construct[kThreads] = {};
    std::array<Descriptor, kRing> ring{};
    auto operator<=>(const Ring &) const = default;
};

// The wrong one passes the turn on before the descriptor is free.
Outcome ring_step(Ring &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    int &construct = s.construct[thread];
    if (construct == kConstructs)
        return Outcome::ended;
    Descriptor &its = s.ring[static_cast<std::size_t>(construct % kRing)];
    switch (pc) {
    case 0:
        if (its.turn != construct)
            return Outcome::waits;
        break;
    case 1: // who claims it sets it up
        if (its.setup == kFree)
            its.setup = kBusy;
        else
            pc = 3;
        break;
    case 2:
        its.construct = construct;
        its.left = 0;
        break;
    case 3:
        its.setup = kReady;
        break;
    case 4:
        if (its.setup != kReady)
            return Outcome::waits;
        break;
    case 5: // its pieces
        if (its.construct != construct)
            broken = "a thread takes pieces of another construct";
        break;
    case 6: // who leaves last makes room for construct + kRing
        if (++its.left < kThreads) {
            ++construct;
            pc = -1;
        }
        break;
    default:
        if ((pc == 7) == right) {
            its.setup = kFree;
        } else {
            its.turn = construct + kRing;
        }
        if (pc == 8) {
            ++construct;
            pc = -1;
        }
        break;
    }
    ++pc;
    return Outcome::ran;
}

TEST(Interleavings, AWorksharingDescriptorIsForOneConstructAtATime) {
    Ring start;
    for (int i = 0; i < kRing; ++i)
        start.ring[static_cast<std::size_t>(i)].turn = i;
    for (const bool right : {true, false}) {
        const std::string failure = failure_of(start, kThreads, ring_step, right);
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

// ---- ordered: OrderedTurn, advance -----------------------------------------------------------

struct Ordered {
    int pc[3] = {};
    int first[3] = {-1, -1, -1}; // ordered_first: the piece that a thread has
    int turn = 0, parked = 0;
    bool armed[3] = {}, woken[3] = {};
    int inside = 0;
    auto operator<=>(const Ordered &) const = default;
};

// Thread i has piece i. The wrong one looks at the turn before it counts itself as parked.
Outcome ordered_step(Ordered &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    switch (pc) {
    case 0:
        s.first[thread] = thread;
        pc = 1;
        return Outcome::ran;
    case 1: // done()?
        pc = s.turn >= thread ? 6 : 2;
        return Outcome::ran;
    case 2:
        s.woken[thread] = false;
        s.armed[thread] = true;
        pc = 3;
        return Outcome::ran;
    case 3:
    case 4: // count, then look; the wrong one looks first
        if ((pc == 3) == right)
            ++s.parked;
        else if (s.turn >= thread) {
            s.armed[thread] = false;
            s.parked -= right;
            pc = 5;
        }
        ++pc;
        return Outcome::ran;
    case 5:
        if (!s.woken[thread])
            return Outcome::waits;
        --s.parked;
        pc = 1;
        return Outcome::ran;
    case 6:
        if (++s.inside > 1 || s.turn != thread)
            broken = "a piece is out of order";
        pc = 7;
        return Outcome::ran;
    case 7: // advance()
        --s.inside;
        s.turn = thread + 1;
        pc = 8;
        return Outcome::ran;
    case 8:
        pc = s.parked == 0 ? 10 : 9;
        return Outcome::ran;
    case 9: // signal_if_armed
        for (int i = 0; i < 3; ++i)
            if (s.first[i] == thread + 1 && s.armed[i]) {
                s.armed[i] = false;
                s.woken[i] = true;
            }
        pc = 10;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, AnOrderedTurnReachesWhoSleeps) {
    for (const bool right : {true, false}) {
        const std::string failure = failure_of(Ordered{}, 3, ordered_step, right);
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

// ---- has the team tasks: Group::note_tasks ---------------------------------------------------

struct Noting {
    int pc[2] = {};
    bool has_tasks = false;
    int groups = 0; // g_groups_with_tasks
    auto operator<=>(const Noting &) const = default;
};

// Two threads create the team's first tasks. The wrong one counts after it is seen.
Outcome noting_step(Noting &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    switch (pc) {
    case 0:
        pc = s.has_tasks ? 4 : 1;
        return Outcome::ran;
    case 1:
    case 2:
        if ((pc == 1) == right) {
            ++s.groups;
            ++pc;
        } else {
            pc = s.has_tasks ? 3 : right ? 4 : 2;
            s.has_tasks = true;
        }
        return Outcome::ran;
    case 3: // the other one was first
        s.groups -= right;
        pc = 4;
        return Outcome::ran;
    case 4: // its task runs, and asks whether there may be tasks
        if (s.groups == 0)
            broken = "a task runs, and no group has tasks";
        pc = 5;
        return Outcome::ran;
    default:
        if (s.pc[0] == 5 && s.pc[1] == 5 && s.groups != 1)
            broken = "a group is counted twice";
        return Outcome::ended;
    }
}

TEST(Interleavings, AGroupWithTasksIsCountedOnce) {
    for (const bool right : {true, false}) {
        const std::string failure = failure_of(Noting{}, 2, noting_step, right);
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

// ---- and no more: Group::forget_tasks in Team::settle ---------------------------------------

struct Forgetting {
    int pc[2] = {}, rounds[2] = {};
    bool has_tasks = false;
    int groups = 0; // g_groups_with_tasks
    int arrived = 0, epoch = 0;
    auto operator<=>(const Forgetting &) const = default;
};

// In each of two rounds both threads create a task, run it and come to the barrier. The wrong one
// opens the gate before it forgets.
Outcome forgetting_step(Forgetting &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    switch (pc) {
    case 0: // note_tasks()
        pc = s.has_tasks ? 4 : 1;
        return Outcome::ran;
    case 1:
        ++s.groups;
        pc = 2;
        return Outcome::ran;
    case 2:
        pc = s.has_tasks ? 3 : 4;
        s.has_tasks = true;
        return Outcome::ran;
    case 3:
        --s.groups;
        pc = 4;
        return Outcome::ran;
    case 4: // its task runs, and may create others
        if (s.groups == 0 || !s.has_tasks)
            broken = "a task runs, and no group has tasks";
        pc = 5;
        return Outcome::ran;
    case 5:
        ++s.arrived;
        pc = 6;
        return Outcome::ran;
    case 6: // settle()
        pc = s.arrived == 2 ? (right ? 7 : 9) : 10;
        if (s.arrived == 2)
            s.arrived = 0;
        return Outcome::ran;
    case 7:
        s.has_tasks = false;
        pc = 8;
        return Outcome::ran;
    case 8:
        --s.groups;
        pc = right ? 9 : 10;
        return Outcome::ran;
    case 9:
        ++s.epoch;
        pc = right ? 10 : 7;
        return Outcome::ran;
    case 10: // the gate
        if (s.epoch == s.rounds[thread])
            return s.arrived == 2 ? (pc = 6, Outcome::ran) : Outcome::waits;
        pc = ++s.rounds[thread] < 2 ? 0 : 11;
        return Outcome::ran;
    default:
        if (s.pc[0] == 11 && s.pc[1] == 11 && (s.groups != 0 || s.has_tasks))
            broken = "a group without tasks is counted";
        return Outcome::ended;
    }
}

TEST(Interleavings, AGroupIsForgottenBeforeItsNextTasks) {
    for (const bool right : {true, false}) {
        const std::string failure = failure_of(Forgetting{}, 2, forgetting_step, right);
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

// ---- who opens the barrier: arrive, Team::settle (openmp/team/team.cpp) -------------------------

constexpr int kTeam = 3;
constexpr int kJoin = 16;

struct Arrivals {
    int pc[kTeam] = {}, seen[kTeam] = {}, all[kTeam] = {};
    bool at_join[kTeam] = {}, cancels = false; // does thread 0 cancel the region?
    int arrived = 0, epoch = 0;
    bool cancelled = false;
    int before_join = kTeam, at_barrier = 0; // threads, for the rules
    auto operator<=>(const Arrivals &) const = default;
};

// Each thread comes to a barrier and to the join, or is let through the barrier of a cancelled
// region. The wrong one opens the gate without the exchange that decides.
Outcome arrivals_step(Arrivals &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    const auto counted = [&](int all) { return s.cancelled ? all / kJoin : all % kJoin; };
    switch (pc) {
    case 0: // the thread that cancels goes to the join at once
        if (thread == 0 && s.cancels) {
            s.cancelled = true;
            s.at_join[thread] = true;
        }
        pc = 1;
        return Outcome::ran;
    case 1:
        s.seen[thread] = s.epoch;
        pc = 2;
        return Outcome::ran;
    case 2: // arrive()
        s.at_barrier += !s.at_join[thread];
        s.before_join -= s.at_join[thread];
        s.arrived += 1 + (s.at_join[thread] ? kJoin : 0);
        pc = 3;
        return Outcome::ran;
    case 3: // can_settle(), settle(): first a look at the arrivals,
        s.all[thread] = s.arrived;
        pc = 4;
        return Outcome::ran;
    case 4: // then at the region
        pc = counted(s.all[thread]) == kTeam ? 5 : 7;
        return Outcome::ran;
    case 5: // then the exchange
        if (right && s.arrived != s.all[thread]) {
            pc = 7;
            return Outcome::ran;
        }
        s.arrived = 0;
        pc = 6;
        return Outcome::ran;
    case 6:
        ++s.epoch;
        pc = 7;
        return Outcome::ran;
    case 7: // the gate
        if (s.epoch == s.seen[thread] && (s.at_join[thread] || !s.cancelled))
            return counted(s.arrived) == kTeam ? (pc = 3, Outcome::ran) : Outcome::waits;
        if (s.at_join[thread] ? s.before_join > 0 : !s.cancelled && s.at_barrier < kTeam)
            broken = "a thread goes on before the others have come";
        pc = s.at_join[thread] ? 8 : 1;
        s.at_join[thread] = true;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, ABarrierOpensOnceWhenAllHaveCome) {
    for (const bool right : {true, false})
        for (const bool cancels : {false, true}) {
            Arrivals start;
            start.cancels = cancels;
            const std::string failure = failure_of(start, kTeam, arrivals_step, right);
            // A gate that opens twice does no harm where only the join opens it.
            EXPECT_EQ(failure.empty(), right || cancels) << failure << ", cancelled: " << cancels;
        }
}

} // namespace
} // namespace sennit::model
