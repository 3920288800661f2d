// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/task/task.h"

#include <alloca.h>
#include <cstddef>

namespace sennit::task {

// A task that a front door asks for (OpenMP 5.2, 12.5), and what becomes of it. The doors translate
// what their compiler says. Whether the creator calls the task at once, waits for it, or hands it
// over is decided here, for all of them.

// What decides.
struct TaskClauses {
    const Depend *depends = nullptr;
    int count = 0;
    bool deferred = true; // unless an if clause says no
    bool detach = false;  // it has an event
};

// What it is made of.
struct Spec {
    void *entry = nullptr;   // the compiler's function
    std::uint32_t flags = 0; // kUntied, kFinal, kMergeable, kRunsAlways, kNests
    int priority = 0;
    std::size_t room = 0; // bytes of the payload
};

// Does its creator wait for the body? With if(0), and below a final task.
inline bool is_undeferred(const sched::Worker &worker, bool deferred) {
    return !deferred || worker.task->is(Task::kFinal);
}

// Does its creator call it at once, as an Included task? Not if the task is more than a body: if it
// has dependences or an event. Otherwise it does where it waits for the task anyhow, and (ahead)
// where enough tasks are queued, unless tasks of this process suspend on outside events: then the
// creator could not go on. Nor does it while a tool looks on, which is to see a task of its own.
inline bool is_more_than_body(const TaskClauses &clauses) {
    return clauses.count != 0 || clauses.detach;
}
inline bool runs_ahead(sched::Worker &worker) {
    return throttled(worker) && !may_suspend();
}

// Would the task be discarded? Then it need not be made, unless it has an event, which somebody
// will fulfil.
inline bool is_pointless(const sched::Worker &worker, const TaskClauses &clauses) {
    return is_cancelled(*worker.task) && !clauses.detach;
}

// With detach: the task is not complete before its event is fulfilled.
inline void attach_event(Task &task) {
    note_may_suspend();
    bind_detach_event(task);
}

// The task, whose payload is still to be filled; then start() it.
[[gnu::always_inline]] inline Task &make(sched::Worker &worker, const Spec &spec,
                                         void (*invoke)(Task &)) {
    Task &task = *allocate(worker, spec.room);
    set_up(worker, task, invoke, spec.entry, spec.flags, spec.priority);
    return task;
}

// Another one like `pattern`, which was made and is not started. `more`: bytes of the payload
// behind what the pattern has.
inline Task &make_like(sched::Worker &worker, const Task &pattern, std::size_t more = 0) {
    Task &task = *allocate(worker, pattern.payload_size + more);
    set_up(worker, task, pattern.invoke, pattern.entry, pattern.flags, pattern.priority);
    task.abi_flags = pattern.abi_flags;
    task.payload_size = pattern.payload_size;
    return task;
}

// `task`, child of the caller's, waits for its turn; or, undeferred, for its dependences, and its
// body has run when this returns.
inline void start(sched::Worker &worker, Task &task, const TaskClauses &clauses) {
    if (SENNIT_UNLIKELY(is_undeferred(worker, clauses.deferred)))
        run_undeferred(worker, task, clauses.depends, clauses.count);
    else
        submit(worker, task, clauses.depends, clauses.count);
}

// A task without a body. It only has its place in the order that dependences make.
inline void stand_in_order(sched::Worker &worker, const TaskClauses &clauses) {
    if (is_undeferred(worker, clauses.deferred))
        return wait_depends_only(worker, clauses.depends, clauses.count);
    submit(worker, make(worker, {}, [](Task &) {}), clauses.depends, clauses.count);
}

template <class Body>
[[gnu::always_inline]] inline void call_included(sched::Worker &worker, const Body &body,
                                                 std::uint32_t how) {
    const Included task(worker, body.entry(), (body.flags() & Task::kFinal) | how);
    body.call();
}

// An observer of a task's birth says which function runs its body, whether it may be born as an
// included one, and how it starts. This one observes nothing; openmp/tasks/tasks.h has a tool's.
struct Unobserved {
    void (*invoke)(Task &);
    static constexpr bool kMayInclude = true;
    static void start(sched::Worker &worker, Task &task, const TaskClauses &clauses) {
        task::start(worker, task, clauses);
    }
};

// A task's birth, all of the above. `body` is a door's view of what the compiler hands over. A task
// that is called at once needs entry(), flags() and call() alone, so its path is short. Any other
// is made of what spec() says, and fill(Task &) writes its payload.
template <class Observer, class Body>
[[gnu::always_inline]] inline void create(sched::Worker &worker, const TaskClauses &clauses,
                                          const Observer &observer, const Body &body) {
    if (Observer::kMayInclude && !is_more_than_body(clauses)) {
        if (is_undeferred(worker, clauses.deferred))
            return call_included(worker, body, 0);
        if (runs_ahead(worker))
            return call_included(worker, body, Task::kAhead);
    }
    Task &task = make(worker, body.spec(), observer.invoke);
    if (clauses.detach)
        attach_event(task);
    body.fill(task);
    const bool plain = Observer::kMayInclude && !is_more_than_body(clauses);
    if (__builtin_constant_p(plain) && plain) // is_undeferred() was asked
        submit(worker, task, nullptr, 0);
    else
        observer.start(worker, task, clauses);
}

} // namespace sennit::task

// The dependences of `given`, a door's view of what its compiler hands over, in our form: as
// task::Depend array[count] on the caller's stack. The view has size(), the most there may be, and
// fill(task::Depend *), which returns how many there are.
#define SENNIT_READ_DEPENDENCES(array, count, given)                                               \
    auto *array = static_cast<::sennit::task::Depend *>(                                           \
        alloca(static_cast<std::size_t>((given).size() + 1) * sizeof(::sennit::task::Depend)));    \
    const int count = (given).fill(array);
