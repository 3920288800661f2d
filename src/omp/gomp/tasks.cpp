// SPDX-License-Identifier: Apache-2.0
// task, taskwait, taskgroup.
#include "omp/gomp/tasks.h"
#include "omp/sync/regions.h"
#include "omp/team/entry.h"

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

[[gnu::always_inline]] inline void run_body_here(Task &task) {
    const Call &call = *static_cast<const Call *>(task.payload());
    call.function(call.argument);
}

void run_body(Task &task) {
    run_body_here(task);
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

// With a tool: the frame from which user code is called is known.
void run_body_observed(Task &task) {
    const ompt::UserCode code(*task.tool, __builtin_frame_address(0));
    run_body_here(task);
}

void invoke_always_observed(Task &task) {
    task.flags &= ~Task::kDiscarded;
    run_body_observed(task);
}

void invoke_observed(Task &task) {
    if (!task.is(Task::kDiscarded))
        run_body_observed(task);
}

// What the program asks GOMP_task for. By value, and the functions that it goes through inlined: it
// stays in registers, but for those who rarely come and get a copy.
struct Request {
    Function function;
    Arguments arguments;
    bool if_clause;
    unsigned flags;
    void **depend;
    int priority;
    void *detach;
};

inline void run_included(sched::Worker &worker, Function function, Arguments arguments,
                         std::uint32_t flags) {
    const task::Included task(worker, reinterpret_cast<void *>(function), flags);
    gomp::call(function, arguments);
}

SENNIT_NOINLINE void run_undeferred_fully(sched::Worker &worker, Function function,
                                          Arguments arguments, std::uint32_t flags, int priority,
                                          const task::Depend *depends, int count, void **detach) {
    Task &task = *task::allocate(worker, 0);
    task::set_up(worker, task, invoke, reinterpret_cast<void *>(function),
                 flags | Task::kUndeferred, priority);
    if (task::Observer *observer = task::observer())
        observer->created(worker, task, depends, count);
    if (count > 0)
        task::wait_depends(worker, &task, depends, count);
    if (detach) {
        task.events.store(2, std::memory_order_relaxed);
        task.flags |= Task::kEvents;
        *detach = &task;
        if (arguments.data)
            *static_cast<void **>(arguments.data) = &task;
    }
    task::begin_undeferred(worker, task);
    if (ompt::on()) {
        const ompt::UserCode code(*task.tool, __builtin_frame_address(0));
        gomp::call(function, arguments);
    } else {
        gomp::call(function, arguments);
    }
    task::end_undeferred(worker, task);
}

// A deferred task with its copy of the arguments, not yet submitted; *block is the copy.
inline Task *make_deferred(sched::Worker &worker, Function function, Arguments arguments,
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
template <bool kObserved>
[[gnu::always_inline]] inline void make_task(sched::Worker &worker, Request request) {
    const auto [function, arguments, if_clause, flags, depend, priority, asked] = request;
    void **const detach = (flags & gomp::kDetach) ? static_cast<void **>(asked) : nullptr;
    SENNIT_READ_DEPENDENCES(depends, count, (flags & gomp::kDepend) ? depend : nullptr)
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
    if (count == 0 && !detach && task::throttled(worker) && !task::may_suspend() && !kObserved)
        return run_included(worker, function, arguments, ours);
    void *block = nullptr;
    Task *task = make_deferred(worker, function, arguments, ours, level, &block);
    if (kObserved)
        task->invoke = arguments.copy ? invoke_always_observed : invoke_observed;
    if (detach) {
        task->events.store(2, std::memory_order_relaxed);
        task->flags |= Task::kEvents;
        *detach = task;
        if (arguments.data)
            *static_cast<void **>(arguments.data) = task;
    }
    gomp::copy_arguments(block, arguments.data, arguments.copy, arguments.size);
    task::submit(worker, *task, depends, count);
}

// The plainest task. Tasks that are called recurse through here, deeper than any others.
inline void make_plain(Function function, void *data, CopyFunction copy, long size, long align,
                       bool if_clause, unsigned flags) {
    sched::Worker &worker = omp::here();
    const Arguments arguments{data, copy, size, align};
    // A call: with if(0), below a final task, or with a long queue where nothing in the process
    // suspends on outside events.
    if (!if_clause || worker.task->is(Task::kFinal) ||
        (task::throttled(worker) && !task::may_suspend())) {
        run_included(worker, function, arguments, gomp::translate(flags & gomp::kFinal));
        return;
    }
    void *block = nullptr;
    Task *task = make_deferred(worker, function, arguments, gomp::translate(flags) & ~Task::kUntied,
                               0, &block);
    gomp::copy_arguments(block, data, copy, size);
    task::submit(worker, *task, nullptr, 0);
}

SENNIT_COLD void make_observed(ompt::Site site, sched::Worker &worker, Request request) {
    if (task::is_cancelled(*worker.task) && !(request.flags & gomp::kDetach))
        return; // the new task would be discarded; an event must be good for whoever fulfils it
    if (!ompt::on())
        return make_task<false>(worker, request);
    const ompt::Entry entry(site);
    make_task<true>(worker, request);
}

// Any but the plainest task, or where somebody looks on. A function of its own, whose parameters
// are not in GOMP_task's frame.
SENNIT_NOINLINE void make_any(ompt::Site site, Function function, void *data, CopyFunction copy,
                              long size, long align, bool if_clause, unsigned flags, void **depend,
                              int priority, void *detach) {
    sched::Worker &worker = omp::here();
    const Request request{function, {data, copy, size, align}, if_clause, flags, depend, priority,
                          detach};
    if (observed::by(observed::kCancellation | observed::kTool))
        return make_observed(site, worker, request);
    make_task<false>(worker, request);
}

} // namespace

// With a small frame: that of the plainest task.
GOMP_API void GOMP_task(Function function, void *data, CopyFunction copy, long size, long align,
                        bool if_clause, unsigned flags, void **depend, int priority, void *detach) {
    constexpr unsigned kPlain = gomp::kMergeable | gomp::kUntied | gomp::kFinal;
    if ((flags & ~kPlain) != 0 || observed::by(observed::kCancellation | observed::kTool))
        return make_any(SENNIT_SITE, function, data, copy, size, align, if_clause, flags, depend,
                        priority, detach);
    make_plain(function, data, copy, size, align, if_clause, flags);
}

GOMP_API void GOMP_taskwait(void) {
    omp::taskwait(SENNIT_SITE);
}

GOMP_API void GOMP_taskwait_depend(void **depend) {
    SENNIT_READ_DEPENDENCES(depends, count, depend)
    omp::taskwait_depend(SENNIT_SITE, task::wait_depends_only, depends, count);
}

GOMP_API void GOMP_taskyield(void) {
    omp::taskyield(SENNIT_SITE);
}

GOMP_API void GOMP_taskgroup_start(void) {
    sched::Worker &worker = omp::here();
    auto &group = *new (worker.heap.allocate(sizeof(Taskgroup))) Taskgroup;
    omp::taskgroup_begin(worker, SENNIT_SITE, group);
}

GOMP_API void GOMP_taskgroup_end(void) {
    sched::Worker &worker = omp::here();
    Taskgroup *group = worker.task->taskgroup;
    omp::taskgroup_end(worker, SENNIT_SITE);
    worker.heap.release(group);
}
