// SPDX-License-Identifier: Apache-2.0
// Is the thread inside one of the program's callbacks (extensions/callbacks.h)? What blocks has to
// know: where the thread cannot be suspended, it polls.
//
// A callback whose task waits in OpenMP counts while other tasks run on the thread. That costs them
// nothing but the callbacks which they would call: the runtime's polling calls those (library.cpp).
//
// State: three words of each thread, which only that thread touches.
#pragma once

#include "base/compiler.h"
#include "mpi/call/blocked_mark.h"

#include <atomic>

namespace sennit::mpi {

// What is known of a function that is called back:
// unknown -> unseen (its code shows no blocking call) -> returns; all -> blocks
enum class Habit : unsigned char { unknown, unseen, returns, blocks };

class InCallback {
  public:
    // Is the thread inside a callback that it has called itself?
    static bool polls() { return t_depth > 0; }
    // How many are on its stack.
    static int depth() { return t_depth; }
    // Does the innermost one block just now?
    static bool blocked() { return t_blocked; }
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

    // The thread is inside a callback.
    class Here {
      public:
        Here() : blocked_(t_blocked) { t_blocked = false, ++t_depth; }
        ~Here() { t_blocked = blocked_, --t_depth; }
        Here(const Here &) = delete;
        Here &operator=(const Here &) = delete;

      private:
        const Unmarked unmarked_;
        bool blocked_;
    };
    // It leaves it aside: the task is suspended in it. Taken away and added again, for others that
    // wait for a lock of OpenMP's, say, may end on this thread meanwhile.
    class Aside {
      public:
        Aside() : depth_(t_depth), blocked_(t_blocked) { t_depth = 0, t_blocked = false; }
        ~Aside() { t_depth += depth_, t_blocked = blocked_; }
        Aside(const Aside &) = delete;
        Aside &operator=(const Aside &) = delete;

      private:
        int depth_;
        bool blocked_;
    };
    // The function with this habit is called. Was no blocking call noted when it ends?
    class Watched {
      public:
        explicit Watched(std::atomic<Habit> *habit) : habit_(habit), outer_(t_habit) {
            t_habit = habit;
        }
        ~Watched() { t_habit = outer_; }
        Watched(const Watched &) = delete;
        Watched &operator=(const Watched &) = delete;
        // Nobody has taken it away: not even another task, if this one was suspended otherwise.
        bool unnoted() const { return habit_ && t_habit == habit_; }

      private:
        std::atomic<Habit> *habit_;
        std::atomic<Habit> *outer_;
    };

  private:
    static void note_that_it_blocks();

    static SENNIT_TLS int t_depth;
    static SENNIT_TLS bool t_blocked;
    // Of the function that is being called, until it makes a call that may block.
    static SENNIT_TLS std::atomic<Habit> *t_habit;
};

} // namespace sennit::mpi
