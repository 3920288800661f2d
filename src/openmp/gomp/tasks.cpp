// SPDX-License-Identifier: Apache-2.0
// task, taskwait, taskgroup.
#include "openmp/gomp/tasks.h"

#include "base/guard.h"
#include "base/hash.h"
#include "base/message.h"
#include "base/spin.h"
#include "openmp/api/api.h"
#include "openmp/gomp/gomp.h"
#include "openmp/sync/regions.h"
#include "openmp/sync/sync.h"
#include "openmp/tasks/tasks.h"
#include "openmp/team/cancel.h"
#include "openmp/team/region_events.h"
#include "tasks/program/objects.h"

#include <cstddef>
#include <cstdlib>
#include <new>

using namespace sennit;
using gomp::Arguments;
using gomp::CopyFunction;
using gomp::Function;

// As libgomp does since GCC 13, but only of code that knows omp_all_memory.
SENNIT_COLD bool gomp::is_all_memory(task::DependKind kind, const void *code) {
    return kind == task::DependKind::out && program::may_name_all_memory(code);
}

namespace {

// What stands behind a deferred task: GCC's argument block follows, aligned.
struct Call {
    Function function;
    void *argument;
};

struct Body {
    [[gnu::always_inline]] static void run(Task &task) {
        const Call &call = *static_cast<const Call *>(task.payload());
        if (SENNIT_LIKELY(!task.is(Task::kDiscarded)))
            call.function(call.argument);
    }
};

// What the program asks for, as task::create() wants it.
struct Block {
    Function function;
    Arguments arguments;
    unsigned clauses;
    int priority;
    void *detach; // where the event's handle goes; null without one

    [[gnu::always_inline]] void *entry() const { return reinterpret_cast<void *>(function); }
    [[gnu::always_inline]] void call() const { gomp::call(function, arguments); }
    bool roams = false; // if it is untied
    // GCC never cuts a task in parts. So where tasks do not roam, only the counting of its children
    // would pay for the flag.
    [[gnu::always_inline]] std::uint32_t flags() const {
        return gomp::translate(roams ? clauses : clauses & ~gomp::kUntied);
    }
    [[gnu::always_inline]] task::Spec spec() const {
        return {.entry = entry(),
                .flags = arguments.copy ? flags() | Task::kRunsAlways : flags(),
                .priority = (clauses & gomp::kPriority) ? clamp_priority(priority) : 0,
                .room =
                    sizeof(Call) + static_cast<std::size_t>(arguments.size + arguments.align - 1)};
    }
    [[gnu::always_inline]] void fill(Task &task) const {
        if (detach) {
            *static_cast<void **>(detach) = &task; // the handle is the task, for the body, too
            if (arguments.data)
                *static_cast<void **>(arguments.data) = &task;
        }
        auto *call = new (task.payload()) Call;
        call->function = function;
        call->argument = gomp::align_up(call + 1, arguments.align);
        gomp::copy_arguments(call->argument, arguments.data, arguments.copy, arguments.size);
    }
};

// What GOMP_task is told, in the order of its parameters, and by whom.
struct Wanted {
    Function function;
    void *data;
    CopyFunction copy;
    long size;
    long align;
    bool deferred;
    unsigned flags;
    void **depend;
    int priority;
    void *detach;
    ompt::Site site = {}; // from where it was called, for somebody who looks on

