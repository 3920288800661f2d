// SPDX-License-Identifier: Apache-2.0
// Workers that sleep on one word of the process, so that one call of the system's wakes many: where
// threads outnumber processors, who opens a barrier would be put off after each call.
//
//   a sleeper                              who wakes it
//   1. its state: asleep in here           1. its state: awake
//   2. reads the count of wakes            2. count + 1
//   3. is its state still that?            3. wakes all that have its bit
//   4. sleeps while the count is that
//
// If 3. on the left comes before 1. on the right, the count that was read is an old one by then: 4.
// does not sleep, or 3. on the right wakes it. There are as many beds as bits: with thousands of
// sleepers each wake-up would look at all of them.
#pragma once

#include "base/compiler.h"
#include "base/futex.h"

#include <atomic>
#include <cstdint>

namespace sennit::wait {

class Dormitory {
  public:
    static constexpr int kBeds = 32;
    static std::uint32_t bit_of(int worker) {
        return std::uint32_t{1} << static_cast<unsigned>(worker);
    }
    // A worker whose number is below kBeds; at most limit_ns, while `state` is `here`.
    void sleep(int worker, const FutexWord &state, std::uint32_t here, std::int64_t limit_ns) {
        // Acquire: pairs with wake(). A thread that reads the new count reads the new state.
        const std::uint32_t seen = wakes_.load(std::memory_order_acquire);
        if (state.load(std::memory_order_acquire) == here)
            futex_wait_bits(wakes_, seen, bit_of(worker), limit_ns);
    }
    // Whose states say that they are awake.
    void wake(std::uint32_t bits) {
        wakes_.fetch_add(1, std::memory_order_release);
        futex_wake_bits(wakes_, bits);
    }

  private:
    alignas(kCacheLine) FutexWord wakes_{0};
};

} // namespace sennit::wait
