// SPDX-License-Identifier: Apache-2.0
#include "decide/cores/policy.h"

#include "decide/cores/lend.h"
#include "decide/cores/moldable.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace sennit::node {

// The policies by name.

namespace {

constexpr Static kStatic;
constexpr Lend kLend;
constexpr Fair kFair;
constexpr Moldable kMoldable;

constexpr std::string_view kNames[] = {"static", "lend", "fair", "moldable"};
constexpr const CorePolicy *kPolicies[] = {&kStatic, &kLend, &kFair, &kMoldable};
static_assert(std::size(kNames) == std::size(kPolicies));

} // namespace

std::span<const std::string_view> policy_names() {
    return kNames;
}

const CorePolicy *policy_of(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kNames); ++i)
        if (kNames[i] == name)
            return kPolicies[i];
    return nullptr;
}

namespace {

Memory::Program *row_of(Memory &memory, int program, bool &fresh) {
    Memory::Program *free = nullptr;
    for (Memory::Program &row : memory.programs) {
        if (row.taken != 0 && row.program == program)
            return &row;
        if (row.taken == 0 && !free)
            free = &row;
    }
    if (free) {
        *free = {};
        free->program = program;
        free->taken = 1;
        fresh = true;
    }
    return free;
}

} // namespace

ProgramsNow programs_now(const View &view, Memory &memory) {
    ProgramsNow now;
    const auto takes_part = [&](int program) {
        return std::any_of(view.claimants.begin(), view.claimants.end(), [&](const Claimant &one) {
            return !one.leftover && one.program == program;
        });
    };
    for (Memory::Program &row : memory.programs)
        if (row.taken != 0 && !takes_part(row.program)) {
            row = {};
            now.changed = true;
        }
    for (const Claimant &one : view.claimants) {
        if (one.leftover)
            continue;
        Memory::Program *const row = row_of(memory, one.program, now.changed);
        if (!row)
            continue;
        const auto all = now.all();
        const auto known = std::find_if(all.begin(), all.end(),
                                        [&](const ProgramNow &other) { return other.row == row; });
        ProgramNow &program = now.programs[known - all.begin()];
        if (known == all.end()) {
            program.row = row;
            program.share = std::max(one.share, 1e-9);
            now.shares += program.share;
            ++now.count;
        }
        ++program.ranks;
        program.wants += one.wants;
        program.used_ns += one.used_ns;
        program.progress += one.progress;
    }
    return now;
}

void begin_measurement(ProgramsNow &now, std::int64_t now_ns, Memory &memory) {
    memory.began_ns = now_ns;
    memory.looks = 0;
    for (const ProgramNow &one : now.all()) {
        one.row->used_ns = one.used_ns;
        one.row->progress = one.progress;
    }
}

void round_to_sum(std::span<const double> wishes, int cores, std::span<int> targets) {
    const int least = static_cast<int>(wishes.size()) <= cores ? 1 : 0;
    int left = cores;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        targets[i] = std::max(least, static_cast<int>(wishes[i]));
        left -= targets[i];
    }
    while (left != 0) {
        const int step = left > 0 ? 1 : -1;
        std::size_t best = wishes.size();
        for (std::size_t i = 0; i < wishes.size(); ++i) {
            const auto missing = [&](std::size_t of) { return step * (wishes[of] - targets[of]); };
            if ((step > 0 || targets[i] > least) &&
                (best == wishes.size() || missing(i) > missing(best)))
                best = i;
        }
        if (best == wishes.size())
            return;
        targets[best] += step;
        left -= step;
    }
}

} // namespace sennit::node
