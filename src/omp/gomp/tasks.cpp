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
struct Asked {
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

// GCC never cuts a task in parts, so an untied one stays on its fiber: only the counting of its
// children would pay for the flag.
inline std::uint32_t flags_of_task(unsigned flags) {
    return gomp::translate(flags) & ~Task::kUntied;
}

// A task with its copy of the arguments, which is still to be filled: *block.
inline Task *allocate_task(sched::Worker &worker, Function function, Arguments arguments,
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

// The plainest task. Tasks that are called recurse through here, deeper than any others.
inline void make_plain(Function function, void *data, CopyFunction copy, long size, long align,
                       bool if_clause, unsigned flags) {
    sched::Worker &worker = omp::here();
    const Arguments arguments{data, copy, size, align};
    if (task::runs_in_place(worker, {.deferred = if_clause})) {
        run_included(worker, function, arguments, gomp::translate(flags & gomp::kFinal));
        return;
    }
    void *block = nullptr;
    Task *task = allocate_task(worker, function, arguments, flags_of_task(flags), 0, &block);
    gomp::copy_arguments(block, data, copy, size);
    task::submit(worker, *task, nullptr, 0);
}

// Everything but the plainest tasks.
template <bool kObserved>
[[gnu::always_inline]] inline void make_task(sched::Worker &worker, Asked asked) {
    const auto [function, arguments, if_clause, flags, depend, given_priority, detach] = asked;
    const gomp::Dependences given((flags & gomp::kDepend) ? depend : nullptr);
    SENNIT_READ_DEPENDENCES(depends, count, given)
    const std::uint32_t ours = flags_of_task(flags);
    const task::Request request{depends, count, if_clause, (flags & gomp::kDetach) != 0};
    if (!kObserved && task::runs_in_place(worker, request))
        return run_included(worker, function, arguments, ours);
    const int priority = (flags & gomp::kPriority) ? clamp_priority(given_priority) : 0;
    void *block = nullptr;
    Task *task = allocate_task(worker, function, arguments, ours, priority, &block);
    if (kObserved)
        task->invoke = arguments.copy ? invoke_always_observed : invoke_observed;
    if (request.detach) {
        task::attach_event(*task);
        *static_cast<void **>(detach) = task; // the handle is the task, for the body, too
        if (arguments.data)
            *static_cast<void **>(arguments.data) = task;
    }
    gomp::copy_arguments(block, arguments.data, arguments.copy, arguments.size);
    task::start(worker, *task, request);
}

SENNIT_COLD void make_observed(ompt::Site site, sched::Worker &worker, Asked asked) {
    if (task::is_pointless(worker, (asked.flags & gomp::kDetach) != 0))
        return;
    if (!ompt::on())
        return make_task<false>(worker, asked);
    const ompt::Entry entry(site);
    make_task<true>(worker, asked);
}

// Any but the plainest task, or where somebody looks on. A function of its own, whose parameters
// are not in GOMP_task's frame.
SENNIT_NOINLINE void make_any(ompt::Site site, Function function, void *data, CopyFunction copy,
                              long size, long align, bool if_clause, unsigned flags, void **depend,
                              int priority, void *detach) {
    sched::Worker &worker = omp::here();
    const Asked asked{function, {data, copy, size, align}, if_clause, flags, depend, priority,
                      detach};
    if (observed::by(observed::kCancellation | observed::kTool))
        return make_observed(site, worker, asked);
    make_task<false>(worker, asked);
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
    SENNIT_READ_DEPENDENCES(depends, count, gomp::Dependences(depend))
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
