// SPDX-License-Identifier: Apache-2.0
// Calls of tasks on one communicator, window or file must keep their order, also while the first is
// still under way in a helper. So each takes its turn. A collective that is started, not delegated,
// takes its turn too while there are delegated ones.
//
// State: who has the turn on each object, in a list; those who wait hang behind him, in order. All
// under a mutex. Capacity: any number; a turn lives in the frame of the call.
#pragma once

#include "mpi/call/object.h"
#include "sennit.h"

#include <atomic>
#include <pthread.h>

namespace sennit::mpi {

class Turn;

class Turns {
  public:
    // Does any task have its turn or wait for it?
    bool taken() const { return count_.load(std::memory_order_relaxed) > 0; }

  private:
    friend class Turn;
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    Turn *holders_ = nullptr;
    std::atomic<int> count_{0};
};

// From construction to destruction it is the calling task's turn on `object`. The constructor
// suspends the task until those that came before are through.
class Turn {
  public:
    Turn(Turns &turns, Object object);
    // Without waiting: only where nobody has it.
    struct IfFree {};
    Turn(Turns &turns, Object object, IfFree);
    bool taken() const { return object_.kind != Object::Kind::none; }
    ~Turn();
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

  private:
    Turn *take_or_find_holder();

    Turns &turns_;
    Object object_;
    sennit_task *waiter_ = nullptr;
    Turn *next_ = nullptr;        // holders: of another object; waiters: behind this one
    Turn *last_waiter_ = nullptr; // of a holder
    Turn *first_waiter_ = nullptr;
};

} // namespace sennit::mpi
