// SPDX-License-Identifier: Apache-2.0
// parallel, teams on the host, and who and where the calling thread is.
#include "openmp/kmp/tasks.h"

#include "base/message.h"
#include "openmp/team/league.h"
#include "openmp/team/placement.h"
#include "openmp/team/region_events.h"
#include "openmp/team/team.h"

#include <algorithm>
#include <alloca.h>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <utility>

using namespace sennit;
using kmp::Gtid;
using kmp::Ident;
using kmp::Microtask;

extern "C" void __kmpc_error(const Ident *location, int severity, const char *message);

namespace {

constexpr int kMostArguments = 160;

// What `num_threads`, `num_teams` and the like announced for the next region of this thread.
struct Announced {
    // num_threads: of the region, of the regions in it, ...
    int threads[kMostNestedLists] = {0};
    int levels = 0;
    // Its modifier strict: what to do about fewer threads (kmp::kWarning ...; 0: nothing), and to
    // say; null for the default.
    int severity = 0;
    const char *message = nullptr;
    int num_teams = 0;
    int thread_limit = 0;
};
SENNIT_TLS Announced t_announced;

void announce(int levels, const int *threads) {
    t_announced.levels = std::clamp(levels, 0, kMostNestedLists);
    std::copy_n(threads, t_announced.levels, t_announced.threads);
    t_announced.severity = 0;
}
void announce_strictness(int severity, const char *message) {
    t_announced.severity = severity;
    t_announced.message = message;
}

// nthreads-var of the regions in one that a list was announced for.
void list_threads(Icvs &icvs, int level, const Announced &announced) {
    icvs.nthreads_count = icvs.set_num_threads(level, announced.threads, announced.levels);
}

struct Region {
    Microtask microtask; // first: see omp::Body
    void **arguments;
    omp::Body body;
    fiber::FpControl control; // of the encountering task
};

// KMP_INHERIT_FP_CONTROL: the threads of a region begin with the floating-point control of the
// encountering task, which has it again after the region.
void restore(const fiber::FpControl &control) {
    if (control.differs() && global_icvs().inherit_fp_control)
        control.write();
}
SENNIT_NOINLINE void inherit_control(const Region &region) {
    restore(region.control);
}

// microtask(gtid, thread, arguments[0], ...): a table of bodies with 0, 1, 2 ... arguments.
template <std::size_t>
using Pointer = void *;

template <std::size_t... I>
[[gnu::always_inline]] inline void call_with(Microtask microtask, Gtid *gtid, Gtid *thread,
                                             [[maybe_unused]] void **arguments,
                                             std::index_sequence<I...>) {
    using Function = void (*)(Gtid *, Gtid *, Pointer<I>...);
    reinterpret_cast<Function>(reinterpret_cast<void *>(microtask))(gtid, thread, arguments[I]...);
}

template <std::size_t N>
void region_body(omp::Member &member, void *data) {
    const auto &region = *static_cast<const Region *>(data);
    Gtid gtid = sched::Worker::self()->id();
    Gtid thread = member.index;
    if (member.index != 0 && member.is_at_home()) // VirtualTeam does it for its others
        inherit_control(region);
    const ompt::UserCode code(member.record, __builtin_frame_address(0));
    call_with(region.microtask, &gtid, &thread, region.arguments, std::make_index_sequence<N>{});
}

template <std::size_t... N>
constexpr auto make_bodies(std::index_sequence<N...>) {
    struct Table {
        omp::Body bodies[sizeof...(N)];
    };
    return Table{{region_body<N>...}};
}
constexpr auto kBodies = make_bodies(std::make_index_sequence<kMostArguments + 1>{});

Region make_region(Microtask microtask, int count, void **arguments) {
    if (count < 0 || count > kMostArguments)
        fatal(
            "a parallel region with %d shared variables: at most %d are supported; group some in a "
            "structure",
            count, kMostArguments);
    return {microtask, arguments, kBodies.bodies[count], {}};
}

// num_threads(strict: ...) (OpenMP 6.0, 12.1.2): fewer threads are an error.
void check_strictness(const Ident *location, const Announced &announced, int size) {
    if (announced.severity == 0 || size >= announced.threads[0])
        return;
    char text[128];
    std::snprintf(text, sizeof text, "a region asks for %d threads strictly and gets %d",
                  announced.threads[0], size);
    __kmpc_error(location, announced.severity, announced.message ? announced.message : text);
}

// Where more was announced than one number of threads.
SENNIT_NOINLINE void run_announced(ompt::Site site, const Ident *location, Region &region,
                                   bool parallel) {
    sched::Worker &worker = omp::here();
    const Announced announced = std::exchange(t_announced, {});
    const int size = omp::region_size(worker, announced.threads[0], parallel, nullptr);
    if (parallel)
        check_strictness(location, announced, size);
    // The region inherits from the encountering task, which rests meanwhile.
    Task &task = *worker.task;
    const Icvs *const before = task.icvs;
    Icvs listed = *before;
    if (announced.levels > 1)
        list_threads(listed, omp::member_of(worker).team->level, announced);
    task.icvs = &listed;
    omp::parallel(worker, site, size, region.body, &region,
                  announced.severity != 0 ? omp::Team::Kind::exact : omp::Team::Kind::region);
    restore(region.control);
    task.icvs = before;
}

SENNIT_TOLD void run(ompt::Where auto site, const Ident *location, Region &region, bool parallel) {
    region.control.read();
    if (SENNIT_UNLIKELY(t_announced.levels > 1 || t_announced.severity != 0))
        return run_announced(site, location, region, parallel);
    sched::Worker &worker = omp::here();
    const int wanted = t_announced.levels ? t_announced.threads[0] : 0;
    t_announced.levels = 0;
    const int size = omp::region_size(worker, wanted, parallel,
                                      reinterpret_cast<const void *>(region.microtask));
    omp::parallel(worker, site, size, region.body, &region);
    restore(region.control);
}

} // namespace

