// SPDX-License-Identifier: Apache-2.0
// With a tool (OpenMP 5.2, 19.5.2.15).
#include "openmp/sync/regions.h"

#include "openmp/team/region_events.h"
#include "openmp/team/team.h"
#include "tasks/task/observer.h"

namespace sennit::omp {
namespace {

using namespace ompt;

ToolState state_of(SyncKind kind) {
    switch (kind) {
    case kBarrierExplicit:
        return kStateBarrierExplicit;
    case kBarrierWorkshare:
        return kStateBarrierWorkshare;
    case kBarrierParallel:
        return kStateBarrierParallel;
    case kBarrierTeams:
        return kStateBarrierTeams;
    case kTaskwait:
        return kStateTaskwait;
    case kTaskgroup:
        return kStateTaskgroup;
    default:
        return kStateBarrierImplementation;
    }
}

// A region of the current task. The tool learns of it by `callback`.
template <class Event>
class Scope {
  public:
    Scope(const Event &callback, SyncKind kind, const InRoutine &routine)
        : callback_(callback), kind_(kind), code_(routine.code()),
          parallel_(&member_of(routine.worker()).team->tool.data), record_(routine.record()) {
        report(kBegin);
    }
    ~Scope() { report(kEnd); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    void report(Endpoint endpoint) {
        callback_(kind_, endpoint, parallel_, data_of(record_), code_);
    }
    const Event &callback_;
    const SyncKind kind_;
    const void *const code_;
    Data *const parallel_;
    task::ToolRecord &record_;
};

// The part of a synchronisation region in which the task waits.
class Waiting {
  public:
    Waiting(SyncKind kind, const InRoutine &routine)
        : record_(routine.record()), scope_(g_tool.sync_region_wait, kind, routine) {
        record_.state = state_of(kind);
    }
    ~Waiting() { record_.state = 0; }
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;

  private:
    task::ToolRecord &record_;
    Scope<decltype(g_tool.sync_region_wait)> scope_;
};

using SyncRegion = Scope<decltype(g_tool.sync_region)>;

void report_taskgroup(const InRoutine &routine, Endpoint endpoint) {
    g_tool.sync_region(kTaskgroup, endpoint, &member_of(routine.worker()).team->tool.data,
                       data_of(routine.record()), routine.code());
}

} // namespace

SENNIT_COLD bool barrier_told(Site site, SyncKind kind) {
    const InRoutine routine(site);
    end_open_single(member_of(routine.worker()), routine.record(), routine.code());
    const SyncRegion region(g_tool.sync_region, kind, routine);
    const Waiting waiting(kind, routine);
    return barrier(routine.worker());
}

SENNIT_COLD void taskwait_told(Site site) {
    const InRoutine routine(site);
    const SyncRegion region(g_tool.sync_region, kTaskwait, routine);
    const Waiting waiting(kTaskwait, routine);
    task::wait_children(routine.worker());
}

SENNIT_COLD void taskwait_depend_told(Site site, WaitDepends wait, const task::Depend *depends,
                                      int count) {
    const InRoutine routine(site);
    Task waiting;
    task::ToolRecord record;
    waiting.tool = &record;
    record.taskwait = true;
    task::set_up(routine.worker(), waiting, nullptr, nullptr, Task::kUndeferred | Task::kMergeable,
                 0);
    if (task::Observer *const observer = task::observer())
        observer->created(routine.worker(), waiting, depends, count);
    wait(routine.worker(), depends, count);
    g_tool.task_schedule(data_of(record), kTaskwaitComplete, nullptr);
}

SENNIT_COLD void taskyield_told(Site site) {
    const InRoutine routine(site);
    t_thread.leaving = kTaskYield;
    routine.worker().yield();
    t_thread.leaving = kTaskSwitch;
}

SENNIT_COLD void taskgroup_begin_told(Site site, Taskgroup &group) {
    const InRoutine routine(site);
    task::begin_taskgroup(routine.worker(), group);
    report_taskgroup(routine, kBegin);
}

SENNIT_COLD void taskgroup_end_told(Site site) {
    const InRoutine routine(site);
    {
        const Waiting waiting(kTaskgroup, routine);
        task::end_taskgroup(routine.worker());
    }
    report_taskgroup(routine, kEnd);
}

namespace {

SENNIT_TLS Combine t_combine; // between begin and end no code runs that could switch fibers

SENNIT_COLD void tell_reduction(ompt::Site site, ompt::Endpoint endpoint) {
    const ompt::InRoutine routine(site);
    ompt::g_tool.reduction(ompt::kReduction, endpoint, &member_of(routine.worker()).team->tool.data,
                           ompt::data_of(routine.record()), routine.code());
}

} // namespace

SENNIT_COLD void tell_flush(ompt::Site site) {
    const ompt::InRoutine routine(site);
    ompt::g_tool.flush(&ompt::t_thread.data, routine.code());
}

SENNIT_COLD void tell_error_slow(ompt::Site site, bool fatal, const char *message,
                                 std::size_t length) {
    const ompt::InRoutine routine(site);
    ompt::g_tool.error(fatal ? ompt::kFatal : ompt::kWarning, message, length, routine.code());
}

Combine begin_reduction(ompt::Site site, TaskMutex &mutex, bool has_atomics) {
    const Team &team = *member_of(here()).team;
    const bool alone = team.size == 1 && team.league.size == 1;
    const bool told = ompt::on();
    t_combine = alone ? Combine::alone : has_atomics && !told ? Combine::atomic : Combine::locked;
    if (t_combine == Combine::locked)
        mutex.lock();
    if (told)
        tell_reduction(site, ompt::kBegin);
    return t_combine;
}

void end_reduction(ompt::Site site, TaskMutex &mutex) {
    if (ompt::on() && t_combine != Combine::atomic)
        tell_reduction(site, ompt::kEnd);
    if (t_combine == Combine::locked)
        mutex.unlock();
}

} // namespace sennit::omp
