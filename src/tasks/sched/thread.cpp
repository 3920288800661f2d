// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/thread.h"

#include "base/clock.h"
#include "base/observed.h"
#include "ranks/fibers/processor_number.h"
#include "tasks/sched/fiber.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/worker.h"
#include "wait/rows.h"

#include <optional>
#include <sched.h>
#include <unistd.h>

namespace sennit::sched {

// To the ranks that can go on; where the thread is at home, to whom the kernel has.
void Thread::yield() {
    constexpr std::uint64_t short_us = wait::whole_us(wait::kShortYieldNs);
    virt::RankFiber *const own = own_flow();
    if (SENNIT_UNLIKELY(own != nullptr) && own->carrier.load(std::memory_order_relaxed))
        return own->calls->yield(*own);
    note_processor();
    std::optional<OwnWork> others;
    if (SENNIT_UNLIKELY(g_processors.asks_about_yields()))
        others.emplace(*this);
    const std::uint64_t before = ticks();
    sched_yield();
    const std::uint64_t now = ticks();
    if (SENNIT_LIKELY(!others))
        return g_processors.note_yield(before, now);
    const bool was_long = now - before > short_us * ticks_per_us();
    g_processors.note_yield(before, now, was_long ? others->ns() : 0);
}

void Thread::count_work(Fiber &left) {
    const auto now = static_cast<std::uint64_t>(clock_ns(ClockUse::task_time));
    left.worked_ns += now - work_counted_ns_;
    work_counted_ns_ = now;
}

std::uint64_t Thread::work_time_ns(Fiber &current) {
    if (!observed::by(observed::kWorkTime))
        observed::set(observed::kWorkTime);
    count_work(current);
    return current.worked_ns;
}

void Thread::adopt(bool is_ours) {
    thread_ = pthread_self();
    id_.store(gettid(), std::memory_order_relaxed);
    flow_.store(!is_ours && gettid() == getpid() ? virt::own_fiber() : nullptr,
                std::memory_order_relaxed);
}

// Not in the child of a fork(), which finds what its parent had.
void Thread::enter_flow() {
    virt::RankFiber *const main = virt::main_flow();
    if (!main)
        return;
    virt::RankFiber *const own = main->calls->enter(*main, gettid());
    if (!own)
        return;
    flow_.store(own, std::memory_order_release);
    virt::leave_processor_number();
}

void Thread::leave_flow() {
    if (virt::RankFiber *const own = flow_.exchange(nullptr))
        own->calls->leave(*own);
}

// The system calls it by another number, and the flow is the parent's.
void Thread::after_fork_in_child() {
    id_.store(gettid(), std::memory_order_relaxed);
    flow_.store(nullptr);
}

OwnWork::OwnWork(const Thread &thread) {
    const int here = thread.processor();
    for (const Worker &other : Worker::all()) {
        if (count_ == kMost)
            break;
        if (&other.thread != &thread && !other.activity.away() && other.thread.processor() == here)
            threads_[count_++] = other.thread.id();
    }
    before_ = sum();
}

std::int64_t OwnWork::ns() const {
    return sum() - before_;
}

std::int64_t OwnWork::sum() const {
    std::int64_t sum = 0;
    for (int i = 0; i < count_; ++i)
        sum += work_ns_of(threads_[i]);
    return sum;
}

} // namespace sennit::sched
