// SPDX-License-Identifier: Apache-2.0
#include "decide/cores/moldable.h"

#include "decide/cores/policy.h"
#include "decide/cores/rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace sennit::node {
namespace {

constexpr int kLooks = 2;      // of a measurement, at first
constexpr int kMostLooks = 32; // if programs have long iterations
constexpr double kNoise = .08; // two measurements that differ more were too short
constexpr int kAgreed = 4;     // as many in a row that do not may have been longer than need be
constexpr int kQuiet = 8;      // measurements between two probes, at first
constexpr std::uint32_t kMostPatience = 8; // times that, later
constexpr double kGain = .005;             // of the programs' speed: less is not worth a move

struct Targets {
    int cores[kMostPrograms] = {};
    int sum(int count) const {
        int all = 0;
        for (int i = 0; i < count; ++i)
            all += cores[i];
        return all;
    }
};

// What the targets are to be chosen from: who could not be measured keeps its own.
struct Search {
    ProgramsNow &now;
    int cores;
    Targets lowest, highest;

    Search(ProgramsNow &of, int among, const Targets &present) : now(of), cores(among) {
        for (int i = 0; i < now.count; ++i) {
            const auto known = Curve(*now.programs[i].row).speeds();
            lowest.cores[i] = known.empty() ? present.cores[i] : (known.front().cores + 1) / 2;
            highest.cores[i] =
                known.empty() ? present.cores[i] : std::min(cores, 2 * known.back().cores);
        }
    }
    double value(int i, int with) const {
        const ProgramNow &one = now.programs[i];
        return one.share / now.shares * Curve(*one.row).log_speed(with);
    }
    double value(const Targets &targets) const {
        double sum = 0;
        for (int i = 0; i < now.count; ++i)
            sum += value(i, targets.cores[i]);
        return sum;
    }
    // By a move of `count` cores from one to another, or (now.count) from or to nobody.
    double gain(const Targets &targets, int from, int to, int count) const;
    Targets climb(Targets targets) const;
};

double Search::gain(const Targets &targets, int from, int to, int count) const {
    double sum = 0;
    if (from < now.count) {
        const int has = targets.cores[from];
        if (has - count < lowest.cores[from])
            return -1;
        sum += value(from, has - count) - value(from, has);
    }
    if (to < now.count) {
        const int has = targets.cores[to];
        if (has + count > highest.cores[to])
            return -1;
        sum += value(to, has + count) - value(to, has);
    }
    return sum;
}

// The best move of any size, again and again, as long as one is worth it.
Targets Search::climb(Targets targets) const {
    for (int round = 0; round < 4 * cores; ++round) {
        double best = 1e-9;
        int best_from = 0, best_to = 0, best_count = 0;
        const int free = cores - targets.sum(now.count);
        for (int from = 0; from <= now.count; ++from)
            for (int to = 0; to <= now.count; ++to)
                for (int count = 1; from != to && count <= cores; count *= 2) {
                    if (from == now.count && count > free)
                        break;
                    const double found = gain(targets, from, to, count);
                    if (found > best) {
                        best = found;
                        best_from = from;
                        best_to = to;
                        best_count = count;
                    }
                }
        if (best_count == 0)
            return targets;
        if (best_from < now.count)
            targets.cores[best_from] -= best_count;
        if (best_to < now.count)
            targets.cores[best_to] += best_count;
    }
    return targets;
}

// Measurements that contradict each other are too short: iterations of the programs fit in, or not.
void measure(ProgramsNow &now, std::int64_t now_ns, Memory &memory) {
    const double seconds = static_cast<double>(now_ns - memory.began_ns) * 1e-9;
    double off = 0;
    bool forgot = false;
    for (const ProgramNow &one : now.all()) {
        const double used = static_cast<double>(one.used_ns - one.row->used_ns) * 1e-9 / seconds;
        const double speed = (one.progress - one.row->progress) / seconds;
        if (speed <= 0 || one.row->target == 0)
            continue; // it tells nothing, or some of its ranks have gone
        const int cores = std::max(one.row->target, static_cast<int>(std::lround(used)));
        const int known = one.row->speed_count;
        off = std::max(off, Curve(*one.row).measured(cores, speed, memory.measured));
        forgot |= one.row->speed_count < known;
    }
    ++memory.measured;
    if (off <= kNoise || forgot) {
        ++memory.agreed;
        // It was no noise; or there is none any more.
        if (forgot || memory.agreed % kAgreed == 0)
            memory.window /= forgot ? 4 : 2;
        return;
    }
    memory.agreed = 0;
    memory.quiet = 0;
    memory.window = std::min(kMostLooks, 2 * std::max(kLooks, memory.window));
}

bool is_unknown(Memory::Program &row) {
    return row.speed_count > 0 && !Curve(row).has_slope();
}

Targets by_shares(const ProgramsNow &now, int cores) {
    double wishes[kMostPrograms];
    Targets targets;
    for (int i = 0; i < now.count; ++i)
        wishes[i] = cores * now.programs[i].share / now.shares;
    const auto count = static_cast<std::size_t>(now.count);
    round_to_sum({wishes, count}, cores, {targets.cores, count});
    return targets;
}

// Every second program of those that `chosen` says gives some cores to the next one: a few, or
// (wide) so many that both tell a slope.
enum class Step : bool { gentle, wide };
template <class Chosen>
Targets probed(Targets targets, const ProgramsNow &now, int cores, Step size, std::uint32_t probe,
               Chosen chosen) {
    const auto step = [&](int i) {
        return std::max(1, targets.cores[i] / (size == Step::wide ? 4 : 8));
    };
    const auto move = [&](int from, int to) {
        if (size == Step::wide && targets.cores[from] < targets.cores[to])
            std::swap(from, to);
        const int count = size == Step::wide ? step(from) : std::min(step(from), step(to));
        if (count >= targets.cores[from])
            return;
        targets.cores[from] -= count;
        targets.cores[to] += count;
    };
    int giver = -1;
    for (int k = 0; k < now.count; ++k) {
        const int i = (k + static_cast<int>(probe / 2 % kMostPrograms)) % now.count;
        if (!chosen(i))
            continue;
        if (giver < 0) {
            giver = i;
            continue;
        }
        probe % 2 == 0 ? move(giver, i) : move(i, giver);
        giver = -1;
    }
    if (giver < 0)
        return targets;
    // One is left over: it gets what is free, or gives.
    const int free = cores - targets.sum(now.count);
    targets.cores[giver] += free > 0 && probe % 2 == 0 ? std::min(free, step(giver)) : -step(giver);
    targets.cores[giver] = std::max(1, targets.cores[giver]);
    return targets;
}

bool set(ProgramsNow &now, const Targets &targets, bool probing) {
    bool moved = false;
    for (int i = 0; i < now.count; ++i) {
        Memory::Program &row = *now.programs[i].row;
        // What is measured with fewer cores borrows none.
        const bool is_less = probing && targets.cores[i] < row.target;
        moved |= row.target != targets.cores[i];
        row.target = targets.cores[i];
        const int peak = Curve(row).peak();
        row.limit = is_less ? row.target : peak == 0 ? 0 : std::max(peak, row.target);
    }
    return moved;
}

} // namespace

