// SPDX-License-Identifier: Apache-2.0
#include "tasks/pthread/parking.h"

#include "tasks/pthread/mutex.h"

#include <algorithm>
#include <csignal>
#include <pthread.h>
#include <sched.h>

namespace sennit::pthread {

constinit Atomic<int> detail::g_waiting{0};
constinit sched::ParkingLot g_lot;

// ---- may the caller's fiber wait? ------------------------------------------------------------

// Not the scheduler, which tells tools between two tasks, not a polling service, and not on a stack
// that the program has made for itself.
bool may_suspend(const sched::Worker &worker) {
    if (!worker.task || !worker.slot || worker.activity.idle_since() != 0 ||
        poll::inside(worker.current()))
        return false;
    const fiber::Context &context = worker.current()->context;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here - reinterpret_cast<std::uintptr_t>(context.stack_low) < context.stack_size;
}

bool may_suspend(const sched::Worker &worker, const void *return_address) {
    return may_suspend(worker) && is_program_code(return_address);
}

void note_failed_try(const void *return_address) {
    constexpr unsigned kPatience = 32;
    static SENNIT_TLS unsigned t_failures;
    sched::Worker *const worker = worker_with_others();
    if (worker && ++t_failures % kPatience == 0 && may_suspend(*worker, return_address))
        worker->yield();
}

// ---- deadlines -------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

timespec now_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return now;
}

} // namespace

std::int64_t Deadline::left_ns() const {
    constexpr std::int64_t kLongest = 1'000'000'000; // seconds
    if (!time_)
        return kLongest * kSecond;
    const timespec now = now_of(clock_);
    const std::int64_t seconds =
        std::clamp<std::int64_t>(time_->tv_sec, 0, now.tv_sec + kLongest) - now.tv_sec;
    return seconds * kSecond + time_->tv_nsec - now.tv_nsec;
}

Deadline Deadline::in_ns(std::int64_t ns, timespec &storage) {
    storage = now_of(CLOCK_MONOTONIC);
    storage.tv_sec += static_cast<time_t>(ns / kSecond);
    storage.tv_nsec += static_cast<long>(ns % kSecond);
    if (storage.tv_nsec >= kSecond) {
        storage.tv_nsec -= kSecond;
        ++storage.tv_sec;
    }
    return {CLOCK_MONOTONIC, &storage};
}

// ---- the lot ---------------------------------------------------------------------------------

NoSignals::NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
}

NoSignals::~NoSignals() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// Under the bucket's lock: who is not in the lot any more has been told.
void Parking::tell(sched::ParkingLot::Waiter &waiter) {
    detail::g_waiting.fetch_sub(1, std::memory_order_relaxed);
    static_cast<Parking &>(waiter).cell_.signal_from_anywhere();
}

SENNIT_NOINLINE int detail::wake_slow(const void *address, int most) {
    const NoSignals guard;
    return g_lot.take(address, most, Parking::tell);
}

void Parking::enter() {
    {
        const NoSignals guard;
        detail::g_waiting.fetch_add(1, std::memory_order_relaxed);
        g_lot.enter(*this, [] { return true; });
    }
    fence_heavy(); // pairs with fence_light in wake
}

void Parking::leave() {
    bool removed;
    {
        const NoSignals guard;
        removed = g_lot.remove(*this);
    }
    if (removed)
        detail::g_waiting.fetch_sub(1, std::memory_order_relaxed);
    else
        wake(address(), 1);
}

struct Parking::Timer : poll::Timer {
    Parking *parking;
    static void give_up(poll::Timer &timer) {
        Parking &parking = *static_cast<Timer &>(timer).parking;
        const NoSignals guard;
        if (!g_lot.remove(parking))
            return;
        detail::g_waiting.fetch_sub(1, std::memory_order_relaxed);
        parking.late_ = true;
        parking.cell_.signal_from_anywhere();
    }
};

bool Parking::wait(sched::Worker &worker, const Deadline &until, std::int64_t most_ns) {
    const bool timed = most_ns >= 0 || !until.for_ever();
    Timer timer{};
    if (timed) {
        const std::int64_t left = std::max<std::int64_t>(until.left_ns(), 0);
        const std::int64_t ns = most_ns >= 0 ? std::min(left, most_ns) : left;
        timer.deadline_ns = poll::now_ns() + static_cast<std::uint64_t>(ns);
        timer.fire = Timer::give_up;
        timer.parking = this;
        poll::start_timer(timer);
    }
    sched::CellCondition condition(cell_, sched::WaitFor::primitive, &primitive_);
    worker.wait(condition);
    if (timed)
        poll::stop_timer(timer);
    return !late_;
}

// ---- fork ------------------------------------------------------------------------------------

namespace {
sigset_t g_mask_before_fork;
}

void before_fork() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &g_mask_before_fork);
    g_lot.before_fork();
}

void after_fork() {
    g_lot.after_fork();
    pthread_sigmask(SIG_SETMASK, &g_mask_before_fork, nullptr);
}

void after_fork_in_child() {
    const int waiting = g_lot.after_fork_in_child();
    detail::g_waiting.store(waiting, std::memory_order_relaxed);
    pthread_sigmask(SIG_SETMASK, &g_mask_before_fork, nullptr);
}

} // namespace sennit::pthread
