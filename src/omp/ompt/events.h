// SPDX-License-Identifier: Apache-2.0
// What the rooms of the runtime tell an attached tool. A routine that the program calls looks like
//
//     KMP_API std::int32_t __kmpc_omp_taskwait(Ident *, Gtid) {
//         if (ompt::on())
//             return ompt::taskwait(SENNIT_SITE);
//         ...
//
// so that a program without a tool pays for one branch. The functions here do what the runtime does
// anyway, with its events. They are right without a tool, too: on() may be true only because nobody
// has looked for a tool yet.
#pragma once

#include "omp/ompt/tool.h"
#include "sched/worker.h"
#include "task/task.h"

#include <new>

// Of the exported routine in which it stands.
#define SENNIT_SITE                                                                                \
    ::sennit::ompt::Site {                                                                         \
        __builtin_return_address(0), __builtin_dwarf_cfa()                                         \
    }

namespace sennit::ompt {

// Where a routine of ours returns to, and its frame: by its canonical address, so that it needs no
// frame pointer.
struct Site {
    const void *code;
    void *cfa;
};

// While it lives the current task is in a routine of ours. Where routines of ours call each other
// the outermost is what the tool sees.
class Entry {
  public:
    explicit Entry(Site site);
    ~Entry();
    Entry(const Entry &) = delete;
    Entry &operator=(const Entry &) = delete;

    sched::Worker &worker() const { return worker_; }
    const void *code() const { return code_; }
    // The routine returns, but only another one will be its end, or its caller's task is over.
    void stay() { record_ = nullptr; }

  private:
    sched::Worker &worker_;
    task::ToolRecord *record_; // null in an inner routine
    const void *code_;
};

// An Entry where a tool is attached, for routines that are not called often.
class MaybeEntry {
  public:
    explicit MaybeEntry(Site site) : made_(on()) {
        if (made_)
            new (memory_) Entry(site);
    }
    ~MaybeEntry() {
        if (made_)
            reinterpret_cast<Entry *>(memory_)->~Entry();
    }
    MaybeEntry(const MaybeEntry &) = delete;
    MaybeEntry &operator=(const MaybeEntry &) = delete;

  private:
    const bool made_;
    alignas(Entry) std::byte memory_[sizeof(Entry)];
};

// While it lives user code of the task runs, called from the frame with this frame pointer. Always
// noted, tool or not: two stores.
class UserCode {
  public:
    UserCode(task::ToolRecord &record, void *frame) : exit_(record.frame.exit) { exit_ = frame; }
    ~UserCode() { exit_ = nullptr; }
    UserCode(const UserCode &) = delete;
    UserCode &operator=(const UserCode &) = delete;

