// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/processors.h"

#include "base/compiler.h"
#include "base/config.h"
#include "base/fence.h"
#include "base/spin.h"
#include "node/identity.h"
#include "tasks/poll/poll.h"
#include "wait/rows.h"

#include <algorithm>
#include <sched.h>

namespace sennit::sched {

constinit Processors g_processors;

namespace {

std::uint64_t measure_ticks_per_us() {
    const std::uint64_t ns0 = poll::now_ns();
    const std::uint64_t t0 = ticks();
    std::uint64_t ns1 = ns0;
    while (ns1 - ns0 < 20'000)
        ns1 = poll::now_ns();
    return (ticks() - t0) * 1000 / (ns1 - ns0);
}

// Every waiting thread reads these: write only what is new.
template <class T>
void renew(std::atomic<T> &word, T value) {
    if (value != word.load(std::memory_order_relaxed))
        word.store(value, std::memory_order_relaxed);
}

// Of the program's threads, the first time that they outnumber processors.
SENNIT_COLD void expect_sleeps_once() {
    static std::atomic<bool> expected{false};
    if (!expected.exchange(true, std::memory_order_relaxed))
        fence_expect_sleeps();
}

} // namespace

// The middle of three: a thread that is put off between two looks at the clocks measures anything.
void Processors::calibrate_ticks() {
    const std::uint64_t a = measure_ticks_per_us();
    const std::uint64_t b = measure_ticks_per_us();
    const std::uint64_t c = measure_ticks_per_us();
    ticks_per_us_ =
        std::max<std::uint64_t>(std::max(std::min(a, b), std::min(std::max(a, b), c)), 1);
}

std::uint64_t Processors::spin_budget() const {
    const int helpers = helpers_.load(std::memory_order_relaxed);
    if (helpers > 0 && config().spin_us < 0 && wait_policy() == WaitPolicy::unset &&
        outnumbered_by(active_.load(std::memory_order_relaxed) + helpers))
        return 0;
    if (yields_in_vain())
        return 0;
    return spin_budget_.load(std::memory_order_relaxed);
}

void Processors::note_yield(std::uint64_t before, std::uint64_t now, std::int64_t own_ns) {
    const std::uint64_t own =
        static_cast<std::uint64_t>(std::max<std::int64_t>(own_ns, 0)) * ticks_per_us_ / 1000;
    yields_.note(now - before - std::min(own, now - before), now, ticks_per_us_);
}

bool Processors::yields_in_vain() const {
    return crowded() && wait_policy() == WaitPolicy::unset && config().spin_us < 0 && wanted();
}

bool Processors::wanted() const {
    return SENNIT_UNLIKELY(yields_.seen()) && yields_.wanted(ticks());
}

std::uint64_t Processors::spin_us(bool crowded) const {
    if (config().spin_us >= 0)
        return static_cast<std::uint64_t>(config().spin_us);
    switch (wait_policy()) {
    case WaitPolicy::active:
        return wait::whole_us(wait::kActiveWorker.idle_ns);
    case WaitPolicy::passive:
        return 0;
    case WaitPolicy::unset:
        break;
    }
    return wait::whole_us(crowded ? wait::kCrowdedWorker.yield_ns : wait::kWorker.idle_ns);
}

void Processors::set_active(int workers) {
    const bool crowd = outnumbered_by(workers);
    renew(active_, workers);
    if (crowd != crowded()) {
        crowded_.store(crowd, std::memory_order_relaxed);
        if (crowd && workers > 1)
            expect_sleeps_once();
    }
    renew(spin_budget_, spin_us(crowd) * ticks_per_us_);
}

void Processors::set_sharing(bool shares) {
    shares_cores_.store(shares, std::memory_order_relaxed);
    set_active(active_.load(std::memory_order_relaxed));
}

void Processors::set_sharers(long processes) {
    sharing_ = processes;
    set_active(active_.load(std::memory_order_relaxed));
}

void Processors::set_wait_policy(WaitPolicy policy) {
    renew(wait_policy_, policy);
    set_active(1);
}

void Processors::set_usable(int usable) {
    usable_ = usable;
    set_active(1);
}

void Processors::set_given(int processors) {
    given_ = processors;
    set_usable(processors);
}

void Processors::begin() {
    cpu_set_t set;
    given_ = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    usable_ = given_;
    const int launchers =
        sched_getaffinity(node::launcher(), sizeof set, &set) == 0 ? CPU_COUNT(&set) : given_;
    sharing_ = sharing(config().local_ranks, given_, launchers);
    calibrate_ticks();
    set_active(1);
}

} // namespace sennit::sched
