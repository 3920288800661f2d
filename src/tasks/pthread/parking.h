// SPDX-License-Identifier: Apache-2.0
// Waits that suspend the task where it would block its kernel thread.
//
// A kernel thread that has suspended tasks must not block for what one of them holds, or is to do:
// they go on only on this thread. So while others are suspended on its thread, a task does not
// block in a call of pthreads, semaphores or futexes. Its fiber waits in a parking lot, keyed by
// the object's address. The calls that end such waits look there, if anybody waits at all.
//
// No wake-up is lost (Dekker). A waiter enters the lot, fence, looks at the object once more. Who
// changes an object does so, fence, looks whether the lot is empty. The second fence is free
// (base/fence.h).
#pragma once

#include "base/compiler.h"
#include "base/fence.h"
#include "base/spin.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/parking_lot.h"
#include "tasks/sched/worker.h"

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace sennit::pthread {

// The calling thread's worker if a task of it is suspended, or otherwise in the middle of
// something. Null: it may block as ever. A few instructions: this is all that calls cost then.
inline sched::Worker *worker_with_others() {
    sched::Worker *const worker = sched::Worker::self();
    return SENNIT_UNLIKELY(worker != nullptr) && worker->has_parked() ? worker : nullptr;
}

// Is the caller in a task's code on the task's stack, so that its fiber may wait?
bool may_suspend(const sched::Worker &worker);
// The same, in code that stands other tasks in between (caller.h).
bool may_suspend(const sched::Worker &worker, const void *return_address);

// Until when a call waits: a time on one of the system's clocks, or for ever.
class Deadline {
  public:
    Deadline() = default;
    Deadline(clockid_t clock, const timespec *time) : clock_(clock), time_(time) {}
    static Deadline in_ns(std::int64_t ns, timespec &storage);

    bool for_ever() const { return !time_; }
    clockid_t clock() const { return clock_; }
    const timespec *time() const { return time_; }
    bool valid() const { return !time_ || (time_->tv_nsec >= 0 && time_->tv_nsec < 1'000'000'000); }
    std::int64_t left_ns() const; // until then
    bool over() const { return time_ && left_ns() <= 0; }

  private:
    clockid_t clock_ = CLOCK_MONOTONIC;
    const timespec *time_ = nullptr;
};

namespace detail {
extern Atomic<int> g_waiting; // in the lot
int wake_slow(const void *address, int most);
} // namespace detail

// The object at `address` has changed: resume up to `most` of the tasks that wait for it. Returns
// how many. Only the address is used: the object may be gone. Also from signal handlers.
inline int wake(const void *address, int most = INT_MAX) {
    fence_light(); // pairs with fence_heavy in Parking::enter
    if (SENNIT_LIKELY(detail::g_waiting.load(std::memory_order_relaxed) == 0))
        return 0;
    return detail::wake_slow(address, most);
}

// One wait. Enter, look at the object once more, then wait or leave.
class Parking : sched::ParkingLot::Waiter {
  public:
    Parking(const char *what, const void *address, const void *const *holder = nullptr)
        : Waiter(address), primitive_{what, address, holder} {}

    void enter();
    // The same, if `has_to_wait()`, a look at the object, says so while no wake-up can come.
    template <class HasToWait>
    bool enter_if(HasToWait has_to_wait);
    // The caller does not wait. A wake-up that came meanwhile is passed on.
    void leave();
    // False: nobody has woken us until then, or within `most_ns`, if that is not negative. Has
    // left.
    bool wait(sched::Worker &worker, const Deadline &until, std::int64_t most_ns = -1);

  private:
    friend int detail::wake_slow(const void *address, int most);
    struct Timer;
    static void tell(sched::ParkingLot::Waiter &waiter);

    sched::WaitCell cell_;
    bool late_ = false;
    const sched::Primitive primitive_;
};

// Signal handlers may wake (sem_post): none runs while this thread is in the lot.
class NoSignals {
  public:
    NoSignals();
    ~NoSignals();
    NoSignals(const NoSignals &) = delete;
    NoSignals &operator=(const NoSignals &) = delete;

  private:
    sigset_t before_;
};

extern sched::ParkingLot g_lot;

template <class HasToWait>
bool Parking::enter_if(HasToWait has_to_wait) {
    const NoSignals guard;
    detail::g_waiting.fetch_add(1, std::memory_order_relaxed);
    fence_heavy(); // pairs with fence_light in wake; the bucket's lock orders the rest
    const bool waits = g_lot.enter(*this, has_to_wait);
    if (!waits)
        detail::g_waiting.fetch_sub(1, std::memory_order_relaxed);
    return waits;
}

// A try has failed that a loop may repeat until it succeeds: now and then, let others go on.
void note_failed_try(const void *return_address);

void before_fork();
void after_fork();
void after_fork_in_child();

} // namespace sennit::pthread
