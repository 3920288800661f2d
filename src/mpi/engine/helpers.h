// SPDX-License-Identifier: Apache-2.0
// Threads that make blocking calls. As many as there are calls under way: fewer could deadlock,
// when ranks make their calls on two communicators in different order.
//
// State: jobs that no thread has taken yet, and how many threads are idle, under a mutex. Threads
// stay for later jobs.
#pragma once

#include <pthread.h>

namespace sennit::mpi {

class Helpers;

// A call to be made by a helper thread. It is the last that touches the job.
struct Job {
    void (*call)(Job &job);
    Job *next;
    Helpers *helpers; // whose thread makes it
};

class Helpers {
  public:
    // Give it to a thread; false: there is none and no more can be made.
    bool hand_out(Job &job);

  private:
    static void *run(void *first);
    void work(Job *job);

    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t there_ = PTHREAD_COND_INITIALIZER;
    Job *jobs_ = nullptr;
    int idle_ = 0; // threads that no job was given to
};

// Without the task runtime: may more threads than the program's call MPI?
bool may_use_threads();

} // namespace sennit::mpi
