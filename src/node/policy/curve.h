// SPDX-License-Identifier: Apache-2.0
// A program's speed as a function of its cores, by measured speeds. Between two measured numbers of
// cores, and beyond them, speed is taken for a power of the cores. So the guess is too high where
// the real curve becomes flatter. That does no lasting harm: a number of cores that looks good is
// tried and measured, and then it is known.
#pragma once

#include "node/policy/policy.h"

namespace sennit::node {

class Curve {
  public:
    explicit Curve(Memory::Program &row) : row_(row) {}

    std::span<const Memory::Speed> speeds() const {
        return {row_.speeds, static_cast<std::size_t>(row_.speed_count)};
    }
    const Memory::Speed *at(int cores) const;
    // Is anything known of the curve's slope?
    bool has_slope() const;
    double log_speed(int cores) const;

    // The speed against that with one core. 0: it is not known, because nothing is known of the
    // slope.
    double speed_up(int cores) const;

    // Note a measured speed. Returns how far it is from the speed that was measured with so many
    // cores before, as a share of that. If there was none, it returns 0. If the program is much
    // faster, or slower, twice in a row, it does something else now, and all that was known is
    // forgotten.
    double measured(int cores, double speed, std::uint32_t when);
    // The number of cores beyond which the program was seen to get slower. 0: there is none.
    int peak() const;

  private:
    void put(int cores, double speed, std::uint32_t when);

    Memory::Program &row_;
};

} // namespace sennit::node
