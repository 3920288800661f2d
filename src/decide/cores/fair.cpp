// SPDX-License-Identifier: Apache-2.0
#include "decide/cores/fair.h"

#include "decide/cores/policy.h"
#include "decide/cores/rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sennit::node {
namespace {

constexpr double kCatchUp = 1;    // seconds in which one is to get what it has missed
constexpr double kMostBehind = 2; // seconds of all cores: what is longer ago is forgotten
constexpr std::int64_t kShortNs = 1'500'000'000; // it may wait in MPI now, and want more again
constexpr double kHysteresis = 1;                // cores that a target is off before any moves
constexpr double kForgetIdle = .9;               // a look, of one that wants nothing

// The cores that each could have had in the mean: its share of them, but no more than it wanted;
// what it did not want is divided among the others.
void entitle(std::span<const double> shares, std::span<const double> wanted, double cores,
             std::span<double> entitled) {
    std::fill(entitled.begin(), entitled.end(), -1);
    for (;;) {
        double free = cores, sum = 0;
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (entitled[i] >= 0)
                free -= entitled[i];
            else
                sum += shares[i];
        bool again = false;
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (entitled[i] < 0 && wanted[i] <= free * shares[i] / sum) {
                entitled[i] = wanted[i];
                again = true;
            }
        if (again)
            continue;
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (entitled[i] < 0)
                entitled[i] = free * shares[i] / sum;
        return;
    }
}

} // namespace

bool Fair::rethink(const View &view, std::int64_t now_ns, Memory &memory) const {
    const bool turn = somebody_waits_for_a_turn(view);
    ProgramsNow now = programs_now(view, memory);
    const auto count = static_cast<std::size_t>(now.count);
    const int usable = usable_cores(view);
    if (usable == 0)
        return turn;
    const double cores = usable;
    const double seconds = static_cast<double>(now_ns - memory.began_ns) * 1e-9;
    const bool first = memory.began_ns == 0 || now.changed || seconds <= 0;
    double shares[kMostPrograms], used[kMostPrograms], wanted[kMostPrograms],
        entitled[kMostPrograms], wishes[kMostPrograms];
    for (std::size_t i = 0; i < count; ++i) {
        const ProgramNow &one = now.programs[i];
        shares[i] = one.share;
        used[i] = first ? 0
                        : std::max(0., static_cast<double>(one.used_ns - one.row->used_ns) * 1e-9 /
                                           seconds);
        if (one.wants > 0)
            one.row->short_ns = now_ns;
        // Its share of the time, whether or not it could use it just now.
        const bool is_short = one.row->short_ns > 0 && now_ns - one.row->short_ns < kShortNs;
        wanted[i] = is_short ? cores : used[i];
    }
    if (!first && count > 0) {
        entitle({shares, count}, {wanted, count}, cores, {entitled, count});
        for (std::size_t i = 0; i < count; ++i) {
            double &behind = now.programs[i].row->behind;
            const double most = kMostBehind * cores;
            behind = std::clamp(behind + (entitled[i] - used[i]) * seconds, -most, most);
            if (used[i] == 0 && wanted[i] == 0)
                behind *= kForgetIdle;
        }
    }
    begin_measurement(now, now_ns, memory);
    double mean = 0;
    for (const ProgramNow &one : now.all())
        mean += one.row->behind / static_cast<double>(count);
    bool is_off = false;
    for (std::size_t i = 0; i < count; ++i) {
        const ProgramNow &one = now.programs[i];
        wishes[i] = std::clamp(cores * one.share / now.shares + (one.row->behind - mean) / kCatchUp,
                               1., cores);
        is_off |= std::abs(wishes[i] - one.row->target) > kHysteresis;
    }
    if (!is_off)
        return turn;
    int targets[kMostPrograms];
    round_to_sum({wishes, count}, usable, {targets, count});
    bool moved = false;
    for (std::size_t i = 0; i < count; ++i) {
        moved |= targets[i] != now.programs[i].row->target;
        now.programs[i].row->target = targets[i];
    }
    return moved || turn;
}

} // namespace sennit::node
