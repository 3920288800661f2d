// SPDX-License-Identifier: Apache-2.0
// include/sennit.h over the task room. Statistics and trace marks are in
// openmp/runtime/statistics.cpp.
#include "sennit.h"

#include "base/agreements.h"
#include "base/compiler.h"
#include "base/event_file.h"
#include "base/message.h"
#include "openmp/env/split.h"
#include "openmp/runtime/library.h"
#include "openmp/team/free_agents.h"
#include "openmp/team/region_events.h"
#include "openmp/team/team.h"
#include "tasks/poll/poll.h"
#include "tasks/program/code.h"
#include "tasks/pthread/bare.h"
#include "tasks/sched/processors.h"
#include "tasks/task/accounts.h"
#include "tasks/task/priorities.h"
#include "tasks/task/task.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

using namespace sennit;

namespace {

Task &task_of(sennit_task *handle) {
    return *static_cast<Task *>(handle);
}

// The calling thread, if it runs a task. A polling service is none: it may be called between two
// tasks, and the thread's `task` is then the one before, and freed.
sched::Worker *worker_in_task() {
    sched::Worker *worker = sched::Worker::self();
    return worker && worker->task && !poll::inside(worker->current()) ? worker : nullptr;
}

// The caller must be `handle` itself.
int check_self(sennit_task *handle) {
    if (!handle)
        return SENNIT_ERR_PARAMETER;
    sched::Worker *worker = sched::Worker::self();
    if (!worker || !worker->task)
        return SENNIT_ERR_OUTSIDE_TASK;
    return worker->task == &task_of(handle) ? SENNIT_SUCCESS : SENNIT_ERR_NOT_SELF;
}

// May others run while the worker's implicit task waits: tasks of its team, or where threads are
// split those that are parked here, at a barrier that has opened, say?
bool others_may_run(const sched::Worker &worker) {
    const auto &team = static_cast<const omp::Team &>(*worker.slot->group);
    return (team.has_tasks.load(std::memory_order_relaxed) && !team.quiescent()) || team.threads;
}

struct WakeTimer : poll::Timer {
    sched::WaitCell cell;
};

} // namespace