#define SENNIT_COLLECT(array, count, last)                                                         \
    auto **array =                                                                                 \
        static_cast<void **>(alloca(static_cast<std::size_t>((count) + 1) * sizeof(void *)));      \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, last);                                                                      \
        for (int i = 0; i < (count); ++i)                                                          \
            (array)[i] = va_arg(list, void *);                                                     \
        va_end(list);                                                                              \
    }

KMP_API void __kmpc_fork_call(Ident *location, std::int32_t count, Microtask microtask, ...) {
    SENNIT_COLLECT(arguments, count, microtask)
    Region region = make_region(microtask, count, arguments);
    run(SENNIT_SITE, location, region, true);
}

KMP_API void __kmpc_fork_call_if(Ident *location, std::int32_t count, Microtask microtask,
                                 std::int32_t condition, void *argument) {
    Region region = make_region(microtask, argument ? count : 0, &argument);
    run(SENNIT_SITE, location, region, condition != 0);
}

// The compiler's code calls the body itself between these two.
KMP_API void __kmpc_serialized_parallel(Ident *, Gtid) {
    sched::Worker &worker = omp::here();
    t_announced.severity = 0; // the if clause asks for one thread
    const int level = omp::member_of(worker).team->level;
    omp::begin_serialized(worker, SENNIT_SITE, static_cast<void **>(__builtin_frame_address(0)));
    omp::member_of(worker).team->control.read();
    if (SENNIT_UNLIKELY(t_announced.levels > 1))
        list_threads(*icvs_for_update(worker), level, t_announced);
    t_announced.levels = 0;
}
KMP_API void __kmpc_end_serialized_parallel(Ident *, Gtid) {
    sched::Worker &worker = omp::here();
    const fiber::FpControl control = omp::member_of(worker).team->control;
    omp::end_serialized(worker, SENNIT_SITE);
    restore(control);
}

