// SPDX-License-Identifier: Apache-2.0
// Calls of tasks on one communicator, window or file must keep their order, even while a helper is
// still busy with the first. So each takes its turn, and so do calls that have to be over before
// the next one starts. While there are such, any collective that is started takes its turn, too.
//
// State: the turn that holds each object, in a list. Turns that wait hang behind the holder, in
// order. All of it is under a mutex. Capacity: any number; a turn lives in the frame of its call.
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

// The calling task has its turn on `object` from the construction to the destruction. The
// constructor suspends the task until the tasks that came before are through.
class Turn {
  public:
    Turn(Turns &turns, Object object);
    // Does not wait: takes the turn only if nobody has it.
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
    Turn *next_ = nullptr;        // of a holder: another object's; of a waiter: the one behind
    Turn *last_waiter_ = nullptr; // of a holder
    Turn *first_waiter_ = nullptr;
};

} // namespace sennit::mpi
