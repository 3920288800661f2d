// SPDX-License-Identifier: Apache-2.0
// parallel, combined parallel loops and sections, teams on the host.
#include "openmp/gomp/gomp.h"

#include "openmp/env/icv.h"
#include "openmp/loops/constructs.h"
#include "openmp/team/region_events.h"

using namespace sennit;
using gomp::Function;

namespace {

struct Region {
    Function function; // first: see omp::Body
    void *data;
    // Of a combined construct: the threads find themselves inside this loop.
    bool is_loop = false;
    bool is_sections = false;
    omp::Iterations iterations{};
    omp::LoopSchedule schedule{};
};

// Of a combined construct, which the program does not call: its function stands for the place.
void begin_loop(sched::Worker &worker, const Region &region) {
    const ompt::Site site{reinterpret_cast<const void *>(region.function), nullptr};
    omp::loop_begin(worker, site, region.is_sections ? ompt::kWorkSections : ompt::kWorkLoop,
                    region.iterations, region.schedule);
}

void plain_body(omp::Member &member, void *argument) {
    const auto &region = *static_cast<const Region *>(argument);
    const ompt::UserCode code(member.record, __builtin_frame_address(0));
    region.function(region.data);
}

void loop_body(omp::Member &member, void *argument) {
    const auto &region = *static_cast<const Region *>(argument);
    begin_loop(*sched::Worker::self(), region);
    const ompt::UserCode code(member.record, __builtin_frame_address(0));
    region.function(region.data);
}

omp::Body body_of(const Region &region) {
    return region.is_loop ? loop_body : plain_body;
}

SENNIT_TOLD void run(ompt::Where auto site, unsigned num_threads, Region region, unsigned flags) {
    sched::Worker &worker = omp::here();
    gomp::announce_proc_bind(flags);
    omp::parallel(worker, site, gomp::region_size(worker, num_threads, region.function),
                  body_of(region), &region);
}

// The GCC < 4.9 pair *_start ... GOMP_parallel_end: the region outlives the call.
Region *keep(const Region &region) {
    sched::Worker &worker = omp::here();
    return new (worker.heap.allocate(sizeof(Region))) Region(region);
}

void start(unsigned num_threads, const Region &region) {
    sched::Worker &worker = omp::here();
    Region *kept = keep(region);
    omp::Team &team = omp::fork(worker, gomp::region_size(worker, num_threads, region.function),
                                body_of(region), kept, omp::Team::Kind::opened);
    omp::Member &first = team.member(0);
    first.abi_data = kept;
    if (region.is_loop)
        begin_loop(worker, region);
}

Region loop_region(Function function, void *data, long first, long end, long step, Sched kind,
                   long chunk, bool monotonic) {
    Region region{function, data};
    region.is_loop = true;
    region.iterations = omp::Iterations::before(first, end, step);
    region.schedule = {kind, chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0, monotonic, false};
    return region;
}

Region runtime_region(Function function, void *data, long first, long end, long step,
                      bool monotonic) {
    Region region = loop_region(function, data, first, end, step, Sched::static_, 0, true);
    region.schedule = omp::runtime_schedule(omp::here());
    region.schedule.monotonic |= monotonic;
    return region;
}

Region sections_region(Function function, void *data, unsigned count) {
    // Sections are numbered from 1; 0 means that none is left.
    Region region =
        loop_region(function, data, 1, static_cast<long>(count) + 1, 1, Sched::dynamic, 1, true);
    region.is_sections = true;
    return region;
}

} // namespace

GOMP_API void GOMP_parallel(Function function, void *data, unsigned num_threads, unsigned flags) {
    run(SENNIT_SITE, num_threads, {function, data}, flags);
}

GOMP_API void GOMP_parallel_start(Function function, void *data, unsigned num_threads) {
    const ompt::MaybeInRoutine routine(SENNIT_SITE);
    start(num_threads, {function, data});
}

