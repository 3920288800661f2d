// SPDX-License-Identifier: Apache-2.0
#include "mpi/extensions/callbacks.h"

#include "base/hash.h"
#include "mpi/call/bare.h"
#include "mpi/call/operation.h"
#include "mpi/call/runtime.h"
#include "mpi/engine/engine.h"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>
#include <strings.h>

namespace sennit::mpi {

namespace {
constexpr int kDeepest = 16; // callbacks within callbacks on one stack

constexpr std::string_view kBlocking[] = {
#include "blocking-calls.inc" // generated
};

// Is this the symbol of a call of calls.txt that may block, in C or Fortran?
int is_blocking(const char *symbol) {
    symbol += *symbol == 'P' || *symbol == 'p';
    if (strncasecmp(symbol, "mpi_", 4) != 0)
        return 0;
    symbol += 4;
    // What follows the name is Fortran's: _, _f08_; or stands for large counts: _c.
    for (const std::string_view call : kBlocking)
        if (strncasecmp(symbol, call.data(), call.size()) == 0 &&
            (symbol[call.size()] == 0 || symbol[call.size()] == '_'))
            return 1;
    return 0;
}

} // namespace

// Null: there is no more room. Then nothing is known of it.
Callbacks::Known *Callbacks::find(Function function) {
    unsigned at = hash_place(handle_bits(function), kMostKnownBits);
    for (unsigned i = 0; i < kMostKnown; ++i, at = (at + 1) % kMostKnown) {
        Known &known = known_[at];
        Function there = known.function.load(std::memory_order_relaxed);
        if (there == nullptr &&
            known.function.compare_exchange_strong(there, function, std::memory_order_relaxed))
            return &known;
        if (there == function)
            return &known;
    }
    return nullptr;
}

void Callbacks::never_blocks(Function function) {
    if (Known *known = find(function))
        known->habit.store(Habit::returns, std::memory_order_relaxed);
}

Habit Callbacks::habit_of(Function function, Known *known) {
    if (!known)
        return Habit::unseen;
    Habit habit = known->habit.load(std::memory_order_relaxed);
    if (habit == Habit::unknown) {
        const Habit found =
            runtime_present() && code_calls(function, is_blocking) ? Habit::blocks : Habit::unseen;
        if (known->habit.compare_exchange_strong(habit, found, std::memory_order_relaxed))
            habit = found;
    }
    return habit;
}

// Calls it, and learns whether it makes calls that may block.
void Callbacks::watch(Function function, void (*call)(void *), void *arg) {
    Known *const known = find(function);
    const InCallback::Watched watched(known ? &known->habit : nullptr);
    call(arg);
    Habit unseen = habit_of(function, known);
    if (watched.unnoted() && unseen == Habit::unseen)
        known->habit.compare_exchange_strong(unseen, Habit::returns, std::memory_order_relaxed);
}

bool Callbacks::fulfils_event(Function function) {
    static const auto fulfil = reinterpret_cast<Function>(find_in_runtime("omp_fulfill_event"));
    return function == fulfil;
}

bool Callbacks::goes_elsewhere(Function function, bool at_once) {
    if (fulfils_event(function))
        return false;
    if (!runtime_present() && (InCallback::depth() == 0 || !may_use_threads()))
        return false;
    if (InCallback::depth() >= kDeepest)
        return true;
    const Habit habit = habit_of(function, find(function));
    return habit == Habit::blocks || (habit == Habit::unseen && !at_once);
}

bool Callbacks::too_many(Function function) {
    return InCallback::depth() >= kDeepest && !runtime_present() && !goes_elsewhere(function);
}

void Callbacks::run(Function function, void (*call)(void *), void *arg, bool at_once) {
    if (goes_elsewhere(function, at_once))
        call_elsewhere(function, call, arg);
    else
        run_here(function, call, arg);
}

void Callbacks::run_here(Function function, void (*call)(void *), void *arg) {
    const InCallback::Here here;
    watch(function, call, arg);
}

struct Callbacks::Elsewhere : Job {
    Callbacks &callbacks;
    Function function;
    void (*what)(void *);
    void *arg;

    // Calls it in a task, which can be suspended.
    static void in_task(void *self) { static_cast<Elsewhere *>(self)->call(); }
    // Calls it on a thread that is there for it.
    static void in_thread(Job &self) {
        const InCallback::Here here;
        static_cast<Elsewhere &>(self).call();
    }
    void call() {
        callbacks.watch(function, what, arg);
        std::atomic<int> &under_way = callbacks.under_way_;
        std::free(this);
        under_way.fetch_sub(1, std::memory_order_release);
    }
};

void Callbacks::call_elsewhere(Function function, void (*call)(void *), void *arg) {
    if (void *memory = std::malloc(sizeof(Elsewhere))) {
        auto *self = new (memory) Elsewhere{{}, *this, function, call, arg};
        self->Job::call = Elsewhere::in_thread;
        under_way_.fetch_add(1, std::memory_order_relaxed);
        if (runtime_present() ? spawn_task(Elsewhere::in_task, self)
                              : g_engine.helpers.hand_out(*self))
            return;
        under_way_.fetch_sub(1, std::memory_order_relaxed);
        std::free(memory);
    }
    run_here(function, call, arg);
}

} // namespace sennit::mpi
