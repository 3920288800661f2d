// SPDX-License-Identifier: Apache-2.0
// A worker without work: how long it waits awake, where it sleeps, and who wakes it.
#pragma once

#include "base/assert.h"
#include "base/compiler.h"
#include "base/futex.h"

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace sennit::wait {
class Bell;
}

namespace sennit::sched {

class Thread;
class Worker;

// What a worker does at the moment, as others see it: it is at work, idle or asleep, and it is away
// while it is a member of no team.
//
// Invariant: whoever changes the state from asleep to awake wakes the thread, where that is not the
// thread itself.
//
// Any thread may call what is on anybody's side, the worker's own thread the rest.

class Activity {
  public:
    // Asleep: on the state itself, as a rank fiber, or in the dormitory.
    enum State : std::uint32_t { kAwake = 0, kAsleep = 1, kAway = 2, kDorm = 3 };

    // ---- anybody's side
    bool asleep() const { return state_.load(std::memory_order_relaxed) != kAwake; }
    bool away() const { return away_.load(std::memory_order_relaxed); }
    // Since when it has found nothing to do, in ticks(); 0 while it is at work.
    std::uint64_t idle_since() const { return idle_since_.load(std::memory_order_relaxed); }
    // The same question, to conclude from the answer. Acquire: a worker whose tasks wait for events
    // has counted them before it turned idle.
    bool idles() const { return idle_since_.load(std::memory_order_acquire) != 0; }
    // If it sleeps: the worker with this number, on this thread.
    void wake(int worker, const Thread &thread);
    void set_away(bool away) { away_.store(away, std::memory_order_relaxed); }

    // ---- the owner's side
    void become_idle();
    void note_busy() { idle_since_.store(0, std::memory_order_relaxed); }
    std::int64_t waited_ns() const;

    // Release: a thread that wakes it as a rank fiber knows which one.
    void fall_asleep(State how) { state_.store(how, std::memory_order_release); }
    // True: a signal handler without SA_RESTART has ended it. Of a sleep with a limit the kernel
    // does not tell.
    bool sleep_on_state(std::int64_t most_ns) {
        return futex_wait(state_, kAsleep, most_ns) == -EINTR && most_ns < 0;
    }
    // At most until it is told of a message.
    void sleep_on_bell(wait::Bell &bell, std::int64_t most_ns);
    void sleep_in_dormitory(int worker, std::int64_t most_ns) const;
    // As a rank fiber, until wake(), or a ring. False: it cannot leave its home here, and has not
    // slept; it is asleep as other threads are from now on.
    bool sleep_away(const Thread &thread, wait::Bell *bell, std::int64_t most_ns);
    void wake_up() { state_.store(kAwake, std::memory_order_relaxed); }
    // The same. Has another thread woken it?
    bool was_woken() { return state_.exchange(kAwake, std::memory_order_relaxed) == kAwake; }

    // What rings from now on ends sleep_on_bell() and sleep_away().
    void listen(const Thread &thread);

    // See WakesTogether.
    void gather_wakes() { gathers_wakes_ = true; }
    void wake_gathered();

  private:
    FutexWord state_{kAwake};
    std::uint32_t rings_seen_ = 0; // of the doorbell, when it last listened
    std::atomic<std::uint64_t> idle_since_{0};
    std::atomic<bool> away_{true};
    // Of others in the dormitory.
    bool gathers_wakes_ = false;
    std::uint32_t gathered_wakes_ = 0;
};

// How often a worker has looked for something else to run, and found nothing, or only fibers that
// look themselves. The worker's own thread alone.
struct Rounds {
    int polls = 0; // that found nothing since it last ran a task
    unsigned empty_yields = 0;
    unsigned busy_yields = 0; // that found a fiber to run
    std::uint64_t next_look = 0;

    // At a scheduling point where poll::due(): at its core, and for what operations are complete.
    void look(Worker &worker);
};

// `worker`, which was idle, turns to work. If operations are pending and somebody sleeps, let him
// poll meanwhile.
void give_up_polling(const Worker &worker);

// Others compute on our processors, too, but among the threads that may run the group's tasks there
// are only a few awake. Then the next task is not far: to wait for it a moment on the processor
// takes less than to be woken.
bool is_one_of_few(const Worker &worker);
// Of a thread that waits awake, where threads outnumber processors.
void give_processor(Worker &worker);

void forget_sleepers(); // in the child of fork()

} // namespace sennit::sched
