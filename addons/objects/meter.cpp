// SPDX-License-Identifier: Apache-2.0
#include "objects/meter.h"

#include "base/clock.h"
#include "objects/runtime.h"
#include "ranks/fibers/rank_fiber.h"

#include <algorithm>
#include <tuple>
#include <utility>

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
bool switch_to(std::uint32_t account, std::uint32_t *before) {
    const Runtime &runtime = Runtime::get();
    return runtime.work_for && runtime.work_for(account, before) == SENNIT_SUCCESS;
}

} // namespace

void Meter::begin(int object, std::uint32_t account) {
    const void *const who = caller();
    Open open{object, false, 0, 0, 0}; // before its time begins: there may be no memory
    {
        const Guard guard(mutex_);
        open_[who].push_back(open);
    }
    open.is_paid = account != 0 && switch_to(account, &open.before);
    if (!open.is_paid)
        open.begun_ns = work_ns();
    const Guard guard(mutex_);
    open_[who].back() = open;
}

std::optional<std::int64_t> Meter::end(int object) {
    const void *const who = caller();
    const Guard guard(mutex_);
    const auto found = open_.find(who);
    if (found == open_.end() || found->second.back().object != object)
        return std::nullopt;
    std::vector<Open> &open = found->second;
    const Open last = open.back();
    open.pop_back();
    std::int64_t whole = 0;
    if (last.is_paid)
        switch_to(last.before, nullptr);
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
    const Guard guard(mutex_);
    return open_.empty();
}

Load::Load() {
    const Runtime &runtime = Runtime::get();
    if (runtime.has_accounts() && runtime.account_open(&account_) != SENNIT_SUCCESS)
        account_ = 0;
}

Load::~Load() {
    watch_messages(false);
    if (account_ != 0)
        Runtime::get().account_close(account_);
}

std::int64_t Load::take() {
    std::uint64_t ns = taken_ns_;
    if (account_ != 0)
        Runtime::get().account_time(account_, &ns);
    const auto more = static_cast<std::int64_t>(ns - taken_ns_);
    taken_ns_ = ns;
    return more + added_ns_.exchange(0, std::memory_order_relaxed);
}

void Load::watch_messages(bool on) {
    const Runtime &runtime = Runtime::get();
    if (on == is_watched_ || account_ == 0 || !runtime.counts_traffic())
        return;
    is_watched_ = runtime.traffic_watch(account_, on ? 1 : 0) == SENNIT_SUCCESS && on;
}

void Load::take_messages(int object, std::vector<balance::Mail> &mail) {
    if (!is_watched_)
        return;
    struct Sink {
        int object;
        std::vector<balance::Mail> &mail;
    } sink{object, mail};
    Runtime::get().traffic_take(
        account_,
        [](void *arg, const sennit_traffic *row) {
            const Sink &to = *static_cast<Sink *>(arg);
            static_assert(SENNIT_TRACE_ANY == balance::kAnyone);
            to.mail.push_back({row->direction == SENNIT_NOTICE_SEND, row->process, row->peer,
                               row->tag, to.object, static_cast<double>(row->bytes)});
        },
        &sink);
}

void ObjectTraffic::add(int object, int other, std::uint64_t bytes, bool is_said) {
    if (object == other)
        return;
    const auto [a, b] = std::minmax(object, other);
    const std::uint64_t both =
        std::uint64_t{static_cast<std::uint32_t>(a)} << 32 | static_cast<std::uint32_t>(b);
    const Guard guard(mutex_);
    Sum &sum = sums_[both];
    sum.bytes += bytes;
    sum.is_said |= is_said;
}

std::vector<Told> ObjectTraffic::take() {
    std::unordered_map<std::uint64_t, Sum> taken;
    {
        const Guard guard(mutex_);
        taken = std::exchange(sums_, {});
    }
    std::vector<Told> all;
    all.reserve(taken.size());
    for (const auto &[both, sum] : taken)
        all.push_back({static_cast<int>(both >> 32), static_cast<int>(both & 0xffffffff), sum.bytes,
                       sum.is_said ? 1u : 0u});
    std::sort(all.begin(), all.end(), [](const Told &one, const Told &other) {
        return std::tie(one.a, one.b) < std::tie(other.a, other.b);
    });
    return all;
}

} // namespace sennit::objects
