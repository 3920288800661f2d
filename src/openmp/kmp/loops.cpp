// SPDX-License-Identifier: Apache-2.0
// Worksharing loops. The compiler passes inclusive bounds of four types. Distances, and with them
// the count of iterations, are modulo the values of the type; all else is modulo 2^64.
#include "openmp/env/split.h"
#include "openmp/kmp/kmp.h"
#include "openmp/loops/constructs.h"
#include "openmp/loops/lent.h"
#include "openmp/loops/worksharing.h"

#include <alloca.h>
#include <limits>

using namespace sennit;
using kmp::Gtid;
using kmp::Ident;

namespace {

// No iterations for this thread: lower is just behind upper, which is what compilers test, whether
// by comparing them or by counting. Neither may pass the end of the type.
template <class T, class S>
void give_none(T *lower, T *upper, S step) {
    using Limits = std::numeric_limits<T>;
    const bool up = step > 0;
    if (*upper == (up ? Limits::max() : Limits::min()))
        *upper = static_cast<T>(up ? *upper - 1 : *upper + 1);
    *lower = static_cast<T>(up ? *upper + 1 : *upper - 1);
}

// OpenMP 5.2, 11.5.3, as the compiler wants it: the first piece of one of several threads, or
// teams, in *lower .. *upper, and how far it is to its next one, in *stride.
template <class T, class S>
void static_cut(bool chunked, int threads, int thread, std::int32_t *last, T *lower, T *upper,
                S *stride, S step, S chunk) {
    const std::uint64_t count = omp::Iterations::count_through(*lower, *upper, step);
    *last = 0;
    *stride = step;
    if (count == 0)
        return;
    auto at = [base = static_cast<std::uint64_t>(*lower),
               by = static_cast<std::uint64_t>(step)](std::uint64_t i) { return base + i * by; };
    const auto n = static_cast<std::uint64_t>(threads);
    const auto i = static_cast<std::uint64_t>(thread);
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    if (chunked) {
        const std::uint64_t size = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 1;
        const std::uint64_t pieces = (count - 1) / size + 1;
        if (i >= pieces)
            return give_none(lower, upper, step);
        first = i * size;
        end = i + 1 == pieces ? count : first + size;
        *last = (pieces - 1) % n == i;
        // A thread without a second piece is led to the end of the loop and no further: all steps
        // of the others together might pass the end of the type.
        *stride = static_cast<S>((pieces <= n ? count - first : size * n) *
                                 static_cast<std::uint64_t>(step));
    } else {
        omp::static_share(count, threads, thread, &first, &end);
        if (first == end)
            return give_none(lower, upper, step);
        *last = end == count;
        *stride = static_cast<S>(count * static_cast<std::uint64_t>(step));
    }
    *lower = static_cast<T>(at(first));
    *upper = static_cast<T>(at(end - 1));
}

// A thread's, or for distribute a team's.
template <class T, class S>
void static_init(std::int32_t schedule, std::int32_t *last, T *lower, T *upper, S *stride, S step,
                 S chunk) {
    const omp::Member &member = omp::member_of(omp::here());
    schedule &= ~(kmp::kMonotonic | kmp::kNonmonotonic);
    if (schedule == kmp::kDistribute || schedule == kmp::kDistributeChunked) {
        const omp::League &league = member.team->league;
        static_cut(schedule == kmp::kDistributeChunked, league.size, league.rank, last, lower,
                   upper, stride, step, chunk);
        return;
    }
    const bool chunked = schedule == kmp::kStaticChunked || schedule == kmp::kStaticBalancedChunked;
    static_cut(chunked, member.group->size, member.index, last, lower, upper, stride, step, chunk);
}

// The same for what most loops are: one piece a thread, upwards in steps of 1. False: the loop, or
// the thread's share of it, is not of this kind. Virtual threads are many, so it is short, and what
// is not of this kind is elsewhere: this one needs no stack.
template <class T, class S>
[[gnu::always_inline]] inline bool static_init_plain(std::int32_t schedule, std::int32_t *last,
                                                     T *lower, T *upper, S *stride, S step) {
    const sched::Worker *const worker = sched::Worker::self();
    if ((schedule & ~(kmp::kMonotonic | kmp::kNonmonotonic)) != kmp::kStatic || step != 1 ||
        !worker || !worker->slot || *lower > *upper)
        return false;
    const auto base = static_cast<std::uint64_t>(*lower);
    const std::uint64_t count = omp::Iterations::count_through(*lower, *upper, S{1});
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    omp::static_share(count, worker->slot->group->size, worker->slot->index, &first, &end);
    if (first == end)
        return false;
    *last = end == count;
    *stride = static_cast<S>(count);
    *lower = static_cast<T>(base + first);
    *upper = static_cast<T>(base + end - 1);
    return true;
}

template <class T, class S>
SENNIT_NOINLINE void static_init_any(ompt::Site site, const Ident *location, std::int32_t schedule,
                                     std::int32_t *last, T *lower, T *upper, S *stride, S step,
                                     S chunk) {
    omp::static_loop(site, kmp::LoopKind{location, ompt::kWorkLoopStatic}, lower, upper, step,
                     [=] { static_init(schedule, last, lower, upper, stride, step, chunk); });
}

// distribute parallel for: the team's share of the iterations. True when the last is among them.
template <class T, class S>
bool team_share(T *lower, T *upper, S step) {
    const omp::League &league = omp::member_of(omp::here()).team->league;
    std::int32_t last = 0;
    S stride = 0;
    static_cut(false, league.size, league.rank, &last, lower, upper, &stride, step, S{0});
    return last != 0;
}

omp::LoopSchedule decode(std::int32_t schedule, std::uint64_t chunk, sched::Worker &worker) {
    const std::int32_t modifiers = schedule & (kmp::kMonotonic | kmp::kNonmonotonic);
    std::int32_t kind = schedule & ~modifiers;
    if (kind > kmp::kNoMergeLower)
        kind -= kmp::kNoMergeOffset;
    omp::LoopSchedule result;
    result.ordered = kind > kmp::kOrderedLower && kind < kmp::kOrderedUpper;
    if (result.ordered)
        kind -= kmp::kOrderedOffset;
    result.chunk = chunk;
    result.monotonic = result.ordered || (modifiers & kmp::kNonmonotonic) == 0;
    switch (kind) {
    case kmp::kStaticSteal:
        result.monotonic = result.ordered;
        [[fallthrough]];
    case kmp::kDynamicChunked:
        result.kind = Sched::dynamic;
        break;
    case kmp::kTrapezoidal:
        result.kind = Sched::trapezoidal;
        break;
    case kmp::kGuidedSimd:
        result.multiple = chunk;
        [[fallthrough]];
    case kmp::kAuto: // the compiler adds a chunk of 1, which nobody asked for
    case kmp::kGuidedChunked:
    case kmp::kGuidedIterative:
    case kmp::kGuidedAnalytical:
        result.kind = Sched::guided;
        break;
    case kmp::kStatic:
        result.chunk = 0;
        break;
    case kmp::kRuntime:
    case kmp::kRuntimeSimd: {
        const omp::LoopSchedule clause = result;
        result = omp::runtime_schedule(worker);
        result.ordered = clause.ordered;
        result.monotonic |= clause.monotonic;
        if (kind == kmp::kRuntimeSimd) { // the compiler's chunk is the width of its vectors
            result.chunk *= chunk;       // none stays none
            result.multiple = result.chunk ? result.chunk : chunk;
        }
        break;
    }
    default:
        break; // static with a chunk
    }
    return result;
}

template <class T, class S>
void dispatch_init(ompt::Site site, const Ident *location, std::int32_t schedule, T lower, T upper,
                   S step, S chunk) {
    sched::Worker &worker = omp::here();
    const omp::Iterations iterations = {.start = static_cast<std::uint64_t>(lower),
                                        .step = static_cast<std::uint64_t>(step),
                                        .count =
                                            omp::Iterations::count_through(lower, upper, step)};
    const auto size = chunk > 0 ? static_cast<std::uint64_t>(chunk) : std::uint64_t{1};
    omp::loop_begin(worker, site, kmp::LoopKind{location}, iterations,
                    decode(schedule, size, worker));
}

template <class T, class S>
std::int32_t dispatch_next(ompt::Site site, std::int32_t *last, T *lower, T *upper, S *step) {
    sched::Worker &worker = omp::here();
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    if (!omp::loop_next(worker, site, &first, &end)) {
        omp::loop_end(worker, site);
        return 0; // *last stays: it tells whether the thread's last piece was the loop's
    }
    const omp::Iterations &loop = omp::member_of(worker).work.iterations;
    *lower = static_cast<T>(loop.value(first));
    *upper = static_cast<T>(loop.value(end - 1));
    if (step)
        *step = static_cast<S>(loop.step);
    if (last)
        *last = end == loop.count;
    return 1;
}

// A static loop that the plug-in has let go (pass/library/loops.c): its first piece, if it is lent.
template <class T, class S>
std::int32_t lend(ompt::Site site, const Ident *location, std::atomic<omp::LentLoop *> *place,
                  T *lower, T *upper, S step) {
    sched::Worker &worker = omp::here();
    const std::uint64_t count = omp::Iterations::count_through(*lower, *upper, step);
    if (!omp::lends_loops() || count < 2 || omp::member_of(worker).group->size == 1)
        return 0;
    omp::LoopSchedule schedule;
    schedule.lent = &omp::LentLoop::at(*place);
    const omp::Iterations iterations = {.start = static_cast<std::uint64_t>(*lower),
                                        .step = static_cast<std::uint64_t>(step),
                                        .count = count};
    omp::loop_begin(worker, site, kmp::LoopKind{location}, iterations, schedule);
    if (!dispatch_next<T, S>(site, nullptr, lower, upper, nullptr))
        give_none(lower, upper, step);
    return 1;
}

} // namespace

