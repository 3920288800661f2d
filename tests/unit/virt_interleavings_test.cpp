// SPDX-License-Identifier: Apache-2.0
// Rank fibers: a fiber that leaves its home, or a worker, to wait; those that ring for it; and the
// workers, which may all sleep (ranks/fibers/turns.h: Turns::ring, parked, Crew::settle,
// Crew::take_rung, Crew::idle); and workers that ask for cores. No time limit makes up for a lost
// wake-up here. The checker must refuse steps that are done the wrong way round.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

constexpr int kRingers = 2;
constexpr int kWorkers = 2;
constexpr int kHome = kRingers + kWorkers; // the home thread
constexpr int kWatcher = kHome + 1;        // Crew::tick
constexpr int kKiller = kWatcher + 1;
constexpr int kThreads = kKiller + 1;

enum class Way {
    right,
    looks_before_it_waits,    // the home thread
    clears_after_it_looked,   // take_rung()
    does_not_look,            // settle()
    says_that_it_sleeps_late, // idle()
    marks_then_lists,         // a ring in two steps
};
enum class Stage { away, waiting, ready, running };

struct FiberTurns {
    int changed = 0; // the fiber goes on for good when all have changed something
    int seen_changes = 0;
    bool saw_change = false; // the home thread
    Stage stage = Stage::away;
    bool rung = false, marked = false, locked = false;
    bool is_over = false; // the first ringer has rung, or was killed
    int sleeping = 0, searching = 0, wakes = 0;
    int pc[kThreads] = {};
    int seen_wakes[kWorkers] = {};
    bool asleep[kWorkers] = {};
    auto operator<=>(const FiberTurns &) const = default;
};

bool others_ready(const FiberTurns &s) {
    return s.stage == Stage::ready || s.rung;
}

// FUTEX_WAKE of one.
template <class State>
void wake_one(State &s) {
    ++s.wakes;
    for (bool &asleep : s.asleep)
        if (asleep) {
            asleep = false;
            return;
        }
}

enum RingStep { kChange, kMark, kRing, kHelp, kWake, kRung, kParks, kLooks };

// Turns::ring; who only helps begins at kHelp.
Outcome ring_step(FiberTurns &s, int &pc, Way way) {
    switch (pc) {
    case kChange:
        ++s.changed;
        if (way != Way::marks_then_lists)
            pc = kMark;
        break;
    case kMark:
        if (s.marked)
            pc = kWake; // somebody else has
        s.marked = true;
        break;
    case kRing:
        if (s.rung)
            pc = kWake; // somebody else has
        s.rung = true;
        break;
    case kHelp:
        if (s.sleeping == 0 || s.searching != 0)
            pc = kWake;
        break;
    case kWake:
        wake_one(s);
        break;
    default:
        return Outcome::ended;
    }
    ++pc;
    return Outcome::ran;
}

// The fiber leaves its home: parked() in ranks/fibers/home.cpp.
Outcome home_step(FiberTurns &s, Way way) {
    int &pc = s.pc[kHome];
    if (pc != kParks && pc != kLooks)
        return ring_step(s, pc, way);
    if ((pc == kParks) == (way != Way::looks_before_it_waits))
        s.stage = Stage::waiting;
    else
        s.saw_change = s.changed != s.seen_changes;
    if (pc == kParks)
        pc = kLooks;
    else
        pc = !s.saw_change ? kHelp : way == Way::marks_then_lists ? kMark : kRing;
    return Outcome::ran;
}

enum WorkStep {
    kSettle,  // the fiber has left this worker
    kTake,    // take_rung(): it may be rung for again; then: does it wait?
    kUnmark,  //
    kJudge,   //
    kPick,    // take()
    kSearch,  // idle(), line by line
    kSeen,    //
    kSay,     //
    kFound,   //
    kLast,    //
    kSayLate, // the wrong way
    kSleep,   //
    kAsleep,  //
    kUp       //
};

// Until all have changed something, it waits again, for what it has not seen yet.
void run(FiberTurns &s, int worker) {
    s.seen_changes = s.changed;
    s.stage = s.changed == kRingers ? Stage::running : Stage::away;
    s.pc[kRingers + worker] = kSettle;
}

void judge(FiberTurns &s) {
    if (s.stage == Stage::waiting)
        s.stage = Stage::ready;
}

