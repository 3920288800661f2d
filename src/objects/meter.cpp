// SPDX-License-Identifier: Apache-2.0
#include "objects/meter.h"

#include "base/thread_clock.h"
#include "objects/runtime.h"

namespace sennit::objects {
namespace {

// The calling task; where nobody knows tasks, the thread.
const void *caller() {
    static thread_local char t_thread;
    const Runtime &runtime = Runtime::get();
    sennit_task *task = nullptr;
    if (runtime.task_self && runtime.task_self(&task) == SENNIT_SUCCESS)
        return task;
    return &t_thread;
}

std::int64_t work_time_ns() {
    const Runtime &runtime = Runtime::get();
    std::uint64_t ns = 0;
    if (runtime.work_time && runtime.work_time(&ns) == SENNIT_SUCCESS)
        return static_cast<std::int64_t>(ns);
    return thread_work_ns();
}

} // namespace

void Meter::begin(int object) {
    const void *const who = caller();
    const std::lock_guard guard(lock_);
    open_[who].push_back({object, work_time_ns(), 0});
}

std::optional<std::int64_t> Meter::end(int object) {
    const std::int64_t now = work_time_ns();
    const void *const who = caller();
    const std::lock_guard guard(lock_);
    const auto found = open_.find(who);
    if (found == open_.end() || found->second.back().object != object)
        return std::nullopt;
    std::vector<Open> &open = found->second;
    const std::int64_t whole = now - open.back().begun_ns;
    const std::int64_t own = whole - open.back().inner_ns;
    open.pop_back();
    if (open.empty())
        open_.erase(found);
    else
        open.back().inner_ns += whole;
    return own;
}

bool Meter::idle() {
    const std::lock_guard guard(lock_);
    return open_.empty();
}

} // namespace sennit::objects
