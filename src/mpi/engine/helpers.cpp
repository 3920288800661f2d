// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/helpers.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/guard.h"

#include <csignal>
#include <cstdio>
#include <cstring>

namespace sennit::mpi {
namespace {

bool start_thread(void *(*run)(void *), Job &job) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // The program's signals belong to the program's threads.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const int error = pthread_create(&thread, nullptr, run, &job);
    if (error == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != 0)
        std::fprintf(stderr,
                     "sennit: no thread for a blocking MPI call in a task (%s): the call blocks "
                     "its worker; allow more threads (ulimit -u)\n",
                     std::strerror(error));
    return error == 0;
}

} // namespace

void *Helpers::run(void *first) {
    pthread_setname_np(pthread_self(), "sennit-mpi-call");
    auto *const job = static_cast<Job *>(first);
    job->helpers->work(job);
    return nullptr;
}

// Never returns.
void Helpers::work(Job *job) {
    for (;;) {
        job->call(*job);
        const Guard guard(mutex_);
        ++idle_;
        while (!jobs_)
            pthread_cond_wait(&there_, &mutex_);
        job = jobs_;
        jobs_ = job->next;
    }
}

bool Helpers::hand_out(Job &job) {
    job.helpers = this;
    bool one_is_idle = false;
    {
        const Guard guard(mutex_);
        one_is_idle = idle_ > 0;
        if (one_is_idle) {
            --idle_;
            job.next = jobs_;
            jobs_ = &job;
        }
    }
    if (!one_is_idle)
        return start_thread(run, job);
    // Not under the mutex, or the helper would wake up only to wait for it.
    pthread_cond_signal(&there_);
    return true;
}

bool may_use_threads() {
    static constexpr auto query = SENNIT_BARE(Query_thread);
    int level = MPI_THREAD_SINGLE;
    outside_task([&] { return query(&level); });
    return level >= MPI_THREAD_MULTIPLE;
}

} // namespace sennit::mpi
