// SPDX-License-Identifier: Apache-2.0
// Worksharing loops and sections: GCC's names spell the schedule out, so they are a table.
#include "omp/gomp/gomp.h"

using namespace sennit;

namespace {

using Ull = unsigned long long;

// How a loop variable of type T maps to iterations 0 .. count-1. The member remembers start and
// step as bits; arithmetic is modulo 2^64, which suits both types.
void remember(omp::Member &member, std::uint64_t first, std::uint64_t step) {
    member.work.door[0] = static_cast<std::int64_t>(first);
    member.work.door[1] = static_cast<std::int64_t>(step);
}

template <class T>
bool next(T *istart, T *iend) {
    sched::Worker &worker = omp::here();
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (!omp::loop_next(worker, &first, &last))
        return false;
    const auto &door = omp::member_of(worker).work.door;
    const auto start = static_cast<std::uint64_t>(door[0]);
    const auto step = static_cast<std::uint64_t>(door[1]);
    *istart = static_cast<T>(start + first * step);
    *iend = static_cast<T>(start + last * step);
    return true;
}

std::uint64_t trip_count(bool up, std::uint64_t span, std::uint64_t step) {
    const std::uint64_t stride = up ? step : std::uint64_t{0} - step;
    return (span - 1) / stride + 1;
}

bool is_up(long step) {
    return step > 0;
}

std::uint64_t count_of(long first, long end, long step) {
    const bool up = is_up(step);
    if (up ? first >= end : first <= end)
        return 0;
    const auto a = static_cast<std::uint64_t>(first);
    const auto b = static_cast<std::uint64_t>(end);
    return trip_count(up, up ? b - a : a - b, static_cast<std::uint64_t>(step));
}

// The unsigned interface passes the direction; a downward step comes negated modulo 2^64.
std::uint64_t count_of(bool up, Ull first, Ull end, Ull step) {
    if (up ? first >= end : first <= end)
        return 0;
    return trip_count(up, up ? end - first : first - end, step);
}

omp::LoopSchedule schedule_of(Sched kind, std::uint64_t chunk, bool monotonic, bool ordered) {
    omp::LoopSchedule schedule;
    schedule.kind = kind;
    schedule.chunk = chunk;
    schedule.monotonic = monotonic || ordered;
    schedule.ordered = ordered;
    return schedule;
}

omp::LoopSchedule runtime_of(bool ordered) {
    omp::LoopSchedule schedule = omp::runtime_schedule(omp::here());
    schedule.ordered = ordered;
    schedule.monotonic |= ordered;
    return schedule;
}

void begin(std::uint64_t first, std::uint64_t step, std::uint64_t count,
           const omp::LoopSchedule &schedule) {
    sched::Worker &worker = omp::here();
    remember(omp::member_of(worker), first, step);
    omp::loop_begin(worker, count, schedule);
}

bool start_long(long first, long end, long step, const omp::LoopSchedule &schedule, long *istart,
                long *iend) {
    begin(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(step),
          count_of(first, end, step), schedule);
    return next(istart, iend);
}

bool start_ull(bool up, Ull first, Ull end, Ull step, const omp::LoopSchedule &schedule,
               Ull *istart, Ull *iend) {
    begin(first, step, count_of(up, first, end, step), schedule);
    return next(istart, iend);
}

// The `sched` argument of the OpenMP 5.0 entry points.
constexpr long kMonotonicBit = 0x80000000L;
omp::LoopSchedule decode(long sched, long chunk, bool ordered) {
    const long kind = sched & ~kMonotonicBit & 0x7FFFFFFF;
    if (kind == 0)
        return runtime_of(ordered);
    return schedule_of(static_cast<Sched>(kind), static_cast<std::uint64_t>(chunk),
                       (sched & kMonotonicBit) != 0, ordered);
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

void begin_sections(unsigned count) {
    begin(1, 1, count, schedule_of(Sched::dynamic, 1, true, false));
}

} // namespace

#define SENNIT_LOOP(name, kind, monotonic, ordered)                                                \
    GOMP_API bool GOMP_loop_##name##_start(long first, long end, long step, long chunk,            \
                                           long *istart, long *iend) {                             \
        return start_long(                                                                         \
            first, end, step,                                                                      \
            schedule_of(Sched::kind, static_cast<std::uint64_t>(chunk), monotonic, ordered),       \
            istart, iend);                                                                         \
    }                                                                                              \
    GOMP_API bool GOMP_loop_ull_##name##_start(bool up, Ull first, Ull end, Ull step, Ull chunk,   \
                                               Ull *istart, Ull *iend) {                           \
        return start_ull(up, first, end, step,                                                     \
                         schedule_of(Sched::kind, chunk, monotonic, ordered), istart, iend);       \
    }                                                                                              \
    SENNIT_LOOP_NEXT(name)