    [[gnu::always_inline]] gomp::Dependences dependences() const {
        return {(flags & gomp::kDepend) ? depend : nullptr, reinterpret_cast<void *>(function)};
    }
    [[gnu::always_inline]] bool detaches() const { return (flags & gomp::kDetach) != 0; }
    [[gnu::always_inline]] task::TaskClauses clauses(const task::Depend *depends, int count) const {
        return {depends, count, deferred, detaches()};
    }
    [[gnu::always_inline]] Block block() const {
        return {
            function, {data, copy, size, align}, flags, priority, detaches() ? detach : nullptr};
    }
};

// Any but the plainest task: `Parts` are GOMP_task's own parameters. A function of its own, so its
// array is not in GOMP_task's frame; and as its parameters stand where that one's do, it is jumped
// to.
template <class... Parts>
SENNIT_NOINLINE void make_any(Parts... parts) {
    const Wanted wanted{parts...};
    const gomp::Dependences given = wanted.dependences();
    SENNIT_READ_DEPENDENCES(depends, count, given)
    task::create(omp::here(), wanted.clauses(depends, count), omp::unobserved<Body>,
                 wanted.block());
}
// The same where untied tasks roam, or somebody looks on, who wants to know from where it was
// called. That is why GOMP_task asks, and not a room below: jumped to, make_any could not pass the
// site on. In every form that was tried, a question asked below cost each task two instructions or
// more.
template <class... Parts>
SENNIT_COLD void make_watched(Parts... parts) {
    const Wanted wanted{parts...};
    const gomp::Dependences given = wanted.dependences();
    SENNIT_READ_DEPENDENCES(depends, count, given)
    Block block = wanted.block();
    block.roams = observed::by(observed::kRoaming);
    omp::create_watched<Body>(wanted.site, omp::here(), wanted.clauses(depends, count), block);
}

} // namespace

// With a small frame, that of the plainest task: tasks that are called recurse through here, deeper
// than any others.
GOMP_API void GOMP_task(Function function, void *data, CopyFunction copy, long size, long align,
                        bool if_clause, unsigned flags, void **depend, int priority, void *detach) {
    if (omp::tasks_are_watched())
        return make_watched(function, data, copy, size, align, if_clause, flags, depend, priority,
                            detach, ompt::Site(SENNIT_SITE));
    constexpr unsigned kPlain = gomp::kMergeable | gomp::kUntied | gomp::kFinal;
    if ((flags & ~kPlain) != 0)
        return make_any(function, data, copy, size, align, if_clause, flags, depend, priority,
                        detach);
    const Block block{function, {data, copy, size, align}, flags & kPlain, 0, nullptr};
    task::create(omp::here(), {.deferred = if_clause}, omp::unobserved<Body>, block);
}

GOMP_API void GOMP_taskwait(void) {
    omp::taskwait(SENNIT_SITE);
}

GOMP_API void GOMP_taskwait_depend(void **depend) {
    const gomp::Dependences given(depend, __builtin_return_address(0));
    SENNIT_READ_DEPENDENCES(depends, count, given)
    omp::taskwait_depend(SENNIT_SITE, task::wait_depends_only, depends, count);
}

// `taskwait depend(...) nowait`: what comes later may depend on it, and nobody waits here.
GOMP_API void GOMP_taskwait_depend_nowait(void **depend) {
    const gomp::Dependences given(depend, __builtin_return_address(0));
    SENNIT_READ_DEPENDENCES(depends, count, given)
    task::stand_in_order(omp::here(), {depends, count, true});
}

GOMP_API void GOMP_taskyield(void) {
    omp::taskyield(SENNIT_SITE);
}

GOMP_API void GOMP_taskgroup_start(void) {
    sched::Worker &worker = omp::here();
    auto &group = *new (worker.heap.allocate(sizeof(Taskgroup))) Taskgroup;
    omp::taskgroup_begin(worker, SENNIT_SITE, group);
}

GOMP_API void GOMP_taskgroup_end(void) {
    sched::Worker &worker = omp::here();
    Taskgroup *group = worker.task->taskgroup;
    omp::taskgroup_end(worker, SENNIT_SITE);
    worker.heap.release(group);
}

// Barriers, critical sections, cancellation points, memory and messages.

GOMP_API void GOMP_barrier(void) {
    omp::barrier(SENNIT_SITE, ompt::kBarrierExplicit);
}

GOMP_API bool GOMP_barrier_cancel(void) {
    return omp::barrier(SENNIT_SITE, ompt::kBarrierExplicit);
}

namespace {

enum Cancelled : int { kParallel = 1, kLoop = 2, kSections = 4, kTaskgroup = 8 };

omp::Construct construct_of(int which) {
    return which == kParallel    ? omp::Construct::parallel
           : which == kTaskgroup ? omp::Construct::taskgroup
           : which == kLoop      ? omp::Construct::loop
                                 : omp::Construct::sections;
}

} // namespace