#define SENNIT_LOOPS(suffix, T, S)                                                                 \
    KMP_API void __kmpc_for_static_init_##suffix(Ident *location, Gtid, std::int32_t schedule,     \
                                                 std::int32_t *last, T *lower, T *upper,           \
                                                 S *stride, S step, S chunk) {                     \
        if (ompt::on() || !static_init_plain(schedule, last, lower, upper, stride, step))          \
            static_init_any(SENNIT_SITE, location, schedule, last, lower, upper, stride, step,     \
                            chunk);                                                                \
    }                                                                                              \
    KMP_API void __kmpc_dist_for_static_init_##suffix(                                             \
        Ident *location, Gtid, std::int32_t schedule, std::int32_t *last, T *lower, T *upper,      \
        T *upper_of_team, S *stride, S step, S chunk) {                                            \
        const bool last_team = team_share(lower, upper, step);                                     \
        *upper_of_team = *upper;                                                                   \
        omp::static_loop(SENNIT_SITE, kmp::LoopKind{location, ompt::kWorkLoopStatic}, lower,       \
                         upper, step,                                                              \
                         [=] { static_init(schedule, last, lower, upper, stride, step, chunk); }); \
        *last &= last_team;                                                                        \
    }                                                                                              \
    KMP_API void __kmpc_team_static_init_##suffix(Ident *, Gtid, std::int32_t *last, T *lower,     \
                                                  T *upper, S *stride, S step, S chunk) {          \
        static_init(kmp::kDistributeChunked, last, lower, upper, stride, step, chunk);             \
    }                                                                                              \
    KMP_API std::int32_t sennit_lend_##suffix(                                                     \
        Ident *location, std::atomic<omp::LentLoop *> *place, T *lower, T *upper, S step) {        \
        return lend(SENNIT_SITE, location, place, lower, upper, step);                             \
    }                                                                                              \
    KMP_API std::int32_t sennit_lend_next_##suffix(T *lower, T *upper) {                           \
        return dispatch_next<T, S>(SENNIT_SITE, nullptr, lower, upper, nullptr);                   \
    }                                                                                              \
    KMP_API void __kmpc_dispatch_init_##suffix(Ident *location, Gtid, std::int32_t schedule,       \
                                               T lower, T upper, S step, S chunk) {                \
        dispatch_init(SENNIT_SITE, location, schedule, lower, upper, step, chunk);                 \
    }                                                                                              \
    KMP_API void __kmpc_dist_dispatch_init_##suffix(Ident *location, Gtid, std::int32_t schedule,  \
                                                    std::int32_t *last, T lower, T upper, S step,  \
                                                    S chunk) {                                     \
        *last = team_share(&lower, &upper, step);                                                  \
        dispatch_init(SENNIT_SITE, location, schedule, lower, upper, step, chunk);                 \
    }                                                                                              \
    KMP_API std::int32_t __kmpc_dispatch_next_##suffix(Ident *, Gtid, std::int32_t *last,          \
                                                       T *lower, T *upper, S *step) {              \
        return dispatch_next(SENNIT_SITE, last, lower, upper, step);                               \
    }                                                                                              \
    /* An ordered piece ends when the next one is asked for. */                                    \
    KMP_API void __kmpc_dispatch_fini_##suffix(Ident *, Gtid) {}

