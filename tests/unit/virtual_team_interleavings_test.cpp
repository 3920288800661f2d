// SPDX-License-Identifier: Apache-2.0
// Virtual teams, step by step as the code does it.
//
// Whether there is anything to steal (`exhausted_` in openmp/team/virtual_team.cpp). Two workers
// run two regions. A range is one thread that has not begun, or none: how a range is taken from is
// checked in tests/schedules. Stores wait in buffers (store_buffers.h); without
// them the fences would not matter.
//
// The rule: a worker that has found nothing to do is told of what there is to steal later. Not: it
// sleeps, `exhausted_` says that it may, and the other one works on with a thread left to give.
#include "interleavings.h"
#include "store_buffers.h"

#include <array>
#include <compare>

namespace sennit::model {
namespace {

constexpr int kWorkers = 2;
constexpr int kRegions = 2;
constexpr int kRoom = 4;
constexpr const char *kAsleep = "a worker sleeps beside what it could steal";
enum Cell { kExhausted, kLeft0, kLeft1, kCells };

// What is left out.
enum class Fault { none, fence_of_owner, fence_of_thief, second_look };

struct Worker {
    signed char pc = 0;
    signed char region = 0; // those that it has had a part in
    bool said = false;      // steal(): that there is nothing
    bool helps = false;     // it has had its part: run_one()
    auto operator<=>(const Worker &) const = default;
};

struct State {
    BufferedMemory<kWorkers, kCells, kRoom> memory;
    std::array<Worker, kWorkers> workers{};
    signed char forked = 0, arrived = 0;
    auto operator<=>(const State &) const = default;
};

class Model {
  public:
    explicit Model(Fault fault) : fault_(fault) {}

    // Numbers from kWorkers on are the drains.
    Outcome operator()(State &s, int number, std::string &broken) const {
        if (number >= kWorkers)
            return s.memory.drain(number - kWorkers) ? check(s, broken) : Outcome::ended;
        Worker &me = s.workers[static_cast<std::size_t>(number)];
        const bool is_maker = number == 0;
        if (me.pc == kDocked && me.region == kRegions && (!is_maker || s.arrived == kWorkers))
            return Outcome::ended;
        const bool ran = me.pc < kScan ? part(s, number, me) : steal(s, number, me);
        return ran ? check(s, broken) : Outcome::waits;
    }

  private:
    enum Step : signed char {
        kDocked, // for worker 0, which makes the regions: at the join
        kFork,
        kRefill, // begin_part
        kFence,  // note_unbegun
        kLook,
        kWork, // through its own range
        kScan, // steal
        kSay,
        kThiefFence,
        kTellFence, // note_unbegun
        kTell,
    };

    static int left_of(int worker) { return worker == 0 ? kLeft0 : kLeft1; }

    static Outcome check(State &s, std::string &broken) {
        for (int worker = 0; worker < kWorkers; ++worker) {
            const Worker &owner = s.workers[static_cast<std::size_t>(worker)];
            const Worker &other = s.workers[static_cast<std::size_t>(1 - worker)];
            if (owner.pc == kWork && other.pc == kDocked && other.region == s.forked &&
                s.memory.is_drained(0) && s.memory.is_drained(1) &&
                s.memory.cell(left_of(worker)) != 0 && s.memory.cell(kExhausted) != 0)
                broken = kAsleep;
        }
        return Outcome::ran;
    }

    // The fence of note_unbegun(): false while it waits.
    bool passes_fence(const State &s, int number) const {
        return fault_ == Fault::fence_of_owner || s.memory.is_drained(number);
    }
    static void tell(State &s, int number) {
        if (s.memory.load(number, kExhausted) != 0)
            s.memory.store(number, kExhausted, 0);
    }

    static bool wait_docked(State &s, int number, Worker &me) {
        if (number == 0 && (me.region == 0 || s.arrived == kWorkers)) {
            s.memory.store(number, kExhausted, 0); // VirtualTeam::begin
            s.arrived = 0;
            me.pc = kFork;
        } else if (number != 0 && s.forked > me.region) {
            me.pc = kRefill;
        } else if (me.region > 0 && s.memory.load(number, kExhausted) == 0) {
            me.helps = true;
            me.pc = kScan;
        } else {
            return false;
        }
        return true;
    }

    bool part(State &s, int number, Worker &me) const {
        switch (me.pc) {
        case kDocked:
            return s.memory.has_room(number, 1) && wait_docked(s, number, me);
        case kFork: // the gate is opened by an atomic operation, which is a fence, too
            if (!s.memory.is_drained(number))
                return false;
            ++s.forked;
            me.pc = kRefill;
            return true;
        case kRefill:
            if (!s.memory.has_room(number, 1))
                return false;
            ++me.region;
            s.memory.store(number, left_of(number), 1);
            me.pc = kFence;
            return true;
        case kFence:
            if (!passes_fence(s, number))
                return false;
            me.pc = kLook;
            return true;
        case kLook:
            if (!s.memory.has_room(number, 1))
                return false;
            tell(s, number);
            me.pc = kWork;
            return true;
        default: // kWork
            if (!s.memory.is_drained(number))
                return false;
            s.memory.cell(left_of(number)) = 0;
            me.pc = kScan;
            return true;
        }
    }

    // Nothing to steal: back to the dock, or on to it by the join.
    static bool give_up(State &s, int number, Worker &me) {
        if (!me.helps) {
            if (!s.memory.is_drained(number)) // arrive() is an atomic operation
                return false;
            ++s.arrived;
        }
        me.said = me.helps = false;
        me.pc = kDocked;
        return true;
    }

    bool steal(State &s, int number, Worker &me) const {
        const int its = left_of(1 - number);
        switch (me.pc) {
        case kScan:
            if (s.memory.load(number, its) == 0) {
                if (me.said)
                    return give_up(s, number, me);
                me.pc = kSay;
            } else if (me.said) {
                me.pc = kTellFence;
            } else {
                s.memory.cell(its) = 0; // it runs the thread
                if (me.helps)
                    return give_up(s, number, me);
            }
            return true;
        case kSay:
            if (!s.memory.has_room(number, 1))
                return false;
            s.memory.store(number, kExhausted, 1);
            me.said = true;
            me.pc = kThiefFence;
            return true;
        case kThiefFence:
            if (fault_ == Fault::second_look)
                return give_up(s, number, me);
            if (fault_ != Fault::fence_of_thief && !s.memory.is_drained(number))
                return false;
            me.pc = kScan;
            return true;
        case kTellFence:
            if (!passes_fence(s, number))
                return false;
            me.pc = kTell;
            return true;
        default: // kTell
            if (!s.memory.has_room(number, 1))
                return false;
            tell(s, number);
            me.said = false;
            me.pc = kScan;
            return true;
        }
    }

    Fault fault_;
};

std::string virtual_team_failure(Fault fault) {
    State start;
    start.memory.cell(kExhausted) = 1;
    return failure_of(start, 2 * kWorkers, Model(fault));
}

TEST(Interleavings, AWorkerOfAVirtualTeamIsToldOfWhatItCanSteal) {
    EXPECT_EQ(virtual_team_failure(Fault::none), "");
}

TEST(Interleavings, VirtualTeamsNeedBothFencesAndASecondLook) {
    EXPECT_EQ(virtual_team_failure(Fault::fence_of_owner), kAsleep);
    EXPECT_EQ(virtual_team_failure(Fault::fence_of_thief), kAsleep);
    EXPECT_EQ(virtual_team_failure(Fault::second_look), kAsleep);
}

} // namespace
} // namespace sennit::model
