// SPDX-License-Identifier: Apache-2.0
// The program's functions that are called when operations are complete. Most do little: they fulfil
// an event, say. So the thread that finds an operation complete calls them itself, when it has done
// with testing.
//
// But a callback may block in MPI. What it waits for may depend on that thread: on the tasks that
// are parked on it, on the next callback, on the tests. So a callback that may block is called
// elsewhere: by a task of its own; without the task runtime, while another one blocks, by a thread
// of the library's. A function is taken for one that may block until it has returned without, and
// for good if its machine code shows a blocking call. If another one blocks all the same, its
// thread goes on polling.
//
// State: what is known of functions, a hash table without a lock in which a place belongs to a
// function for good; how many are under way. Any thread.
//
// Capacity: kMostKnown functions; a program has few. Of more nothing is known: they are called
// elsewhere.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/thread_state.h"

namespace sennit::mpi {

class Callbacks {
  public:
    using Function = void (*)(); // of any type
    static constexpr unsigned kMostKnownBits = 6;
    static constexpr unsigned kMostKnown = 1u << kMostKnownBits;

    constexpr Callbacks() = default;
    Callbacks(const Callbacks &) = delete;
    Callbacks &operator=(const Callbacks &) = delete;

    // call(arg), which calls `function` and does what is to be done afterwards: here and now, or
    // elsewhere.
    // `at_once`: in the call that it was given to, which a callback of unknown habits may delay.
    void run(Function function, void (*call)(void *arg), void *arg, bool at_once = false);
    void run_here(Function function, void (*call)(void *arg), void *arg);
    // Is it OpenMP's omp_fulfill_event?
    static bool fulfils_event(Function function);
    // Has it to be called elsewhere?
    bool goes_elsewhere(Function function, bool at_once = false);
    // May those that are to be called here be called now? Not from within another one, without end,
    // unless that one blocks.
    static bool may_begin() { return !InCallback::polls() || InCallback::blocked(); }
    // Are so many on this thread's stack that one more has to wait until some have returned? Where
    // others can call it, they do.
    bool too_many(Function function);
    // From now on there may be callbacks: blocking calls look whether they are in one.
    static void expect() {
        if ((g_calls.attention.load(std::memory_order_relaxed) & kCallbacks) == 0)
            attend_to(kCallbacks);
    }
    // This function, one of ours, does not block.
    void never_blocks(Function function);
    // That are called elsewhere and have not returned.
    int under_way() const { return under_way_.load(std::memory_order_acquire); }

  private:
    struct Known {
        std::atomic<Function> function{nullptr};
        std::atomic<Habit> habit{Habit::unknown};
    };
    struct Elsewhere;

    Known *find(Function function);
    static Habit habit_of(Function function, Known *known);
    void watch(Function function, void (*call)(void *arg), void *arg);
    void call_elsewhere(Function function, void (*call)(void *arg), void *arg);

    Known known_[kMostKnown];
    std::atomic<int> under_way_{0};
};

} // namespace sennit::mpi
