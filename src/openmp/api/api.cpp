// SPDX-License-Identifier: Apache-2.0
// omp_* routines about threads, teams, tasks, schedules, time (OpenMP 5.2, chapter 18), for C and,
// with a trailing underscore and arguments by reference, for Fortran. libgomp also has variants for
// Fortran's 8-byte integers (_8_).
// Locks, memory, devices and affinity are in files of their own.
#include "openmp/api/api.h"

#include "base/message.h"
#include "openmp/memory/allocators.h"
#include "openmp/ompt/tool.h"
#include "openmp/sync/sync.h"
#include "openmp/team/free_agents.h"
#include "openmp/team/league.h"
#include "openmp/team/team.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/processors.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>

using namespace sennit;

namespace {

omp::Team &team_here() {
    return *omp::member_of(omp::here()).team;
}

// The ancestor team at `level`, null when there is none.
omp::Team *ancestor(int level) {
    omp::Team *team = &team_here();
    if (level < 0 || level > team->level)
        return nullptr;
    while (team && team->level > level)
        team = team->outer;
    return team;
}

int thread_at(int level) {
    omp::Member *member = &omp::member_of(omp::here());
    if (level < 0 || level > member->team->level)
        return -1;
    while (member->team->level > level)
        member = member->team->encountering;
    return member->index;
}

int size_at(int level) {
    const omp::Team *team = ancestor(level);
    return team ? team->size : -1;
}

int max_threads() {
    sched::Worker &worker = omp::here();
    const Icvs &icvs = *worker.task->icvs;
    const int level = omp::member_of(worker).team->level;
    return icvs.nthreads[level < icvs.nthreads_count ? level : icvs.nthreads_count - 1];
}

void set_num_threads(int threads) {
    if (threads < 1) {
        warn("omp_set_num_threads(%d): not a number of threads; ignored", threads);
        return;
    }
    sched::Worker &worker = omp::here();
    icvs_for_update(worker)->set_num_threads(omp::member_of(worker).team->level, &threads, 1);
}

int max_active_levels() {
    return levels_told(*omp::here().task->icvs);
}

// A program that puts back what levels_told() said has it as before.
void set_levels(int levels) {
    const GlobalIcvs &global = global_icvs();
    const bool cuts = global.initial.cuts_inner && levels >= global.supported_levels;
    IcvUpdate icvs = icvs_for_update(omp::here());
    icvs->max_active_levels = cuts ? global.initial.max_active_levels : levels;
    icvs->cuts_inner = cuts;
}

void set_max_active_levels(int levels) {
    // Of numbers out of its range GCC's runtime says nothing.
    const int supported = global_icvs().supported_levels;
    if (levels >= 0)
        set_levels(std::min(levels, supported));
    else if (supported == INT_MAX)
        warn("omp_set_max_active_levels(%d): not a number of levels; ignored", levels);
}

void set_nested(int nested) {
    set_levels(nested ? global_icvs().supported_levels : 1);
}

// omp_sched_t: the kind, with bit 31 for monotonic.
constexpr unsigned kMonotonic = 0x80000000u;

void set_schedule(int kind, int chunk) {
    const auto plain = static_cast<int>(static_cast<unsigned>(kind) & ~kMonotonic);
    if ((plain < 1 || plain > 4) && plain != static_cast<int>(Sched::trapezoidal)) {
        warn("omp_set_schedule(%d, %d): no such schedule; ignored", kind, chunk);
        return;
    }
    icvs_for_update(omp::here())
        ->set_schedule(static_cast<Sched>(plain), (static_cast<unsigned>(kind) & kMonotonic) != 0,
                       chunk);
}

void get_schedule(int *kind, int *chunk) {
    const Icvs &icvs = *omp::here().task->icvs;
    unsigned bits = static_cast<unsigned>(icvs.schedule);
    if (icvs.schedule_monotonic)
        bits |= kMonotonic;
    *kind = static_cast<int>(bits);
    *chunk = static_cast<int>(icvs.chunk);
}

int in_parallel() {
    return team_here().active_level > 0;
}

void set_league(std::atomic<int> &icv, int value) {
    icv.store(value > 0 ? value : 0, std::memory_order_relaxed);
}

void fulfil(std::uintptr_t event) {
    // A handle of either door is the task's address.
    task::fulfil_detach_event(*reinterpret_cast<Task *>(event));
}

} // namespace

