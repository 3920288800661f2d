// SPDX-License-Identifier: Apache-2.0
// The policy `moldable` gives each program the number of cores with which all together are fastest,
// as measured while they run. A core moves if one program gains more percent of its speed than the
// other one loses. So the policy looks for the largest sum of the logarithms of the programs'
// speeds (by shares). This sum needs no common unit of progress, and leaves no program without
// cores. The policy sets targets by it; below these it is `lend`.
//
// A measurement lasts some calls, as many as it takes to find the same again. After it, each
// program's speed with its present cores is known. If nothing is known of a program's slope, the
// program has a few cores more, or fewer, in the next measurement (a probe). Else the targets are
// those that the curves promise (curve.h), but at most twice and at least half of what was
// measured. Then these are measured. If the targets stay, a probe follows now and then, to see
// whether they still hold. If a program's speed is not what it was with the same cores, its curve
// is forgotten.
#pragma once

#include "decide/cores/lend.h"
#include "decide/cores/policy.h"

namespace sennit::node {

class Moldable final : public Lend {
  public:
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

// A program's speed as a function of its cores, by measured speeds. Between two measured numbers of
// cores, and beyond them, speed is taken for a power of the cores. So the guess is too high where
// the real curve becomes flatter. That does no lasting harm: a number of cores that looks good is
// tried and measured, and then it is known.

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
