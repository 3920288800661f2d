// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/progress_thread.h"

#include "base/guard.h"
#include "mpi/options.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>

namespace sennit::mpi {

void ProgressThread::run() {
    pthread_setname_np(pthread_self(), "sennit-detach");
    for (;;) {
        {
            const Guard guard(mutex_);
            while (!stopping_ && tickets_.pending_acquire() == 0)
                mutex_.wait(changed_);
            if (stopping_)
                return;
        }
        if (progress_() == 0)
            sched_yield();
    }
}

bool ProgressThread::wanted() {
    static const bool wanted = // a bad word is told of once
        options::read_choice<DetachProgress>(options::detach) == DetachProgress::progress;
    return wanted;
}

// Returns an error number.
int ProgressThread::begin() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // The program's signals belong to the program's threads.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(
        &thread_, nullptr,
        [](void *self) -> void * {
            static_cast<ProgressThread *>(self)->run();
            return nullptr;
        },
        this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    running_.store(error == 0, std::memory_order_release);
    return error;
}

bool ProgressThread::ensure() {
    if (running_.load(std::memory_order_acquire))
        return true;
    const Guard guard(mutex_);
    return running_.load(std::memory_order_relaxed) || begin() == 0;
}

void ProgressThread::start(int level) {
    if (!wanted())
        return;
    if (level < MPI_THREAD_MULTIPLE) {
        std::fprintf(stderr,
                     "sennit: MPIX_DETACH=progress needs MPI_THREAD_MULTIPLE, which this MPI does "
                     "not provide: callbacks run in MPIX_Progress and MPI_Finalize\n");
        return;
    }
    const int error = begin();
    if (error != 0)
        std::fprintf(stderr,
                     "sennit: no thread for MPIX_DETACH=progress (%s): callbacks run in "
                     "MPIX_Progress and MPI_Finalize\n",
                     std::strerror(error));
}

void ProgressThread::stop() {
    if (!running_.exchange(false, std::memory_order_acq_rel))
        return;
    {
        const Guard guard(mutex_);
        stopping_ = true;
        pthread_cond_signal(&changed_);
    }
    pthread_join(thread_, nullptr);
}

void ProgressThread::wake() {
    if (!running_.load(std::memory_order_acquire) || tickets_.pending_acquire() == 0)
        return;
    const Guard guard(mutex_);
    pthread_cond_signal(&changed_);
}

} // namespace sennit::mpi