SENNIT_GET(int, omp_get_thread_num, omp::here().slot->index)
SENNIT_GET(int, omp_get_num_threads, team_here().size)
SENNIT_GET(int, omp_is_free_agent, omp::is_free_agent(*omp::here().slot))
SENNIT_GET(int, omp_get_max_threads, max_threads())
SENNIT_GET(int, omp_get_num_procs, sched::processors())
SENNIT_GET(int, omp_in_parallel, in_parallel())
SENNIT_GET(int, omp_get_dynamic, omp::here().task->icvs->dynamic)
SENNIT_GET(int, omp_get_nested,
           max_active_levels() > team_here().active_level && max_active_levels() > 1)
SENNIT_GET(int, omp_get_level, team_here().level)
SENNIT_GET(int, omp_get_active_level, team_here().active_level)
SENNIT_GET(int, omp_get_max_active_levels, max_active_levels())
SENNIT_GET(int, omp_get_supported_active_levels, (omp::here(), global_icvs().supported_levels))
SENNIT_GET(int, omp_get_thread_limit, omp::here().task->icvs->thread_limit)
SENNIT_GET(int, omp_in_final, omp::here().task->is(Task::kFinal))
SENNIT_GET(int, omp_in_explicit_task, omp::here().task->is_explicit())
SENNIT_GET(int, omp_get_max_task_priority, global_icvs().max_task_priority)
SENNIT_GET(int, omp_get_cancellation, global_icvs().cancellation)
SENNIT_GET(int, omp_get_num_teams, team_here().league.size)
SENNIT_GET(int, omp_get_team_num, team_here().league.rank)
SENNIT_GET(int, omp_get_max_teams, league_icvs().num_teams.load(std::memory_order_relaxed))
SENNIT_GET(int, omp_get_teams_thread_limit,
           league_icvs().thread_limit.load(std::memory_order_relaxed))
SENNIT_GET(double, omp_get_wtime, static_cast<double>(poll::now_ns()) * 1e-9)
SENNIT_GET(double, omp_get_wtick, 1e-9)

SENNIT_SET(omp_set_num_threads, set_num_threads)
SENNIT_SET(omp_set_max_active_levels, set_max_active_levels)
SENNIT_SET(omp_set_nested, set_nested)
SENNIT_SET(omp_set_dynamic, [](int on) { icvs_for_update(omp::here())->dynamic = on != 0; })
SENNIT_SET(omp_set_num_teams, [](int teams) { set_league(league_icvs().num_teams, teams); })
SENNIT_SET(omp_set_teams_thread_limit,
           [](int limit) { set_league(league_icvs().thread_limit, limit); })

SENNIT_ASK(omp_get_ancestor_thread_num, thread_at)
SENNIT_ASK(omp_ancestor_is_free_agent,
           [](int level) { return thread_at(level) == omp::kUnassignedThread ? 1 : 0; })
SENNIT_ASK(omp_get_team_size, size_at)

// libomp's names for C, used by its omp.h on some systems.
#define SENNIT_OMPC(type, name, call)                                                              \
    SENNIT_API type ompc_##name(int value) {                                                       \
        return call(value);                                                                        \
    }
SENNIT_OMPC(int, get_ancestor_thread_num, thread_at)
SENNIT_OMPC(int, get_team_size, size_at)
SENNIT_OMPC(void, set_num_threads, set_num_threads)
SENNIT_OMPC(void, set_nested, set_nested)
SENNIT_OMPC(void, set_dynamic, omp_set_dynamic)
SENNIT_OMPC(void, set_max_active_levels, set_max_active_levels)