bool Moldable::rethink(const View &view, std::int64_t now_ns, Memory &memory) const {
    const bool turn = somebody_waits_for_a_turn(view);
    ProgramsNow now = programs_now(view, memory);
    const int cores = usable_cores(view);
    if (now.count == 0 || now.count > cores)
        return turn;
    if (now.changed)
        memory.agreed = memory.window = 0;
    if (memory.began_ns != 0 && !now.changed) {
        if (++memory.looks < std::max(kLooks, memory.window) || now_ns <= memory.began_ns)
            return turn;
        measure(now, now_ns, memory);
    }
    Targets targets = by_shares(now, cores);
    bool unknown = false, fresh = memory.began_ns == 0;
    for (int i = 0; i < now.count; ++i) {
        Memory::Program &row = *now.programs[i].row;
        if (row.speed_count > 0)
            targets.cores[i] = row.target;
        else if (now.changed)
            fresh = true;
        unknown |= is_unknown(row);
    }
    bool probing = false;
    if (fresh || targets.sum(now.count) > cores) {
        targets = by_shares(now, cores);
    } else if (memory.agreed == 0 && memory.window < kMostLooks && !now.changed) {
        // Once more with the same targets.
    } else if (unknown) {
        targets = probed(targets, now, cores, Step::wide, memory.probes++,
                         [&](int i) { return is_unknown(*now.programs[i].row); });
        probing = true;
        memory.quiet = 0;
    } else {
        const Search search(now, cores, targets);
        const Targets better = search.climb(targets);
        const double worth = memory.probing != 0 ? 0 : kGain;
        const int patience = kQuiet * static_cast<int>(std::min(memory.probes + 1, kMostPatience));
        if (search.value(better) > search.value(targets) + worth) {
            targets = better;
            memory.quiet = 0;
        } else if (++memory.quiet >= patience) {
            targets = probed(targets, now, cores, Step::gentle, memory.probes++,
                             [&](int i) { return now.programs[i].row->speed_count > 0; });
            probing = true;
            memory.quiet = 0;
        }
    }
    const bool moved = set(now, targets, probing);
    memory.probing = probing ? 1 : 0;
    begin_measurement(now, now_ns, memory);
    return moved || turn;
}

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
