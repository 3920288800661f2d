// SPDX-License-Identifier: Apache-2.0
// The hand-shakes of task, sched and omp, step by step as the code does them, in every
// interleaving. Each model also has a version with one step left out or exchanged, which the
// checker must refuse.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

// ---- children: Task::pending, ChildrenCondition, last_reference (task/) ---------------------

constexpr int kWaiting = 1, kEnded = 2, kChild = 4;

struct Children {
    int pc[4] = {};
    int pending = 0, spawned = 3; // the parent's own count, not folded yet
    int cell = 0;                 // 0 empty, 1 armed, 2 signalled
    int left[4] = {};             // what a child found
    bool waits = true;            // the parent has a taskwait
    bool ready = false, withdrew = false, freed = false;
    auto operator<=>(const Children &) const = default;
};

// Thread 0 is the parent, which folds when it waits or ends; 1 to 3 are children elsewhere.
Outcome children_step(Children &s, int thread, std::string &broken, bool arms_first) {
    int &pc = s.pc[thread];
    const auto free_parent = [&] {
        if (s.freed)
            broken = "freed twice";
        s.freed = true;
    };
    if (thread == 0) {
        switch (pc) {
        case 0: // done()
            pc = !s.waits || s.pending / kChild + s.spawned == 0 ? 6 : 1;
            return Outcome::ran;
        case 1:
            if (arms_first)
                s.cell = 1;
            pc = 2;
            return Outcome::ran;
        case 2: // arm(): fold
            s.pending += s.spawned * kChild + kWaiting;
            s.spawned = 0;
            pc = s.pending == kWaiting ? 5 : 3;
            return Outcome::ran;
        case 3:
            if (!arms_first)
                s.cell = 1;
            pc = 4;
            return Outcome::ran;
        case 4: // parked; without memory for a stack it may try to withdraw, once
            if (s.ready) {
                s.ready = false;
                pc = 5;
                return Outcome::ran;
            }
            if (s.withdrew)
                return Outcome::waits;
            s.withdrew = true;
            if (s.pending == kWaiting) // disarm() fails: the signal is under way
                return Outcome::ran;
            s.pending -= kWaiting;
            s.cell = 0;
            pc = 0;
            return Outcome::ran;
        case 5: // finish() or withdraw()
            s.pending -= kWaiting;
            pc = 6;
            return Outcome::ran;
        case 6: // last_reference(): the quick look
            if (s.waits && s.pending + s.spawned * kChild != 0)
                broken = "went on before its children";
            pc = s.spawned == 0 && s.pending == 0 ? 8 : 7;
            return Outcome::ran;
        case 7:
            s.pending += s.spawned * kChild + kEnded;
            s.spawned = 0;
            pc = s.pending == kEnded ? 8 : 9;
            return Outcome::ran;
        case 8:
            free_parent();
            pc = 9;
            return Outcome::ran;
        default:
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0:
        if (s.freed)
            broken = "a child touched a freed parent";
        s.pending -= kChild;
        s.left[thread] = s.pending;
        pc = s.pending == kWaiting ? 1 : s.pending == kEnded ? 2 : 3;
        return Outcome::ran;
    case 1: // signal()
        if (s.cell == 1)
            s.ready = true;
        s.cell = 2;
        pc = 3;
        return Outcome::ran;
    case 2:
        free_parent();
        pc = 3;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, AParentWaitsForItsChildrenAndIsFreedOnce) {
    for (const bool waits : {true, false}) {
        Children start;
        start.waits = waits;
        EXPECT_EQ(failure_of(start, 4, children_step, true), "");
    }
}

TEST(Interleavings, ChildrenThatFindTheCellUnarmedWouldLoseTheSignal) {
    EXPECT_NE(failure_of(Children{}, 4, children_step, false), "");
}

// ---- dependences: successor lists and `missing` (tasks/task/depend.cpp)
// ----------------------------

constexpr int kBias = 100, kClosed = -1;

struct Edges {
    int pc[3] = {};
    int list[2] = {}; // of each predecessor: 0 empty, 1 with our edge, kClosed
    int loaded = 0;   // by the creator
    int at = 0;       // the predecessor that it is connecting
    int edges = 0;
    int missing = kBias;
    int found[3] = {};
    int ready = 0;
    auto operator<=>(const Edges &) const = default;
};

// Thread 0 creates the successor; 1 and 2 complete.
Outcome edges_step(Edges &s, int thread, std::string &broken, int bias) {
    int &pc = s.pc[thread];
    const auto ready = [&] {
        if (s.list[0] != kClosed || s.list[1] != kClosed)
            broken = "ready before its predecessors";
        if (++s.ready > 1)
            broken = "ready twice";
    };
    const auto release = [&](int amount) {
        s.missing -= amount;
        if (s.missing == 0)
            ready();
    };
    if (thread == 0) {
        switch (pc) {
        case 0:
            if (s.at == 2) {
                pc = 2;
                return Outcome::ran;
            }
            s.loaded = s.list[s.at];
            if (s.loaded == kClosed)
                ++s.at;
            else
                pc = 1;
            return Outcome::ran;
        case 1: // compare and exchange
            if (s.list[s.at] == s.loaded) {
                s.list[s.at] = 1;
                ++s.edges;
                ++s.at;
            }
            pc = 0;
            return Outcome::ran;
        case 2:
            release(bias - s.edges);
            pc = 3;
            return Outcome::ran;
        default:
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0: // close the list
        s.found[thread] = s.list[thread - 1];
        s.list[thread - 1] = kClosed;
        pc = s.found[thread] == 1 ? 1 : 3;
        return Outcome::ran;
    case 1: // is just its own missing? Then it does not write.
        if (s.missing == 1)
            ready();
        pc = s.missing == 1 ? 3 : 2;
        return Outcome::ran;
    case 2:
        release(1);
        pc = 3;
        return Outcome::ran;
    default:
        if (s.pc[0] == 3 && s.pc[1] == 3 && s.pc[2] == 3 && s.ready != 1)
            broken = "never ready";
        return Outcome::ended;
    }
}

TEST(Interleavings, ASuccessorIsReadyOnceAndAfterItsPredecessors) {
    EXPECT_EQ(failure_of(Edges{}, 3, edges_step, kBias), "");
}

TEST(Interleavings, WithoutBiasItWouldBeReadyTooEarly) {
    Edges start;
    start.missing = 1;
    EXPECT_NE(failure_of(start, 3, edges_step, 1), "");
}

// ---- the event of a discarded task: all_events, fulfil_events (tasks/task/execute.cpp)
// -------------

struct Discarded {
    int pc[2] = {};
    int events = 2, pending = 0;
    bool freed = false;
    auto operator<=>(const Discarded &) const = default;
};

// Thread 0 discards and completes the task, 1 fulfils its event.
Outcome discarded_step(Discarded &s, int thread, std::string &broken, bool holds) {
    int &pc = s.pc[thread];
    const auto touch = [&] {
        if (s.freed)
            broken = "touched after it was freed";
    };
    const auto release = [&] {
        touch();
        s.freed = true;
    };
    if (thread == 0) {
        touch();
        switch (pc) {
        case 0:
            s.pending += holds ? kChild : 0;
            pc = 1;
            return Outcome::ran;
        case 1: // is the rest its own? Then it does not write.
            pc = s.events == 1 ? 2 : 7;
            return Outcome::ran;
        case 7:
            pc = --s.events == 0 ? 2 : 3;
            return Outcome::ran;
        case 2:
            s.pending -= holds ? kChild : 0;
            pc = 3;
            return Outcome::ran;
        case 3:
            pc = s.pending == 0 ? 5 : 4;
            return Outcome::ran;
        case 4:
            s.pending += kEnded;
            pc = s.pending == kEnded ? 5 : 6;
            return Outcome::ran;
        case 5:
            release();
            pc = 6;
            return Outcome::ran;
        default:
            broken.clear();
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0:
        touch();
        pc = s.events == 1 ? 1 : 4;
        return Outcome::ran;
    case 4:
        touch();
        pc = --s.events == 0 ? 1 : 3;
        return Outcome::ran;
    case 1:
        touch();
        s.pending -= kChild;
        pc = s.pending == kEnded ? 2 : 3;
        return Outcome::ran;
    case 2:
        release();
        pc = 3;
        return Outcome::ran;
    default:
        if (s.pc[0] == 6 && !s.freed)
            broken = "never freed";
        return Outcome::ended;
    }
}

TEST(Interleavings, ADiscardedTaskIsFreedOnceWhenItsEventComesEarlyOrLate) {
    EXPECT_EQ(failure_of(Discarded{}, 2, discarded_step, true), "");
    EXPECT_NE(failure_of(Discarded{}, 2, discarded_step, false), "");
}

// ---- the events of a task: all_events, fulfil, take (tasks/task/execute.cpp)
// ----------------------

struct Events {
    int pc[3] = {};
    int events = 3;
    int listed = 0; // 1: among those that wait, 2: no more
    int completed = 0;
    auto operator<=>(const Events &) const = default;
};

// Thread 0 ends the body; 1 and 2 fulfil an event each. `looks_late`: who looks whether the rest is
// its own does so after it has subtracted.
Outcome events_step(Events &s, int thread, std::string &broken, bool looks_late) {
    int &pc = s.pc[thread];
    const auto last = [&] {
        if (s.listed == 1)
            s.listed = 2;
        if (s.pc[0] != 4 && thread != 0)
            broken = "complete before its body has ended";
        if (++s.completed > 1)
            broken = "complete twice";
        pc = 4;
    };
    switch (pc) {
    case 0: // has everything come? The body alone lists the task
        if (thread == 0 && s.events == 1)
            last();
        else
            pc = thread == 0 ? 1 : 2;
        return Outcome::ran;
    case 1:
        s.listed = 1;
        pc = 2;
        return Outcome::ran;
    case 2: // is the rest its own? Then it does not write
        if (looks_late)
            --s.events;
        if (s.events == (looks_late ? 0 : 1))
            last();
        else
            pc = 3;
        return Outcome::ran;
    case 3:
        --s.events;
        if (s.events == 0)
            last();
        else
            pc = 4;
        return Outcome::ran;
    default:
        if (s.pc[0] == 4 && s.pc[1] == 4 && s.pc[2] == 4 && (s.completed != 1 || s.listed == 1))
            broken = "never complete, or still listed";
        return Outcome::ended;
    }
}

TEST(Interleavings, ATaskIsCompleteOnceAllItsEventsAreFulfilled) {
    EXPECT_EQ(failure_of(Events{}, 3, events_step, false), "");
    EXPECT_NE(failure_of(Events{}, 3, events_step, true), "");
}

// ---- the creator of an undeferred task waits: await_bound_events, fulfil (tasks/task/execute.cpp)
// ------

struct Held {
    int pc[4] = {};
    int bound = 2;
    int detach = 1;
    bool holds = false;
    int signals = 0;
    auto operator<=>(const Held &) const = default;
};

// Thread 0 is the creator; 1 and 2 fulfil an event that the body has bound each, 3 that of detach.
// `two_words`: that the creator waits is no part of the word of the events.
Outcome held_step(Held &s, int thread, std::string &broken, bool two_words) {
    int &pc = s.pc[thread];
    if (thread > 0) {
        const auto signal_if = [&](bool last) {
            if (last && ++s.signals > 1)
                broken = "signalled twice";
        };
        switch (pc) {
        case 0:
            thread == 3 ? --s.detach : --s.bound;
            if (!two_words)
                signal_if(thread != 3 && s.bound == 0 && s.holds);
            pc = two_words && thread != 3 && s.bound == 0 ? 1 : 2;
            return Outcome::ran;
        case 1:
            signal_if(s.holds);
            pc = 2;
            return Outcome::ran;
        default:
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0:
        pc = s.bound == 0 ? 4 : two_words ? 1 : 2;
        return Outcome::ran;
    case 1: // is anything left?
        pc = s.bound == 0 ? 4 : 2;
        return Outcome::ran;
    case 2:
        s.holds = true;
        pc = !two_words && s.bound == 0 ? 4 : 3;
        return Outcome::ran;
    case 3:
        if (s.signals == 0)
            return Outcome::waits;
        pc = 4;
        return Outcome::ran;
    case 4: // it goes on
        if (s.bound != 0)
            broken = "goes on too early";
        pc = 5;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, TheCreatorOfAnUndeferredTaskWaitsForWhatTheTaskHasBound) {
    EXPECT_EQ(failure_of(Held{}, 4, held_step, false), "");
    EXPECT_NE(failure_of(Held{}, 4, held_step, true), "");
}

} // namespace
} // namespace sennit::model