#define SENNIT_LOOP_NEXT(name)                                                                     \
    GOMP_API bool GOMP_loop_##name##_next(long *istart, long *iend) {                              \
        return next(istart, iend);                                                                 \
    }                                                                                              \
    GOMP_API bool GOMP_loop_ull_##name##_next(Ull *istart, Ull *iend) {                            \
        return next(istart, iend);                                                                 \
    }
#define SENNIT_RUNTIME_LOOP(name, ordered)                                                         \
    GOMP_API bool GOMP_loop_##name##_start(long first, long end, long step, long *istart,          \
                                           long *iend) {                                           \
        return start_long(first, end, step, runtime_of(ordered), istart, iend);                    \
    }                                                                                              \
    GOMP_API bool GOMP_loop_ull_##name##_start(bool up, Ull first, Ull end, Ull step, Ull *istart, \
                                               Ull *iend) {                                        \
        return start_ull(up, first, end, step, runtime_of(ordered), istart, iend);                 \
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
SENNIT_RUNTIME_LOOP(runtime, false)
SENNIT_RUNTIME_LOOP(nonmonotonic_runtime, false)
SENNIT_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)
SENNIT_RUNTIME_LOOP(ordered_runtime, true)

#define SENNIT_LOOP_START(name, ordered)                                                           \
    GOMP_API bool GOMP_loop_##name(long first, long end, long step, long sched, long chunk,        \
                                   long *istart, long *iend, std::uintptr_t *reductions,           \
                                   void **mem) {                                                   \
        begin(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(step),                 \
              count_of(first, end, step), decode(sched, chunk, ordered));                          \
        return finish_start(istart, iend, reductions, mem);                                        \
    }                                                                                              \
    GOMP_API bool GOMP_loop_ull_##name(bool up, Ull first, Ull end, Ull step, long sched,          \
                                       Ull chunk, Ull *istart, Ull *iend,                          \
                                       std::uintptr_t *reductions, void **mem) {                   \
        begin(first, step, count_of(up, first, end, step),                                         \
              decode(sched, static_cast<long>(chunk), ordered));                                   \
        return finish_start(istart, iend, reductions, mem);                                        \
    }
SENNIT_LOOP_START(start, false)
SENNIT_LOOP_START(ordered_start, true)

GOMP_API void GOMP_loop_end_nowait(void) {
    omp::loop_end(omp::here());
}

GOMP_API void GOMP_loop_end(void) {
    sched::Worker &worker = omp::here();
    omp::loop_end(worker);
    omp::barrier(worker);
}

GOMP_API bool GOMP_loop_end_cancel(void) {
    GOMP_loop_end();
    return false; // cancel-var is never true in this version
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
    GOMP_loop_end_nowait();
}
GOMP_API void GOMP_sections_end(void) {
    GOMP_loop_end();
}
GOMP_API bool GOMP_sections_end_cancel(void) {
    return GOMP_loop_end_cancel();
}

GOMP_API void GOMP_scope_start(std::uintptr_t *reductions) {
    sched::Worker &worker = omp::here();
    if (!reductions)
        return;
    // A construct without iterations: only to agree on whose copies are used.
    begin(0, 1, 0, schedule_of(Sched::static_, 0, true, false));
    gomp::workshare_reductions_begin(worker, reductions);
    omp::loop_end(worker);
}

GOMP_API void GOMP_ordered_start(void) {
    omp::ordered_begin(omp::here());
}
GOMP_API void GOMP_ordered_end(void) {
    omp::ordered_end(omp::here());
}

GOMP_API bool GOMP_single_start(void) {
    return omp::single_begin(omp::here());
}

GOMP_API void *GOMP_single_copy_start(void) {
    sched::Worker &worker = omp::here();
    return omp::single_begin(worker) ? nullptr : omp::copyprivate_receive(worker);
}

GOMP_API void GOMP_single_copy_end(void *data) {
    omp::copyprivate_publish(omp::here(), data);
}
