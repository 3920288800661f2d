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
    Scope(const Event &callback, SyncKind kind, const Entry &entry)
        : callback_(callback), kind_(kind), code_(entry.code()),
          parallel_(&member_of(entry.worker()).team->tool.data), record_(entry.record()) {
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
    Waiting(SyncKind kind, const Entry &entry)
        : record_(entry.record()), scope_(g_tool.sync_region_wait, kind, entry) {
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

void report_taskgroup(const Entry &entry, Endpoint endpoint) {
    g_tool.sync_region(kTaskgroup, endpoint, &member_of(entry.worker()).team->tool.data,
                       data_of(entry.record()), entry.code());
}

} // namespace

SENNIT_COLD bool barrier_told(Site site, SyncKind kind) {
    const Entry entry(site);
    end_open_single(member_of(entry.worker()), entry.record(), entry.code());
    const SyncRegion region(g_tool.sync_region, kind, entry);
    const Waiting waiting(kind, entry);
    return barrier(entry.worker());
}

SENNIT_COLD void taskwait_told(Site site) {
    const Entry entry(site);
    const SyncRegion region(g_tool.sync_region, kTaskwait, entry);
    const Waiting waiting(kTaskwait, entry);
    task::wait_children(entry.worker());
}

SENNIT_COLD void taskwait_depend_told(Site site, WaitDepends wait, const task::Depend *depends,
                                      int count) {
    const Entry entry(site);
    Task waiting;
    task::ToolRecord record;
    waiting.tool = &record;
    record.taskwait = true;
    task::set_up(entry.worker(), waiting, nullptr, nullptr, Task::kUndeferred | Task::kMergeable,
                 0);
    if (task::Observer *const observer = task::observer())
        observer->created(entry.worker(), waiting, depends, count);
    wait(entry.worker(), depends, count);
    g_tool.task_schedule(data_of(record), kTaskwaitComplete, nullptr);
}

SENNIT_COLD void taskyield_told(Site site) {
    const Entry entry(site);
    t_thread.leaving = kTaskYield;
    entry.worker().yield();
    t_thread.leaving = kTaskSwitch;
}

SENNIT_COLD void taskgroup_begin_told(Site site, Taskgroup &group) {
    const Entry entry(site);
    task::begin_taskgroup(entry.worker(), group);
    report_taskgroup(entry, kBegin);
}

SENNIT_COLD void taskgroup_end_told(Site site) {
    const Entry entry(site);
    {
        const Waiting waiting(kTaskgroup, entry);
        task::end_taskgroup(entry.worker());
    }
    report_taskgroup(entry, kEnd);
}

namespace {

SENNIT_TLS Combine t_combine; // between begin and end no code runs that could switch fibers

SENNIT_COLD void tell_reduction(ompt::Site site, ompt::Endpoint endpoint) {
    const ompt::Entry entry(site);
    ompt::g_tool.reduction(ompt::kReduction, endpoint, &member_of(entry.worker()).team->tool.data,
                           ompt::data_of(entry.record()), entry.code());
}

} // namespace

SENNIT_COLD void tell_flush(ompt::Site site) {
    const ompt::Entry entry(site);
    ompt::g_tool.flush(&ompt::t_thread.data, entry.code());
}

SENNIT_COLD void tell_error_slow(ompt::Site site, bool fatal, const char *message,
                                 std::size_t length) {
    const ompt::Entry entry(site);
    ompt::g_tool.error(fatal ? ompt::kFatal : ompt::kWarning, message, length, entry.code());
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
