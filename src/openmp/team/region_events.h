// SPDX-License-Identifier: Apache-2.0
// Tells a tool of regions and their implicit tasks. The functions know the kinds of teams, and tell
// what fits each kind. They are called only if a tool is attached.
#pragma once

#include "openmp/events/events.h"
#include "openmp/team/team.h"
#include "tasks/sched/worker.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <new>

namespace sennit::ompt {

void parallel_begin(sched::Worker &worker, omp::Team &team);
void parallel_end(omp::Team &team, Task &encountering);
void implicit_task_begin(omp::Member &member);
// implicit_task_leaves: the task's body has returned. implicit_task_end: the task has left the
// barrier at the end of the region. By then the thread that forked the team may have begun another
// region with it, of another kind. So `kind` is the kind of the ended region.
void implicit_task_leaves(omp::Member &member);
void implicit_task_end(omp::Member &member, omp::Team::Kind kind);
void initial_task_begin(omp::Member &member);

void league_begin(sched::Worker &worker, Region &region, int teams);
void league_end(sched::Worker &worker, Region &region);
// Note that the next region of this thread is the body of a league's team.
void announce_team(omp::Member &initial, const Region &league, void *frame);

// End a single construct that is still open. GCC's code does not tell that a single construct ends,
// so the next barrier or worksharing construct of the task ends it.
void end_open_single(omp::Member &member, task::ToolRecord &record, const void *code);

// Tells a tool of threads. The functions are called only if a tool is attached.

void initial_thread_begin(sched::Worker &worker);
void worker_begin();
void worker_end();
void initial_thread_end(omp::Member &initial);

// The program calls a routine of ours. Only front doors know from where, so they say it. What
// happens then is told to the tool by the code that does it.

// While an InRoutine lives, the current task is in a routine of ours. If routines of ours call each
// other, the tool sees the outermost one.
class InRoutine {
  public:
    explicit InRoutine(Site site);
    ~InRoutine();
    InRoutine(const InRoutine &) = delete;
    InRoutine &operator=(const InRoutine &) = delete;

    sched::Worker &worker() const { return worker_; }
    task::ToolRecord &record() const { return *worker_.task->tool; } // of the current task
    const void *code() const { return code_; }
    // The routine returns, but for the tool it does not end yet: another routine ends it, or the
    // caller's task is over.
    void stay() { record_ = nullptr; }

  private:
    sched::Worker &worker_;
    task::ToolRecord *record_; // null in an inner routine
    const void *code_;
};

// An InRoutine if a tool is attached, else nothing. For routines that are not called often.
class MaybeInRoutine {
  public:
    explicit MaybeInRoutine(Site site) : made_(on()) {
        if (made_)
            new (memory_) InRoutine(site);
    }
    ~MaybeInRoutine() {
        if (made_)
            reinterpret_cast<InRoutine *>(memory_)->~InRoutine();
    }
    MaybeInRoutine(const MaybeInRoutine &) = delete;
    MaybeInRoutine &operator=(const MaybeInRoutine &) = delete;

  private:
    const bool made_;
    alignas(InRoutine) std::byte memory_[sizeof(InRoutine)];
};

// The program itself calls the body of a region or task when the routine at `site` has returned.
// The tool is told the program's frame: the frame pointer that the routine found, if that can be
// one, else an address in the frame.
void stay_in_application(task::ToolRecord &record, Site site, void *frame_pointer);

} // namespace sennit::ompt
