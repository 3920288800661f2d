// SPDX-License-Identifier: Apache-2.0
// task, taskloop, taskwait, taskgroup.
#include "omp/gomp/gomp.h"

#include "task/task.h"

#include <alloca.h>
#include <cstring>
#include <new>

using namespace sennit;
using gomp::Function;

extern "C" void GOMP_taskgroup_reduction_register(std::uintptr_t *data);

namespace {

using CopyFunction = void (*)(void *into, void *from);

// What stands behind a deferred task: GCC's argument block follows, aligned.
struct Call {
    Function function;
    void *argument;
};

void invoke(Task &task) {
    const Call &call = *static_cast<const Call *>(task.payload());
    call.function(call.argument);
}

char *align_up(void *pointer, long align) {
    const auto mask = static_cast<std::uintptr_t>(align > 1 ? align - 1 : 0);
    return reinterpret_cast<char *>((reinterpret_cast<std::uintptr_t>(pointer) + mask) & ~mask);
}

void copy_arguments(void *into, void *from, CopyFunction copy, long size) {
    if (copy)
        copy(into, from);
    else
        std::memcpy(into, from, static_cast<std::size_t>(size));
}

// GCC's dependence array in either layout.
class Dependences {
  public:
    explicit Dependences(void **depend) : depend_(depend) {
        const auto first = reinterpret_cast<std::uintptr_t>(depend[0]);
        if (first != 0) { // {count, outs, addresses...}
            count_ = static_cast<int>(first);
            out_ = word(1);
            in_ = count_ - out_;
            start_ = 2;
        } else { // {0, count, outs, mutexinoutsets, ins, addresses..., depobjs...}
            count_ = word(1);
            out_ = word(2);
            mutex_ = word(3);
            in_ = word(4);
            start_ = 5;
        }
    }
    int count() const { return count_; }
    void fill(task::Depend *into) const {
        for (int i = 0; i < count_; ++i)
            into[i] = at(i);
    }

