// SPDX-License-Identifier: Apache-2.0
#include "tasks/task/roaming.h"

#include "base/config.h"
#include "base/message.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/roaming.h"
#include "tasks/task/execute.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/observer.h"
#include "tasks/trace/trace.h"

#include <cstring>

namespace sennit::task::roaming {
namespace {

// On the roaming fiber. The body may end on another worker than it began on.
void run_body(sched::RoamingFiber &fiber) {
    Task &task = *static_cast<Task *>(fiber.item);
    fiber::set_fp_control(fiber.control);
    if (sched::Worker &first = *sched::Worker::self(); !begin_body(first, *first.slot, task))
        return;
    task.flags |= Task::kRoams;
    task.invoke(task);
    task.flags &= ~Task::kRoams;
    end_body(*sched::Worker::self(), task, Then::next);
}

// The fiber of a task that comes from a queue; null: it has none, and is to run where it is called.
sched::RoamingFiber *fiber_of(sched::Worker &worker, Task &task) {
    if (!task.is(Task::kAway))
        return worker.roaming.take(run_body, &task);
    // The queue's lock came between: what its last worker wrote is visible.
    task.flags &= ~Task::kAway;
    SENNIT_ASSERT(task.state.step(TaskState::running));
    task.home.store(&worker, std::memory_order_relaxed);
    return static_cast<sched::RoamingFiber *>(task.children_cell.kept());
}

bool may_leave(const sched::Worker &worker, const Task &task) {
    return task.is(Task::kRoams) && !observed::by(observed::kTool) && !has_reductions(task) &&
           !poll::inside(worker.current());
}

void note_wait(sched::Worker &worker, const sched::Wait &wait, bool begins) {
    if (observed::by(observed::kTrace | observed::kAccounts))
        sched::client().waits(worker, wait, begins);
}

} // namespace

bool has_reductions(const Task &task) {
    for (const Taskgroup *group = task.taskgroup; group; group = group->outer)
        if (group->reductions)
            return true;
    return false;
}

// A task that is suspended is told to resume() once the worker is off its stack: the cell is armed
// here, not on the fiber. From then on it is another thread's. The resume that came first is found
// by arm(), and the task goes on at once. So each resume finds the fiber armed, or is found.
void run_item(sched::Worker &worker, sched::Slot &slot, sched::Item *item) {
    Task &task = *static_cast<Task *>(item);
    if (!task.is(Task::kUntied))
        return execute(worker, slot, task, Then::next);
    sched::RoamingFiber *const fiber = fiber_of(worker, task);
    if (!fiber)
        return execute(worker, slot, task, Then::next);
    while (!worker.carry(*fiber, slot)) {
        task.children_cell.keep(fiber); // it waits for no children: nobody signals there
        task.flags |= Task::kAway;
        // Release: pairs with the acquire of resume().
        if (task.block_cell.arm(fiber))
            return;
        task.flags &= ~Task::kAway;
        SENNIT_ASSERT(task.state.step(TaskState::running));
    }
    worker.roaming.give_back(*fiber); // the task may be gone
}

SENNIT_COLD bool suspend(sched::Worker &worker, Task &task, const sennit_wait *why) {
    if (!may_leave(worker, task))
        return false;
    SENNIT_ASSERT(task.state.step(TaskState::suspended));
    worker.suspended.begin(); // for the count of all; it is not this worker's any more
    worker.suspended.end();
    sched::roaming_tasks().leave();
    trace::task_suspend(task.trace_id);
    sched::Wait wait{sched::WaitFor::resumption, why};
    const sched::Wait *const outer = begin_wait(worker, wait);
    note_wait(worker, wait, true);
    sched::Worker::leave_carrier(false);
    // `worker` is another thread's, or gone.
    sched::Worker &here = *sched::Worker::self();
    SENNIT_ASSERT(here.task == &task);
    note_wait(here, wait, false);
    end_wait(here, outer);
    trace::task_resume(task.trace_id);
    sched::roaming_tasks().go_on();
    return true;
}

// Acquire: who finds the fiber armed sees all that was done on it, and before arm(). The task is
// the caller's then, until it is in a queue.
SENNIT_COLD void resume(Task &task) {
    trace::task_unblock(task.trace_id);
    sched::Fiber *const fiber = task.block_cell.signal_and_take();
    if (!fiber)
        return;
    if (!task.is(Task::kAway))
        return fiber->home->make_ready(fiber);
    SENNIT_ASSERT(fiber->state.step(sched::FiberState::ready));
    make_ready(sched::Worker::self(), task, Then::queue);
}

// On other processors than these, compilers keep addresses of thread-local words across calls. And
// of a thread that is split, a task has the thread's own copies of data.
void setup() {
    if (config().untied != UntiedTasks::anywhere)
        return;
#if defined(__x86_64__)
    if (std::strcmp(config().split, "1") != 0 && *config().split != '\0')
        return warn("SENNIT_UNTIED=anywhere: not with SENNIT_SPLIT=%s; suspended tasks stay on "
                    "their threads",
                    config().split);
    sched::Client client = kSchedulerClient;
    client.run = run_item;
    observed::set(observed::kRoaming);
    sched::plug(client);
#else
    warn("SENNIT_UNTIED=anywhere works on x86-64 only: suspended tasks stay on their threads");
#endif
}

} // namespace sennit::task::roaming