SENNIT_LOOPS(4, std::int32_t, std::int32_t)
SENNIT_LOOPS(4u, std::uint32_t, std::int32_t)
SENNIT_LOOPS(8, std::int64_t, std::int64_t)
SENNIT_LOOPS(8u, std::uint64_t, std::int64_t)

KMP_API void __kmpc_for_static_fini(Ident *, Gtid) {
    omp::work_end(SENNIT_SITE);
}
KMP_API void __kmpc_dispatch_deinit(Ident *, Gtid) {
    omp::loop_end(omp::here(), SENNIT_SITE);
}

KMP_API void __kmpc_ordered(Ident *, Gtid) {
    omp::ordered_begin(SENNIT_SITE);
}
KMP_API void __kmpc_end_ordered(Ident *, Gtid) {
    omp::ordered_end(SENNIT_SITE);
}

// sections, of which each call gets the number of one to execute, or one that there is not.
KMP_API std::int32_t __kmpc_sections_init(Ident *, Gtid) {
    omp::loop_begin(omp::here(), SENNIT_SITE, ompt::kWorkSections, {}, {});
    return 0;
}
KMP_API std::int32_t __kmpc_next_section(Ident *, Gtid, std::int32_t sections) {
    std::uintptr_t section = 0;
    return omp::next_section(omp::here(), SENNIT_SITE, static_cast<std::uintptr_t>(sections),
                             &section)
               ? static_cast<std::int32_t>(section)
               : sections;
}
KMP_API void __kmpc_end_sections(Ident *, Gtid) {
    omp::work_end(SENNIT_SITE);
}

