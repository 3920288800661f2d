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
#pragma once

#include "mpi/call/blocking.h"

namespace sennit::mpi {

class Callback {
  public:
    using Function = void (*)(); // of any type
    // call(arg), which calls `function` and does what is to be done afterwards: here and now, or
    // elsewhere.
    // `at_once`: in the call that it was given to, which a callback of unknown habits may delay.
    static void run(Function function, void (*call)(void *arg), void *arg, bool at_once = false);
    static void run_here(Function function, void (*call)(void *arg), void *arg);
    // Has it to be called elsewhere?
    static bool goes_elsewhere(Function function, bool at_once = false);
    // May those that are to be called here be called now? Not from within another one, without end,
    // unless that one blocks.
    static bool may_begin() { return t_here == 0 || t_blocked; }
    // Are so many on this thread's stack that one more has to wait until some have returned? Where
    // others can call it, they do.
    static bool too_many(Function function);
    // From now on there may be callbacks: blocking calls look whether they are in one.
    static void expect() { attend_to(kCallbacks); }
    // This function, one of ours, does not block.
    static void never_blocks(Function function);
    // That are called elsewhere and have not returned.
    static int under_way();
    // Is the thread inside a callback that it has called itself? Where it cannot be suspended in
    // it, who blocks polls.
    static bool polls() { return t_here > 0; }
    // A call is made that may block.
    static void note_call() {
        if (t_habit) [[unlikely]]
            note_that_it_blocks();
    }
    // work() while a callback blocks that the thread may be in.
    template <class Work>
    static void while_blocked(Work work) {
        const bool outer = t_blocked;
        t_blocked = true;
        work();
        t_blocked = outer;
    }
    // In such a callback: poll until the operation is over().
    template <class Over>
    static void poll_until(const Operation &operation, Over over) {
        const Blocking mark(operation);
        while (!over())
            poll();
    }

    // The thread is inside a callback.
    class Here {
      public:
        Here() : blocked_(t_blocked) { t_blocked = false, ++t_here; }
        ~Here() { t_blocked = blocked_, --t_here; }
        Here(const Here &) = delete;
        Here &operator=(const Here &) = delete;

      private:
        const Unmarked unmarked_;
        bool blocked_;
    };
    // It leaves it aside: the task is suspended in it.
    class Aside {
      public:
        Aside() : here_(t_here), blocked_(t_blocked) { t_here = 0, t_blocked = false; }
        ~Aside() { t_here = here_, t_blocked = blocked_; }
        Aside(const Aside &) = delete;
        Aside &operator=(const Aside &) = delete;

      private:
        int here_;
        bool blocked_;
    };

  private:
    // unknown -> unseen (its code shows no blocking call) -> returns; all -> blocks
    enum class Habit : unsigned char { unknown, unseen, returns, blocks };
    struct Known {
        std::atomic<Function> function{nullptr};
        std::atomic<Habit> habit{Habit::unknown};
    };
    struct Elsewhere;
    static Known *find(Function function);
    static Habit habit_of(Function function, Known *known);
    static void watch(Function function, void (*call)(void *arg), void *arg);
    static void call_elsewhere(Function function, void (*call)(void *arg), void *arg);
    static void note_that_it_blocks();
    static void poll();

    static Known s_known[];
    static constinit thread_local int t_here __attribute__((tls_model("initial-exec")));
    static constinit thread_local bool t_blocked __attribute__((tls_model("initial-exec")));
    // Of the function that is being called, until it makes a call that may block.
    static constinit thread_local Known *t_habit __attribute__((tls_model("initial-exec")));
};

} // namespace sennit::mpi
