// SPDX-License-Identifier: Apache-2.0
// Threads that make blocking calls. There are as many as there are calls under way. Fewer could
// deadlock, if ranks make their calls on two communicators in different order.
//
// *Brief* calls hardly ever wait for what another task does (a flush of a window, say). One thread
// makes them one after the other, as long as that makes progress: threads that all wait in MPI
// would only take turns on one processor. Another thread watches. If brief calls are queued and
// none was begun for the nap of wait::kHelper, it makes the next one, and yet another thread
// watches.
//
// One call may serve several tasks: a flush of a window completes all that was put before it
// begins. So a job that *merges* joins an equal one that no thread has taken yet, and that one's
// call is for both.
//
// State: jobs that no thread has taken yet, how many of them are to be taken at once, and how many
// threads are idle, under a mutex. Threads stay for later jobs.
#pragma once

#include "base/guard.h"
#include "mpi/call/operation.h"

#include <pthread.h>

namespace sennit::mpi {

class Helpers;

// What a call that merges does.
struct SameCall {
    const char *name = nullptr; // null: it does not merge. The same address for each such call
    Object object = {};
    int target = -1;
    bool whole = false; // a flush that is over at its targets, too

    bool operator==(const SameCall &) const = default;
};

// A call for a helper thread. call() is the last to touch the job, and those that have joined it.
struct Job {
    void (*call)(Job &job);
    Job *next;
    Helpers *helpers; // one of their threads makes the call
    bool brief = false;
    SameCall same;         // only of a brief one
    Job *joined = nullptr; // the next that the same call is for
};

class Helpers {
  public:
    // Give the job to a thread. False: no thread is free, and no more can be created. Jobs may have
    // joined it even so.
    bool hand_out(Job &job);

  private:
    static void *run(void *helpers);
    void work();
    void await() SENNIT_REQUIRES(mutex_);
    bool watch() SENNIT_REQUIRES(mutex_);
    Job *take() SENNIT_REQUIRES(mutex_);
    bool join(Job &job) SENNIT_REQUIRES(mutex_);
    void queue(Job &job) SENNIT_REQUIRES(mutex_);
    bool drop(const Job &job) SENNIT_REQUIRES(mutex_);
    bool add_thread();

    Mutex mutex_;
    TimedCondition there_;
    bool prepared_ SENNIT_GUARDED_BY(mutex_) = false; // there_
    Job *jobs_ SENNIT_GUARDED_BY(mutex_) = nullptr;   // brief jobs come last
    Job **end_ SENNIT_GUARDED_BY(mutex_) = &jobs_;
    // Jobs that an idle thread takes without waiting for others.
    int to_take_ SENNIT_GUARDED_BY(mutex_) = 0;
    int idle_ SENNIT_GUARDED_BY(mutex_) = 0;            // idle threads, and threads that begin
    int active_ SENNIT_GUARDED_BY(mutex_) = 0;          // threads that make a call
    unsigned long begun_ SENNIT_GUARDED_BY(mutex_) = 0; // calls that were begun
};

// May threads beside the program's call MPI, if there is no task runtime?
bool may_use_threads();

} // namespace sennit::mpi