  private:
    void *&exit_;
};

// The program itself calls the body of a region or task when the routine at `site` has returned.
// Its frame is told by the frame pointer that the routine found, if that can be one, else by an
// address in it.
void stay_in_application(task::ToolRecord &record, Site site, void *frame_pointer);

// ---- threads (threads.cpp) ----------------------------------------------------------------------

void initial_thread_begin(sched::Worker &worker);
void worker_begin();
void worker_end();
// At the end of the program, for all threads that are at rest.
void end_threads();

// ---- regions (regions.cpp) ----------------------------------------------------------------------

// The next region of this thread: how many threads were asked for, and ParallelFlags other than of
// a region whose threads we call.
void announce_size(int requested);
void announce_flags(std::uint32_t flags);
// A region of one thread whose body the program calls.
// `frame_pointer`: see stay_in_application.
void serialized_begin(Site site, void *frame_pointer);
void serialized_end(Site site);
void league_begin(sched::Worker &worker, Region &region, int teams);
void league_end(sched::Worker &worker, Region &region);
// The next region of this thread is the body of a league's team.
void announce_team(omp::Member &initial, const Region &league, void *frame);
void initial_task_begin(omp::Member &member);
// The following know the kind of a team, and say of it what is to be said.
void parallel_begin(sched::Worker &worker, omp::Team &team);
void parallel_end(omp::Team &team, Task &encountering);
void implicit_task_begin(omp::Member &member);
// Its body has returned; it has left the barrier at the end.
void implicit_task_leaves(omp::Member &member);
void implicit_task_end(omp::Member &member);

// ---- tasks (tasks.cpp) --------------------------------------------------------------------------

void observe_tasks();
// A task whose body the program calls.
void undeferred_begin(Site site, Task &task);
void undeferred_end(Site site, Task &task);
void taskyield(Site site);
int flags_of(const Task &task);
// The implicit task in whose context the thread schedules others.
Task &base_task(sched::Worker &worker);

// ---- synchronisation (sync.cpp) -----------------------------------------------------------------

// What the routine of the same name does, with its events.
bool barrier(Site site, SyncKind kind);
void taskwait(Site site);
void taskgroup_begin(Site site, Taskgroup &group);
void taskgroup_end(Site site);
// taskwait with dependences, which `wait` waits for: to a tool, an undeferred task without a body.
// It may stand before the undeferred one that they are of.
using WaitDepends = void (*)(sched::Worker &worker, const task::Depend *depends, int count);
void taskwait_depend(Site site, WaitDepends wait, const task::Depend *depends, int count);

// ---- worksharing (work.cpp) ---------------------------------------------------------------------

// The current task enters a construct: `size` iterations or sections; and leaves it.
void work_begin(const void *code, WorkKind kind, std::uint64_t size);
void work_end(const void *code);
// A piece of it: the loop variable's first value and the number of iterations.
void chunk(DispatchKind kind, std::uint64_t start, std::uint64_t iterations);
void section(const void *code);
void single(const void *code, bool executor);
// GCC's code does not tell: its next barrier or worksharing construct does.
void single_end(const void *code);
void masked(const void *code, Endpoint endpoint);
// A task of a taskloop begins.
void taskloop_chunk(Task &task);
WorkKind kind_of(const omp::LoopSchedule &schedule);

// ---- mutual exclusion (mutex.cpp) ---------------------------------------------------------------

// `acquire` does the work. The lock's identity is `wait_id`.
struct Lock {
    MutexKind kind;
    std::uint64_t wait_id;
    unsigned hint = 0;
};
inline Lock lock_at(MutexKind kind, const void *address, unsigned hint = 0) {
    return {kind, reinterpret_cast<std::uintptr_t>(address), hint};
}
void lock_init(Site site, Lock lock);
void lock_destroy(Site site, Lock lock);
void lock_released(Site site, Lock lock);
void ordered_begin(Site site);
void ordered_end(Site site);
// The lock in the variable `lock`; results as the routines'.
int test_lock(Site site, const void *lock, omp::Mutex &mutex);
void set_nest_lock(Site site, const void *lock, omp::NestMutex &mutex);
int test_nest_lock(Site site, const void *lock, omp::NestMutex &mutex);
void unset_nest_lock(Site site, const void *lock, omp::NestMutex &mutex);

// While it lives the current task waits for a lock.
class Acquiring {
  public:
    Acquiring(Site site, Lock lock);
    ~Acquiring();
    Acquiring(const Acquiring &) = delete;
    Acquiring &operator=(const Acquiring &) = delete;
    void acquired(int depth = 1) const; // it has it now

  private:
    const Entry entry_;
    const Lock lock_;
};

template <class Function>
SENNIT_COLD void acquire(Site site, Lock lock, Function acquire) {
    const Acquiring acquiring(site, lock);
    acquire();
    acquiring.acquired();
}

template <class Function>
SENNIT_COLD void release(Site site, Lock lock, Function release) {
    release();
    lock_released(site, lock);
}

// ---- other (events.cpp) -------------------------------------------------------------------------

void flush(Site site);
void cancel(Site site, int flags); // CancelFlags
void reduction(Site site, Endpoint endpoint);
// An iteration has passed its source, or waits at its sink, in a loop with ordered(n).
void iteration(const std::int64_t *vector, int loops, DependenceType type);
void error(Site site, bool fatal, const char *message, std::size_t length);
int control_tool(Site site, int command, int modifier, void *argument);

} // namespace sennit::ompt