// take_rung(), under the lock.
void take_step(FiberTurns &s, int &pc, Way way) {
    if (pc == kTake) {
        s.locked = true;
        pc = !s.rung ? kPick : way == Way::marks_then_lists ? kUnmark : kJudge;
        if (way != Way::clears_after_it_looked)
            s.rung = false;
        else if (pc == kJudge)
            pc = kUnmark;
        return;
    }
    if (pc == kUnmark && way == Way::marks_then_lists)
        s.marked = false;
    else if (pc == kJudge && way == Way::clears_after_it_looked)
        s.rung = false;
    else
        judge(s);
    ++pc;
}

Outcome work_step(FiberTurns &s, int worker, Way way) {
    int &pc = s.pc[kRingers + worker];
    if (s.stage == Stage::running)
        return Outcome::ended;
    if ((pc == kSettle || pc == kTake) && s.locked)
        return Outcome::waits;
    switch (pc) {
    case kSettle: // under the lock: as one step
        s.stage = Stage::waiting;
        if (way != Way::does_not_look && s.changed != s.seen_changes)
            s.stage = Stage::ready;
        break;
    case kTake:
    case kUnmark:
    case kJudge:
        take_step(s, pc, way);
        return Outcome::ran;
    case kPick:
        s.locked = false;
        if (s.stage == Stage::ready) {
            run(s, worker);
            return Outcome::ran;
        }
        break;
    case kSearch:
        ++s.searching;
        if (others_ready(s)) {
            --s.searching;
            pc = kSettle;
        }
        break;
    case kSeen:
        s.seen_wakes[worker] = s.wakes;
        break;
    case kSay:
        s.sleeping += way != Way::says_that_it_sleeps_late;
        break;
    case kFound:
        --s.searching;
        break;
    case kLast:
        if (others_ready(s)) {
            s.sleeping += way == Way::says_that_it_sleeps_late;
            pc = kAsleep;
        }
        break;
    case kSayLate:
        s.sleeping += way == Way::says_that_it_sleeps_late;
        break;
    case kSleep:
        s.asleep[worker] = s.wakes == s.seen_wakes[worker];
        break;
    case kAsleep:
        if (s.asleep[worker])
            return Outcome::waits;
        break;
    default:
        --s.sleeping;
        pc = kTake;
        return Outcome::ran;
    }
    ++pc;
    return Outcome::ran;
}

// The first tick that finds a fiber for which somebody has rung.
Outcome watch_step(FiberTurns &s, Way way) {
    int &pc = s.pc[kWatcher];
    if (s.stage == Stage::running || pc > kSearch)
        return Outcome::ended;
    if (pc == kTake && (s.locked || !s.is_over || !s.rung))
        return Outcome::waits;
    if (pc < kPick) {
        take_step(s, pc, way);
        return Outcome::ran;
    }
    if (pc == kPick)
        s.locked = false;
    else if (s.stage == Stage::ready && s.sleeping != 0 && s.searching == 0)
        wake_one(s);
    ++pc;
    return Outcome::ran;
}

// Kills the first ringer after its change. The second one rings later, and finds what is left.
Outcome kill_step(FiberTurns &s) {
    if (s.is_over)
        return Outcome::ended;
    if (s.pc[0] == kChange)
        return Outcome::waits;
    s.is_over = true;
    s.pc[0] = kRung;
    return Outcome::ran;
}

std::string failure_of_turns(Way way, bool from_home, bool with_killer = false) {
    FiberTurns start;
    start.is_over = !with_killer;
    start.pc[kWatcher] = with_killer ? int(kTake) : int(kAsleep);
    for (int worker = 0; worker < kWorkers; ++worker)
        start.pc[kRingers + worker] = kTake;
    start.pc[kRingers] = from_home ? kTake : kSettle;
    start.pc[kHome] = from_home ? kParks : kRung;
    return failure_of(start, kThreads, [way](FiberTurns &s, int thread, std::string &) {
        if (thread == kKiller)
            return kill_step(s);
        if (thread == kWatcher)
            return watch_step(s, way);
        if (thread == 1 && s.pc[1] == kChange && !s.is_over)
            return Outcome::waits;
        if (thread < kRingers)
            return ring_step(s, s.pc[thread], way);
        return thread == kHome ? home_step(s, way) : work_step(s, thread - kRingers, way);
    });
}

TEST(Interleavings, ARankFiberThatIsRungForRuns) {
    for (const bool from_home : {true, false})
        EXPECT_EQ(failure_of_turns(Way::right, from_home), "");
    EXPECT_NE(failure_of_turns(Way::looks_before_it_waits, true), "");
    EXPECT_NE(failure_of_turns(Way::clears_after_it_looked, true), "");
    EXPECT_NE(failure_of_turns(Way::does_not_look, false), "");
    EXPECT_NE(failure_of_turns(Way::says_that_it_sleeps_late, false), "");
}

