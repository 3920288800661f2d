// SPDX-License-Identifier: Apache-2.0
// Tasks as front doors ask for them: what tasks/task/submit.h does, and a tool is told (OpenMP 5.2,
// 19.5.2.7, 19.5.2.14).
#pragma once

#include "openmp/events/events.h"
#include "tasks/task/observer.h"
#include "tasks/task/submit.h"

namespace sennit::omp {

// ---- where a tool is attached -------------------------------------------------------------------

void start_told(ompt::Site site, Task &task, task::TaskClauses clauses);
void undeferred_begin_told(ompt::Site site, Task &task);
void undeferred_end_told(ompt::Site site, Task &task);
// A task of a taskloop begins.
void tell_taskloop_piece(Task &task);

// ---- a task -------------------------------------------------------------------------------------

// Task::invoke of a door whose Code::run(Task &), inlined, calls the program: so the frame from
// which it is called is this one's, which a tool may ask for.
template <class Code>
void invoke(Task &task) {
    Code::run(task);
}
template <class Code>
void invoke_told(Task &task) {
    tell_taskloop_piece(task);
    const ompt::UserCode code(*task.tool, __builtin_frame_address(0));
    Code::run(task);
}

// The task, whose payload is still to be filled.
template <class Code>
[[gnu::always_inline]] inline Task &make_task(sched::Worker &worker, const task::Spec &spec) {
    Task &task = task::make(worker, spec, invoke<Code>);
    if (ompt::on())
        task.invoke = invoke_told<Code>;
    return task;
}

SENNIT_TOLD void start_task(sched::Worker &worker, ompt::Where auto site, Task &task,
                            const task::TaskClauses &clauses) {
    if (ompt::on())
        return start_told(site, task, clauses);
    task::start(worker, task, clauses);
}

// Must tasks be made in the way that is watched? Else task::create() will do, with
// unobserved<Code>.
inline bool tasks_are_watched() {
    return observed::by(observed::kCancellation | observed::kTool | observed::kRoaming);
}

template <class Code>
inline constexpr task::Unobserved unobserved{invoke<Code>};

// The observer of a task's birth that tells the tool (task::create()).
template <class Code>
struct Observed {
    ompt::Site site;
    static constexpr bool kMayInclude = false; // the tool sees the program's tasks
    static constexpr auto invoke = invoke_told<Code>;
    void start(sched::Worker &, Task &task, const task::TaskClauses &clauses) const {
        start_told(site, task, clauses);
    }
};

// Body: see task::create(). By value: so what asks for a task keeps it in registers.
template <class Code, class Body>
SENNIT_COLD void create_watched(ompt::Site site, sched::Worker &worker, task::TaskClauses clauses,
                                Body body) {
    if (task::is_pointless(worker, clauses))
        return;
    if (ompt::on())
        task::create(worker, clauses, Observed<Code>{site}, body);
    else
        task::create(worker, clauses, unobserved<Code>, body);
}

// An undeferred task whose body the program calls between the two.
SENNIT_TOLD void undeferred_begin(sched::Worker &worker, ompt::Where auto site, Task &task) {
    task.flags |= Task::kUndeferred;
    task::begin_waited(worker, task);
    if (ompt::on())
        return undeferred_begin_told(site, task);
    task::begin_undeferred(worker, task);
}
SENNIT_TOLD void undeferred_end(sched::Worker &worker, ompt::Where auto site, Task &task) {
    if (ompt::on())
        return undeferred_end_told(site, task);
    task::end_undeferred(worker, task);
}

// ---- tasks of a taskloop ------------------------------------------------------------------------

// `loop` is a door's view of a taskloop. Where the creator waits for the tasks anyhow, loop.call()
// runs them. Each is made, by loop.make_next(), where only the creator can make them
// (loop.each_alone()), or a tool looks on, which sees the program's tasks and nothing else. Else
// one task, loop.make_all(), stands for all, and is divided as long as somebody takes a part.
template <class Loop>
void create_loop_tasks(sched::Worker &worker, bool deferred, const Loop &loop) {
    if (task::is_undeferred(worker, deferred))
        return loop.call();
    if (!loop.each_alone() && !ompt::on())
        return task::submit(worker, loop.make_all(), nullptr, 0);
    while (loop.more())
        task::submit(worker, loop.make_next(), nullptr, 0);
}

// Which iterations it has: the loop variable's first value, and how many.
inline void note_iterations(Task &task, std::uint64_t first, std::uint64_t count) {
    if (ompt::on()) {
        task.tool->first_iteration = first;
        task.tool->iterations = count;
    }
}

// `call` as an included task on the caller's stack.
template <class Call>
[[gnu::always_inline]] inline void call_included(sched::Worker &worker, void *entry,
                                                 std::uint32_t flags, Call call) {
    const task::Included task(worker, entry, flags);
    if (ompt::on()) {
        const ompt::UserCode code(*worker.task->tool, __builtin_frame_address(0));
        call();
    } else {
        call();
    }
}

} // namespace sennit::omp
