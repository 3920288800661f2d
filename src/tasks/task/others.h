// SPDX-License-Identifier: Apache-2.0
// Others than threads of a team that run its tasks: what this room asks of them and tells them. The
// room above has them (openmp/team/free_agents.h).
//
// Invariant: they are told of each task that may leave its team when it has joined one of the
// team's queues. Only the task that a worker releases first, and runs next, is its own.
#pragma once

#include "tasks/task/task.h"

namespace sennit::task {

// They see to it that run_beyond_team() is called for the tasks that they take.
class Others {
  public:
    // May this new task leave its team?
    virtual bool may_run(const Task &fresh) = 0;
    // A new task that is ready and in no queue. False: they do not run it now.
    virtual bool take(sched::Worker &worker, Task &fresh) = 0;
    // A task that may leave the team has joined one of its queues. The team lasts until this
    // returns. `worker`: the caller's, or null.
    virtual void tell(sched::Worker *worker, sched::Group &team) = 0;
    // There is no stack for one of those, so the team's threads may run none. Where there is a
    // processor for others is not asked.
    virtual void need(sched::Worker &worker, sched::Group &team) = 0;
    // There is no stack for a task that the worker has found. If it is one of theirs, what it is to
    // run is the team's again.
    virtual void let_go(Task &task) = 0;
    // The worker's current task runs beyond its team, and waits. Run a ready task that may do so,
    // too, and that `condition` accepts. False: there is none.
    virtual bool help(sched::Worker &worker, sched::Condition &condition) = 0;
    // The worker's current task begins to wait, or goes on. It may be any task.
    virtual void waits(sched::Worker &worker, bool begins) = 0;

  protected:
    ~Others() = default;
};

} // namespace sennit::task
