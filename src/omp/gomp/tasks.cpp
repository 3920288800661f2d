// SPDX-License-Identifier: Apache-2.0
// task, taskwait, taskgroup.
#include "omp/gomp/tasks.h"

#include <new>

using namespace sennit;
using gomp::Arguments;
using gomp::CopyFunction;
using gomp::Function;

namespace {

// What stands behind a deferred task: GCC's argument block follows, aligned.
struct Call {
    Function function;
    void *argument;
};

void run_body(Task &task) {
    const Call &call = *static_cast<const Call *>(task.payload());
    call.function(call.argument);
}

void invoke(Task &task) {
    if (SENNIT_LIKELY(!task.is(Task::kDiscarded)))
        run_body(task);
}

// Only the body can destroy what a constructor made: such a task runs, cancelled or not.
void invoke_always(Task &task) {
    task.flags &= ~Task::kDiscarded;
    run_body(task);
}

inline void run_included(sched::Worker &worker, Function function, const Arguments &arguments,
                         std::uint32_t flags) {
    const task::Included task(worker, reinterpret_cast<void *>(function), flags);
    gomp::call(function, arguments);
}

void run_undeferred_fully(sched::Worker &worker, Function function, const Arguments &arguments,
                          std::uint32_t flags, int priority, const task::Depend *depends, int count,
                          void *detach) {
    Task &task = *task::allocate(worker, 0);
    task::set_up(worker, task, invoke, reinterpret_cast<void *>(function),
                 flags | Task::kUndeferred, priority);
    if (count > 0)
        task::wait_depends(worker, &task, depends, count);
    if (detach) {
        task.events.store(2, std::memory_order_relaxed);
        task.flags |= Task::kEvents;
        *static_cast<void **>(detach) = &task;
        if (arguments.data)
            *static_cast<void **>(arguments.data) = &task;
    }
    task::begin_undeferred(worker, task);
    gomp::call(function, arguments);
    task::end_undeferred(worker, task);
}

// A deferred task with its copy of the arguments, not yet submitted; *block is the copy.
Task *make_deferred(sched::Worker &worker, Function function, const Arguments &arguments,
                    std::uint32_t flags, int priority, void **block) {
    const auto room = sizeof(Call) + static_cast<std::size_t>(arguments.size + arguments.align - 1);
    Task *task = task::allocate(worker, room);
    task::set_up(worker, *task, arguments.copy ? invoke_always : invoke,
                 reinterpret_cast<void *>(function), flags, priority);
    auto *call = new (task->payload()) Call;
    call->function = function;
    call->argument = gomp::align_up(call + 1, arguments.align);
    *block = call->argument;
    return task;
}

// Everything but the plainest tasks.
SENNIT_NOINLINE void make_task(sched::Worker &worker, Function function, const Arguments &arguments,
                               bool if_clause, unsigned flags, void **depend, int priority,
                               void *detach) {
    SENNIT_READ_DEPENDENCES(depends, count, (flags & gomp::kDepend) ? depend : nullptr)
    if (!(flags & gomp::kDetach))
        detach = nullptr;
    const int level = (flags & gomp::kPriority) ? clamp_priority(priority) : 0;
    // GCC never cuts a task in parts, so an untied one stays on its fiber: only the counting of its
    // children would pay for the flag.
    const std::uint32_t ours = gomp::translate(flags) & ~Task::kUntied;
    if (detach)
        task::note_may_suspend();
    if (!if_clause || worker.task->is(Task::kFinal)) {
        run_undeferred_fully(worker, function, arguments, ours, level, depends, count, detach);
        return;
    }
    if (count == 0 && !detach && task::throttled(worker) && !task::may_suspend())
        return run_included(worker, function, arguments, ours);
    void *block = nullptr;
    Task *task = make_deferred(worker, function, arguments, ours, level, &block);
    if (detach) {
        task->events.store(2, std::memory_order_relaxed);
        task->flags |= Task::kEvents;
        *static_cast<void **>(detach) = task;
        if (arguments.data)
            *static_cast<void **>(arguments.data) = task;
    }
    gomp::copy_arguments(block, arguments.data, arguments.copy, arguments.size);
    task::submit(worker, *task, depends, count);
}

} // namespace

GOMP_API void GOMP_task(Function function, void *data, CopyFunction copy, long size, long align,
                        bool if_clause, unsigned flags, void **depend, int priority, void *detach) {
    sched::Worker &worker = omp::here();
    if (task::is_cancelled(*worker.task) && !(flags & gomp::kDetach))
        return; // the new task would be discarded; an event must be good for whoever fulfils it
    const Arguments arguments{data, copy, size, align};
    // A call: the plainest task with if(0), below a final one, or with a long queue where nothing
    // in the process suspends on outside events.
    constexpr unsigned kPlain = gomp::kMergeable | gomp::kUntied | gomp::kFinal;
    if ((flags & ~kPlain) == 0 && (!if_clause || worker.task->is(Task::kFinal) ||
                                   (task::throttled(worker) && !task::may_suspend())))
        run_included(worker, function, arguments, gomp::translate(flags & gomp::kFinal));
    else
        make_task(worker, function, arguments, if_clause, flags, depend, priority, detach);
}

GOMP_API void GOMP_taskwait(void) {
    task::wait_children(omp::here());
}

GOMP_API void GOMP_taskwait_depend(void **depend) {
    SENNIT_READ_DEPENDENCES(depends, count, depend)
    task::wait_depends(omp::here(), nullptr, depends, count);
}

GOMP_API void GOMP_taskyield(void) {
    task::note_may_suspend();
    omp::here().yield();
}

GOMP_API void GOMP_taskgroup_start(void) {
    sched::Worker &worker = omp::here();
    task::begin_taskgroup(worker, *new (worker.heap.allocate(sizeof(Taskgroup))) Taskgroup);
}

GOMP_API void GOMP_taskgroup_end(void) {
    sched::Worker &worker = omp::here();
    Taskgroup *group = worker.task->taskgroup;
    task::end_taskgroup(worker);
    worker.heap.release(group);
}
