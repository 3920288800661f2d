// SPDX-License-Identifier: Apache-2.0
// The hand-shakes of workers, step by step as the code does them, in every interleaving.
// Each model also has a version with one step left out or exchanged, which the checker must refuse.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

// ---- sleep: Worker::sleep, make_ready, announce_work (tasks/sched/worker.cpp)
// ----------------------

struct Sleep {
    int pc[3] = {};
    int work[2] = {};    // the inbox, a queue
    int sleepers = 0;    // of the group
    bool asleep = false; // the futex word
    int taken = 0;
    auto operator<=>(const Sleep &) const = default;
};

// Thread 0 sleeps between two pieces of work; 1 fills the inbox, 2 the queue.
Outcome sleep_step(Sleep &s, int thread, std::string &, bool looks_again) {
    int &pc = s.pc[thread];
    if (thread == 0) {
        switch (pc) {
        case 0:
            if (s.taken == 2)
                return Outcome::ended;
            for (int &work : s.work)
                if (work) {
                    --work;
                    ++s.taken;
                    return Outcome::ran;
                }
            pc = 1;
            return Outcome::ran;
        case 1:
            ++s.sleepers;
            pc = 2;
            return Outcome::ran;
        case 2:
            s.asleep = true;
            pc = 3;
            return Outcome::ran;
        case 3: // anything_to_do()
            pc = looks_again && (s.work[0] || s.work[1]) ? 5 : 4;
            return Outcome::ran;
        case 4: // futex_wait
            if (s.asleep)
                return Outcome::waits;
            pc = 5;
            return Outcome::ran;
        case 5:
            s.asleep = false;
            pc = 6;
            return Outcome::ran;
        default:
            --s.sleepers;
            pc = 0;
            return Outcome::ran;
        }
    }
    switch (pc) {
    case 0:
        ++s.work[thread - 1];
        pc = thread == 1 ? 2 : 1;
        return Outcome::ran;
    case 1: // announce_work(): anybody asleep in the group?
        pc = s.sleepers > 0 ? 2 : 3;
        return Outcome::ran;
    case 2:
        s.asleep = false; // wake(), if asleep()
        pc = 3;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, ASleeperMissesNoWork) {
    EXPECT_EQ(failure_of(Sleep{}, 3, sleep_step, true), "");
    EXPECT_NE(failure_of(Sleep{}, 3, sleep_step, false), "");
}

// ---- who is not woken: wake_one, Worker::sleep (tasks/sched/worker.cpp, tasks/sched/idle.cpp)
// -----------------

struct Skip {
    int pc[3] = {};
    int queue = 0;
    int light = 0;       // sleepers that wake up by themselves
    bool asleep = false; // worker 0
    bool taken = false;
    auto operator<=>(const Skip &) const = default;
};

// One processor, so one worker that is awake is enough. Worker 0 sleeps; 1 looks once, and is then
// blocked until the task has run; 2 pushes the task, and wakes 0 if it finds nobody awake, or no
// light sleeper (`asks_for_light`).
Outcome skip_step(Skip &s, int thread, std::string &, bool is_light, bool asks_for_light) {
    int &pc = s.pc[thread];
    const auto take = [&] {
        s.queue = 0;
        s.taken = true;
        pc = 9;
        return Outcome::ran;
    };
    if (thread == 0) {
        switch (pc) {
        case 0: // find()
            if (s.queue)
                return take();
            s.light += is_light ? 1 : 0;
            pc = 1;
            return Outcome::ran;
        case 1:
            s.asleep = true;
            pc = 2;
            return Outcome::ran;
        case 2: // anything_to_do()
            pc = s.queue ? 4 : 3;
            return Outcome::ran;
        case 3: // futex_wait: a light sleeper's time may end whenever there is something to see,
                // and the end of the region wakes everybody
            if (s.asleep && !(is_light && s.queue) && !s.taken)
                return Outcome::waits;
            pc = 4;
            return Outcome::ran;
        case 4:
            s.asleep = false;
            s.light -= is_light ? 1 : 0;
            pc = s.taken ? 9 : 0;
            return Outcome::ran;
        default:
            return Outcome::ended;
        }
    }
    if (thread == 1) {
        switch (pc) {
        case 0:
            if (s.queue)
                return take();
            pc = 1;
            return Outcome::ran;
        case 1:
            if (!s.taken)
                return Outcome::waits;
            pc = 9;
            return Outcome::ran;
        default:
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0:
        s.queue = 1;
        pc = 1;
        return Outcome::ran;
    case 1: // wake_one(): worker 1 is awake, though blocked
        pc = s.light > 0 || !asks_for_light ? 3 : 2;
        return Outcome::ran;
    case 2:
        s.asleep = false;
        pc = 3;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, ATaskIsFoundThoughNobodyIsWoken) {
    const auto failure = [](bool is_light, bool asks_for_light) {
        return failure_of(Skip{}, 3, skip_step, is_light, asks_for_light);
    };
    EXPECT_EQ(failure(true, true), "");
    EXPECT_EQ(failure(false, true), "");
    EXPECT_NE(failure(false, false), "");
}

} // namespace
} // namespace sennit::model
