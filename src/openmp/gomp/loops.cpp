// SPDX-License-Identifier: Apache-2.0
// Worksharing loops and sections: GCC's names spell the schedule out, so they are a table.
#include "openmp/gomp/gomp.h"
#include "openmp/loops/constructs.h"
#include "openmp/loops/worksharing.h"
#include "openmp/sync/regions.h"

#include <alloca.h>
#include <cstdarg>
#include <cstddef>

using namespace sennit;

namespace {

using Ull = unsigned long long;

template <class T>
[[gnu::always_inline]] inline bool next(T *istart, T *iend) {
    sched::Worker &worker = omp::here();
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (!omp::loop_next(worker, SENNIT_SITE, &first, &last))
        return false;
    const omp::Iterations &loop = omp::member_of(worker).work.iterations;
    *istart = static_cast<T>(loop.value(first));
    *iend = static_cast<T>(loop.bound(last));
    return true;
}

omp::LoopSchedule schedule_of(Sched kind, std::uint64_t chunk, bool monotonic, bool ordered) {
    omp::LoopSchedule schedule;
    schedule.kind = kind;
    schedule.chunk = chunk;
    schedule.monotonic = monotonic || ordered;
    schedule.ordered = ordered;
    return schedule;
}

omp::LoopSchedule runtime_of(bool monotonic, bool ordered) {
    omp::LoopSchedule schedule = omp::runtime_schedule(omp::here());
    schedule.ordered = ordered;
    schedule.monotonic |= monotonic || ordered;
    return schedule;
}

[[gnu::always_inline]] inline void begin(const omp::Iterations &iterations,
                                         const omp::LoopSchedule &schedule,
                                         ompt::WorkKind kind = ompt::kWorkLoop) {
    omp::loop_begin(omp::here(), SENNIT_SITE, kind, iterations, schedule);
}

template <class T>
[[gnu::always_inline]] inline bool start(const omp::Iterations &iterations,
                                         const omp::LoopSchedule &schedule, T *istart, T *iend) {
    begin(iterations, schedule);
    return next(istart, iend);
}

// A thread must get its iterations in order, or it could wait for one that comes after in its own
// share.
omp::LoopSchedule in_order(omp::LoopSchedule schedule) {
    schedule.monotonic = true;
    return schedule;
}

// What a program asks for where it must be positive.
std::uint64_t chunk_of(long chunk) {
    return chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
}
std::uint64_t chunk_of(Ull chunk) {
    return chunk;
}

// The `sched` argument of the OpenMP 5.0 entry points. `auto` stands for schedule(nonmonotonic :
// runtime) there: the compiler itself makes static loops of schedule(auto).
constexpr long kMonotonicBit = 0x80000000L;
omp::LoopSchedule decode(long sched, std::uint64_t chunk, bool ordered) {
    const long kind = sched & ~kMonotonicBit & 0x7FFFFFFF;
    const bool monotonic = (sched & kMonotonicBit) != 0;
    if (kind == 0 || kind == static_cast<long>(Sched::automatic))
        return runtime_of(monotonic, ordered);
    return schedule_of(static_cast<Sched>(kind), chunk, monotonic, ordered);
}

// After the loop is set up: its reductions, its shared memory, its first iterations.
template <class T>
bool finish_start(T *istart, T *iend, std::uintptr_t *reductions, void **mem) {
    sched::Worker &worker = omp::here();
    if (reductions)
        gomp::workshare_reductions_begin(worker, reductions);
    if (mem)
        gomp::workshare_memory(worker, mem);
    return istart ? next(istart, iend) : true;
}

unsigned next_section() {
    long first = 0;
    long end = 0;
    return next(&first, &end) ? static_cast<unsigned>(first) : 0;
}

[[gnu::always_inline]] inline void begin_sections(unsigned count) {
    begin({1, 1, count, std::uint64_t{count} + 1}, schedule_of(Sched::dynamic, 1, true, false),
          ompt::kWorkSections);
}

} // namespace

// ---- ordered(n): the loops of the nest come normalized to 0 .. count-1 ------------------------

