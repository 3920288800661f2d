// SPDX-License-Identifier: Apache-2.0
// Explicit tasks are created, run, suspended and resumed (OpenMP 5.2, 19.5.2.7 to 19.5.2.10). How
// the events of a thread chain is told in tasks/task/observer.h.
#include "openmp/ompt/tool.h"
#include "openmp/team/team.h"

#include <alloca.h>
#include <utility>

namespace sennit::ompt {
namespace {

// `next` goes on where `current` leaves. Not on a thread that has said goodbye.
void schedule(Task &next, TaskStatus status) {
    Task *prior = std::exchange(t_thread.current, &next);
    if (prior && prior != &next && t_thread.begun)
        g_tool.task_schedule(data_of(*prior->tool), status, data_of(*next.tool));
}

int type_of(task::DependKind kind, bool all) {
    switch (kind) {
    case task::DependKind::in:
        return kDependIn;
    case task::DependKind::mutexinoutset:
        return kDependMutexinoutset;
    case task::DependKind::inoutset:
        return kDependInoutset;
    case task::DependKind::out:
        break;
    }
    return all ? kDependOutAllMemory : kDependInout;
}

class Reporter final : public task::Observer {
  public:
    void created(sched::Worker &worker, Task &fresh, const task::Depend *depends,
                 int count) override {
        task::ToolRecord &parent = *t_thread.current->tool;
        task::ToolRecord &record = *fresh.tool;
        record.created = true;
        record.at_once = worker.slot->alone && task::detail::at_once(worker);
        g_tool.task_create(data_of(parent), frame_of(parent), data_of(record), flags_of(fresh),
                           count > 0, t_thread.code);
        if (count > 0 && g_tool.dependences.wanted())
            report(record, depends, count);
    }

    void ordered(Task &predecessor, Task &successor) override {
        if (successor.tool->created) // not so while a taskwait stands for it
            g_tool.task_dependence(data_of(*predecessor.tool), data_of(*successor.tool));
    }

    void starts(sched::Worker &, Task &task, Task *below) override {
        task.tool->below = below;
        schedule(task, std::exchange(t_thread.leaving, kTaskSwitch));
    }

    void ends(sched::Worker &worker, Task &task, End how) override {
        Task &next = task.tool->below ? *task.tool->below : base_task(worker);
        static constexpr TaskStatus kStatus[] = {kTaskComplete, kTaskCancel, kTaskDetach,
                                                 kTaskSwitch};
        schedule(next, kStatus[static_cast<int>(how)]);
    }

    void discarded(Task &task) override {
        const bool region = task.team->cancelled.load(std::memory_order_relaxed);
        g_tool.cancel(data_of(*task.tool),
                      kCancelDiscardedTask | (region ? kCancelParallel : kCancelTaskgroup),
                      nullptr);
    }

    void suspends(sched::Worker &worker) override { schedule(base_task(worker), kTaskSwitch); }

    void resumes(sched::Worker &, Task &task) override {
        schedule(task, std::exchange(t_thread.leaving, kTaskSwitch));
    }

    void fulfilled(Task &task, bool late) override {
        g_tool.task_schedule(data_of(*task.tool), late ? kTaskLateFulfill : kTaskEarlyFulfill,
                             nullptr);
    }

  private:
    static void report(task::ToolRecord &record, const task::Depend *depends, int count) {
        auto *list =
            static_cast<Dependence *>(alloca(static_cast<std::size_t>(count) * sizeof(Dependence)));
        for (int i = 0; i < count; ++i) {
            list[i].variable.ptr = depends[i].address;
            list[i].type = type_of(depends[i].kind, depends[i].address == nullptr);
        }
        g_tool.dependences(data_of(record), list, count);
    }
};

Reporter g_reporter;

} // namespace

void observe_tasks() {
    task::set_observer(&g_reporter);
}

Task &base_task(sched::Worker &worker) {
    return omp::member_of(worker).implicit;
}

int flags_of(const Task &task) {
    struct Pair {
        std::uint32_t ours;
        std::uint32_t theirs;
    };
    static constexpr Pair kPairs[] = {
        {Task::kUndeferred, kTaskUndeferred},
        {Task::kUntied, kTaskUntied},
        {Task::kFinal, kTaskFinal},
        {Task::kMergeable, kTaskMergeable},
    };
    if (task.is(Task::kInitial))
        return kTaskInitial;
    if (task.is(Task::kImplicit))
        return static_cast<int>(kTaskImplicit | (task.team->size == 1 ? kTaskUndeferred : 0u));
    std::uint32_t flags = task.tool->taskwait ? kTaskTaskwait : kTaskExplicit;
    if (task.tool->at_once)
        flags |= kTaskUndeferred;
    for (const Pair &pair : kPairs)
        flags |= task.is(pair.ours) ? pair.theirs : 0;
    return static_cast<int>(flags);
}

} // namespace sennit::ompt