TEST(Interleavings, ARankThatIsKilledAsItRingsLeavesNoFiberDeaf) {
    for (const bool from_home : {true, false}) {
        EXPECT_EQ(failure_of_turns(Way::right, from_home, true), "");
        EXPECT_EQ(failure_of_turns(Way::marks_then_lists, from_home), "") << "as long as all live";
        EXPECT_NE(failure_of_turns(Way::marks_then_lists, from_home, true), "");
    }
}

// Two fibers of one program, one of them ready later, and two workers that take a core before they
// run them (Crew::ask_for_core, Crew::take, Crew::idle). One worker asks at a time. The other may
// sleep meanwhile: it has to be woken for the second fiber.
enum class Asks {
    right,
    until_it_has_helped, // it asks no more only after it has looked for whom to wake
    says_that_it_sleeps_late,
};

struct Asking {
    int ready = 1, cores = 2;
    bool asking = false;
    int sleeping = 0, searching = 0, wakes = 0;
    int pc[kWorkers + 1] = {}; // the last one makes the second fiber ready
    int seen_wakes[kWorkers] = {};
    bool asleep[kWorkers] = {};
    auto operator<=>(const Asking &) const = default;
    bool is_unserved() const { return ready != 0 && !asking; }
};

enum AskStep {
    kClaim,
    kAsks,    // it counts as one that searches
    kCore,    //
    kGot,     //
    kFirst,   // take()
    kOthers,  // help()
    kRuns,    //
    kLookAll, // idle()
    kSeenAll,
    kSayAsleep,
    kNoSearch,
    kLookLast,
    kGoAsleep,
    kSleeps,
    kAwake
};

void help(Asking &s) {
    if (s.sleeping != 0 && s.searching == 0)
        wake_one(s);
}

Outcome ask_step(Asking &s, int worker, Asks way) {
    int &pc = s.pc[worker];
    switch (pc) {
    case kClaim: // under the lock
        pc = s.is_unserved() ? kAsks : kLookAll;
        s.asking = s.asking || pc == kAsks;
        return Outcome::ran;
    case kAsks:
        ++s.searching;
        break;
    case kCore:
        --s.cores;
        s.asking = way == Asks::until_it_has_helped;
        break;
    case kGot:
        --s.searching;
        break;
    case kFirst: // under the lock
        if (s.ready == 0) {
            ++s.cores;
            s.asking = false;
            pc = kLookAll;
            return Outcome::ran;
        }
        --s.ready;
        pc = s.is_unserved() ? kOthers : kRuns;
        if (way == Asks::until_it_has_helped)
            s.asking = false;
        return Outcome::ran;
    case kOthers:
        help(s);
        break;
    case kRuns:
        return Outcome::ended;
    case kLookAll:
        ++s.searching;
        if (s.is_unserved()) {
            --s.searching;
            pc = kClaim;
            return Outcome::ran;
        }
        break;
    case kSeenAll:
        s.seen_wakes[worker] = s.wakes;
        break;
    case kSayAsleep:
        s.sleeping += way != Asks::says_that_it_sleeps_late;
        break;
    case kNoSearch:
        --s.searching;
        break;
    case kLookLast:
        if (s.is_unserved()) {
            s.sleeping += way == Asks::says_that_it_sleeps_late;
            pc = kAwake;
            return Outcome::ran;
        }
        break;
    case kGoAsleep:
        s.sleeping += way == Asks::says_that_it_sleeps_late;
        s.asleep[worker] = s.wakes == s.seen_wakes[worker];
        break;
    case kSleeps:
        if (s.asleep[worker])
            return Outcome::waits;
        break;
    default:
        --s.sleeping;
        pc = kClaim;
        return Outcome::ran;
    }
    ++pc;
    return Outcome::ran;
}

std::string failure_of_asking(Asks way) {
    return failure_of(Asking{}, kWorkers + 1, [way](Asking &s, int thread, std::string &) {
        if (thread < kWorkers)
            return ask_step(s, thread, way);
        int &pc = s.pc[kWorkers];
        if (pc == 2)
            return Outcome::ended;
        if (pc++ == 0)
            ++s.ready;
        else
            help(s);
        return Outcome::ran;
    });
}

TEST(Interleavings, AWorkerThatHasACoreWakesTheNextToAsk) {
    EXPECT_EQ(failure_of_asking(Asks::right), "");
    EXPECT_NE(failure_of_asking(Asks::until_it_has_helped), "");
    EXPECT_NE(failure_of_asking(Asks::says_that_it_sleeps_late), "");
}

} // namespace
} // namespace sennit::model
