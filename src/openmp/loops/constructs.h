// SPDX-License-Identifier: Apache-2.0
// Worksharing constructs as front doors call them: what worksharing.h does, and what a tool is told
// of constructs and of the pieces of their work (OpenMP 5.2, 19.5.2.5, 19.5.2.6, 19.5.2.14).
#pragma once

#include "openmp/events/events.h"
#include "openmp/loops/worksharing.h"
#include "openmp/team/team.h"

namespace sennit::omp {

// ---- where a tool is attached -------------------------------------------------------------------

// The current task enters a construct with `size` iterations or sections, and leaves it.
void tell_work_begin(ompt::Site site, ompt::WorkKind kind, std::uint64_t size);
void tell_work_end(ompt::Site site);
// A loop of this schedule.
void tell_loop_begin(ompt::Site site, const LoopSchedule &schedule, std::uint64_t size);
// A piece of it: the loop variable's first value and the number of iterations. Of sections: each.
void tell_piece(ompt::Site site, std::uint64_t start, std::uint64_t iterations);
void tell_single(ompt::Site site, bool executor);
void tell_single_end(ompt::Site site);
void tell_masked(ompt::Site site, ompt::Endpoint endpoint);
// An iteration has passed its source, or waits at its sink, in a loop with ordered(n).
void tell_iteration(const std::int64_t *vector, int loops, ompt::DependenceType type);
void ordered_begin_told(ompt::Site site);
void ordered_end_told(ompt::Site site);

// ---- loops and sections -------------------------------------------------------------------------

// A loop, or `kind` if that says something else than kWorkLoop. What it is, is asked only if a tool
// is told.
SENNIT_TOLD void loop_begin(sched::Worker &worker, ompt::Where auto site,
                            std::convertible_to<ompt::WorkKind> auto kind,
                            const Iterations &iterations, const LoopSchedule &schedule) {
    if (ompt::on()) {
        const ompt::WorkKind told = kind;
        if (told == ompt::kWorkLoop)
            tell_loop_begin(site, schedule, iterations.count);
        else
            tell_work_begin(site, told, iterations.count);
    }
    member_of(worker).work.iterations = iterations;
    loop_begin(worker, iterations.count, schedule);
}

SENNIT_TOLD bool loop_next(sched::Worker &worker, ompt::Where auto site, std::uint64_t *first,
                           std::uint64_t *last) {
    if (!loop_next(worker, first, last))
        return false;
    if (ompt::on())
        tell_piece(site, member_of(worker).work.iterations.value(*first), *last - *first);
    return true;
}

SENNIT_TOLD void loop_end(sched::Worker &worker, ompt::Where auto site) {
    loop_end(worker);
    if (ompt::on())
        tell_work_end(site);
}

// A static loop, whose share `cut` computes: from the bounds of the loop, inclusive, to those of
// the thread's first piece. Nothing is shared. The loop ends with work_end.
template <class T, class S, class Cut>
SENNIT_TOLD void static_loop(ompt::Where auto site, std::convertible_to<ompt::WorkKind> auto kind,
                             T *lower, T *upper, S step, Cut cut) {
    if (ompt::on())
        [=](ompt::Site from) SENNIT_COLD {
            tell_work_begin(from, kind, Iterations::count_through(*lower, *upper, step));
            cut();
            tell_piece(from, static_cast<std::uint64_t>(*lower),
                       Iterations::count_through(*lower, *upper, step));
        }(site);
    else
        cut();
}

// What a taskloop or scope construct adds for a tool; scope: of size 1.
SENNIT_TOLD void work_begin(ompt::Where auto site, ompt::WorkKind kind, std::uint64_t size) {
    if (ompt::on())
        tell_work_begin(site, kind, size);
}
SENNIT_TOLD void work_end(ompt::Where auto site) {
    if (ompt::on())
        tell_work_end(site);
}

// Sections. Each call gets the number of one to execute, 0 .. count-1. False: there is none left.
// They begin as a loop without iterations.
bool next_section(sched::Worker &worker, ompt::Site site, std::uintptr_t count,
                  std::uintptr_t *section);

// ---- other constructs ---------------------------------------------------------------------------

SENNIT_TOLD void ordered_begin(ompt::Where auto site) {
    if (ompt::on())
        return ordered_begin_told(site);
    ordered_begin(here());
}
SENNIT_TOLD void ordered_end(ompt::Where auto site) {
    if (ompt::on())
        return ordered_end_told(site);
    ordered_end(here());
}

// Is the calling thread the one that executes it? If not, it has left the construct. GCC's code
// does not say when the thread that executes it leaves.
SENNIT_TOLD bool single_begin(ompt::Where auto site) {
    const bool executor = single_begin(here());
    if (ompt::on())
        tell_single(site, executor);
    return executor;
}
SENNIT_TOLD void single_end(ompt::Where auto site) {
    if (ompt::on())
        tell_single_end(site);
}

SENNIT_TOLD bool masked_begin(ompt::Where auto site, int filter) {
    const bool mine = here().slot->index == filter;
    if (ompt::on() && mine)
        tell_masked(site, ompt::kBegin);
    return mine;
}
SENNIT_TOLD void masked_end(ompt::Where auto site) {
    if (ompt::on())
        tell_masked(site, ompt::kEnd);
}

} // namespace sennit::omp
