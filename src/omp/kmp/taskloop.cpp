// SPDX-License-Identifier: Apache-2.0
// taskloop: the compiler hands over one pattern task; each piece of the loop gets a copy of it with
// bounds of its own (OpenMP 5.2, 12.6).
#include "omp/kmp/tasks.h"
#include "omp/ompt/events.h"

#include <cstring>

using namespace sennit;
using kmp::Gtid;
using kmp::Ident;
using kmp::KmpTask;

extern "C" {
void __kmpc_taskgroup(Ident *, Gtid);
void __kmpc_end_taskgroup(Ident *, Gtid);
}

namespace {

using Duplicate = void (*)(KmpTask *into, KmpTask *from, std::int32_t is_last);
enum Sizing : std::int32_t { kDefault = 0, kGrainsize = 1, kNumTasks = 2 };

// Without clauses: some tasks per thread, so that threads that come late find work.
constexpr std::uint64_t kTasksPerThread = 4;

struct Pieces {
    std::uint64_t count;
    std::uint64_t each;
    std::uint64_t longer; // that many pieces have one iteration more
    std::uint64_t last;   // strict grainsize: iterations of the last piece; 0: as the others
};

Pieces cut(std::uint64_t trip, std::int32_t sizing, std::uint64_t value, bool strict, int threads) {
    if (value == 0)
        value = 1;
    if (sizing == kGrainsize) {
        if (strict)
            return {(trip - 1) / value + 1, value, 0, trip % value};
        const std::uint64_t count = trip / value ? trip / value : 1;
        return {count, trip / count, trip % count, 0};
    }
    std::uint64_t count =
        sizing == kNumTasks ? value : kTasksPerThread * static_cast<std::uint64_t>(threads);
    if (count > trip)
        count = trip;
    return {count, trip / count, trip % count, 0};
}

// Another task like `pattern`, whose private variables `duplicate` copies where bytes will not do.
Task &copy_of(sched::Worker &worker, Task &pattern, Duplicate duplicate, bool is_last) {
    Task &task = *task::allocate(worker, pattern.door_size);
    task::set_up(worker, task, pattern.invoke, pattern.entry, pattern.flags, pattern.priority);
    task.door_flags = pattern.door_flags;
    task.door_size = pattern.door_size;
    auto *from = static_cast<KmpTask *>(pattern.payload());
    auto *into = static_cast<KmpTask *>(task.payload());
    std::memcpy(static_cast<void *>(into), from, pattern.door_size);
    if (from->shareds)
        into->shareds = reinterpret_cast<char *>(into) +
                        (static_cast<char *>(from->shareds) - reinterpret_cast<char *>(from));
    if (duplicate)
        duplicate(into, from, is_last);
    return task;
}

void taskloop(ompt::Site site, Ident *location, Gtid gtid, KmpTask *kmp_pattern, bool deferred,
              std::uint64_t *lower, std::uint64_t *upper, std::int64_t step, bool grouped,
              std::int32_t sizing, std::uint64_t value, bool strict, Duplicate duplicate) {
    const ompt::MaybeEntry entry(site);
    sched::Worker &worker = omp::here();
    if (grouped)
        __kmpc_taskgroup(location, gtid);
    Task &pattern = *Task::of_payload(kmp_pattern);
    pattern.taskgroup = worker.task->taskgroup;
    kmp::read_priority(pattern);
    auto *base = reinterpret_cast<char *>(kmp_pattern);
    const auto lower_at = reinterpret_cast<char *>(lower) - base;
    const auto upper_at = reinterpret_cast<char *>(upper) - base;
    const std::uint64_t first = *lower;
    const std::uint64_t span = step > 0 ? *upper - first : first - *upper;
    const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step)
                                          : std::uint64_t{0} - static_cast<std::uint64_t>(step);
    // The compiler tests for an empty loop on the variable's own type; a distance beyond 2^63 can
    // only be one that went below zero.
    const std::uint64_t trip = span >> 63 ? 0 : span / stride + 1;
    if (ompt::on())
        ompt::work_begin(site.code, ompt::kWorkTaskloop, trip);
    if (trip > 0) {
        const Pieces pieces = cut(trip, sizing, value, strict, worker.task->team->size);
        std::uint64_t at = 0;
        for (std::uint64_t i = 0; i < pieces.count; ++i) {
            std::uint64_t length = pieces.each + (i < pieces.longer ? 1 : 0);
            const bool is_last = i + 1 == pieces.count;
            if (is_last && pieces.last)
                length = pieces.last;
            Task &task = copy_of(worker, pattern, duplicate, is_last);
            char *payload = static_cast<char *>(task.payload());
            const auto signed_step = static_cast<std::uint64_t>(step);
            *reinterpret_cast<std::uint64_t *>(payload + lower_at) = first + at * signed_step;
            *reinterpret_cast<std::uint64_t *>(payload + upper_at) =
                first + (at + length - 1) * signed_step;
            if (ompt::on()) {
                task.tool->first_iteration = first + at * signed_step;
                task.tool->iterations = length;
            }
            at += length;
            if (deferred && !worker.task->is(Task::kFinal))
                task::submit(worker, task, nullptr, 0);
            else
                kmp::run_undeferred(worker, task);
        }
    }
    if (pattern.door_flags & kmp::kDestructorsThunk)
        kmp_pattern->data1.destructors(gtid, kmp_pattern);
    worker.heap.release(&pattern);
    if (ompt::on())
        ompt::work_end(site.code);
    if (grouped)
        __kmpc_end_taskgroup(location, gtid);
}

} // namespace

KMP_API void __kmpc_taskloop(Ident *location, Gtid gtid, KmpTask *task, int if_value,
                             std::uint64_t *lower, std::uint64_t *upper, std::int64_t step,
                             int nogroup, int sizing, std::uint64_t value, void *duplicate) {
    taskloop(SENNIT_SITE, location, gtid, task, if_value != 0, lower, upper, step, nogroup == 0,
             sizing, value, false, reinterpret_cast<Duplicate>(duplicate));
}

KMP_API void __kmpc_taskloop_5(Ident *location, Gtid gtid, KmpTask *task, int if_value,
                               std::uint64_t *lower, std::uint64_t *upper, std::int64_t step,
                               int nogroup, int sizing, std::uint64_t value, int strict,
                               void *duplicate) {
    taskloop(SENNIT_SITE, location, gtid, task, if_value != 0, lower, upper, step, nogroup == 0,
             sizing, value, strict != 0, reinterpret_cast<Duplicate>(duplicate));
}