namespace {

// Enter the nest, and its outermost loop as a worksharing loop.
template <class T>
[[gnu::always_inline]] inline void begin_doacross(unsigned loops, const T *counts,
                                                  const omp::LoopSchedule &schedule) {
    sched::Worker &worker = omp::here();
    auto *nest =
        static_cast<omp::DoacrossLoop *>(alloca(std::size_t{loops} * sizeof(omp::DoacrossLoop)));
    for (unsigned i = 0; i < loops; ++i)
        nest[i] = {0, 1, static_cast<std::uint64_t>(counts[i])};
    omp::doacross_begin(worker, static_cast<int>(loops), nest);
    const auto count = static_cast<std::uint64_t>(counts[0]);
    begin({0, 1, count, count}, schedule);
}

// The values of a vector that comes as one named argument and a list.
#define SENNIT_READ_VECTOR(T, vector, first)                                                       \
    std::int64_t vector[kMostLoops];                                                               \
    vector[0] = static_cast<std::int64_t>(first);                                                  \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, first);                                                                     \
        const int loops = omp::doacross_loops(omp::here());                                        \
        for (int i = 1; i < loops && i < kMostLoops; ++i)                                          \
            vector[i] = static_cast<std::int64_t>(va_arg(list, T));                                \
        va_end(list);                                                                              \
    }
constexpr int kMostLoops = 64;

} // namespace

#define SENNIT_DOACROSS_LOOP(door, T, name, kind)                                                  \
    GOMP_API bool GOMP_##door##_doacross_##name##_start(unsigned loops, T *counts, T chunk,        \
                                                        T *istart, T *iend) {                      \
        begin_doacross(loops, counts, schedule_of(Sched::kind, chunk_of(chunk), true, false));     \
        return next(istart, iend);                                                                 \
    }
#define SENNIT_DOACROSS(door, T, vectors)                                                          \
    SENNIT_DOACROSS_LOOP(door, T, static, static_)                                                 \
    SENNIT_DOACROSS_LOOP(door, T, dynamic, dynamic)                                                \
    SENNIT_DOACROSS_LOOP(door, T, guided, guided)                                                  \
    GOMP_API bool GOMP_##door##_doacross_runtime_start(unsigned loops, T *counts, T *istart,       \
                                                       T *iend) {                                  \
        begin_doacross(loops, counts, runtime_of(true, false));                                    \
        return next(istart, iend);                                                                 \
    }                                                                                              \
    GOMP_API bool GOMP_##door##_doacross_start(unsigned loops, T *counts, long sched, T chunk,     \
                                               T *istart, T *iend, std::uintptr_t *reductions,     \
                                               void **mem) {                                       \
        begin_doacross(loops, counts, in_order(decode(sched, chunk_of(chunk), false)));            \
        return finish_start(istart, iend, reductions, mem);                                        \
    }                                                                                              \
    GOMP_API void GOMP_##vectors##_post(const T *counters) {                                       \
        static_assert(sizeof(T) == sizeof(std::int64_t));                                          \
        omp::doacross_post(omp::here(), reinterpret_cast<const std::int64_t *>(counters));         \
    }                                                                                              \
    GOMP_API void GOMP_##vectors##_wait(T first, ...) {                                            \
        SENNIT_READ_VECTOR(T, vector, first)                                                       \
        omp::doacross_wait(omp::here(), vector);                                                   \
    }
SENNIT_DOACROSS(loop, long, doacross)
SENNIT_DOACROSS(loop_ull, Ull, doacross_ull)

// ---- loops ------------------------------------------------------------------------------------

#define SENNIT_LOOP(name, kind, monotonic, ordered)                                                \
    GOMP_API bool GOMP_loop_##name##_start(long first, long end, long step, long chunk,            \
                                           long *istart, long *iend) {                             \
        return start(omp::Iterations::before(first, end, step),                                    \
                     schedule_of(Sched::kind, chunk_of(chunk), monotonic, ordered), istart, iend); \
    }                                                                                              \
    GOMP_API bool GOMP_loop_ull_##name##_start(bool up, Ull first, Ull end, Ull step, Ull chunk,   \
                                               Ull *istart, Ull *iend) {                           \
        return start(omp::Iterations::before(up, first, end, step),                                \
                     schedule_of(Sched::kind, chunk_of(chunk), monotonic, ordered), istart, iend); \
    }                                                                                              \
    SENNIT_LOOP_NEXT(name)
#define SENNIT_LOOP_NEXT(name)                                                                     \
    GOMP_API bool GOMP_loop_##name##_next(long *istart, long *iend) {                              \
        return next(istart, iend);                                                                 \
    }                                                                                              \
    GOMP_API bool GOMP_loop_ull_##name##_next(Ull *istart, Ull *iend) {                            \
        return next(istart, iend);                                                                 \
    }
#define SENNIT_RUNTIME_LOOP(name, monotonic, ordered)                                              \
    GOMP_API bool GOMP_loop_##name##_start(long first, long end, long step, long *istart,          \
                                           long *iend) {                                           \
        return start(omp::Iterations::before(first, end, step), runtime_of(monotonic, ordered),    \
                     istart, iend);                                                                \
    }                                                                                              \
    GOMP_API bool GOMP_loop_ull_##name##_start(bool up, Ull first, Ull end, Ull step, Ull *istart, \
                                               Ull *iend) {                                        \
        return start(omp::Iterations::before(up, first, end, step),                                \
                     runtime_of(monotonic, ordered), istart, iend);                                \
    }                                                                                              \
    SENNIT_LOOP_NEXT(name)

