// SPDX-License-Identifier: Apache-2.0
// taskloop (OpenMP 5.2, 12.6).
//
// The generated tasks wait in the queue as ranges of tasks. The thread that runs a range cuts
// it when nothing else is queued on the thread, so that there is something to steal as long as
// there is something to do, and runs the rest as included tasks, one after the other: n tasks cost
// a few times log(n) entries of a queue. Where tasks may suspend, the rest of the range is handed
// over before each one, for a task that waits must not bury its siblings. Blocks that constructors
// fill can be made from the creator's alone, so such tasks are made one by one.
#include "openmp/gomp/tasks.h"
#include "openmp/loops/constructs.h"
#include "openmp/loops/exposed.h"
#include "openmp/sync/regions.h"
#include "openmp/tasks/tasks.h"
#include "openmp/team/region_events.h"
#include "tasks/task/loop_pieces.h"

#include <new>

using namespace sennit;
using gomp::Arguments;
using gomp::CopyFunction;
using gomp::Function;

extern "C" void GOMP_taskgroup_reduction_register(std::uintptr_t *data);

namespace {

// The tasks' iterations as values of the loop's variable.
struct Pieces : task::LoopPieces {
    omp::Iterations loop;

    std::uint64_t from(std::uint64_t task) const { return loop.value(first(task)); }
    // The final task has all that is left.
    std::uint64_t to(std::uint64_t task, std::uint64_t from) const {
        return task + 1 == count ? loop.end : from + length(task) * loop.step;
    }
};

Pieces cut(const omp::Iterations &loop, std::uint64_t wanted, unsigned flags, std::uint64_t usual) {
    using By = task::LoopCut::By;
    return {task::cut_loop(loop.count, {.by = (flags & gomp::kGrainsize) ? By::grainsize
                                              : wanted != 0              ? By::num_tasks
                                                                         : By::nothing,
                                        .strict = (flags & gomp::kStrict) != 0,
                                        .value = wanted,
                                        .usual = usual}),
            loop};
}

// Payload of a task that stands for the tasks first .. last - 1.
struct Range {
    Function function;
    Arguments arguments; // data: this range's block, behind it in memory
    Pieces pieces;
    std::uint64_t first;
    std::uint64_t last;
    std::uint32_t flags;           // of the tasks
    omp::ExposedTaskloop *exposed; // wants to know who runs the tasks; or null
};

// The first two words of a block tell the body its bounds.
void call(const Range &range, void *block, std::uint64_t begin, std::uint64_t end) {
    auto *bounds = static_cast<std::uint64_t *>(block);
    bounds[0] = begin;
    bounds[1] = end;
    range.function(block);
}

// The body destroys what constructors made.
SENNIT_NOINLINE void call_on_copy(const Range &range, std::uint64_t begin, std::uint64_t end) {
    const Arguments &arguments = range.arguments;
    void *block = gomp::align_up(
        alloca(static_cast<std::size_t>(arguments.size + arguments.align - 1)), arguments.align);
    arguments.copy(block, arguments.data);
    call(range, block, begin, end);
}

[[gnu::always_inline]] inline void run_iterations(const Range &range, std::uint64_t begin,
                                                  std::uint64_t end) {
    if (range.arguments.copy)
        call_on_copy(range, begin, end);
    else
        call(range, range.arguments.data, begin, end);
}

// One of the program's tasks.
struct Piece {
    [[gnu::always_inline]] static void run(Task &self) {
        const Range &range = *static_cast<const Range *>(self.payload());
        if (range.exposed)
            range.exposed->note_run(*sched::Worker::self(), 1);
        if (SENNIT_UNLIKELY(self.is(Task::kDiscarded)))
            return;
        const std::uint64_t begin = range.pieces.from(range.first);
        call(range, range.arguments.data, begin, range.pieces.to(range.first, begin));
    }
};

task::Spec spec_of(const Range &range, std::uint32_t flags, int priority) {
    const Arguments &given = range.arguments;
    return {.entry = reinterpret_cast<void *>(range.function),
            .flags = flags,
            .priority = priority,
            .room = sizeof(Range) + static_cast<std::size_t>(given.size + given.align - 1)};
}

// The task gets a block of its own.
void fill(Task &task, const Range &like) {
    const Arguments &given = like.arguments;
    auto *range = new (task.payload()) Range(like);
    range->arguments.data = gomp::align_up(range + 1, given.align);
    gomp::copy_arguments(range->arguments.data, given.data, given.copy, given.size);
    range->arguments.copy = nullptr;
}

void run_range(Task &self);

Task &make_range(sched::Worker &worker, const Range &like, int priority) {
    Task &task = task::make(worker, spec_of(like, 0, priority), run_range);
    fill(task, like);
    return task;
}

// Hand over the tasks from `middle` on.
void split(sched::Worker &worker, Task &self, Range &range, std::uint64_t middle) {
    Task &rest = make_range(worker, range, self.priority);
    static_cast<Range *>(rest.payload())->first = middle;
    range.last = middle;
    task::submit_sibling(worker, self, rest);
}

void run_range(Task &self) {
    sched::Worker &worker = *sched::Worker::self();
    Range &range = *static_cast<Range *>(self.payload());
    std::uint64_t number = range.first;
    std::uint64_t begin = range.pieces.from(number);
    auto more = [&] { return number < range.last && !task::is_cancelled(self); };
    while (more()) {
        task::Included task(worker, reinterpret_cast<void *>(range.function),
                            range.flags | Task::kAhead | Task::kPiece);
        do {
            const std::uint64_t left = range.last - number;
            if (left > 1 && task::may_suspend())
                split(worker, self, range, number + 1);
            else if (left > 1 && worker.slot->ready() == 0)
                split(worker, self, range, number + left / 2);
            const std::uint64_t end = range.pieces.to(number, begin);
            call(range, range.arguments.data, begin, end);
            begin = end;
            ++number;
        } while (more() && task.renew());
    }
    if (range.exposed)
        range.exposed->note_run(worker, range.last - range.first);
}

// What is asked for, for omp::create_loop_tasks().
struct Asked {
    sched::Worker &worker;
    Range &range;
    int priority;

