// SPDX-License-Identifier: Apache-2.0
// The compiler's view of a task, shared by tasks.cpp and taskloop.cpp.
#pragma once

#include "openmp/kmp/kmp.h"
#include "openmp/sync/reduction.h"
#include "openmp/tasks/tasks.h"

namespace sennit::kmp {

struct KmpTask;
using TaskEntry = std::int32_t (*)(Gtid, KmpTask *);

// kmp_task_t. Private copies of variables follow it.
struct KmpTask {
    void *shareds;
    TaskEntry routine;
    std::int32_t part; // of an untied task: where to go on
    union {
        std::int32_t priority;
        TaskEntry destructors;
    } data1;
    union {
        std::int32_t priority;
        TaskEntry destructors;
    } data2;
};

// Bits of the `flags` of __kmpc_omp_task_alloc.
enum AllocFlag : std::uint32_t {
    kTied = 1u << 0,
    kFinal = 1u << 1,
    kDestructorsThunk = 1u << 3,
    kProxy = 1u << 4, // it ends when somebody says so
    kPrioritySpecified = 1u << 5,
    kFreeAgentEligible = 1u << 7, // threadset(omp_pool), as Clang 22 passes it
    kKnowsNoThread = 1u << 15,    // Sennit's plug-in has proved it: pass/any_thread.h
};
// Ours, beside them in Task::abi_flags: the body began a target region (__kmpc_set_thread_limit).
inline constexpr std::uint32_t kInTarget = 1u << 31;

void end_body(Task &task, KmpTask &self);

struct Body {
    [[gnu::always_inline]] static void run(Task &task) {
        auto *self = static_cast<KmpTask *>(task.payload());
        const Gtid gtid = sched::Worker::self()->id();
        // Without a routine: `taskwait nowait` with dependences, an empty task.
        if (SENNIT_LIKELY(!task.is(Task::kDiscarded) && self->routine))
            self->routine(gtid, self);
        if (SENNIT_UNLIKELY(task.abi_flags & (kDestructorsThunk | kInTarget)) &&
            !task.is(Task::kRequeued))
            end_body(task, *self);
    }
};

// A task with those flags of the compiler's. Its KmpTask is still to be filled.
[[gnu::always_inline]] inline Task &make_task(sched::Worker &worker, const task::Spec &spec,
                                              std::uint32_t flags) {
    Task &task = omp::make_task<Body>(worker, spec);
    task.abi_flags = flags;
    task.payload_size = static_cast<std::uint32_t>(spec.room);
    return task;
}

// From where the compiler put it.
inline void read_priority(Task &task) {
    if (SENNIT_UNLIKELY(task.abi_flags & kPrioritySpecified))
        task.priority = clamp_priority(static_cast<KmpTask *>(task.payload())->data2.priority);
}

} // namespace sennit::kmp
