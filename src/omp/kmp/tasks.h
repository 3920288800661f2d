// SPDX-License-Identifier: Apache-2.0
// The compiler's view of a task, shared by tasks.cpp and taskloop.cpp.
#pragma once

#include "omp/kmp/kmp.h"
#include "omp/sync/reduction.h"
#include "task/request.h"

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
    kDetachable = 1u << 6,
};
// Ours, beside them in Task::door_flags: the body began a target region (__kmpc_set_thread_limit);
// the task was made while a tool was attached.
inline constexpr std::uint32_t kInTarget = 1u << 31;
inline constexpr std::uint32_t kObserved = 1u << 30;

void invoke(Task &task);          // Task::invoke of this door
void invoke_observed(Task &task); // with a tool
void end_body(Task &task, KmpTask &self, Gtid gtid);
void read_priority(Task &task); // from where the compiler put it

} // namespace sennit::kmp
