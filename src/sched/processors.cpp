// SPDX-License-Identifier: Apache-2.0
#include "sched/processors.h"

#include "base/config.h"
#include "base/spin.h"
#include "base/yield_watch.h"
#include "poll/poll.h"

#include <algorithm>
#include <atomic>
#include <sched.h>
#include <unistd.h>

namespace sennit::sched {
namespace {

constexpr std::uint64_t kDefaultSpinUs = 100;
// Yields let others work, and a thread that has not slept needs no system call to be woken.
constexpr std::uint64_t kCrowdedSpinUs = 1000;
constexpr std::uint64_t kActiveSpinUs = 1'000'000;

int g_processors = 1;
int g_usable = 1;   // of them, by workers
long g_sharing = 1; // processes
std::uint64_t g_ticks_per_us = 1000;
std::atomic<std::uint64_t> g_spin_budget{0};
std::atomic<bool> g_crowded{false};
std::atomic<int> g_active{1}; // workers
std::atomic<int> g_helpers{0};
std::atomic<bool> g_shares_cores{false};
WaitPolicy g_wait_policy = WaitPolicy::unset;

YieldWatch g_yields;

std::uint64_t measure_ticks_per_us() {
    const std::uint64_t ns0 = poll::now_ns();
    const std::uint64_t t0 = ticks();
    std::uint64_t ns1 = ns0;
    while (ns1 - ns0 < 20'000)
        ns1 = poll::now_ns();
    return (ticks() - t0) * 1000 / (ns1 - ns0);
}

// The middle of three: a thread that is put off between two looks at the clocks measures anything.
void calibrate_ticks() {
    const std::uint64_t a = measure_ticks_per_us();
    const std::uint64_t b = measure_ticks_per_us();
    const std::uint64_t c = measure_ticks_per_us();
    g_ticks_per_us =
        std::max<std::uint64_t>(std::max(std::min(a, b), std::min(std::max(a, b), c)), 1);
}

bool outnumber_processors(int threads) {
    return threads * g_sharing > g_usable || g_shares_cores.load(std::memory_order_relaxed);
}

} // namespace

int processors() {
    return g_processors;
}
std::uint64_t ticks_per_us() {
    return g_ticks_per_us;
}
std::uint64_t spin_budget() {
    const int helpers = g_helpers.load(std::memory_order_relaxed);
    if (helpers > 0 && config().spin_us < 0 && g_wait_policy == WaitPolicy::unset &&
        outnumber_processors(g_active.load(std::memory_order_relaxed) + helpers))
        return 0;
    if (g_crowded.load(std::memory_order_relaxed) && g_wait_policy != WaitPolicy::active &&
        config().spin_us < 0 && processors_wanted())
        return 0;
    return g_spin_budget.load(std::memory_order_relaxed);
}

bool waits_awake() {
    return !g_crowded.load(std::memory_order_relaxed) && spin_budget() != 0;
}

bool crowded() {
    return g_crowded.load(std::memory_order_relaxed);
}

void yield_processor() {
    const std::uint64_t before = ticks();
    sched_yield();
    g_yields.note(before, ticks(), g_ticks_per_us);
}

bool processors_wanted() {
    return SENNIT_UNLIKELY(g_yields.seen()) && g_yields.wanted(ticks());
}

namespace {

std::uint64_t spin_us(bool crowded) {
    if (config().spin_us >= 0)
        return static_cast<std::uint64_t>(config().spin_us);
    switch (g_wait_policy) {
    case WaitPolicy::active:
        return kActiveSpinUs;
    case WaitPolicy::passive:
        return 0;
    case WaitPolicy::unset:
        break;
    }
    return crowded ? kCrowdedSpinUs : kDefaultSpinUs;
}

} // namespace

void set_active_workers(int workers) {
    const bool crowd = outnumber_processors(workers);
    const std::uint64_t budget = spin_us(crowd) * g_ticks_per_us;
    // Every waiting thread reads these: write only what is new.
    if (workers != g_active.load(std::memory_order_relaxed))
        g_active.store(workers, std::memory_order_relaxed);
    if (crowd != g_crowded.load(std::memory_order_relaxed))
        g_crowded.store(crowd, std::memory_order_relaxed);
    if (budget != g_spin_budget.load(std::memory_order_relaxed))
        g_spin_budget.store(budget, std::memory_order_relaxed);
}

void set_sharing(bool shares) {
    g_shares_cores.store(shares, std::memory_order_relaxed);
    set_active_workers(g_active.load(std::memory_order_relaxed));
}

void add_helpers(int more) {
    g_helpers.fetch_add(more, std::memory_order_relaxed);
}

void set_wait_policy(WaitPolicy policy) {
    g_wait_policy = policy;
    set_active_workers(1);
}

WaitPolicy wait_policy() {
    return g_wait_policy;
}

void set_usable_processors(int usable) {
    g_usable = usable;
    set_active_workers(1);
}

void set_processors(int processors) {
    g_processors = processors;
    set_usable_processors(processors);
}

void processors_setup() {
    cpu_set_t set;
    g_processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    g_usable = g_processors;
    // Who started us is the launcher, or was started by it with our processors.
    const int launchers =
        sched_getaffinity(getppid(), sizeof set, &set) == 0 ? CPU_COUNT(&set) : g_processors;
    g_sharing = sharing(config().local_ranks, g_processors, launchers);
    calibrate_ticks();
    set_active_workers(1);
}

} // namespace sennit::sched
