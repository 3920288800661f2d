// SPDX-License-Identifier: Apache-2.0
// A task is made: its memory. And what holds for all tasks from the start of the library on.
#include "base/config.h"
#include "program/imports.h"
#include "task/accounts.h"
#include "task/observer.h"
#include "task/task.h"

#include <new>

namespace sennit::task {

namespace detail {
std::atomic<bool> g_may_suspend{false};
std::uint32_t g_throttle = 256;
std::atomic<bool> g_lone_at_once{true};
} // namespace detail

void never_throttle() {
    detail::g_throttle = detail::kNever;
    detail::g_lone_at_once.store(false, std::memory_order_relaxed);
}

void heed_cancellation() {
    observed::set(observed::kCancellation);
}

SENNIT_COLD bool detail::nests_at_once(const sched::Worker &worker) {
    return worker.may_bury();
}

void setup() {
    detail::g_throttle = static_cast<std::uint32_t>(config().throttle);
    if (sched::ordered() || detail::g_throttle == detail::kNever)
        detail::g_lone_at_once.store(false, std::memory_order_relaxed);
    if (program::process_may_suspend())
        note_may_suspend();
}

void note_may_suspend() {
    if (may_suspend())
        return;
    detail::g_may_suspend.store(true, std::memory_order_relaxed);
    detail::g_lone_at_once.store(false, std::memory_order_relaxed);
}

static Task *allocate_for_tool(sched::Worker &worker, std::size_t payload_size) {
    constexpr std::size_t kAlign = alignof(ToolRecord);
    const std::size_t record_at = (sizeof(Task) + payload_size + kAlign - 1) & ~(kAlign - 1);
    void *memory = worker.heap.allocate(record_at + sizeof(ToolRecord));
    auto *task = new (memory) Task;
    task->tool = new (static_cast<std::byte *>(memory) + record_at) ToolRecord;
    return task;
}

// set_up() makes it known that the task has an account, if its parent has one.
static SENNIT_COLD Task *allocate_observed(sched::Worker &worker, std::size_t payload_size) {
    Task *const task = observed::by(observed::kTool)
                           ? allocate_for_tool(worker, payload_size)
                           : new (worker.heap.allocate(sizeof(Task) + payload_size)) Task;
    task->account = worker.task ? account_of(*worker.task) : kNobody;
    return task;
}

Task *allocate(sched::Worker &worker, std::size_t payload_size) {
    if (observed::by(observed::kTool | observed::kAccounts))
        return allocate_observed(worker, payload_size);
    return new (worker.heap.allocate(sizeof(Task) + payload_size)) Task;
}

} // namespace sennit::task