extern "C" {

SENNIT_EXPORT int sennit_task_self(sennit_task **task) {
    if (!task)
        return SENNIT_ERR_PARAMETER;
    task::note_may_suspend();
    // The thread that loaded the program is a task from the start; others once they used OpenMP.
    sched::Worker *worker = sched::Worker::self();
    if (!worker && !omp::is_initial_thread())
        return SENNIT_ERR_OUTSIDE_TASK;
    worker = &omp::here();
    *task = worker->task;
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_task_get_kind(sennit_task *task, int *kind) {
    if (!task || !kind)
        return SENNIT_ERR_PARAMETER;
    const Task &self = task_of(task);
    *kind = self.is(Task::kInitial)    ? SENNIT_TASK_INITIAL
            : self.is(Task::kImplicit) ? SENNIT_TASK_IMPLICIT
                                       : SENNIT_TASK_EXPLICIT;
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT sennit_task *sennit_task_undeferred(void) {
    const sched::Worker *worker = worker_in_task();
    return worker && task::is_undeferred_and_detachable(*worker->task) ? worker->task : nullptr;
}

SENNIT_EXPORT int sennit_should_suspend(void) {
    const sched::Worker *worker = worker_in_task();
    if (!worker)
        return 0;
    return worker->task->is_explicit() || others_may_run(*worker);
}

SENNIT_EXPORT int sennit_call_begins(int notice) {
    const sched::Worker *worker = worker_in_task();
    if (!worker)
        return 0;
    Task &task = *worker->task;
    if (task.is_explicit()) {
        if (notice == SENNIT_NOTICE_SEND)
            task::note_send(task);
    } else if (!others_may_run(*worker)) {
        return 0;
    }
    return !task::may_block(*worker);
}

SENNIT_EXPORT int sennit_tasks_outside(void) {
    return omp::tasks_left_outside();
}

SENNIT_EXPORT int sennit_worker_wanted(void) {
    const sched::Worker *worker = sched::Worker::self();
    if (!worker)
        return 1;
    // A thread that polls between two steps of a task goes on with that.
    if (worker->activity.idle_since() == 0 && poll::inside(worker->current()))
        return 1;
    return sched::crowded() || worker->anything_to_do();
}

SENNIT_EXPORT void sennit_task_yield(void) {
    sched::Worker *worker = worker_in_task();
    if (!worker)
        return;
    // Elsewhere tasks that have not begun are for the other threads, as long as this one is busy.
    if (worker->slot->alone)
        worker->yield();
    else
        worker->yield_to_parked();
}

SENNIT_EXPORT void sennit_task_tests(void) {
    const sched::Worker *worker = worker_in_task();
    if (!worker)
        return;
    Task &task = *worker->task;
    if (task.is(Task::kTests))
        sennit_task_yield();
    else
        task.flags |= Task::kTests;
}

SENNIT_EXPORT void sennit_libraries_loaded(void) {
    pthread::leave_alone(runtime::passes_messages);
}

SENNIT_EXPORT void sennit_meets_others(void) {
    runtime::g_process.watch.note_others();
}

SENNIT_EXPORT const int32_t *sennit_teams_with_tasks(void) {
    static_assert(sizeof(sched::g_groups_with_tasks) == sizeof(std::int32_t));
    return reinterpret_cast<const std::int32_t *>(&sched::g_groups_with_tasks);
}

SENNIT_EXPORT int sennit_send_order(uint64_t *key) {
    const sched::Worker *worker = worker_in_task();
    const policy::Rules &rules = sched::rules();
    if (!key || !worker || !rules.propagates())
        return 0;
    // A task that sends is a send-task: equals, so what counts is their age, a floor apart.
    *key = policy::key(rules, policy::kMostPriority, worker->task->age);
    return static_cast<int>(config().sends);
}

SENNIT_EXPORT int sennit_task_urgency(void) {
    if (!sched::rules().tells)
        return -1;
    const sched::Worker *worker = worker_in_task();
    return worker ? worker->task->current_priority() : 0;
}

SENNIT_EXPORT int sennit_task_suspend_for(sennit_task *task, const sennit_wait *wait) {
    if (const int error = check_self(task))
        return error;
    task::suspend(*sched::Worker::self(), wait);
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_task_suspend(sennit_task *task) {
    return sennit_task_suspend_for(task, nullptr);
}

SENNIT_EXPORT int sennit_task_resume(sennit_task *task) {
    if (!task)
        return SENNIT_ERR_PARAMETER;
    task::resume(task_of(task));
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_task_events_increase(sennit_task *task, uint64_t increment) {
    if (const int error = check_self(task))
        return error;
    task::note_may_suspend();
    if (increment)
        task::bind_events(task_of(task), static_cast<std::int64_t>(increment));
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_task_events_decrease(sennit_task *task, uint64_t decrement) {
    if (!task)
        return SENNIT_ERR_PARAMETER;
    if (decrement)
        task::fulfil_events(task_of(task), static_cast<std::int64_t>(decrement));
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_task_event_last(sennit_task *task) {
    if (!task)
        return SENNIT_ERR_PARAMETER;
    task::fulfil_last(task_of(task));
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_task_wait_ns(uint64_t ns, uint64_t *actual) {
    sched::Worker *worker = sched::Worker::self();
    if (!worker && !omp::is_initial_thread())
        return SENNIT_ERR_OUTSIDE_TASK;
    worker = &omp::here();
    task::note_may_suspend();
    const std::uint64_t start = poll::now_ns();
    WakeTimer timer;
    timer.deadline_ns = poll::time_after(start, ns);
    timer.fire = [](poll::Timer &fired) { static_cast<WakeTimer &>(fired).cell.signal(); };
    poll::start_timer(timer);
    sched::CellCondition condition(timer.cell, sched::WaitFor::time);
    worker->wait(condition);
    if (actual)
        *actual = poll::now_ns() - start;
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_work_time(uint64_t *ns) {
    if (!ns)
        return SENNIT_ERR_PARAMETER;
    sched::Worker *worker = sched::Worker::self();
    if (!worker)
        return SENNIT_ERR_OUTSIDE_TASK;
    *ns = worker->thread.work_time_ns(*worker->current());
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_account_open(uint32_t *account) {
    if (!account)
        return SENNIT_ERR_PARAMETER;
    *account = task::open_account();
    return *account ? SENNIT_SUCCESS : SENNIT_ERR_OUT_OF_MEMORY;
}

SENNIT_EXPORT int sennit_account_close(uint32_t account) {
    task::close_account(account);
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_account_time(uint32_t account, uint64_t *ns) {
    if (!ns)
        return SENNIT_ERR_PARAMETER;
    if (sched::Worker *worker = worker_in_task())
        task::settle_account(*worker);
    *ns = task::paid_ns(account);
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_work_for(uint32_t account, uint32_t *before) {
    if (!worker_in_task() && (sched::Worker::self() || !omp::is_initial_thread()))
        return SENNIT_ERR_OUTSIDE_TASK;
    omp::let_regions_differ();
    const uint32_t last = task::work_for(omp::here(), account);
    if (before)
        *before = last;
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_account_self(uint32_t *account) {
    if (!account)
        return SENNIT_ERR_PARAMETER;
    const sched::Worker *worker = worker_in_task();
    if (!worker)
        return SENNIT_ERR_OUTSIDE_TASK;
    *account = task::account_of(*worker->task);
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_task_spawn(void (*body)(void *), void *arg, void (*done)(void *),
                                    void *done_arg, const char *label) {
    if (!body)
        return SENNIT_ERR_PARAMETER;
    task::note_may_suspend();
    const ompt::MaybeInRoutine routine(SENNIT_SITE);
    sched::Worker &worker = omp::here();
    omp::Team *commons = omp::commons();
    if (!commons)
        return SENNIT_ERR_OUT_OF_MEMORY;
    task::SpawnPayload spawn{body, arg, done, done_arg, {}};
    if (label)
        std::snprintf(spawn.label, sizeof spawn.label, "%s", label);
    worker.count_task();
    task::submit_elsewhere(worker, omp::make_spawned(worker, *commons, spawn));
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_task_spawn_fd(int *fd, void (*body)(void *), void *arg,
                                       const char *label) {
    if (!fd || !body)
        return SENNIT_ERR_PARAMETER;
    const auto tell = [](void *file) {
        tell_event_file(static_cast<int>(reinterpret_cast<std::intptr_t>(file)));
    };
    const int errno_before = errno;
    const int fd_before = *fd;
    const int own = share_event_file(fd);
    int error = errno == EBADF ? SENNIT_ERR_PARAMETER : SENNIT_ERR_OUT_OF_MEMORY;
    if (own >= 0) {
        error =
            sennit_task_spawn(body, arg, tell, reinterpret_cast<void *>(std::intptr_t{own}), label);
        if (error != SENNIT_SUCCESS)
            give_back_event_file(fd, fd_before, own);
    }
    errno = errno_before;
    return error;
}

SENNIT_EXPORT int sennit_task_threadset(enum sennit_threadset set) {
    if (set != SENNIT_THREADSET_TEAM && set != SENNIT_THREADSET_POOL)
        return SENNIT_ERR_PARAMETER;
    sched::Worker *worker = sched::Worker::self();
    if (!worker && !omp::is_initial_thread())
        return SENNIT_ERR_OUTSIDE_TASK;
    Task &self = *omp::here().task;
    if (set == SENNIT_THREADSET_TEAM)
        self.flags &= ~Task::kOffers;
    else if (!ompt::on() && omp::have_free_agents())
        self.flags |= Task::kOffers;
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_code_calls(const void *function, int (*wanted)(const char *symbol)) {
    return function && wanted && program::calls(function, wanted);
}

SENNIT_EXPORT int sennit_poll_register(const char *name, sennit_poll_function function, void *arg,
                                       sennit_poll_service **service) {
    task::note_may_suspend();
    return poll::register_service(name, function, arg, service);
}

SENNIT_EXPORT int sennit_poll_unregister(sennit_poll_service *service) {
    // A service that waits for a lock does so on a fiber of its thread, which may be this one.
    if (sched::Worker *worker = sched::Worker::self())
        while (poll::inside() && !poll::inside(worker->current()))
            worker->yield();
    return poll::unregister_service(service);
}

SENNIT_EXPORT int sennit_helpers(int delta) {
    sched::add_helpers(delta);
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_poll_pending(sennit_poll_service *service, int64_t delta) {
    return poll::add_pending(service, delta);
}

SENNIT_EXPORT int sennit_poll_describe(sennit_poll_service *service,
                                       const sennit_describer *describer) {
    return poll::set_describer(service, describer);
}

SENNIT_EXPORT int sennit_poll_doorbell(sennit_doorbell *bell) {
    poll::set_doorbell(wait::Bell::at(bell));
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_poll(int *completed) {
    const sched::Worker *worker = sched::Worker::self();
    const int done = poll::run(worker ? worker->current() : nullptr);
    if (completed)
        *completed = done;
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_notify(enum sennit_notice notice, int, uint64_t) {
    if (notice != SENNIT_NOTICE_SEND && notice != SENNIT_NOTICE_RECEIVE)
        return SENNIT_ERR_PARAMETER;
    const sched::Worker *worker = worker_in_task();
    if (!worker)
        return SENNIT_ERR_OUTSIDE_TASK;
    if (notice == SENNIT_NOTICE_SEND && worker->task->is_explicit())
        task::note_send(*worker->task);
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT const char *sennit_version(void) {
#define SENNIT_TEXT2(x) #x
#define SENNIT_TEXT(x) SENNIT_TEXT2(x)
    return SENNIT_TEXT(SENNIT_VERSION_MAJOR) "." SENNIT_TEXT(SENNIT_VERSION_MINOR);
}

} // extern "C"
