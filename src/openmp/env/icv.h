// SPDX-License-Identifier: Apache-2.0
// Internal control variables (OpenMP 5.2, chapter 2) and the OMP_* environment.
//
// Data-environment ICVs are inherited by pointer: a task points to the Icvs of its parent until it
// changes one (team/team.h). Icvs that a task points to are never written to again, so tasks
// that were made before a change keep what they inherited. Global ICVs are constant after
// icv_setup.
#pragma once

#include "openmp/env/places.h"

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>

namespace sennit {

struct Task;

// Values of omp_sched_t; the last one is LLVM's.
enum class Sched : int { static_ = 1, dynamic = 2, guided = 3, automatic = 4, trapezoidal = 101 };

inline constexpr int kMostNestedLists = 8;

inline constexpr int kNoThreadLimit = 1 << 15; // nobody counts threads against this

struct Icvs {
    // nthreads-var: the list of OMP_NUM_THREADS; a level beyond its end uses the last entry.
    int nthreads[kMostNestedLists] = {1};
    int nthreads_count = 1;
    bool dynamic = false;
    // SENNIT_SPLIT asks for it, and the program says nothing of levels: regions of all further
    // levels are cut where that helps (team/inner_regions.h).
    bool cuts_inner = false;
    int max_active_levels = 1;
    int thread_limit = kNoThreadLimit;
    int default_device = 0;
    // run-sched-var
    Sched schedule = Sched::static_;
    bool schedule_monotonic = false;
    long chunk = 0;                       // 0: none, static alone
    std::uintptr_t default_allocator = 1; // an omp_allocator_handle_t

    bool operator==(const Icvs &) const = default;

    bool has_thread_limit() const { return thread_limit < kNoThreadLimit; }
    void set_schedule(Sched kind, bool monotonic, long size);
    // Regions at `level` have threads[0] threads, those inside them threads[1], ...; returns the
    // first level after them.
    int set_num_threads(int level, const int *threads, int count);
};

// target-offload-var; the values are those of LLVM's runtime.
enum class TargetOffload : int { disabled = 0, enabled = 1, mandatory = 2 };

struct GlobalIcvs {
    Icvs initial;                   // of the initial tasks
    std::size_t stack_size = 0;     // of tasks and threads, bytes
    int supported_levels = INT_MAX; // omp_get_supported_active_levels()
    int max_task_priority = 0;      // omp_get_max_task_priority()
    bool levels_changed = false;    // by change_setting()
    bool cancellation = false;      // cancel-var
    bool inherit_fp_control = true; // KMP_INHERIT_FP_CONTROL
    bool wait_active = false;       // OMP_WAIT_POLICY=active
    TargetOffload target_offload = TargetOffload::enabled;
    char allocator[128] = "omp_default_mem_alloc"; // as OMP_ALLOCATOR says it
};

// nteams-var and teams-thread-limit-var; 0: unset. Programs may change them at any time.
struct LeagueIcvs {
    std::atomic<int> num_teams{0};
    std::atomic<int> thread_limit{0};
    // KMP_TEAMS_THREAD_LIMIT: threads that run a league at once; 0: one for each processor.
    int threads = 0;
    omp::ProcBind bind = omp::ProcBind::spread; // KMP_TEAMS_PROC_BIND, their places
};
LeagueIcvs &league_icvs();

const GlobalIcvs &global_icvs();
// max-active-levels-var as the program is told of it: all levels where inner regions are cut.
inline int levels_told(const Icvs &icvs) {
    return icvs.cuts_inner ? global_icvs().supported_levels : icvs.max_active_levels;
}
// The value of a priority clause, in 0 .. max-task-priority-var.
inline int clamp_priority(long value) {
    const int most = global_icvs().max_task_priority;
    return value < 0 ? 0 : value > most ? most : static_cast<int>(value);
}
void icv_setup(); // reads the environment; once, before any team exists
// Before the first team: LLVM's runtime reads the environment only then, and programs change it in
// main(). GCC's reads it when it is loaded, which may be long after us where we are preloaded: a
// Python script sets os.environ and then imports what brings a runtime. So where we stand in the
// place of LLVM's, or of one that is loaded later, what has changed since icv_setup() counts.
void icv_first_use();
// As if the environment had said so, where that is not too late; initial tasks that have changed
// their ICVs keep theirs. False: no such variable, or it is read when the library is loaded.
bool change_setting(const char *name, const char *value);
// Before the first team: threads are not split after all (openmp/env/split.h).
void icv_refuse_split(const char *why);
// The stacks of threads and tasks to come.
void set_stack_size(std::size_t bytes);

} // namespace sennit
