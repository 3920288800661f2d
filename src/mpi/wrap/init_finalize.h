// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/spin.h"

#include <atomic>
#include <sched.h>

namespace sennit::mpi {

// The users of MPI: the world, from MPI_Init to MPI_Finalize, and the sessions that are open. Any
// thread.

class Users {
  public:
    // Is it the first, is it the last?
    bool come() { return count_.fetch_add(1, std::memory_order_relaxed) == 0; }
    bool leave() { return count_.fetch_sub(1, std::memory_order_relaxed) <= 1; }

    // The level of support for threads that the program was told, -1: none yet.
    void tell_level(int level) { level_.store(level, std::memory_order_release); }
    int told_level() const { return level_.load(std::memory_order_acquire); }

    // The one that it asked for; MPI itself has been asked for more.
    void ask_level(int level) { asked_level_.store(level, std::memory_order_release); }
    int asked_level() const { return asked_level_.load(std::memory_order_acquire); }

  private:
    std::atomic<int> count_{0};
    std::atomic<int> asked_level_{-1};
    std::atomic<int> level_{-1};
};

// Answers to the runtime's questions (describer.cpp) beside MPI_Finalize. The runtime asks on a
// thread of its own, which MPI_Finalize has to wait for. Each of the two threads writes its word
// before it reads the other's: one of them sees that the other was first.

class Answers {
  public:
    // An answer is being given, on the runtime's thread. May MPI be asked for it? Yes if is_open()
    // says so, after the fence.
    template <class IsOpen>
    bool begin(IsOpen is_open) {
        asking_.fetch_add(1, std::memory_order_relaxed);
        full_fence(); // pairs with close()
        return is_open();
    }
    void end() { asking_.fetch_sub(1, std::memory_order_release); }
    // From now on they are given without MPI, which is about to be finalized: shut() makes
    // is_open() say no.
    template <class Shut>
    void close(Shut shut) {
        shut();
        full_fence(); // pairs with begin()
        while (asking_.load(std::memory_order_acquire) != 0)
            sched_yield(); // it calls nothing that waits for others
    }

  private:
    Atomic<int> asking_{0};
};

} // namespace sennit::mpi
