// SPDX-License-Identifier: Apache-2.0
// Hand-shakes of two sides that each write one word and then read the other's, step by step as the
// code does them. Each model also has a version in which one side looks before it writes, or
// leaves a step out. The checker must refuse it.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

// Both versions: the code's, which holds, and the one that must fail.
template <class State, class Step>
void expect_right_and_wrong(const State &start, int threads, Step step) {
    for (const bool right : {true, false}) {
        const std::string failure = failure_of(start, threads, step, right);
        if (right)
            EXPECT_EQ(failure, "");
        else
            EXPECT_NE(failure, "");
    }
}

// ---- who polls: give_up_polling, Worker::sleep (tasks/sched/idle.cpp)
// ----------------------

struct Polling {
    int pc[3] = {};
    int poller = 0;      // g_idle_poller; -1: nobody. Thread 0 is it, and turns to work.
    bool asleep[3] = {}; // state_ == kAsleep
    int sleepers = 0;    // g_asleep
    auto operator<=>(const Polling &) const = default;
};

Outcome polling_step(Polling &s, int thread, std::string &, bool right) {
    int &pc = s.pc[thread];
    if (thread == 0) {
        switch (pc) {
        case 0:
        case 1: // give up; then look, unless it is the wrong way round
            if ((pc == 0) == right)
                s.poller = -1;
            else if (s.sleepers == 0 || s.poller > 0)
                pc = right ? 9 : 4; // somebody polls, or will look
            ++pc;
            return Outcome::ran;
        case 2: // wake one of them
            for (int i = 1; i < 3; ++i)
                if (s.asleep[i]) {
                    s.asleep[i] = false;
                    break;
                }
            pc = 10;
            return Outcome::ran;
        case 5: // the wrong one has seen no sleeper
            s.poller = -1;
            pc = 10;
            return Outcome::ran;
        default:
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0: // idle(): nobody polls? Then we do
        if (s.poller == -1) {
            s.poller = thread;
            pc = 10;
        } else {
            pc = 1;
        }
        return Outcome::ran;
    case 1: // sleep()
        ++s.sleepers;
        s.asleep[thread] = true;
        pc = 2;
        return Outcome::ran;
    case 2: // anything_to_do(): something is pending
        if (s.poller == -1)
            s.asleep[thread] = false;
        pc = 3;
        return Outcome::ran;
    case 3: // the futex
        if (s.asleep[thread])
            return s.poller > 0 ? Outcome::ended : Outcome::waits; // somebody else polls
        --s.sleepers;
        pc = 0;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, SomebodyPolls) {
    expect_right_and_wrong(Polling{}, 3, polling_step);
}

// ---- a priority that changes: OrderedQueue::push, moved, take (tasks/sched/ordered_queue.cpp)
// ------

struct Moving {
    int pc[3] = {};
    int priority = 0;
    bool locked = false, queued = false; // queue_of(node)
    int key = 0;                         // what its place in the heap goes by
    auto operator<=>(const Moving &) const = default;
};

// Thread 0 pushes, 1 changes the priority, 2 may take the task.
Outcome moving_step(Moving &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    constexpr int kEnd = 10;
    if (pc == kEnd)
        return Outcome::ended;
    const bool locks = thread == 1 ? pc == 2 : pc == 0;
    if (locks && s.locked)
        return Outcome::waits;
    if (locks)
        s.locked = true;
    switch (10 * thread + pc) {
    case 1:
    case 2: // the wrong one reads the priority first
        if ((pc == 1) == right)
            s.queued = true;
        else
            s.key = s.priority;
        break;
    case 10:
        s.priority = 1;
        break;
    case 11:
        if (!s.queued)
            pc = kEnd - 1;
        break;
    case 13: // only under the lock is the answer final
        if (s.queued)
            s.key = s.priority;
        break;
    case 21:
        s.queued = false;
        break;
    case 3:
    case 14:
    case 22:
        s.locked = false;
        pc = kEnd - 1;
        break;
    default:
        break;
    }
    ++pc;
    if (s.pc[0] == kEnd && s.pc[1] == kEnd && s.queued && s.key != s.priority)
        broken = "it is queued by its old priority";
    return Outcome::ran;
}

TEST(Interleavings, AMovedTaskIsWhereItsPrioritySays) {
    expect_right_and_wrong(Moving{}, 3, moving_step);
}

// ---- the ticker dozes: ticker, add_pending (tasks/poll/poll.cpp)
// -----------------------------------

struct Dozing {
    int pc[2] = {};
    bool awake = true;
    int pending = 0, bell = 0, seen = 0;
    auto operator<=>(const Dozing &) const = default;
};

Outcome dozing_step(Dozing &s, int thread, std::string &, bool right) {
    int &pc = s.pc[thread];
    if (thread == 0) { // the ticker
        switch (pc) {
        case 0:
            s.seen = s.bell;
            pc = 1;
            return Outcome::ran;
        case 1:
        case 2: // say that it dozes, then look; the wrong one looks first
            if ((pc == 1) == right)
                s.awake = false;
            else if (s.pending > 0)
                pc = 9;
            ++pc;
            return Outcome::ran;
        case 3: // the futex
            if (s.bell == s.seen)
                return Outcome::waits;
            pc = 0;
            s.awake = true;
            return Outcome::ran;
        default: // polls
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0:
        s.pending = 1;
        pc = 1;
        return Outcome::ran;
    case 1:
        pc = s.awake ? 3 : 2;
        return Outcome::ran;
    case 2:
        ++s.bell;
        pc = 3;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, TheTickerSeesWhatIsPending) {
    expect_right_and_wrong(Dozing{}, 2, dozing_step);
}

// ---- answers beside MPI_Finalize: Answers (mpi/wrap/init_finalize.h)
// ----------------------------------

struct Answers {
    int pc[2] = {};
    int asking = 0;
    bool multiple = true, finalized = false;
    auto operator<=>(const Answers &) const = default;
};

// Thread 0 asks MPI, thread 1 ends it. The wrong one looks before it counts itself.
Outcome answers_step(Answers &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    if (thread == 0) {
        switch (pc) {
        case 0:
        case 1:
            if ((pc == 0) == right)
                ++s.asking;
            else if (!s.multiple)
                pc = right ? 2 : 3; // does not ask
            ++pc;
            return Outcome::ran;
        case 2:
            if (s.finalized)
                broken = "MPI is asked after its end";
            pc = 3;
            return Outcome::ran;
        case 3:
            --s.asking;
            pc = 4;
            return Outcome::ran;
        default:
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0:
        s.multiple = false;
        pc = 1;
        return Outcome::ran;
    case 1:
        if (s.asking != 0)
            return Outcome::waits;
        pc = 2;
        return Outcome::ran;
    case 2:
        s.finalized = true;
        pc = 3;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, MpiIsNotAskedAfterItsEnd) {
    expect_right_and_wrong(Answers{}, 2, answers_step);
}

// ---- the inbox of tickets: Tickets::file, take_token, take_new (mpi/engine/tickets.h) ---------

// Threads 0 and 1 file a ticket each, twice: its memory is used again as soon as it is over, and
// the other thread may still have its address for the one below its own. 2 and 3 test.
struct Inbox {
    int pc[4] = {};
    int top = 0;              // inbox_: the number of a ticket, 0: none
    int next[3] = {};         // of each ticket
    bool filed[3] = {};       // and not over
    int rounds[2] = {};       // that each of those who file has begun
    bool token = false;       // token_
    int list = 0, ticket = 0; // of who has the token
    auto operator<=>(const Inbox &) const = default;
};

Outcome file_step(Inbox &s, int thread) {
    int &pc = s.pc[thread];
    const int mine = thread + 1;
    switch (pc) {
    case 0:
        s.filed[mine] = true;
        s.next[mine] = s.top;
        pc = 1;
        return Outcome::ran;
    case 1: // the exchange, which also fails if the top is not what was read
        if (s.top == s.next[mine]) {
            s.top = mine;
            pc = 2;
        } else {
            s.next[mine] = s.top;
        }
        return Outcome::ran;
    case 2: // suspended
        if (s.filed[mine])
            return Outcome::waits;
        pc = ++s.rounds[thread] < 2 ? 0 : 3;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

Outcome inbox_step(Inbox &s, int thread, std::string &broken, bool right) {
    if (thread < 2)
        return file_step(s, thread);
    int &pc = s.pc[thread];
    switch (pc) {
    case 0:
        if (s.pc[0] == 3 && s.pc[1] == 3)
            return Outcome::ended;
        if (s.token || s.top == 0)
            return Outcome::waits;
        s.token = true;
        pc = 1;
        return Outcome::ran;
    case 1: // take_new: all at once; the wrong one looks, and then empties the inbox
        s.list = s.top;
        if (right)
            s.top = 0;
        pc = right ? 3 : 2;
        return Outcome::ran;
    case 2:
        s.top = 0;
        pc = 3;
        return Outcome::ran;
    case 3:
        s.ticket = s.list;
        if (s.ticket != 0 && !s.filed[s.ticket])
            broken = "a ticket is tested that is over";
        s.list = s.next[s.ticket];
        pc = s.ticket != 0 ? 4 : 5;
        return Outcome::ran;
    case 4: // over: from now on it is its owner's again
        s.filed[s.ticket] = false;
        pc = 3;
        return Outcome::ran;
    default:
        s.token = false;
        pc = 0;
        return Outcome::ran;
    }
}

TEST(Interleavings, EveryTicketIsTestedOnce) {
    expect_right_and_wrong(Inbox{}, 4, inbox_step);
}

} // namespace
} // namespace sennit::model