SENNIT_API void omp_set_schedule(int kind, int chunk) {
    set_schedule(kind, chunk);
}
SENNIT_API void ompc_set_schedule(int kind, int chunk) {
    set_schedule(kind, chunk);
}
SENNIT_API void omp_set_schedule_(const int *kind, const int *chunk) {
    set_schedule(*kind, *chunk);
}
SENNIT_API void omp_set_schedule_8_(const int *kind, const std::int64_t *chunk) {
    set_schedule(*kind, static_cast<int>(*chunk));
}
SENNIT_API void omp_get_schedule(int *kind, int *chunk) {
    get_schedule(kind, chunk);
}
SENNIT_API void omp_get_schedule_(int *kind, int *chunk) {
    get_schedule(kind, chunk);
}
SENNIT_API void omp_get_schedule_8_(int *kind, std::int64_t *chunk) {
    int narrow = 0;
    get_schedule(kind, &narrow);
    *chunk = narrow;
}

SENNIT_API void omp_fulfill_event(std::uintptr_t event) {
    fulfil(event);
}
// By value: omp_lib declares it so.
SENNIT_API void omp_fulfill_event_(std::uintptr_t event) {
    fulfil(event);
}

// Soft or hard, the host's threads end, and with them their threadprivate variables (OpenMP 5.2,
// 18.6.1); they are made again on the next use.
SENNIT_API int omp_pause_resource(int kind, int device) {
    constexpr int kSoft = 1;
    constexpr int kHard = 2;
    if ((kind != kSoft && kind != kHard) || !omp::is_host_device(device) || team_here().level > 0)
        return -1;
    omp::release_threads(omp::here());
    return 0;
}
SENNIT_API int omp_pause_resource_(const int *kind, const int *device) {
    return omp_pause_resource(*kind, *device);
}
SENNIT_API int omp_pause_resource_all(int kind) {
    return omp_pause_resource(kind, 0);
}
SENNIT_API int omp_pause_resource_all_(const int *kind) {
    return omp_pause_resource(*kind, 0);
}

SENNIT_API int omp_control_tool(int command, int modifier, void *argument) {
    return ompt::control_tool(SENNIT_SITE, command, modifier, argument);
}
SENNIT_API int omp_control_tool_(const int *command, const int *modifier, void *argument) {
    return ompt::control_tool(SENNIT_SITE, *command, *modifier, argument);
}

// Lock routines (OpenMP 5.2, 18.9) under the standard's names; see lock_routines.h.

using namespace sennit::omp::routine;

// SENNIT_LOCK(type, routine, function): a routine of one argument and its Fortran twin, whose
// argument is the lock variable's address as well. gfortran keeps 8-byte nest locks with the same
// routines.
#define SENNIT_LOCK(type, routine, function)                                                       \
    SENNIT_API type routine(void *lock) {                                                          \
        return function(lock);                                                                     \
    }                                                                                              \
    SENNIT_API type routine##_(void *lock) {                                                       \
        return function(lock);                                                                     \
    }
// Hints change nothing: one kind of lock serves all.
#define SENNIT_LOCK_HINT(routine, function)                                                        \
    SENNIT_API void routine(void *lock, int hint) {                                                \
        function(lock, static_cast<unsigned>(hint));                                               \
    }                                                                                              \
    SENNIT_API void routine##_(void *lock, const int *hint) {                                      \
        function(lock, static_cast<unsigned>(*hint));                                              \
    }

SENNIT_LOCK(void, omp_init_lock, init)
SENNIT_LOCK(void, omp_destroy_lock, destroy)
SENNIT_LOCK(void, omp_set_lock, set)
SENNIT_LOCK(void, omp_unset_lock, unset)
SENNIT_LOCK(int, omp_test_lock, test)
SENNIT_LOCK_HINT(omp_init_lock_with_hint, init)
SENNIT_LOCK(void, omp_init_nest_lock, init_nest)
SENNIT_LOCK(void, omp_destroy_nest_lock, destroy_nest)
SENNIT_LOCK(void, omp_set_nest_lock, set_nest)
SENNIT_LOCK(void, omp_unset_nest_lock, unset_nest)
SENNIT_LOCK(int, omp_test_nest_lock, test_nest)
SENNIT_LOCK_HINT(omp_init_nest_lock_with_hint, init_nest)

// Memory management routines (OpenMP 5.2, 18.13), for C and Fortran.

using omp::AllocatorHandle;
using omp::AllocatorTrait;

