// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/delegate.h"

#include "mpi/call/blocking.h"
#include "mpi/call/guard.h"
#include "mpi/extensions/callback.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <pthread.h>

namespace sennit::mpi {

namespace {

// ---- turns ------------------------------------------------------------------------------------
// Holders are in a list; those who wait for an object hang behind its holder, in order.

pthread_mutex_t g_turn_mutex = PTHREAD_MUTEX_INITIALIZER;
Turn *g_holders = nullptr;
std::atomic<int> g_turns{0};

// ---- helper threads ---------------------------------------------------------------------------
// As many as there are calls under way: fewer could deadlock, when ranks make their calls on two
// communicators in different order.

pthread_mutex_t g_job_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t g_job_there = PTHREAD_COND_INITIALIZER;
Job *g_jobs = nullptr;
int g_idle_helpers = 0; // that no job was given to

void *helper(void *first) {
    pthread_setname_np(pthread_self(), "sennit-mpi-call");
    auto *job = static_cast<Job *>(first);
    for (;;) {
        job->call(*job);
        const Guard guard(g_job_mutex);
        ++g_idle_helpers;
        while (!g_jobs)
            pthread_cond_wait(&g_job_there, &g_job_mutex);
        job = g_jobs;
        g_jobs = job->next;
    }
}

bool start_helper(Job &job) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // The program's signals belong to the program's threads.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const int error = pthread_create(&thread, nullptr, helper, &job);
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

// Open MPI (seen with 4.1) loads what it needs for topologies and files in the first call that
// needs it, and two first calls at once crash it: so the first is made here, before any helper's.
void load_lazy_parts() {
#ifdef OPEN_MPI
    static constexpr auto cart_create = SENNIT_BARE(Cart_create);
    static constexpr auto comm_free = SENNIT_BARE(Comm_free);
    static constexpr auto file_open = SENNIT_BARE(File_open);
    static constexpr auto file_close = SENNIT_BARE(File_close);
    outside_task([] {
        MPI_Comm grid = MPI_COMM_NULL;
        const int one = 1;
        const int periodic = 0;
        if (cart_create(MPI_COMM_SELF, 1, &one, &periodic, 0, &grid) == MPI_SUCCESS)
            comm_free(&grid);
        MPI_File file = MPI_FILE_NULL;
        if (file_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) ==
            MPI_SUCCESS)
            file_close(&file);
        return MPI_SUCCESS;
    });
#endif
}

} // namespace

bool hand_out(Job &job) {
    bool one_is_idle = false;
    {
        const Guard guard(g_job_mutex);
        one_is_idle = g_idle_helpers > 0;
        if (one_is_idle) {
            --g_idle_helpers;
            job.next = g_jobs;
            g_jobs = &job;
        }
    }
    if (!one_is_idle)
        return start_helper(job);
    // Not under the mutex, or the helper would wake up only to wait for it.
    pthread_cond_signal(&g_job_there);
    return true;
}

bool may_use_threads() {
    static constexpr auto query = SENNIT_BARE(Query_thread);
    int level = MPI_THREAD_SINGLE;
    outside_task([&] { return query(&level); });
    return level >= MPI_THREAD_MULTIPLE;
}

// Null: nobody had it.
Turn *Turn::take_or_find_holder() {
    for (Turn *holder = g_holders; holder; holder = holder->next_)
        if (holder->object_ == object_)
            return holder;
    g_turns.fetch_add(1, std::memory_order_relaxed);
    next_ = g_holders;
    g_holders = this;
    return nullptr;
}

Turn::Turn(Object object, IfFree) : object_(object) {
    const Guard guard(g_turn_mutex);
    if (take_or_find_holder())
        object_ = {};
}

Turn::Turn(Object object) : object_(object) {
    if (object_.kind == Object::Kind::none)
        return;
    {
        const Guard guard(g_turn_mutex);
        Turn *const holder = take_or_find_holder();
        if (!holder)
            return;
        g_turns.fetch_add(1, std::memory_order_relaxed);
        waiter_ = current_task();
        (holder->first_waiter_ ? holder->last_waiter_->next_ : holder->first_waiter_) = this;
        holder->last_waiter_ = this;
    }
    suspend(waiter_, {.name = "MPI, the turn of a collective call"});
}

Turn::~Turn() {
    if (object_.kind == Object::Kind::none)
        return;
    sennit_task *successor = nullptr;
    {
        const Guard guard(g_turn_mutex);
        g_turns.fetch_sub(1, std::memory_order_relaxed);
        Turn **at = &g_holders;
        while (*at != this)
            at = &(*at)->next_;
        if (Turn *heir = first_waiter_) {
            heir->first_waiter_ = heir->next_;
            heir->last_waiter_ = heir->first_waiter_ ? last_waiter_ : nullptr;
            heir->next_ = next_;
            *at = heir;
            successor = heir->waiter_;
        } else {
            *at = next_;
        }
    }
    if (successor)
        resume(successor);
}

bool turns_taken() {
    return g_turns.load(std::memory_order_relaxed) > 0;
}

int run_elsewhere(const Operation &operation, BlockingJob &job) {
    static pthread_once_t loaded = PTHREAD_ONCE_INIT;
    pthread_once(&loaded, load_lazy_parts);
    const bool polls = Callback::polls() && !in_task();
    const Turn turn(polls ? Object{} : operation.turn);
    job.task = polls ? nullptr : current_task();
    job.over.store(false, std::memory_order_relaxed);
    job.call = [](Job &base) {
        auto &self = static_cast<BlockingJob &>(base);
        {
            static constexpr sennit_call call{"", 0, 0}; // the task says what it waits for
            const Blocking mark(call, -1, -1, 0);
            self.error = self.make(self);
        }
        // The last touch: the job lives in the frame of who waits.
        if (self.task)
            resume(self.task);
        else
            self.over.store(true, std::memory_order_release);
    };
    if ((polls && !runtime_present() && !may_use_threads()) || !hand_out(job))
        job.error = job.make(job);
    else if (polls)
        Callback::poll_until(operation, [&] { return job.over.load(std::memory_order_acquire); });
    else {
        add_helpers(1);
        suspend(job.task, operation);
        add_helpers(-1);
    }
    return job.error;
}

int start_in_turn(const Operation &operation, int (*start)(void *closure, MPI_Request *request),
                  void *closure, MPI_Request *request) {
    std::optional<Turn> turn;
    if (turns_taken() && in_task())
        turn.emplace(operation.turn);
    return outside_task([&] { return start(closure, request); });
}

} // namespace sennit::mpi
