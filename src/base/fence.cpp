// SPDX-License-Identifier: Apache-2.0
#include "base/fence.h"

#include "base/clock.h"
#include "base/rank.h"
#include "base/spin.h"

#include <cerrno>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit {

Atomic<bool> g_light_fence_is_free{false};

namespace {

constexpr std::uint32_t kSleepsBetweenLooks = 32;
constexpr std::uint64_t kTicksBetweenLooks = 1 << 23; // some milliseconds

bool g_has_membarrier = false; // set once by fence_setup
// Every light fence since this was set is a full one, or what it published is visible.
Atomic<bool> g_light_fences_are_full{true};

Atomic<std::uint32_t> g_sleeps{0};
Atomic<std::uint64_t> g_looked_at{0}; // ticks
// Of changes of the mode. Only tried: after a fork amid a change the child keeps the mode it is in,
// which is sound.
SpinLock g_changing;
SleepRate g_rate SENNIT_GUARDED_BY(g_changing);

#if SENNIT_SCHEDULES
using schedules::membarrier;
#else
void membarrier() {
    const int saved = errno;
    // This cannot fail after a successful registration.
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    errno = saved;
}
#endif

// A light fence may have loaded "free" before. Then its thread's store came before that load, and
// the membarrier makes it visible: a sleeper who sees "full" (acquire) sees that store.
void become_full() SENNIT_REQUIRES(g_changing) {
    g_light_fence_is_free.store(false, std::memory_order_relaxed);
    membarrier(); // light fences that were free are over
    g_light_fences_are_full.store(true, std::memory_order_release);
}

// A sleeper may have loaded "full" before. Then its "I sleep" was visible before that load, and
// whose light fence is free after the membarrier sees it.
void become_free() SENNIT_REQUIRES(g_changing) {
    g_light_fences_are_full.store(false, std::memory_order_relaxed);
    membarrier();
    g_light_fence_is_free.store(true, std::memory_order_release);
}

void look() {
    if (!g_changing.try_lock())
        return;
    const Guard changing(g_changing, AlreadyHeld{});
    g_looked_at.store(ticks(), std::memory_order_relaxed);
    const bool full = g_light_fences_are_full.load(std::memory_order_relaxed);
    const bool wanted =
        g_rate.wants_full(g_sleeps.load(std::memory_order_relaxed), monotonic_ns(), full);
    if (wanted && !full)
        become_full();
    else if (!wanted && full)
        become_free();
}

} // namespace

bool SleepRate::wants_full(std::uint32_t sleeps, std::int64_t now_ns, bool full) {
    const std::int64_t more = sleeps - sleeps_; // modulo 2^32
    const std::int64_t passed = now_ns - since_ns_;
    if (full && passed < kShortestNs)
        return true;
    begin(sleeps, now_ns);
    return passed < more * (full ? kSeldomNs : kOftenNs);
}

void fence_setup() {
    if (is_rank_fiber())
        return; // a fiber sleeps and wakes as often as it publishes: see src/ranks/fibers
    const int saved = errno;
    g_has_membarrier =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    errno = saved;
    g_light_fences_are_full.store(!g_has_membarrier, std::memory_order_relaxed);
    g_light_fence_is_free.store(g_has_membarrier, std::memory_order_relaxed);
}

void fence_expect_sleeps() {
    if (!g_has_membarrier || !g_changing.try_lock())
        return;
    const Guard changing(g_changing, AlreadyHeld{});
    g_looked_at.store(ticks(), std::memory_order_relaxed);
    g_rate.begin(g_sleeps.load(std::memory_order_relaxed), monotonic_ns());
    if (!g_light_fences_are_full.load(std::memory_order_relaxed))
        become_full();
}

void fence_heavy() {
    full_fence();
    if (!g_light_fences_are_full.load(std::memory_order_acquire)) // pairs with become_full
        membarrier(); // for those whose light fence is free
}

void fence_before_sleep() {
    if (g_has_membarrier &&
        g_sleeps.fetch_add(1, std::memory_order_relaxed) % kSleepsBetweenLooks == 0)
        look();
    fence_heavy();
}

void fence_light_full() {
    full_fence();
    if (g_has_membarrier &&
        ticks() - g_looked_at.load(std::memory_order_relaxed) > kTicksBetweenLooks)
        look();
}

} // namespace sennit