KMP_API void __kmpc_push_num_threads(Ident *, Gtid, std::int32_t threads) {
    announce(1, &threads);
}
KMP_API void __kmpc_push_num_threads_list(Ident *, Gtid, std::uint32_t levels, const int *threads) {
    announce(static_cast<int>(levels), threads);
}
KMP_API void __kmpc_push_num_threads_strict(Ident *, Gtid, std::int32_t threads, int severity,
                                            const char *message) {
    announce(1, &threads);
    announce_strictness(severity, message);
}
KMP_API void __kmpc_push_num_threads_list_strict(Ident *, Gtid, std::uint32_t levels,
                                                 const int *threads, int severity,
                                                 const char *message) {
    announce(static_cast<int>(levels), threads);
    announce_strictness(severity, message);
}
KMP_API void __kmpc_pop_num_threads(Ident *, Gtid) {}
// The values of omp_proc_bind_t, but Clang says 5 for `primary` and 2 for the older `master`.
KMP_API void __kmpc_push_proc_bind(Ident *, Gtid, int policy) {
    constexpr int kClangsPrimary = 5;
    if (policy == kClangsPrimary)
        policy = static_cast<int>(omp::ProcBind::primary);
    if (policy <= static_cast<int>(omp::ProcBind::spread))
        omp::announce_proc_bind(policy);
}

// ---- teams ------------------------------------------------------------------------------------

KMP_API void __kmpc_push_num_teams(Ident *, Gtid, std::int32_t teams, std::int32_t limit) {
    t_announced.num_teams = teams;
    t_announced.thread_limit = limit;
}
KMP_API void __kmpc_push_num_teams_51(Ident *, Gtid, std::int32_t, std::int32_t teams,
                                      std::int32_t limit) {
    t_announced.num_teams = teams;
    t_announced.thread_limit = limit;
}
// The first thing in the task that clang makes around a target region with a thread_limit clause:
// the region begins here and ends with the task (kmp::end_body).
KMP_API void __kmpc_set_thread_limit(Ident *, Gtid, std::int32_t limit) {
    sched::Worker &worker = omp::here();
    if (worker.task->is_explicit()) {
        worker.task->abi_flags |= kmp::kInTarget;
        omp::begin_target(worker, limit, nullptr);
    } else if (limit > 0) {
        icvs_for_update(worker)->thread_limit = limit;
    }
}

KMP_API void __kmpc_fork_teams(Ident *, std::int32_t count, Microtask microtask, ...) {
    const ompt::MaybeInRoutine routine(SENNIT_SITE);
    SENNIT_COLLECT(arguments, count, microtask)
    Region region = make_region(microtask, count, arguments);
    const int teams = std::exchange(t_announced.num_teams, 0);
    const int limit = std::exchange(t_announced.thread_limit, 0);
    region.control.read();
    omp::run_league(omp::here(), teams, limit, true, region.body, &region);
    restore(region.control);
}

// ---- who is asking --------------------------------------------------------------------------

KMP_API Gtid __kmpc_global_thread_num(Ident *) {
    return omp::here().id();
}
KMP_API std::int32_t __kmpc_global_num_threads(Ident *) {
    return sched::Worker::all().count();
}
KMP_API std::int32_t __kmpc_bound_thread_num(Ident *) {
    return omp::here().slot->index;
}
KMP_API std::int32_t __kmpc_bound_num_threads(Ident *) {
    return omp::member_of(omp::here()).team->size;
}
KMP_API std::int32_t __kmpc_in_parallel(Ident *) {
    return omp::member_of(omp::here()).team->active_level > 0;
}
KMP_API std::int32_t __kmpc_ok_to_fork(Ident *) {
    return 1;
}
KMP_API void __kmpc_begin(Ident *, std::int32_t) {}
KMP_API void __kmpc_end(Ident *) {}