KMP_API std::int32_t __kmpc_single(Ident *, Gtid) {
    return omp::single_begin(SENNIT_SITE);
}
KMP_API void __kmpc_end_single(Ident *, Gtid) {
    omp::single_end(SENNIT_SITE);
}

KMP_API void __kmpc_copyprivate(Ident *, Gtid, std::size_t, void *data,
                                void (*copy)(void *into, void *from), std::int32_t did_it) {
    sched::Worker &worker = omp::here();
    if (did_it)
        omp::copyprivate_publish(worker, data);
    else
        copy(data, omp::copyprivate_receive(worker));
    omp::barrier(worker);
}

KMP_API void *__kmpc_copyprivate_light(Ident *, Gtid, void *data) {
    // The single thread passes its data, the others null; all get the address and the caller's code
    // ends with a barrier of its own.
    sched::Worker &worker = omp::here();
    omp::Team &team = *omp::member_of(worker).team;
    if (data)
        team.copyprivate = data;
    omp::barrier(worker);
    return team.copyprivate;
}

KMP_API std::int32_t __kmpc_masked(Ident *, Gtid, std::int32_t filter) {
    return omp::masked_begin(SENNIT_SITE, filter);
}
KMP_API void __kmpc_end_masked(Ident *, Gtid) {
    omp::masked_end(SENNIT_SITE);
}
KMP_API std::int32_t __kmpc_master(Ident *, Gtid) {
    return omp::masked_begin(SENNIT_SITE, 0);
}
KMP_API void __kmpc_end_master(Ident *, Gtid) {
    omp::masked_end(SENNIT_SITE);
}
KMP_API void __kmpc_scope(Ident *, Gtid, void *) {
    omp::work_begin(SENNIT_SITE, ompt::kWorkScope, 1);
}
KMP_API void __kmpc_end_scope(Ident *, Gtid, void *) {
    omp::work_end(SENNIT_SITE);
}

// ordered(n): the compiler passes the nest's bounds and vectors of loop variables.

namespace {

struct Dimension { // kmp_dim
    std::int64_t lower;
    std::int64_t upper; // inclusive
    std::int64_t step;
};

std::uint64_t count_of(const Dimension &loop) {
    const bool up = loop.step > 0;
    if (up ? loop.lower > loop.upper : loop.lower < loop.upper)
        return 0;
    const auto low = static_cast<std::uint64_t>(up ? loop.lower : loop.upper);
    const auto high = static_cast<std::uint64_t>(up ? loop.upper : loop.lower);
    const auto step = static_cast<std::uint64_t>(loop.step);
    return (high - low) / (up ? step : std::uint64_t{0} - step) + 1;
}

} // namespace

KMP_API void __kmpc_doacross_init(Ident *, Gtid, std::int32_t loops, const Dimension *given) {
    auto *nest = static_cast<omp::DoacrossLoop *>(
        alloca(static_cast<std::size_t>(loops) * sizeof(omp::DoacrossLoop)));
    for (int i = 0; i < loops; ++i)
        nest[i] = {given[i].lower, given[i].step, count_of(given[i])};
    omp::doacross_begin(omp::here(), loops, nest);
}
KMP_API void __kmpc_doacross_wait(Ident *, Gtid, const std::int64_t *vector) {
    omp::doacross_wait(omp::here(), vector);
}
KMP_API void __kmpc_doacross_post(Ident *, Gtid, const std::int64_t *vector) {
    omp::doacross_post(omp::here(), vector);
}
KMP_API void __kmpc_doacross_fini(Ident *, Gtid) {
    omp::doacross_end(omp::here());
}
