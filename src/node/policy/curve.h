// SPDX-License-Identifier: Apache-2.0
// A program's speed as a function of its cores, from what was measured. Between two measured
// numbers of cores, and beyond them, speed is taken as a power of the cores. So a guess from the
// slope is too good where slopes flatten: what looks worth it is tried, measured, and known.
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
    // Is anything known of its slope?
    bool has_slope() const;
    double log_speed(int cores) const;

    // Against one core; 0: not known, for nothing is of its slope.
    double speed_up(int cores) const;

    // How far it is from what was measured with so many cores before, as a share of that; it is
    // new: 0. Twice in a row much faster, or slower: what was known is wrong, and forgotten (the
    // program does something else now).
    double measured(int cores, double speed, std::uint32_t when);
    // The number of cores beyond which it was seen to get slower; 0: none such.
    int peak() const;

  private:
    void put(int cores, double speed, std::uint32_t when);

    Memory::Program &row_;
};

} // namespace sennit::node
