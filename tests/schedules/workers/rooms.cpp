// SPDX-License-Identifier: Apache-2.0
#include "rooms.h"

#include "base/message.h"
#include "tasks/sched/sharing.h"
#include "tasks/trace/counters.h"
#include "tasks/trace/spent_time.h"
#include "tasks/trace/trace.h"

#include <cstdlib>
#include <pthread.h>

namespace sennit::schedules {

Rooms g_rooms;

static void (*g_fiber_main)(fiber::Context &) = nullptr;

void run_worker(sched::Worker &worker) {
    worker.fibers.take(); // there is none, but make() below has heard what it is to run
    g_fiber_main(worker.fibers.root.context);
}

} // namespace sennit::schedules

namespace sennit::sched {

using schedules::g_rooms;

constinit Processors g_processors;
std::uint64_t Processors::spin_budget() const {
    return 0;
}
bool Processors::yields_in_vain() const {
    return g_rooms.yields_in_vain;
}
void Processors::set_active(int) {
    crowded_.store(g_rooms.is_crowded, std::memory_order_relaxed);
}

int detail::worker_count() {
    return static_cast<int>(g_rooms.workers.size());
}
Worker *detail::worker_at(int id) {
    return &g_rooms.workers[static_cast<std::size_t>(id)];
}

void Thread::adopt(bool) {}
void Thread::yield() {
    schedules::wait_for_change();
}
void Thread::count_work(Fiber &) {}

// No fiber but the root.
Fiber *Fibers::make() {
    schedules::g_fiber_main = main_;
    return nullptr;
}
// What a worker does that goes to sleep depends on nothing that it has read before.
void Fibers::trim(int) {
    schedules::begin_anew(0);
}
void Fibers::unmap(int) {}
int Fibers::cache_floor() {
    return 1;
}
void Fibers::adopt_thread(Worker &, std::size_t, void **) {}
bool may_bury(const Fiber &) {
    return true;
}

constinit node::Share detail::g_share;
void Seat::need() {}
void Seat::rest() {}
void Seat::look() {}
bool Seat::fall_asleep() {
    return false;
}
void Seat::wake_up(bool, bool) {}
std::uint64_t Seat::patience() {
    return 0;
}

} // namespace sennit::sched

namespace sennit {

// The fiber goes on, and waits again at once: the worker is back on the fiber that it came from.
void fiber::switch_to(Context &, Context &to) {
    sched::Worker &worker = *sched::Worker::self();
    auto &resumed = reinterpret_cast<sched::Fiber &>(to); // its first member
    worker.fibers.arrive();
    schedules::g_rooms.resume(resumed);
    worker.fibers.make_current(resumed, *worker.fibers.take());
}
bool fiber::overflowed(const Stack &) {
    return false;
}

bool trace::g_on = false;
void trace::record(Kind, Word, Word, Word, Word, Word, Word, Word) {}
void trace::polled(std::uint64_t, int) {}
void trace::count_out() {}
void trace::close_counters() {}
const Config &config() {
    static const Config with_defaults{};
    return with_defaults;
}

void fence_before_sleep() {
    fence_heavy();
}
void warn(const char *, ...) {}
void fatal(const char *, ...) {
    std::abort();
}
void futex_wait_either(FutexWord &, std::uint32_t, FutexWord &, std::uint32_t, std::int64_t) {
    std::abort(); // no test has a doorbell
}

} // namespace sennit

extern "C" int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*main)(void *),
                                     void *argument) {
    sennit::schedules::g_rooms.thread = main;
    sennit::schedules::g_rooms.thread_argument = argument;
    return 0;
}
