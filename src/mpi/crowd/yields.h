// SPDX-License-Identifier: Apache-2.0
// Do the yields of threads that wait in MPI pay (base/yield_watch.h)? Here times are in
// nanoseconds, not in ticks.
#pragma once

#include "base/yield_watch.h"

#include <cstdint>

namespace sennit::mpi {

class Yields {
  public:
    constexpr Yields() = default;
    Yields(const Yields &) = delete;
    Yields &operator=(const Yields &) = delete;

    bool pay(std::int64_t now) const { return !watch_.wanted(static_cast<std::uint64_t>(now)); }
    void note(std::int64_t before, std::int64_t now) {
        constexpr std::uint64_t ns_per_us = 1000;
        watch_.note(static_cast<std::uint64_t>(now - before), static_cast<std::uint64_t>(now),
                    ns_per_us);
    }

  private:
    YieldWatch watch_;
};

} // namespace sennit::mpi
