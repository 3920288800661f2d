// SPDX-License-Identifier: Apache-2.0
// taskloop: the compiler hands over one pattern task; each piece of the loop gets a copy of it with
// bounds of its own (OpenMP 5.2, 12.6).
#include "openmp/kmp/tasks.h"
#include "openmp/loops/constructs.h"
#include "openmp/loops/exposed.h"
#include "openmp/team/region_events.h"
#include "tasks/task/loop_pieces.h"

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
constexpr std::uint64_t kUsualTasksPerThread = 4;

// Clang has counted the iterations and taken one off, modulo 2^64, so that a loop that would count
// to -5 comes as one of 2^64 - 5: it is the tasks that test whether there are iterations.
std::uint64_t trip_of(std::uint64_t lower, std::uint64_t upper, std::int64_t step) {
    const bool up = step > 0;
    const std::uint64_t span = up ? upper - lower : lower - upper;
    const std::uint64_t stride =
        up ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
    return span / stride + 1; // 0 modulo 2^64 as well
}

task::LoopCut cut_of(std::int32_t sizing, std::uint64_t value, bool strict, std::uint64_t usual) {
    using By = task::LoopCut::By;
    return {.by = sizing == kGrainsize  ? By::grainsize
                  : sizing == kNumTasks ? By::num_tasks
                                        : By::nothing,
            .strict = strict,
            .value = value,
            .usual = usual};
}

// The creator of such a task wants to know which thread runs it. The address that the thread tells
// stands behind the task's payload.
omp::ExposedTaskloop *&exposed_of(Task &task) {
    constexpr std::size_t kAlign = alignof(omp::ExposedTaskloop *);
    const std::size_t at = (task.payload_size + kAlign - 1) & ~(kAlign - 1);
    return *reinterpret_cast<omp::ExposedTaskloop **>(static_cast<char *>(task.payload()) + at);
}
constexpr std::size_t kRoomOfExposed = 2 * sizeof(omp::ExposedTaskloop *);

struct ExposedBody {
    [[gnu::always_inline]] static void run(Task &task) {
        if (static_cast<KmpTask *>(task.payload())->part == 0) // else an untied task goes on
            exposed_of(task)->note_run(*sched::Worker::self(), 1);
        kmp::Body::run(task);
    }
};

// Another task like `pattern`, whose private variables `duplicate` copies where bytes will not do.
Task &copy_of(sched::Worker &worker, Task &pattern, Duplicate duplicate, bool is_last,
              omp::ExposedTaskloop *exposed) {
    Task &task = task::make_like(worker, pattern, exposed ? kRoomOfExposed : 0);
    if (exposed) {
        task.invoke = omp::invoke<ExposedBody>;
        exposed_of(task) = exposed;
    }
    auto *from = static_cast<KmpTask *>(pattern.payload());
    auto *into = static_cast<KmpTask *>(task.payload());
    std::memcpy(static_cast<void *>(into), from, pattern.payload_size);
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
    const ompt::MaybeInRoutine routine(site);
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
    const std::uint64_t trip = trip_of(first, *upper, step);
    std::uint64_t usual =
        kUsualTasksPerThread * static_cast<std::uint64_t>(worker.task->team->size);
    omp::ExposedTaskloop *exposed = nullptr;
    if (sizing == kDefault && !task::is_endless(trip) && !task::is_undeferred(worker, deferred))
        exposed = omp::ExposedTaskloop::begin(worker, pattern.entry, trip, &usual);
    const task::LoopPieces pieces = task::cut_loop(trip, cut_of(sizing, value, strict, usual));
    const bool perhaps_empty = task::is_endless(pieces.trip); // then nobody may claim the last one
    omp::work_begin(site, ompt::kWorkTaskloop, pieces.trip);
    const auto by = static_cast<std::uint64_t>(step);
    std::uint64_t end = 0;
    for (std::uint64_t i = 0; i < pieces.count; ++i) {
        const std::uint64_t begin = end;
        end = pieces.end(i);
        Task &task =
            copy_of(worker, pattern, duplicate, i + 1 == pieces.count && !perhaps_empty, exposed);
        char *payload = static_cast<char *>(task.payload());
        *reinterpret_cast<std::uint64_t *>(payload + lower_at) = first + begin * by;
        *reinterpret_cast<std::uint64_t *>(payload + upper_at) = first + (end - 1) * by;
        omp::note_iterations(task, first + begin * by, end - begin);
        task::start(worker, task, {.deferred = deferred});
    }
    if (pattern.abi_flags & kmp::kDestructorsThunk)
        kmp_pattern->data1.destructors(gtid, kmp_pattern);
    worker.heap.release(&pattern);
    omp::work_end(site);
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