    void call() const {
        std::uint64_t begin = range.pieces.from(0);
        for (std::uint64_t number = 0; number < range.pieces.count; ++number) {
            const std::uint64_t end = range.pieces.to(number, begin);
            omp::call_included(worker, reinterpret_cast<void *>(range.function), range.flags,
                               [&] { run_iterations(range, begin, end); });
            begin = end;
        }
    }
    bool each_alone() const { return range.arguments.copy != nullptr; }
    bool more() const { return range.first < range.pieces.count; }
    Task &make_next() const {
        const std::uint32_t always = each_alone() ? std::uint32_t{Task::kRunsAlways} : 0;
        Task &task = omp::make_task<Piece>(worker, spec_of(range, range.flags | always, priority));
        fill(task, range);
        omp::note_iterations(task, range.pieces.from(range.first),
                             range.pieces.end(range.first) - range.pieces.first(range.first));
        ++range.first;
        return task;
    }
    Task &make_all() const { return make_range(worker, range, priority); }
};

void taskloop(ompt::Site site, unsigned flags, unsigned long wanted, int priority,
              const omp::Iterations &loop, Function function, const Arguments &arguments) {
    sched::Worker &worker = omp::here();
    Taskgroup group;
    const bool grouped = !(flags & gomp::kNogroup);
    const ompt::MaybeInRoutine routine(site);
    if (grouped)
        omp::taskgroup_begin(worker, site, group);
    if (flags & gomp::kReduction) {
        struct Head {
            std::uint64_t bounds[2];
            std::uintptr_t *reductions;
        };
        GOMP_taskgroup_reduction_register(static_cast<Head *>(arguments.data)->reductions);
    }
    if (loop.count > 0 && !task::is_cancelled(*worker.task)) {
        const int level = (flags & gomp::kPriority) ? clamp_priority(priority) : 0;
        Range range{};
        range.function = function;
        range.arguments = arguments;
        // Without clauses: a task per thread, as GCC's own runtime has it.
        auto usual = static_cast<std::uint64_t>(worker.task->team->size);
        const bool deferred = (flags & gomp::kIf) != 0;
        if (wanted == 0 && !task::is_undeferred(worker, deferred))
            range.exposed = omp::ExposedTaskloop::begin(worker, reinterpret_cast<void *>(function),
                                                        loop.count, &usual);
        range.pieces = cut(loop, wanted, flags, usual);
        range.last = range.pieces.count;
        range.flags = gomp::translate(flags) & ~Task::kUntied;
        omp::work_begin(site, ompt::kWorkTaskloop, loop.count);
        omp::create_loop_tasks(worker, deferred, Asked{worker, range, level});
        omp::work_end(site);
    }
    if (grouped)
        omp::taskgroup_end(worker, site);
}

} // namespace

GOMP_API void GOMP_taskloop(Function function, void *data, CopyFunction copy, long size, long align,
                            unsigned flags, unsigned long wanted, int priority, long start,
                            long end, long step) {
    taskloop(SENNIT_SITE, flags, wanted, priority, omp::Iterations::before(start, end, step),
             function, {data, copy, size, align});
}

GOMP_API void GOMP_taskloop_ull(Function function, void *data, CopyFunction copy, long size,
                                long align, unsigned flags, unsigned long wanted, int priority,
                                unsigned long long start, unsigned long long end,
                                unsigned long long step) {
    taskloop(SENNIT_SITE, flags, wanted, priority,
             omp::Iterations::before((flags & gomp::kUp) != 0, start, end, step), function,
             {data, copy, size, align});
}
