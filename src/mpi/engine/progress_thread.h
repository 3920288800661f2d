// SPDX-License-Identifier: Apache-2.0
// The progress thread of MPI detach: MPIX_DETACH=progress (paper, section 6.1), and where a program
// without the runtime waits for a file descriptor. It tests while there are pending operations and
// sleeps otherwise. It calls MPI beside the program's threads, so it needs MPI_THREAD_MULTIPLE.
#pragma once

#include "base/guard.h"
#include "mpi/engine/tickets.h"

#include <atomic>
#include <pthread.h>

namespace sennit::mpi {

class ProgressThread {
  public:
    // progress() tests the pending operations, and returns how many are over.
    constexpr ProgressThread(const Tickets &tickets, int (*progress)())
        : tickets_(tickets), progress_(progress) {}
    ProgressThread(const ProgressThread &) = delete;
    ProgressThread &operator=(const ProgressThread &) = delete;

    // Did the user ask for the thread? Then MPI_Init asks for MPI_THREAD_MULTIPLE.
    static bool wanted();

    // start() is called after MPI_Init, with the level that MPI gave; stop() before MPI_Finalize.
    void start(int level);
    void stop();
    // Does it run? If not, it is started now, with MPI_THREAD_MULTIPLE.
    bool ensure();

    // There is something to test.
    void wake();

  private:
    void run();
    int begin();

    const Tickets &tickets_;
    int (*const progress_)();
    Mutex mutex_;
    pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
    bool stopping_ SENNIT_GUARDED_BY(mutex_) = false;
    std::atomic<bool> running_{false};
    pthread_t thread_{};
};

} // namespace sennit::mpi