GOMP_API void GOMP_parallel_end(void) {
    const ompt::MaybeInRoutine routine(SENNIT_SITE);
    sched::Worker &worker = omp::here();
    void *kept = omp::member_of(worker).abi_data;
    omp::member_of(worker).abi_data = nullptr;
    omp::join(worker);
    if (kept)
        worker.heap.release(kept);
}

#define SENNIT_PARALLEL_LOOP(name, kind, monotonic)                                                \
    GOMP_API void GOMP_parallel_loop_##name(Function function, void *data, unsigned num_threads,   \
                                            long first, long end, long step, long chunk,           \
                                            unsigned flags) {                                      \
        run(SENNIT_SITE, num_threads,                                                              \
            loop_region(function, data, first, end, step, Sched::kind, chunk, monotonic), flags);  \
    }
SENNIT_PARALLEL_LOOP(static, static_, true)
SENNIT_PARALLEL_LOOP(dynamic, dynamic, true)
SENNIT_PARALLEL_LOOP(guided, guided, true)
SENNIT_PARALLEL_LOOP(nonmonotonic_dynamic, dynamic, false)
SENNIT_PARALLEL_LOOP(nonmonotonic_guided, guided, false)
#undef SENNIT_PARALLEL_LOOP

#define SENNIT_PARALLEL_RUNTIME(name, monotonic)                                                   \
    GOMP_API void GOMP_parallel_loop_##name(Function function, void *data, unsigned num_threads,   \
                                            long first, long end, long step, unsigned flags) {     \
        run(SENNIT_SITE, num_threads, runtime_region(function, data, first, end, step, monotonic), \
            flags);                                                                                \
    }
SENNIT_PARALLEL_RUNTIME(runtime, true)
SENNIT_PARALLEL_RUNTIME(nonmonotonic_runtime, false)
SENNIT_PARALLEL_RUNTIME(maybe_nonmonotonic_runtime, false)
#undef SENNIT_PARALLEL_RUNTIME

#define SENNIT_PARALLEL_LOOP_START(name, kind)                                                     \
    GOMP_API void GOMP_parallel_loop_##name##_start(Function function, void *data,                 \
                                                    unsigned num_threads, long first, long end,    \
                                                    long step, long chunk) {                       \
        const ompt::MaybeInRoutine routine(SENNIT_SITE);                                           \
        start(num_threads,                                                                         \
              loop_region(function, data, first, end, step, Sched::kind, chunk, true));            \
    }
SENNIT_PARALLEL_LOOP_START(static, static_)
SENNIT_PARALLEL_LOOP_START(dynamic, dynamic)
SENNIT_PARALLEL_LOOP_START(guided, guided)
#undef SENNIT_PARALLEL_LOOP_START

GOMP_API void GOMP_parallel_loop_runtime_start(Function function, void *data, unsigned num_threads,
                                               long first, long end, long step) {
    const ompt::MaybeInRoutine routine(SENNIT_SITE);
    start(num_threads, runtime_region(function, data, first, end, step, true));
}

GOMP_API void GOMP_parallel_sections(Function function, void *data, unsigned num_threads,
                                     unsigned count, unsigned flags) {
    run(SENNIT_SITE, num_threads, sections_region(function, data, count), flags);
}

GOMP_API void GOMP_parallel_sections_start(Function function, void *data, unsigned num_threads,
                                           unsigned count) {
    const ompt::MaybeInRoutine routine(SENNIT_SITE);
    start(num_threads, sections_region(function, data, count));
}

GOMP_API void GOMP_teams_reg(Function function, void *data, unsigned teams, unsigned thread_limit,
                             unsigned) {
    const ompt::MaybeInRoutine routine(SENNIT_SITE);
    struct Call {
        Function function;
        void *data;
    } call{function, data};
    omp::run_league(
        omp::here(), static_cast<int>(teams), static_cast<int>(thread_limit), false,
        [](omp::Member &, void *given) {
            const auto &wanted = *static_cast<const Call *>(given);
            wanted.function(wanted.data);
        },
        &call);
}