  private:
    int word(int index) const {
        return static_cast<int>(reinterpret_cast<std::uintptr_t>(depend_[index]));
    }
    task::Depend at(int i) const {
        void *item = depend_[start_ + i];
        if (i < out_)
            return {item, task::DependKind::out};
        if (i < out_ + mutex_)
            return {item, task::DependKind::mutexinoutset};
        if (i < out_ + mutex_ + in_)
            return {item, task::DependKind::in};
        auto **object = static_cast<void **>(item); // omp_depend_t: {address, kind}
        return {object[0], kind_of(reinterpret_cast<std::uintptr_t>(object[1]))};
    }
    static task::DependKind kind_of(std::uintptr_t kind) {
        switch (kind) {
        case 1:
            return task::DependKind::in;
        case 4:
            return task::DependKind::mutexinoutset;
        case 5:
            return task::DependKind::inoutset;
        default:
            return task::DependKind::out; // out, inout
        }
    }
    void **depend_;
    int count_;
    int out_;
    int mutex_ = 0;
    int in_;
    int start_;
};

#define SENNIT_READ_DEPENDENCES(array, count, source)                                              \
    int count = 0;                                                                                 \
    task::Depend *array = nullptr;                                                                 \
    if (source) {                                                                                  \
        const Dependences given(source);                                                           \
        count = given.count();                                                                     \
        array = static_cast<task::Depend *>(                                                       \
            alloca(static_cast<std::size_t>(count) * sizeof(task::Depend)));                       \
        given.fill(array);                                                                         \
    }

std::uint32_t translate(unsigned flags) {
    std::uint32_t ours = 0;
    if (flags & gomp::kUntied)
        ours |= Task::kUntied;
    if (flags & gomp::kFinal)
        ours |= Task::kFinal;
    if (flags & gomp::kMergeable)
        ours |= Task::kMergeable;
    return ours;
}

struct Arguments {
    void *data;
    CopyFunction copy;
    long size;
    long align;
};

SENNIT_NOINLINE void call_with_copy(Function function, const Arguments &arguments) {
    void *raw = alloca(static_cast<std::size_t>(arguments.size + arguments.align - 1));
    void *block = align_up(raw, arguments.align);
    arguments.copy(block, arguments.data);
    function(block);
}

// The body on the caller's stack.
inline void call(Function function, const Arguments &arguments) {
    if (SENNIT_UNLIKELY(arguments.copy != nullptr))
        call_with_copy(function, arguments);
    else
        function(arguments.data);
}

inline void run_included(sched::Worker &worker, Function function, const Arguments &arguments,
                         std::uint32_t flags) {
    const task::Included task(worker, reinterpret_cast<void *>(function), flags);
    call(function, arguments);
}

void run_undeferred_fully(sched::Worker &worker, Function function, const Arguments &arguments,
                          std::uint32_t flags, int priority, const task::Depend *depends, int count,
                          void *detach) {
    Task &task = *task::allocate(worker, 0);
    task::set_up(worker, task, invoke, reinterpret_cast<void *>(function),
                 flags | Task::kUndeferred, priority);
    if (count > 0)
        task::wait_depends(worker, &task, depends, count);
    if (detach) {
        task.events.store(2, std::memory_order_relaxed);
        task.flags |= Task::kEvents;
        *static_cast<void **>(detach) = &task;
        if (arguments.data)
            *static_cast<void **>(arguments.data) = &task;
    }
    task::begin_undeferred(worker, task);
    call(function, arguments);
    task::end_undeferred(worker, task);
}

// A deferred task with its copy of the arguments, not yet submitted; *block is the copy.
Task *make_deferred(sched::Worker &worker, Function function, const Arguments &arguments,
                    std::uint32_t flags, int priority, void **block) {
    const auto room = sizeof(Call) + static_cast<std::size_t>(arguments.size + arguments.align - 1);
    Task *task = task::allocate(worker, room);
    task::set_up(worker, *task, invoke, reinterpret_cast<void *>(function), flags, priority);
    auto *call = new (task->payload()) Call;
    call->function = function;
    call->argument = align_up(call + 1, arguments.align);
    *block = call->argument;
    return task;
}

// Everything but the plainest tasks.
SENNIT_NOINLINE void make_task(sched::Worker &worker, Function function, const Arguments &arguments,
                               bool if_clause, unsigned flags, void **depend, int priority,
                               void *detach) {
    SENNIT_READ_DEPENDENCES(depends, count, (flags & gomp::kDepend) ? depend : nullptr)
    if (!(flags & gomp::kDetach))
        detach = nullptr;
    const int level = (flags & gomp::kPriority) ? clamp_priority(priority) : 0;
    // GCC never cuts a task in parts, so an untied one stays on its fiber: only the counting of its
    // children would pay for the flag.
    const std::uint32_t ours = translate(flags) & ~Task::kUntied;
    if (detach)
        task::note_may_suspend();
    if (!if_clause || (flags & gomp::kFinal) || worker.task->is(Task::kFinal)) {
        run_undeferred_fully(worker, function, arguments, ours, level, depends, count, detach);
        return;
    }
    if (count == 0 && !detach && task::throttled(worker) && !task::may_suspend())
        return run_included(worker, function, arguments, ours);
    void *block = nullptr;
    Task *task = make_deferred(worker, function, arguments, ours, level, &block);
    if (detach) {
        task->events.store(2, std::memory_order_relaxed);
        task->flags |= Task::kEvents;
        *static_cast<void **>(detach) = task;
        if (arguments.data)
            *static_cast<void **>(arguments.data) = task;
    }
    copy_arguments(block, arguments.data, arguments.copy, arguments.size);
    task::submit(worker, *task, depends, count);
}

} // namespace

GOMP_API void GOMP_task(Function function, void *data, CopyFunction copy, long size, long align,
                        bool if_clause, unsigned flags, void **depend, int priority, void *detach) {
    sched::Worker &worker = omp::here();
    const Arguments arguments{data, copy, size, align};
    // A call: the plainest task with if(0), or with a long queue where nothing in the process
    // suspends on outside events.
    constexpr unsigned kPlain = gomp::kMergeable | gomp::kUntied;
    if ((flags & ~kPlain) == 0 && (!if_clause || (task::throttled(worker) && !task::may_suspend())))
        run_included(worker, function, arguments, 0);
    else
        make_task(worker, function, arguments, if_clause, flags, depend, priority, detach);
}

