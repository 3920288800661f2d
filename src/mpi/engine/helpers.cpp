// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/helpers.h"

#include "base/assert.h"
#include "base/guard.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "wait/rows.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace sennit::mpi {
namespace {

// Calls are merged where many are queued, and most are for few targets.
constexpr int kMostCompared = 16;

bool start_thread(void *(*run)(void *), void *helpers) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // The program's signals belong to the program's threads.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const int error = pthread_create(&thread, nullptr, run, helpers);
    if (error == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != 0)
        std::fprintf(stderr,
                     "sennit: no thread for a blocking MPI call in a task (%s): the call blocks "
                     "its worker; allow more threads (ulimit -u) or memory (ulimit -v)\n",
                     std::strerror(error));
    return error == 0;
}

} // namespace

void *Helpers::run(void *helpers) {
    pthread_setname_np(pthread_self(), "sennit-mpi-call");
    static_cast<Helpers *>(helpers)->work();
    return nullptr;
}

bool Helpers::add_thread() {
    return start_thread(run, this);
}

// ---- the queue ----------------------------------------------------------------------------------

// False: no equal call is to be made. A task that joins has put its data before; the thread that
// takes the call does so under the same mutex, and so begins it afterwards.
bool Helpers::join(Job &job) {
    if (!job.same.name)
        return false;
    int left = kMostCompared;
    for (Job *other = jobs_; other && left > 0; other = other->next, --left)
        if (other->same == job.same) {
            job.joined = other->joined;
            other->joined = &job;
            return true;
        }
    return false;
}

void Helpers::queue(Job &job) {
    Job **const at = job.brief ? end_ : &jobs_;
    job.next = *at;
    *at = &job;
    if (!job.next)
        end_ = &job.next;
}

Job *Helpers::take() {
    Job *const job = jobs_;
    jobs_ = job->next;
    if (!jobs_)
        end_ = &jobs_;
    if (to_take_ > 0)
        --to_take_;
    ++begun_;
    return job;
}

// False: a thread has taken it.
bool Helpers::drop(const Job &job) {
    for (Job **at = &jobs_; *at; at = &(*at)->next)
        if (*at == &job) {
            *at = job.next;
            if (!*at)
                end_ = at;
            return true;
        }
    return false;
}

// An idle thread waits for a job that it is to take.
void Helpers::await() {
    do {
        while (!jobs_) {
            to_take_ = 0;
            mutex_.wait(there_);
        }
    } while (to_take_ == 0 && active_ > 0 && !watch());
}

// Others are at work. True: they do not get on.
bool Helpers::watch() {
    const unsigned long begun = begun_;
    timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += wait::kHelper.naps.longest_ns;
    if (end.tv_nsec >= 1'000'000'000) {
        end.tv_nsec -= 1'000'000'000;
        ++end.tv_sec;
    }
    int error = 0;
    while (error == 0 && jobs_ && to_take_ == 0 && active_ > 0)
        error = mutex_.wait_until(there_, end);
    return jobs_ && (to_take_ > 0 || active_ == 0 || begun_ == begun);
}

// -------------------------------------------------------------------------------------------------

// Never returns.
void Helpers::work() {
    for (;;) {
        Job *job = nullptr;
        bool nobody_watches = false;
        {
            const Guard guard(mutex_);
            await();
            SENNIT_ASSERT(idle_ > 0 && jobs_);
            --idle_;
            ++active_;
            job = take();
            nobody_watches = jobs_ && idle_ == 0;
            if (nobody_watches)
                ++idle_;
            else if (jobs_)
                there_.signal();
        }
        if (nobody_watches && !add_thread()) {
            const Guard guard(mutex_);
            --idle_;
        }
        while (job) {
            job->call(*job);
            const Guard guard(mutex_);
            job = jobs_ ? take() : nullptr;
            if (!job) {
                SENNIT_ASSERT(active_ > 0);
                --active_;
                ++idle_;
            }
        }
    }
}

bool Helpers::hand_out(Job &job) {
    job.helpers = this;
    bool lacks_thread = false;
    bool wakes = false;
    {
        const Guard guard(mutex_);
        if (join(job))
            return true;
        const bool at_once = !job.brief || active_ + to_take_ == 0;
        wakes = at_once || !jobs_;
        queue(job);
        to_take_ += at_once ? 1 : 0;
        lacks_thread = idle_ < to_take_ + (at_once ? 0 : 1);
        if (lacks_thread)
            ++idle_;
        if (!prepared_)
            there_.prepare();
        prepared_ = true;
    }
    if (lacks_thread && !add_thread()) {
        const Guard guard(mutex_);
        --idle_;
        return !drop(job);
    }
    // Not under the mutex, or the helper would wake up only to wait for it.
    if (wakes && !lacks_thread)
        there_.signal();
    return true;
}

bool may_use_threads() {
    static constexpr auto query = SENNIT_BARE(Query_thread);
    int level = MPI_THREAD_SINGLE;
    outside_task([&] { return query(&level); });
    return level >= MPI_THREAD_MULTIPLE;
}

} // namespace sennit::mpi
