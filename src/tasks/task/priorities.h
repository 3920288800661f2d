// SPDX-License-Identifier: Apache-2.0
// The graph of tasks as the policies sa and fa see it (decide/tasks/outlook.h).
//
// A task with dependences has a vertex from its creation to its start, and as long as one of its
// successors has not started. One that is replayed (repeats.h) has its priority from the first, and
// no vertex. One spin lock guards all vertices. They are touched only under these two policies,
// when a task with dependences is created or starts. Order of locks: this one, then a queue's.
//
// Tasks without dependences have no vertex: nothing leads to them, so all there is to know is
// whether they send.
#pragma once

#include "base/spin.h"
#include "tasks/task/repeats.h"
#include "tasks/task/task.h"

#include <cstdint>

namespace sennit::policy {
class Profiles;
}

namespace sennit::task {

namespace detail {
extern SpinLock g_outlook_lock;
} // namespace detail

// Holds the lock as long as it lives.
class SENNIT_IS_GUARD OutlookGuard {
  public:
    OutlookGuard() SENNIT_ACQUIRE(detail::g_outlook_lock);
    ~OutlookGuard() SENNIT_RELEASE();
    OutlookGuard(const OutlookGuard &) = delete;
    OutlookGuard &operator=(const OutlookGuard &) = delete;

  private:
    const std::uint64_t begun_; // 0: this look is not measured
    std::uint64_t passes_before_;
};

// While add_depends() finds the predecessors of a task under sa or fa.
class Linking {
  public:
    Linking(sched::Worker &worker, Task &task) : worker_(worker), task_(task) {}
    ~Linking();
    Linking(const Linking &) = delete;
    Linking &operator=(const Linking &) = delete;

    void add(const DependNode &predecessor);
    void finish(); // all are known, and the task cannot have started yet
    // In the place of both: the task comes next in a period that goes on, as this step. It gets its
    // priority. False: that does not follow from its place.
    bool foresee(Repeats &repeats, const Repeats::Step &step);

  private:
    void grow();

    static constexpr int kFew = 16;
    const OutlookGuard guard_;
    sched::Worker &worker_;
    Task &task_;
    policy::Vertex *few_[kFew];
    policy::Vertex **found_ = few_;
    int count_ = 0;
    int capacity_ = kFew;
};

// Of any task: what its clause and its profile say.
void give_priority(Task &task, int dependences);

// Repeated graphs. May priorities follow from places in a period? Not where creators hand them on:
// a task's depends on who creates it.
bool may_foresee();

void vertex_starts(Task &task);
// MPI reports a send from `task`, for the first time; a task of a known profile has ended.
void task_sends(Task &task);
inline void note_send(Task &task) {
    if (task.is(Task::kSent))
        return;
    task.flags |= Task::kSent;
    if (task.is(Task::kProfiled))
        task_sends(task);
}
void task_ended(Task &task);
// A task of this function has ended, and left children that have not.
void note_left_children(const void *entry);
// Verdicts have changed since priorities were last computed anew: it is done now.
void reconsider();

// fork() waits for whoever holds the lock.
void priorities_before_fork();
void priorities_after_fork();

struct PolicyCounters {
    std::uint64_t raised; // priorities, on the way from a send-task to those before it
    std::uint64_t passes; // over all tasks, because something was learned
    std::uint64_t ns;     // that all this took, waits for the lock included
};
PolicyCounters policy_counters();
const policy::Profiles &profiles();

} // namespace sennit::task
