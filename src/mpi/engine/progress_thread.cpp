// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/progress_thread.h"

#include "mpi/call/guard.h"
#include "mpi/engine/engine.h"
#include "mpi/options.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>

namespace sennit::mpi {

namespace {

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t g_changed = PTHREAD_COND_INITIALIZER;
bool g_stopping = false;
std::atomic<bool> g_running{false};
pthread_t g_thread;

void *run(void *) {
    pthread_setname_np(pthread_self(), "sennit-detach");
    for (;;) {
        {
            const Guard guard(g_mutex);
            while (!g_stopping && g_engine.tickets.pending_acquire() == 0)
                pthread_cond_wait(&g_changed, &g_mutex);
            if (g_stopping)
                return nullptr;
        }
        if (g_engine.progress(false) == 0)
            sched_yield();
    }
}

} // namespace

bool progress_thread_wanted() {
    static const bool wanted = // a bad word is told of once
        options::read_choice(options::detach) == static_cast<int>(DetachProgress::progress);
    return wanted;
}

void start_progress_thread(int level) {
    if (!progress_thread_wanted())
        return;
    if (level < MPI_THREAD_MULTIPLE) {
        std::fprintf(stderr,
                     "sennit: MPIX_DETACH=progress needs MPI_THREAD_MULTIPLE, which this MPI does "
                     "not provide: callbacks run in MPIX_Progress and MPI_Finalize\n");
        return;
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // The program's signals belong to the program's threads.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&g_thread, nullptr, run, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != 0)
        std::fprintf(stderr,
                     "sennit: no thread for MPIX_DETACH=progress (%s): callbacks run in "
                     "MPIX_Progress and MPI_Finalize\n",
                     std::strerror(error));
    g_running.store(error == 0, std::memory_order_release);
}

void stop_progress_thread() {
    if (!g_running.exchange(false, std::memory_order_acq_rel))
        return;
    {
        const Guard guard(g_mutex);
        g_stopping = true;
        pthread_cond_signal(&g_changed);
    }
    pthread_join(g_thread, nullptr);
}

void wake_progress_thread() {
    if (!g_running.load(std::memory_order_acquire) || g_engine.tickets.pending_acquire() == 0)
        return;
    const Guard guard(g_mutex);
    pthread_cond_signal(&g_changed);
}

} // namespace sennit::mpi
