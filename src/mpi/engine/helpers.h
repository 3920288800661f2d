// SPDX-License-Identifier: Apache-2.0
// Threads that make blocking calls. As many as there are calls under way: fewer could deadlock,
// when ranks make their calls on two communicators in different order.
//
// Brief calls, which hardly ever wait for what another task does (a flush of a window, say), are
// made one after the other as long as that goes on: threads that wait in MPI all at once take turns
// on one processor. Another thread watches. When none was begun for kPatienceNs while some are
// queued, it makes the next, and yet another thread watches.
//
// State: jobs that no thread has taken yet, how many of them are to be taken at once, and how many
// threads are idle, under a mutex. Threads stay for later jobs.
#pragma once

#include <pthread.h>

namespace sennit::mpi {

class Helpers;

// A call to be made by a helper thread. It is the last that touches the job.
struct Job {
    void (*call)(Job &job);
    Job *next;
    Helpers *helpers; // whose thread makes it
    bool brief = false;
};

class Helpers {
  public:
    // Give it to a thread; false: there is none and no more can be made.
    bool hand_out(Job &job);

  private:
    static constexpr long kPatienceNs = 200'000;

    static void *run(void *helpers);
    void work();
    void await();
    bool watch();
    Job *take();
    void queue(Job &job);
    bool drop(const Job &job);
    bool add_thread();

    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t there_ = PTHREAD_COND_INITIALIZER;
    Job *jobs_ = nullptr; // those that are not brief first
    Job **end_ = &jobs_;
    int to_take_ = 0;         // jobs that an idle thread takes without waiting for others
    int idle_ = 0;            // threads, those included that begin
    int active_ = 0;          // threads that make a call
    unsigned long begun_ = 0; // calls
};

// Without the task runtime: may more threads than the program's call MPI?
bool may_use_threads();

} // namespace sennit::mpi