namespace {

// How `count` iterations are cut: the first `longer` tasks have one iteration more.
struct Cut {
    std::uint64_t tasks;
    std::uint64_t each;
    std::uint64_t longer;
    std::uint64_t last; // strict grainsize: the last task's iterations, 0 = like the others
};

Cut cut(std::uint64_t count, std::uint64_t wanted, unsigned flags, int threads) {
    if (flags & gomp::kGrainsize) {
        const std::uint64_t grain = wanted ? wanted : 1;
        if (flags & gomp::kStrict)
            return {(count - 1) / grain + 1, grain, 0, count % grain};
        const std::uint64_t tasks = count / grain ? count / grain : 1;
        return {tasks, count / tasks, count % tasks, 0};
    }
    std::uint64_t tasks = wanted ? wanted : static_cast<std::uint64_t>(threads);
    if (tasks > count)
        tasks = count;
    return {tasks, count / tasks, count % tasks, 0};
}

template <class T>
void taskloop(Function function, void *data, CopyFunction copy, long size, long align,
              unsigned flags, unsigned long wanted, int priority, T start, T step,
              std::uint64_t count) {
    sched::Worker &worker = omp::here();
    Taskgroup group;
    const bool grouped = !(flags & gomp::kNogroup);
    if (grouped)
        task::begin_taskgroup(worker, group);
    if (flags & gomp::kReduction) {
        struct Head {
            T first, last;
            std::uintptr_t *reductions;
        };
        GOMP_taskgroup_reduction_register(static_cast<Head *>(data)->reductions);
    }
    if (count > 0) {
        const Cut pieces = cut(count, wanted, flags, worker.slot->group->size);
        const int level = (flags & gomp::kPriority) ? clamp_priority(priority) : 0;
        const bool undeferred =
            !(flags & gomp::kIf) || (flags & gomp::kFinal) || worker.task->is(Task::kFinal);
        const std::uint32_t ours = translate(flags) & ~Task::kUntied;
        const Arguments arguments{data, copy, size, align};
        T first = start;
        for (std::uint64_t i = 0; i < pieces.tasks; ++i) {
            std::uint64_t length = pieces.each + (i < pieces.longer ? 1 : 0);
            if (pieces.last && i + 1 == pieces.tasks)
                length = pieces.last;
            const T last = first + static_cast<T>(length) * step;
            const bool in_place = undeferred || (task::throttled(worker) && !task::may_suspend());
            if (in_place) {
                // The bounds are the first two words of the block that the body gets.
                auto bounds = static_cast<T *>(data);
                bounds[0] = first;
                bounds[1] = last;
                run_included(worker, function, arguments, ours);
            } else {
                void *block = nullptr;
                Task *task = make_deferred(worker, function, arguments, ours, level, &block);
                copy_arguments(block, data, copy, size);
                static_cast<T *>(block)[0] = first;
                static_cast<T *>(block)[1] = last;
                task::submit(worker, *task, nullptr, 0);
            }
            first = last;
        }
    }
    if (grouped)
        task::end_taskgroup(worker);
}

} // namespace

GOMP_API void GOMP_taskloop(Function function, void *data, CopyFunction copy, long size, long align,
                            unsigned flags, unsigned long wanted, int priority, long start,
                            long end, long step) {
    std::uint64_t count = 0;
    if (step > 0 && start < end)
        count = (static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start) - 1) /
                    static_cast<std::uint64_t>(step) +
                1;
    else if (step < 0 && start > end)
        count = (static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(end) - 1) /
                    (std::uint64_t{0} - static_cast<std::uint64_t>(step)) +
                1;
    taskloop<long>(function, data, copy, size, align, flags, wanted, priority, start, step, count);
}

GOMP_API void GOMP_taskloop_ull(Function function, void *data, CopyFunction copy, long size,
                                long align, unsigned flags, unsigned long wanted, int priority,
                                unsigned long long start, unsigned long long end,
                                unsigned long long step) {
    std::uint64_t count = 0;
    if ((flags & gomp::kUp) != 0 && start < end)
        count = (end - start - 1) / step + 1;
    else if ((flags & gomp::kUp) == 0 && start > end)
        count = (start - end - 1) / (0ull - step) + 1;
    taskloop<unsigned long long>(function, data, copy, size, align, flags, wanted, priority, start,
                                 step, count);
}

GOMP_API void GOMP_taskwait(void) {
    task::wait_children(omp::here());
}

GOMP_API void GOMP_taskwait_depend(void **depend) {
    SENNIT_READ_DEPENDENCES(depends, count, depend)
    task::wait_depends(omp::here(), nullptr, depends, count);
}

GOMP_API void GOMP_taskyield(void) {
    task::note_may_suspend();
    omp::here().yield();
}

GOMP_API void GOMP_taskgroup_start(void) {
    sched::Worker &worker = omp::here();
    task::begin_taskgroup(worker, *new (worker.heap.allocate(sizeof(Taskgroup))) Taskgroup);
}

GOMP_API void GOMP_taskgroup_end(void) {
    sched::Worker &worker = omp::here();
    Taskgroup *group = worker.task->taskgroup;
    task::end_taskgroup(worker);
    worker.heap.release(group);
}
