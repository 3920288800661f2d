// SPDX-License-Identifier: Apache-2.0
#include "mpi/extensions/callback.h"

#include "mpi/engine/delegate.h"

#include <cstdlib>
#include <sched.h>
#include <utility>

namespace sennit::mpi {

constinit thread_local int Callback::t_here __attribute__((tls_model("initial-exec")));
constinit thread_local bool Callback::t_blocked __attribute__((tls_model("initial-exec")));
constinit thread_local Callback::Known *Callback::t_habit
    __attribute__((tls_model("initial-exec")));

namespace {
constexpr unsigned kMostKnownBits = 6;
constexpr unsigned kMostKnown = 1u << kMostKnownBits; // functions; a program has few
constexpr int kDeepest = 16;                          // callbacks within callbacks on one stack
std::atomic<int> g_under_way{0};
} // namespace

Callback::Known Callback::s_known[kMostKnown];

// Null when there is no more room: then nothing is known of it.
Callback::Known *Callback::find(Function function) {
    unsigned at = bucket_of_bits(handle_bits(function), kMostKnownBits);
    for (unsigned i = 0; i < kMostKnown; ++i, at = (at + 1) % kMostKnown) {
        Known &known = s_known[at];
        Function there = known.function.load(std::memory_order_relaxed);
        if (there == nullptr &&
            known.function.compare_exchange_strong(there, function, std::memory_order_relaxed))
            return &known;
        if (there == function)
            return &known;
    }
    return nullptr;
}

void Callback::never_blocks(Function function) {
    if (Known *known = find(function))
        known->habit.store(Habit::returns, std::memory_order_relaxed);
}

void Callback::note_that_it_blocks() {
    std::exchange(t_habit, nullptr)->habit.store(Habit::blocks, std::memory_order_relaxed);
}

Callback::Habit Callback::habit_of(Function function, Known *known) {
    if (!known)
        return Habit::unseen;
    Habit habit = known->habit.load(std::memory_order_relaxed);
    if (habit == Habit::unknown) {
        const Habit found =
            runtime_present() && code_may_block(function) ? Habit::blocks : Habit::unseen;
        if (known->habit.compare_exchange_strong(habit, found, std::memory_order_relaxed))
            habit = found;
    }
    return habit;
}

// Call it, and learn whether it makes calls that may block.
void Callback::watch(Function function, void (*call)(void *), void *arg) {
    Known *const known = find(function);
    Known *const outer = std::exchange(t_habit, known);
    call(arg);
    // Nobody has taken it away: not even another task, if this one was suspended otherwise.
    Habit unseen = habit_of(function, known);
    if (known && t_habit == known && unseen == Habit::unseen)
        known->habit.compare_exchange_strong(unseen, Habit::returns, std::memory_order_relaxed);
    t_habit = outer;
}

bool Callback::goes_elsewhere(Function function, bool at_once) {
    static const auto fulfil = reinterpret_cast<Function>(find_in_runtime("omp_fulfill_event"));
    if (function == fulfil)
        return false;
    if (!runtime_present() && (t_here == 0 || !may_use_threads()))
        return false;
    if (t_here >= kDeepest)
        return true;
    const Habit habit = habit_of(function, find(function));
    return habit == Habit::blocks || (habit == Habit::unseen && !at_once);
}

bool Callback::too_many(Function function) {
    return t_here >= kDeepest && !runtime_present() && !goes_elsewhere(function);
}

void Callback::run(Function function, void (*call)(void *), void *arg, bool at_once) {
    if (goes_elsewhere(function, at_once))
        call_elsewhere(function, call, arg);
    else
        run_here(function, call, arg);
}

void Callback::run_here(Function function, void (*call)(void *), void *arg) {
    const Here here;
    watch(function, call, arg);
}

struct Callback::Elsewhere : Job {
    Function function;
    void (*what)(void *);
    void *arg;

    // In a task, which can be suspended.
    static void in_task(void *self) { static_cast<Elsewhere *>(self)->call(); }
    // On a thread that is there for it.
    static void in_thread(Job &self) {
        const Here here;
        static_cast<Elsewhere &>(self).call();
    }
    void call() {
        watch(function, what, arg);
        std::free(this);
        g_under_way.fetch_sub(1, std::memory_order_release);
    }
};

void Callback::call_elsewhere(Function function, void (*call)(void *), void *arg) {
    if (void *memory = std::malloc(sizeof(Elsewhere))) {
        auto *self = new (memory) Elsewhere{{}, function, call, arg};
        self->Job::call = Elsewhere::in_thread;
        g_under_way.fetch_add(1, std::memory_order_relaxed);
        if (runtime_present() ? spawn_task(Elsewhere::in_task, self) : hand_out(*self))
            return;
        g_under_way.fetch_sub(1, std::memory_order_relaxed);
        std::free(memory);
    }
    run_here(function, call, arg);
}

int Callback::under_way() {
    return g_under_way.load(std::memory_order_acquire);
}

void Callback::poll() {
    while_blocked([] { progress(); });
    sched_yield();
}

} // namespace sennit::mpi
