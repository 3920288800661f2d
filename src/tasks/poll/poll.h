// SPDX-License-Identifier: Apache-2.0
// Polling services and timers: progress for whatever completes outside of the task graph.
//
// A service is run by at most one thread at a time (each has a token), and only while it has
// pending operations. Three kinds of threads poll (task-aware MPI paper, section 4.5): idle
// workers; workers at scheduling points, not too often; and a ticker thread, every 1 ms, which is
// started when something is pending for the first time.
#pragma once

#include "base/spin.h"
#include "sennit.h"
#include "wait/bell.h"

#include <atomic>
#include <cstdint>

namespace sennit::poll {

namespace detail {
// Operations of all services, times two; odd: scheduling points look further.
extern Atomic<std::int64_t> g_pending;
constexpr std::int64_t kOperation = 2;
constexpr std::int64_t kFurther = 1;
} // namespace detail

// Is there anything to poll for? One relaxed load: a worker may see a change late, the ticker never
// sleeps through it.
inline bool pending() {
    return detail::g_pending.load(std::memory_order_relaxed) > detail::kFurther;
}

// Is there anything that a scheduling point has to look at, beside the queues?
inline bool due() {
    return detail::g_pending.load(std::memory_order_relaxed) != 0;
}
// From now on scheduling points look at more than operations, or no more. Not twice the same.
inline void look_further(bool further) {
    detail::g_pending.fetch_add(further ? detail::kFurther : -detail::kFurther,
                                std::memory_order_relaxed);
}

// Run every service that has pending operations and whose token is free. Returns completions.
// `flow`: what the calling thread runs, if it has several flows of control (fibers): one may wait
// in a service while another one goes on.
// `looks`: the caller looks for something to run right afterwards.
int run(const void *flow = nullptr, bool looks = false);
// Does this flow run a service for a caller who does?
bool caller_looks(const void *flow);

// How often run() was called, about; to see from the ticker whether workers poll.
std::uint64_t runs();

// True of a flow of control that is inside a service: such code must not suspend. Without `flow`:
// is any of this thread's?
//
// A service may call a function of the program's (MPI: a reduction, an error handler), and that may
// wait for a lock all the same. Other tasks run on its thread meanwhile. So a holder of the lock
// that was suspended there goes on when what it waits for has come. But the token stays taken, and
// MPI is in the middle of a call. So the function must not wait for a task that waits for an
// operation of the same service, nor for the task on whose stack it was called. That is so with
// bare MPI, too: the holder's call finds MPI busy with this one.
bool inside(const void *flow = nullptr);

int register_service(const char *name, sennit_poll_function function, void *arg,
                     sennit_poll_service **service);
int unregister_service(sennit_poll_service *service);
int add_pending(sennit_poll_service *service, std::int64_t delta);

// A point in time at which the ticker calls fire(timer). The timer belongs to the caller and must
// live until it fired.
struct Timer {
    std::uint64_t deadline_ns; // CLOCK_MONOTONIC
    void (*fire)(Timer &);
    Timer *next;
};
void start_timer(Timer &timer);
// On return it has fired, or never will. Not from fire().
void stop_timer(Timer &timer);
bool timers_pending();
std::uint64_t now_ns();

// A watch: look() is called by the ticker every `period_ns` once somebody began it; null: no more.
// On return no earlier look() is called nor running. Not from look().
enum class Watcher : std::uint8_t {
    hangs,
    split
}; // the room src/tasks/watch; threads that are split
void set_watch(Watcher watcher, void (*look)(void *arg), void *arg, std::uint64_t period_ns);
namespace detail {
extern std::atomic<bool> g_wants_watch;
}
// Is there a watch, but no ticker yet?
inline bool wants_watch() {
    return detail::g_wants_watch.load(std::memory_order_relaxed);
}
void begin_watch();

// What services do, for the watch of hangs, whose ticker alone may ask. `busy`: a service has not
// come back since the last question, and its thread is not blocked. each_service: all, for reports.
struct PollActivity {
    std::uint64_t completions;
    bool busy;
};
PollActivity activity(bool (*is_blocked)(int thread_id));
struct Pending {
    const char *name;
    std::int64_t operations;
    const sennit_describer *describer; // or null
};
void each_service(void (*visit)(void *arg, const Pending &service), void *arg);
int set_describer(sennit_poll_service *service, const sennit_describer *describer);

// The thread that sleeps until files are ready (src/tasks/libc), by the system's number, for the
// watch of hangs. 0: there is none.
inline std::atomic<int> g_file_watcher{0};

// Where those ring who end what is waited for (sennit_poll_doorbell); null: nobody does.
void set_doorbell(wait::Bell *bell);
wait::Bell *doorbell();

// In the child of fork(): the ticker thread is gone, start afresh.
void before_fork();
void after_fork();
void after_fork_in_child();

// Points in time for timers (poll.h).

// So long after `now`, or the end of time: programs may give any number.
inline std::uint64_t time_after(std::uint64_t now, std::uint64_t ns) {
    return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

} // namespace sennit::poll