namespace {

// def-allocator-var
AllocatorHandle usual() {
    return omp::here().task->icvs->default_allocator;
}

void *zeroed(std::size_t alignment, std::size_t count, std::size_t size, AllocatorHandle handle) {
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, size, &all))
        return nullptr;
    void *block = omp::allocate(alignment, all, handle, usual());
    return block ? std::memset(block, 0, all) : nullptr;
}

} // namespace

// Handles as variables: enumerators in omp.h on Linux, but LLVM's runtime exports them everywhere.
#define SENNIT_HANDLE(name, value)                                                                 \
    extern "C" SENNIT_EXPORT const std::uintptr_t name;                                            \
    const std::uintptr_t name = value;
SENNIT_HANDLE(omp_null_allocator, omp::kNullAllocator)
SENNIT_HANDLE(omp_default_mem_alloc, omp::kDefaultAllocator)
SENNIT_HANDLE(omp_large_cap_mem_alloc, 2)
SENNIT_HANDLE(omp_const_mem_alloc, 3)
SENNIT_HANDLE(omp_high_bw_mem_alloc, 4)
SENNIT_HANDLE(omp_low_lat_mem_alloc, 5)
SENNIT_HANDLE(omp_cgroup_mem_alloc, 6)
SENNIT_HANDLE(omp_pteam_mem_alloc, 7)
SENNIT_HANDLE(omp_thread_mem_alloc, 8)
SENNIT_HANDLE(kmp_max_mem_alloc, 1024)
SENNIT_HANDLE(omp_default_mem_space, 0)
SENNIT_HANDLE(omp_large_cap_mem_space, 1)
SENNIT_HANDLE(omp_const_mem_space, 2)
SENNIT_HANDLE(omp_high_bw_mem_space, 3)
SENNIT_HANDLE(omp_low_lat_mem_space, 4)

SENNIT_API void *omp_alloc(std::size_t size, AllocatorHandle allocator) {
    return omp::allocate(1, size, allocator, usual());
}
SENNIT_API void *omp_aligned_alloc(std::size_t align, std::size_t size, AllocatorHandle allocator) {
    return omp::allocate(align, size, allocator, usual());
}
SENNIT_API void *omp_calloc(std::size_t count, std::size_t size, AllocatorHandle allocator) {
    return zeroed(1, count, size, allocator);
}
SENNIT_API void *omp_aligned_calloc(std::size_t align, std::size_t count, std::size_t size,
                                    AllocatorHandle allocator) {
    return zeroed(align, count, size, allocator);
}
// A block knows its allocator; the one that is named to free it is a help for others.
SENNIT_API void omp_free(void *block, AllocatorHandle) {
    omp::release(block);
}
SENNIT_API void *omp_realloc(void *block, std::size_t size, AllocatorHandle allocator,
                             AllocatorHandle) {
    return omp::reallocate(block, size, allocator, usual());
}

SENNIT_API AllocatorHandle omp_init_allocator(std::uintptr_t space, int count,
                                              const AllocatorTrait *traits) {
    return omp::make_allocator(space, count, traits);
}
SENNIT_API AllocatorHandle omp_init_allocator_(const std::uintptr_t *space, const int *count,
                                               const AllocatorTrait *traits) {
    return omp::make_allocator(*space, *count, traits);
}
SENNIT_API AllocatorHandle omp_init_allocator_8_(const std::uintptr_t *space,
                                                 const std::int64_t *count,
                                                 const AllocatorTrait *traits) {
    return omp::make_allocator(*space, static_cast<int>(*count), traits);
}
SENNIT_API void omp_destroy_allocator(AllocatorHandle allocator) {
    omp::drop_allocator(allocator);
}
SENNIT_API void omp_destroy_allocator_(const AllocatorHandle *allocator) {
    omp::drop_allocator(*allocator);
}

SENNIT_API void omp_set_default_allocator(AllocatorHandle allocator) {
    icvs_for_update(omp::here())->default_allocator =
        allocator != omp::kNullAllocator ? allocator : omp::kDefaultAllocator;
}
SENNIT_API void omp_set_default_allocator_(const AllocatorHandle *allocator) {
    omp_set_default_allocator(*allocator);
}
SENNIT_GET(AllocatorHandle, omp_get_default_allocator, usual())
