// SPDX-License-Identifier: Apache-2.0
#include "objects/meter.h"

#include "base/thread_clock.h"
#include "objects/runtime.h"
#include "virt/own_fiber.h"

namespace sennit::objects {
namespace {

// As a rank fiber, a rank works on several kernel threads. Null: the caller is a kernel thread.
virt::RankFiber *flow() {
    static thread_local virt::RankFiber *const t_flow =
        gettid() == getpid() ? virt::main_flow() : nullptr;
    return t_flow;
}

std::int64_t work_ns() {
    virt::RankFiber *const own = flow();
    return own ? own->calls->work_ns(*own, virt::ClockUse::object) : thread_work_ns();
}

void end_clock() {
    if (virt::RankFiber *const own = flow())
        own->clock.stop(virt::ClockUse::object);
}

// The calling task. If nobody knows tasks, the thread.
const void *caller() {
    static thread_local char t_thread;
    const Runtime &runtime = Runtime::get();
    sennit_task *task = nullptr;
    if (runtime.task_self && runtime.task_self(&task) == SENNIT_SUCCESS)
        return task;
    return &t_thread;
}

// The calling task works for the account from now on. False: the runtime does not know the thread.
bool turn_to(std::uint32_t account, std::uint32_t *before) {
    const Runtime &runtime = Runtime::get();
    return runtime.work_for && runtime.work_for(account, before) == SENNIT_SUCCESS;
}

} // namespace

void Meter::begin(int object, std::uint32_t account) {
    const void *const who = caller();
    Open open{object, false, 0, 0, 0}; // before its time begins: there may be no memory
    {
        const std::lock_guard guard(lock_);
        open_[who].push_back(open);
    }
    open.is_paid = account != 0 && turn_to(account, &open.before);
    if (!open.is_paid)
        open.begun_ns = work_ns();
    const std::lock_guard guard(lock_);
    open_[who].back() = open;
}

std::optional<std::int64_t> Meter::end(int object) {
    const void *const who = caller();
    const std::lock_guard guard(lock_);
    const auto found = open_.find(who);
    if (found == open_.end() || found->second.back().object != object)
        return std::nullopt;
    std::vector<Open> &open = found->second;
    const Open last = open.back();
    open.pop_back();
    std::int64_t whole = 0;
    if (last.is_paid)
        turn_to(last.before, nullptr);
    else
        whole = work_ns() - last.begun_ns;
    if (open.empty()) {
        open_.erase(found);
        end_clock();
    } else {
        open.back().inner_ns += whole;
    }
    return whole - last.inner_ns;
}

bool Meter::idle() {
    const std::lock_guard guard(lock_);
    return open_.empty();
}

} // namespace sennit::objects
