// SPDX-License-Identifier: Apache-2.0
// A doorbell: who waits for a message sleeps on it, who has sent one rings it.
//
//   who sends                       who waits
//   1. publishes the message        1. arm(): says that it sleeps
//   2. ring(): fence                2. fence
//   3. looks whether one sleeps     3. looks for the message once more, then sleep()
//
// At least one of the two sees the other. The message is in memory that others write, the MPI
// library's, so no fence can be spared on either side. Several threads may sleep on one bell: a
// ring wakes all.
#pragma once

#include "base/futex.h"
#include "sennit.h"

#include <climits>
#include <cstddef>

namespace sennit::node {

class alignas(64) Bell {
  public:
    // How somebody sleeps on it: in the kernel, or (bit 1) in a way that who rings has to know.
    static constexpr std::uint32_t kThread = 1;
    static constexpr std::uint32_t kFiber = 2;

    // True: somebody was asleep, or about to sleep.
    bool ring() {
        return ring([] {});
    }
    template <class WakeFiber>
    bool ring(WakeFiber wake_fiber) {
        std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with arm()
        if (armed_.load(std::memory_order_relaxed) == 0)
            return false;
        // Of several that ring, one wakes. The release pairs with the acquire in arm().
        const std::uint32_t sleepers = armed_.exchange(0, std::memory_order_acq_rel);
        if (sleepers == 0)
            return false;
        rings_.fetch_add(1, std::memory_order_seq_cst); // src/virt/turns.h
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
        std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with ring()
        return seen;
    }
    // Until it rings, at most `limit_ns`; a signal may end it, too. Has it rung since arm()?
    bool sleep(std::uint32_t seen, std::int64_t limit_ns) {
        futex_wait(rings_, seen, limit_ns, FutexScope::node);
        return has_rung(seen);
    }
    bool has_rung(std::uint32_t seen) const {
        return rings_.load(std::memory_order_acquire) != seen;
    }
    const FutexWord &word() const { return rings_; }
    // The same, on this word of the process as well.
    void sleep_on_both(std::uint32_t seen, FutexWord &own, std::uint32_t own_seen,
                       std::int64_t limit_ns) {
        futex_wait_either(own, own_seen, rings_, seen, limit_ns);
    }
    bool armed() const { return armed_.load(std::memory_order_relaxed) != 0; }

    // As the public interface has it.
    static Bell *at(sennit_doorbell *words) { return reinterpret_cast<Bell *>(words); }
    sennit_doorbell *words() { return reinterpret_cast<sennit_doorbell *>(this); }

  private:
    FutexWord rings_{0};
    std::atomic<std::uint32_t> armed_{0};
};
static_assert(offsetof(sennit_doorbell, armed) == sizeof(FutexWord));

} // namespace sennit::node