SENNIT_LOOP(static, static_, true, false)
SENNIT_LOOP(dynamic, dynamic, true, false)
SENNIT_LOOP(guided, guided, true, false)
SENNIT_LOOP(nonmonotonic_dynamic, dynamic, false, false)
SENNIT_LOOP(nonmonotonic_guided, guided, false, false)
SENNIT_LOOP(ordered_static, static_, true, true)
SENNIT_LOOP(ordered_dynamic, dynamic, true, true)
SENNIT_LOOP(ordered_guided, guided, true, true)
// GCC calls `runtime` where a thread's iterations have to come in order: schedule(monotonic:
// runtime), and lastprivate(conditional:), which takes the last value that a thread assigned for
// that of its last iteration.
SENNIT_RUNTIME_LOOP(runtime, true, false)
SENNIT_RUNTIME_LOOP(nonmonotonic_runtime, false, false)
SENNIT_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false, false)
SENNIT_RUNTIME_LOOP(ordered_runtime, true, true)

#define SENNIT_LOOP_START(name, ordered)                                                           \
    GOMP_API bool GOMP_loop_##name(long first, long end, long step, long sched, long chunk,        \
                                   long *istart, long *iend, std::uintptr_t *reductions,           \
                                   void **mem) {                                                   \
        begin(omp::Iterations::before(first, end, step), decode(sched, chunk_of(chunk), ordered)); \
        return finish_start(istart, iend, reductions, mem);                                        \
    }                                                                                              \
    GOMP_API bool GOMP_loop_ull_##name(bool up, Ull first, Ull end, Ull step, long sched,          \
                                       Ull chunk, Ull *istart, Ull *iend,                          \
                                       std::uintptr_t *reductions, void **mem) {                   \
        begin(omp::Iterations::before(up, first, end, step),                                       \
              decode(sched, chunk_of(chunk), ordered));                                            \
        return finish_start(istart, iend, reductions, mem);                                        \
    }
SENNIT_LOOP_START(start, false)
SENNIT_LOOP_START(ordered_start, true)

namespace {

[[gnu::always_inline]] inline void end_nowait() {
    sched::Worker &worker = omp::here();
    omp::doacross_end(worker);
    omp::loop_end(worker, SENNIT_SITE);
}

[[gnu::always_inline]] inline bool end() {
    end_nowait();
    return omp::barrier(SENNIT_SITE, ompt::kBarrierWorkshare);
}

} // namespace

GOMP_API void GOMP_loop_end_nowait(void) {
    end_nowait();
}
GOMP_API void GOMP_loop_end(void) {
    end();
}
GOMP_API bool GOMP_loop_end_cancel(void) {
    return end();
}

GOMP_API unsigned GOMP_sections_start(unsigned count) {
    begin_sections(count);
    return next_section();
}

GOMP_API unsigned GOMP_sections2_start(unsigned count, std::uintptr_t *reductions, void **mem) {
    begin_sections(count);
    finish_start<long>(nullptr, nullptr, reductions, mem);
    return next_section();
}

GOMP_API unsigned GOMP_sections_next(void) {
    return next_section();
}
GOMP_API void GOMP_sections_end_nowait(void) {
    end_nowait();
}
GOMP_API void GOMP_sections_end(void) {
    end();
}
GOMP_API bool GOMP_sections_end_cancel(void) {
    return end();
}

GOMP_API void GOMP_scope_start(std::uintptr_t *reductions) {
    sched::Worker &worker = omp::here();
    if (!reductions)
        return;
    // A construct without iterations, of which no tool is told: only to agree on whose copies are
    // used.
    omp::loop_begin(worker, 0, schedule_of(Sched::static_, 0, true, false));
    gomp::workshare_reductions_begin(worker, reductions);
    omp::loop_end(worker);
}

GOMP_API void GOMP_ordered_start(void) {
    omp::ordered_begin(SENNIT_SITE);
}
GOMP_API void GOMP_ordered_end(void) {
    omp::ordered_end(SENNIT_SITE);
}

GOMP_API bool GOMP_single_start(void) {
    return omp::single_begin(SENNIT_SITE);
}

GOMP_API void *GOMP_single_copy_start(void) {
    return omp::single_begin(SENNIT_SITE) ? nullptr : omp::copyprivate_receive(omp::here());
}

GOMP_API void GOMP_single_copy_end(void *data) {
    omp::copyprivate_publish(omp::here(), data);
}