GOMP_API bool GOMP_cancellation_point(int which) {
    return omp::cancellation_point(omp::here(), SENNIT_SITE, construct_of(which));
}
GOMP_API bool GOMP_cancel(int which, bool condition) {
    if (!condition)
        return omp::cancellation_point(omp::here(), SENNIT_SITE, construct_of(which));
    return omp::cancel(omp::here(), SENNIT_SITE, construct_of(which));
}

GOMP_API void GOMP_critical_start(void) {
    omp::routine::enter(ompt::kCritical, omp::default_critical());
}
GOMP_API void GOMP_critical_end(void) {
    omp::routine::leave(ompt::kCritical, omp::default_critical());
}
GOMP_API void GOMP_critical_name_start(void **word) {
    omp::routine::enter(ompt::kCritical, omp::named_critical(word));
}
GOMP_API void GOMP_critical_name_end(void **word) {
    omp::routine::leave(ompt::kCritical, omp::named_critical(word));
}
GOMP_API void GOMP_atomic_start(void) {
    omp::routine::enter(ompt::kAtomic, omp::atomic_mutex());
}
GOMP_API void GOMP_atomic_end(void) {
    omp::routine::leave(ompt::kAtomic, omp::atomic_mutex());
}

GOMP_API void *GOMP_alloc(std::size_t alignment, std::size_t size, std::uintptr_t allocator) {
    return omp_aligned_alloc(alignment, size, allocator);
}
GOMP_API void GOMP_free(void *pointer, std::uintptr_t allocator) {
    omp_free(pointer, allocator);
}

// Fortran's `deallocate` frees what `allocators` (GCC 14) has allocated by GOMP_free, all else by
// free(). So it asks which of them it is, once.
namespace {

class AllocatedByUs {
  public:
    void add(const void *pointer) {
        auto *const item = static_cast<Item *>(std::malloc(sizeof(Item)));
        if (!item)
            fatal("no memory to note what an allocator has allocated");
        List &list = lists_[hash_place(pointer, kBits)];
        const Guard guard(list.lock);
        *item = {pointer, list.first};
        list.first = item;
    }
    bool take(const void *pointer) {
        List &list = lists_[hash_place(pointer, kBits)];
        Item *found = nullptr;
        {
            const Guard guard(list.lock);
            Item **place = &list.first;
            while (*place && (*place)->pointer != pointer)
                place = &(*place)->next;
            if ((found = *place))
                *place = found->next;
        }
        std::free(found);
        return found != nullptr;
    }

  private:
    static constexpr unsigned kBits = 8;
    struct Item {
        const void *pointer;
        Item *next;
    };
    struct List {
        SpinLock lock;
        Item *first = nullptr;
    };
    List lists_[1 << kBits];
};
constinit AllocatedByUs g_allocated;

} // namespace

GOMP_API void GOMP_add_alloc(void *pointer) {
    g_allocated.add(pointer);
}
GOMP_API bool GOMP_is_alloc(void *pointer) {
    return g_allocated.take(pointer);
}

// `#pragma omp error at(execution)`; the text is not terminated.
namespace {

void say(const char *text, std::size_t length) {
    if (text)
        warn("error directive: %.*s", static_cast<int>(length), text);
    else
        warn("error directive encountered");
}

} // namespace

GOMP_API void GOMP_warning(const char *text, std::size_t length) {
    omp::tell_error(SENNIT_SITE, false, text, length);
    say(text, length);
}
GOMP_API void GOMP_error(const char *text, std::size_t length) {
    omp::tell_error(SENNIT_SITE, true, text, length);
    say(text, length);
    std::exit(1);
}

// Offload images announce themselves from constructors. There are no devices to load them on.
GOMP_API void GOMP_offload_register_ver(unsigned, const void *, int, const void *) {}
GOMP_API void GOMP_offload_register(const void *, int, const void *) {}
GOMP_API void GOMP_offload_unregister_ver(unsigned, const void *, int, const void *) {}
GOMP_API void GOMP_offload_unregister(const void *, int, const void *) {}
