// SPDX-License-Identifier: Apache-2.0
// Hand-shakes between processes on the board of a node, step by step as the code does them. Each
// model also has a version with a step in the wrong place, which the checker must refuse. Those of
// bells: bell_interleavings_test.cpp; of calls without messages: meeting_interleavings_test.cpp.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

// ---- cores: Share::give, wait_for_core (node/share.cpp); CoreTable (node/core_table.h) ----------

struct FreeCores {
    int pc[3] = {};
    bool free = false;
    int wanting = 0;
    int wants[2] = {}; // of processes 1 and 2
    bool armed[2] = {};
    bool rung[2] = {};
    bool has[3] = {true, false, false};
    auto operator<=>(const FreeCores &) const = default;
};

// Of those who want one. The ring is one step: schedules.Bell.* runs it.
void ring_for_core(FreeCores &s) {
    for (int i = 0; i < 2; ++i)
        if (s.wants[i] != 0) {
            s.rung[i] = s.rung[i] || s.armed[i];
            return;
        }
}

// Thread 0 gives the core. 1 and 2, of other processes, want it; who gets it gives it, too. The
// ring goes to the first of them. `passes`: who wants no more looks whether a core is free.
// `counts_first`: who wants says so before it looks.
Outcome core_step(FreeCores &s, int thread, std::string &broken, bool counts_first, bool passes) {
    int &pc = s.pc[thread];
    const int me = thread - 1;
    switch (pc) {
    case 0: // wants it
        if (thread == 0) {
            pc = 20;
            return Outcome::ran;
        }
        if (counts_first) {
            ++s.wanting;
            ++s.wants[me];
        }
        pc = 1;
        return Outcome::ran;
    case 1: // takes it, if it is free
    case 3:
        if (s.free) {
            s.free = false;
            for (const bool has : s.has)
                if (has)
                    broken = "two have the core";
            s.has[thread] = true;
            pc = counts_first || pc == 3 ? 10 : 20;
            return Outcome::ran;
        }
        if (!counts_first && pc == 1) {
            ++s.wanting;
            ++s.wants[me];
        }
        pc = pc == 1 ? 2 : 4;
        return Outcome::ran;
    case 2: // arms the bell, and looks once more
        s.rung[me] = false;
        s.armed[me] = true;
        pc = counts_first ? 3 : 4;
        return Outcome::ran;
    case 4: // sleeps
        if (!s.rung[me])
            return Outcome::waits;
        s.armed[me] = false;
        pc = 3;
        return Outcome::ran;
    case 10: // wants no more
        --s.wanting;
        --s.wants[me];
        s.armed[me] = false;
        pc = passes ? 11 : 20;
        return Outcome::ran;
    case 11: // has it been woken for another core than its own?
        if (s.wanting != 0 && s.free)
            ring_for_core(s);
        pc = 20;
        return Outcome::ran;
    case 20: // gives it
        s.has[thread] = false;
        s.free = true;
        pc = 21;
        return Outcome::ran;
    case 21:
        if (s.wanting != 0)
            ring_for_core(s);
        pc = 22;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

// ---- who wants a core has a bit: Wanters (node/core_table.h), with what Share does around it
// -----

struct Wanting {
    int pc[3] = {};
    int count = 1; // of the process: thread 0 has wanted one for long
    bool bit = true;
    bool free = false;
    bool armed = false;
    bool rung = false;
    auto operator<=>(const Wanting &) const = default;
};

enum class Bit { right, comes_before_the_count, is_not_looked_at_again, is_not_passed_on };

// If anybody wants one, as the bit says, and a core is free.
void pass_free_core(Wanting &s) {
    if (s.bit && s.free && s.armed) {
        s.armed = false;
        s.rung = true;
    }
}

// Thread 0 wants one no more, 1, of the same process, comes to want one, 2 gives one.
Outcome wanting_step(Wanting &s, int thread, Bit bit) {
    int &pc = s.pc[thread];
    const auto to = [&](int next) {
        pc = next;
        return Outcome::ran;
    };
    switch (thread * 10 + pc) {
    case 0: // remove()
        return to(--s.count != 0 ? 3 : 1);
    case 1:
        s.bit = false;
        return to(bit == Bit::is_not_looked_at_again ? 3 : 2);
    case 2: // the count, then the bit: two steps
        return to(s.count > 0 ? 4 : 3);
    case 4:
        s.bit = true;
        return to(3);
    case 3: // the end of Share::wait_for_core()
        if (bit != Bit::is_not_passed_on)
            pass_free_core(s);
        return to(5);
    case 10: // add()
    case 11:
        if ((pc == 0) == (bit == Bit::comes_before_the_count))
            s.bit = true;
        else
            ++s.count;
        return to(pc + 1);
    case 12: // arms the bell, looks, and sleeps
        s.armed = true;
        s.rung = false;
        return to(3);
    case 13:
        return to(s.free ? 5 : 4);
    case 14:
        return s.rung ? to(5) : Outcome::waits;
    case 20: // gives
        s.free = true;
        return to(1);
    case 21:
        pass_free_core(s);
        return to(5);
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, WhoWantsACoreHasItsBit) {
    for (const Bit bit : {Bit::right, Bit::comes_before_the_count, Bit::is_not_looked_at_again,
                          Bit::is_not_passed_on}) {
        std::string failure =
            failure_of(Wanting{}, 3, [&](Wanting &s, int thread, std::string &broken) {
                const Outcome outcome = wanting_step(s, thread, bit);
                const bool quiet = s.pc[0] == 5 && s.pc[1] >= 2;
                if (quiet && s.count != 0 && !s.bit)
                    broken = "somebody wants a core, and no bit says so";
                return outcome;
            });
        EXPECT_EQ(failure.empty(), bit == Bit::right) << failure;
    }
}

TEST(Interleavings, WhoWantsACoreHearsOfAFreeOne) {
    for (const bool counts_first : {true, false}) {
        const std::string failure = failure_of(FreeCores{}, 3, core_step, counts_first, true);
        EXPECT_EQ(failure.empty(), counts_first) << failure;
    }
}

// Process 1 is rung for the core, and has run without one meanwhile: it does not want it any more.
TEST(Interleavings, WhoWantsNoCoreAnyMorePassesTheRingOn) {
    for (const bool passes : {true, false}) {
        const std::string failure =
            failure_of(FreeCores{}, 3, [&](FreeCores &s, int thread, std::string &broken) {
                if (thread == 1 && s.pc[1] == 4) { // its patience may end at any time
                    s.pc[1] = 10;
                    return Outcome::ran;
                }
                if (thread == 1 && s.pc[1] == 20) {
                    s.pc[1] = 22; // it has none to give
                    if (s.has[1])
                        s.pc[1] = 20;
                }
                return s.pc[1] == 22 && thread == 1 ? Outcome::ended
                                                    : core_step(s, thread, broken, true, passes);
            });
        EXPECT_EQ(failure.empty(), passes) << failure;
    }
}

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

// ---- cores of who sleeps: Share::take_from_sleeper, Sleepers (node/); CoreTable::note_use ------

struct Robbing {
    int pc[3] = {};
    int use = 0, user = -1;           // the core's word
    int told_use = 0, told_user = -1; // which thread uses it
    bool asleep[3] = {};
    bool slept[3] = {}; // during the use that it has now
    int mine[3] = {};   // the number of its use
    int seen[3] = {};   // of the use that it has looked at
    int sleeper[3] = {};
    auto operator<=>(const Robbing &) const = default;
};

enum class Wrong { nothing, takes_any_use, tells_no_use };

// Thread 0 takes the core, tells so, sleeps, wakes up, gives the core, and sleeps without one. 1
// and 2 want the core: take it if it is free, else from who sleeps; they never sleep.
Outcome robbing_step(Robbing &s, int thread, std::string &broken, Wrong wrong) {
    int &pc = s.pc[thread];
    constexpr int kEnd = 20;
    const auto begin_use = [&] {
        s.mine[thread] = ++s.use;
        s.user = thread;
        s.slept[thread] = false;
    };
    const auto next = [&](bool sound) {
        pc = sound ? pc + 1 : kEnd;
        return Outcome::ran;
    };
    switch (pc) {
    case 0: // take() of a free core
        if (s.user != -1) {
            pc = thread == 0 ? kEnd : 10;
            return Outcome::ran;
        }
        begin_use();
        pc = 1;
        return Outcome::ran;
    case 1:
        s.told_use = s.mine[thread];
        s.told_user = thread;
        pc = thread == 0 ? 2 : 4;
        return Outcome::ran;
    case 2:
        s.asleep[thread] = s.slept[thread] = true;
        return next(true);
    case 3:
        s.asleep[thread] = false;
        return next(true);
    case 4: // at a scheduling point: is it still its own?
        if (s.use != s.mine[thread] && !s.slept[thread])
            broken = "who computes is robbed";
        return next(true);
    case 5: // give(), by compare-and-swap
        if (s.use == s.mine[thread])
            s.user = -1;
        s.mine[thread] = 0;
        s.asleep[thread] = thread == 0; // for other reasons
        return next(false);
    case 10: // looks at the word
        s.seen[thread] = s.use;
        return next(s.user != -1);
    case 11: // at the thread that uses it
        s.sleeper[thread] = s.told_user;
        return next(s.told_user != -1 &&
                    (wrong == Wrong::tells_no_use || s.told_use == s.seen[thread]));
    case 12: // at what the kernel says of it
        return next(s.asleep[s.sleeper[thread]]);
    case 13: // take_over()
        if (wrong != Wrong::takes_any_use && s.use != s.seen[thread])
            return next(false);
        if (s.user == -1)
            return next(false);
        begin_use();
        pc = 1;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, OnlyWhoSleepsLosesItsCore) {
    for (const Wrong wrong : {Wrong::nothing, Wrong::takes_any_use, Wrong::tells_no_use}) {
        const std::string failure = failure_of(Robbing{}, 3, robbing_step, wrong);
        EXPECT_EQ(failure.empty(), wrong == Wrong::nothing) << failure;
    }
}

} // namespace
} // namespace sennit::model
