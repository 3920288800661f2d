// SPDX-License-Identifier: Apache-2.0
#include "node/policy/curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sennit::node {
namespace {

constexpr double kApart = 1.1;    // cores, as a ratio: closer ones tell no slope
constexpr double kGuess = .8;     // the slope while none is known
constexpr double kSurprise = .2;  // of the speed: more is not noise
constexpr int kSurprises = 2;     // in a row: it does something else now
constexpr double kNewWeight = .5; // of a measurement against those before
constexpr double kSlower = .97;

double log_of(double value) {
    return std::log(std::max(value, 1e-300));
}

} // namespace

const Memory::Speed *Curve::at(int cores) const {
    for (const Memory::Speed &one : speeds())
        if (one.cores == cores)
            return &one;
    return nullptr;
}

bool Curve::has_slope() const {
    const auto all = speeds();
    return all.size() > 1 && all.back().cores >= kApart * all.front().cores;
}

double Curve::log_speed(int cores) const {
    const auto all = speeds();
    const double x = std::log(cores);
    if (all.empty())
        return kGuess * x;
    const auto x_of = [&](std::size_t i) { return std::log(all[i].cores); };
    const auto y_of = [&](std::size_t i) { return log_of(all[i].speed); };
    const std::size_t last = all.size() - 1;
    std::size_t from = 0, to = last;
    double slope = kGuess;
    if (cores > all[0].cores && cores < all[last].cores) {
        while (all[to - 1].cores >= cores)
            --to;
        from = to - 1;
        slope = (y_of(to) - y_of(from)) / (x_of(to) - x_of(from));
    } else if (has_slope() && cores <= all[0].cores) {
        to = 1;
        while (all[to].cores < kApart * all[0].cores)
            ++to;
        slope = std::clamp((y_of(to) - y_of(0)) / (x_of(to) - x_of(0)), -1., 1.);
    } else if (has_slope()) {
        from = last - 1;
        while (all[from].cores * kApart > all[last].cores)
            --from;
        slope = std::clamp((y_of(last) - y_of(from)) / (x_of(last) - x_of(from)), -1., 1.);
        from = last;
    } else if (cores > all[0].cores) {
        from = last;
    }
    return y_of(from) + slope * (x - x_of(from));
}

double Curve::speed_up(int cores) const {
    return has_slope() && cores > 0 ? std::exp(log_speed(cores) - log_speed(1)) : 0;
}

void Curve::put(int cores, double speed, std::uint32_t when) {
    auto *const begin = row_.speeds;
    if (row_.speed_count == Memory::kMostSpeeds) { // the one measured longest ago goes
        auto *const oldest = std::min_element(
            begin, begin + row_.speed_count,
            [](const Memory::Speed &a, const Memory::Speed &b) { return a.when < b.when; });
        std::copy(oldest + 1, begin + row_.speed_count, oldest);
        --row_.speed_count;
    }
    auto *const end = begin + row_.speed_count;
    auto *const place =
        std::find_if(begin, end, [&](const Memory::Speed &one) { return one.cores > cores; });
    std::copy_backward(place, end, end + 1);
    *place = {cores, when, speed};
    ++row_.speed_count;
}

double Curve::measured(int cores, double speed, std::uint32_t when) {
    const Memory::Speed *const known = at(cores);
    if (!known) {
        row_.surprises = 0;
        put(cores, speed, when);
        return 0;
    }
    auto &one = row_.speeds[known - row_.speeds];
    const double off = speed / one.speed - 1;
    if (std::abs(off) <= kSurprise) {
        one.speed += kNewWeight * (speed - one.speed);
        one.when = when;
        row_.surprises = 0;
        return std::abs(off);
    }
    const int sign = off > 0 ? 1 : -1;
    row_.surprises = row_.surprises * sign > 0 ? row_.surprises + sign : sign;
    if (std::abs(row_.surprises) >= kSurprises) {
        row_.surprises = 0;
        row_.speed_count = 0;
        put(cores, speed, when);
    }
    return std::abs(off);
}

int Curve::peak() const {
    const Memory::Speed *best = nullptr;
    for (const Memory::Speed &one : speeds())
        if (!best || one.speed > best->speed)
            best = &one;
    for (const Memory::Speed &one : speeds())
        if (best && one.cores > best->cores && one.speed < kSlower * best->speed)
            return best->cores;
    return 0;
}

} // namespace sennit::node
