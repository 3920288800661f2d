// SPDX-License-Identifier: Apache-2.0
// Initial threads: threads of the program that use OpenMP.
#include "omp/team/commons.h"
#include "omp/team/free_agents.h"
#include "omp/team/helpers.h"
#include "omp/team/hot_teams.h"
#include "omp/team/implicit_task.h"
#include "omp/team/spare_threads.h"
#include "omp/team/team.h"
#include "omp/team/thread_events.h"
#include "poll/poll.h"

#include <cstdlib>
#include <unistd.h>

namespace sennit::omp {

namespace {

bool is_outside(sched::Worker &worker) {
    Team *const initial = home_of(worker).initial;
    return initial && worker.slot == &initial->member(0) &&
           worker.task == &initial->member(0).implicit;
}

// A thread of the program that has used OpenMP ends, outside of all regions. First the tasks that
// it has created must be complete. Under other runtimes they were complete as soon as they had been
// created.
void thread_ends(sched::Worker &worker) {
    if (!is_outside(worker))
        return;
    const Home &home = home_of(worker);
    if (home.initial->has_tasks.load(std::memory_order_relaxed))
        barrier(worker);
    task::retire_implicit(worker, *worker.task);
    disband_idle_teams(worker);
}

// The program ends. The same of tasks that are suspended; one that has ended but for an event is
// nothing to wait for, nor is one in a call of MPI, which somebody else has given up.
pid_t g_process = 0;
void process_ends() {
    sched::Worker *worker = sched::Worker::self();
    if (worker && getpid() == g_process && is_initial_thread() && is_outside(*worker) &&
        worker->has_parked() && !poll::pending())
        barrier(*worker);
}

// Ends the tasks while thread-local objects that were made before the thread's first use of OpenMP
// are there. Not those of the initial thread, which ends with the program.
struct LastTasks {
    bool used = false;
    ~LastTasks() {
        sched::Worker *worker = sched::Worker::self();
        if (worker && !is_initial_thread())
            thread_ends(*worker);
    }
};
thread_local LastTasks t_last_tasks;

} // namespace

// Teams of initial threads, also of those that have ended. The list only grows, at its front.
static std::atomic<Team *> g_initial_teams{nullptr};

bool tasks_left_outside() {
    for (const Team *team = g_initial_teams.load(std::memory_order_acquire); team;
         team = team->next_initial)
        if (team->has_tasks.load(std::memory_order_acquire) && !team->quiescent())
            return true;
    return false;
}

sched::Worker &attach() {
    sched::Worker &worker = sched::Worker::here();
    if (ompt::on())
        ompt::g_before_first_use();
    Home &home = home_of(worker);
    if (!home.initial) {
        icv_first_use();
        home.initial = make_team(1);
        home.initial->icvs = &global_icvs().initial;
        home.initial->contention = &home.initial->own_contention;
        home.initial->member(0).outside = true;
        Team *first = g_initial_teams.load(std::memory_order_relaxed);
        do
            home.initial->next_initial = first;
        while (!g_initial_teams.compare_exchange_weak(
            first, home.initial, std::memory_order_release, std::memory_order_relaxed));
    }
    Member &member = home.initial->member(0);
    home.initial->forget_workshares(); // of a thread that has ended
    worker.enter(member);
    start_implicit(worker, member);
    member.implicit.flags = Task::kInitial;
    sched::at_thread_end(thread_ends);
    if (is_initial_thread() && g_process == 0) {
        g_process = getpid();
        std::atexit(process_ends);
    }
    if (ompt::on())
        ompt::initial_thread_begin(worker);
    t_last_tasks.used = true; // after what ompt/ makes, which goes after it
    return worker;
}

bool is_initial_thread() {
    return gettid() == getpid();
}

void team_after_fork_in_child() {
    sched::Worker *worker = sched::Worker::self();
    regions_after_fork_in_child();
    g_initial_teams.store(nullptr, std::memory_order_relaxed);
    if (worker && worker->room) {
        Home &home = home_of(*worker);
        home.cached = nullptr; // their threads stayed in the parent
        home.values.after_fork_in_child();
        if (home.initial) {
            home.initial->next_initial = nullptr;
            g_initial_teams.store(home.initial, std::memory_order_relaxed);
        }
    }
    spare_threads_after_fork_in_child();
    helpers_after_fork_in_child();
    commons_after_fork_in_child();
    free_agents_after_fork_in_child();
}

} // namespace sennit::omp
