// SPDX-License-Identifier: Apache-2.0
// A doorbell. A thread that waits for a message sleeps on it; a thread that has sent one rings it.
//
//   the sender                      the thread that waits
//   1. publishes the message        1. arm(): says that it sleeps
//   2. ring(): fence                2. fence
//   3. looks whether one sleeps     3. looks for the message once more, then sleep()
//
// At least one of the two sees the other. The message is in memory that others write, the MPI
// library's. So neither side can do without its fence. Several threads may sleep on one bell: a
// ring wakes all of them.
#pragma once

#include "base/futex.h"
#include "base/spin.h"
#include "sennit.h"

#include <climits>
#include <cstddef>

namespace sennit::wait {

class alignas(64) Bell {
  public:
    // How a sleeper sleeps: in the kernel, or as a fiber, which the one that rings has to wake.
    static constexpr std::uint32_t kThread = 1;
    static constexpr std::uint32_t kFiber = 2;

    // Returns true if somebody was asleep, or about to sleep.
    bool ring() {
        return ring([] {});
    }
    template <class WakeFiber>
    bool ring(WakeFiber wake_fiber) {
        full_fence(); // pairs with arm()
        if (armed_.load(std::memory_order_relaxed) == 0)
            return false;
        // Of several that ring, one wakes the sleepers. The release pairs with the acquire in
        // arm().
        const std::uint32_t sleepers = armed_.exchange(0, std::memory_order_acq_rel);
        if (sleepers == 0)
            return false;
        rings_.fetch_add(1, std::memory_order_seq_cst); // src/ranks/fibers/fiber_rings.h
        if ((sleepers & kThread) != 0)
            futex_wake(rings_, INT_MAX, FutexScope::node);
        if ((sleepers & kFiber) != 0)
            wake_fiber();
        return true;
    }

    // From now on a ring makes sleep(the result) return at once.
    std::uint32_t arm(std::uint32_t how = kThread) {
        const std::uint32_t seen = rings_.load(std::memory_order_acquire);
        armed_.fetch_or(how, std::memory_order_relaxed);
        full_fence(); // pairs with ring()
        return seen;
    }
    // Sleep until the bell rings, at most `limit_ns`; a signal may end the sleep, too. Returns
    // whether the bell has rung since arm().
    bool sleep(std::uint32_t seen, std::int64_t limit_ns) {
        futex_wait(rings_, seen, limit_ns, FutexScope::node);
        return has_rung(seen);
    }
    bool has_rung(std::uint32_t seen) const {
        return rings_.load(std::memory_order_acquire) != seen;
    }
    const FutexWord &word() const { return rings_; }
    // Sleep on the bell and on a word of this process: a change of either ends the sleep.
    void sleep_on_both(std::uint32_t seen, FutexWord &own, std::uint32_t own_seen,
                       std::int64_t limit_ns) {
        futex_wait_either(own, own_seen, rings_, seen, limit_ns);
    }
    bool armed() const { return armed_.load(std::memory_order_relaxed) != 0; }

    // The bell as the public interface has it.
    static Bell *at(sennit_doorbell *words) { return reinterpret_cast<Bell *>(words); }
    sennit_doorbell *words() { return reinterpret_cast<sennit_doorbell *>(this); }

  private:
    FutexWord rings_{0};
    Atomic<std::uint32_t> armed_{0};
};
static_assert(offsetof(sennit_doorbell, armed) == sizeof(FutexWord));

} // namespace sennit::wait
