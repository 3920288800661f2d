// SPDX-License-Identifier: Apache-2.0
// The strategies by name, and those that are too small for a file.
#include "decide/objects/strategies.h"

#include "decide/objects/charm.h"
#include "decide/objects/hierarchical.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace sennit::balance {
namespace {

class None final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override { return where_they_are(problem); }
};

class Rotate final : public Strategy {
  public:
    bool is_for_balance() const override { return false; }
    Assignment assign(const Problem &problem) const override {
        Assignment pe_of = where_they_are(problem);
        for (int &pe : pe_of)
            pe = (pe + 1) % problem.pes;
        return pe_of;
    }
};

class Random final : public Strategy {
  public:
    bool is_for_balance() const override { return false; }
    Assignment assign(const Problem &problem) const override {
        Assignment pe_of = where_they_are(problem);
        // Where all are now is the seed: so a program that balances again and again sees many
        // assignments, and each rank the same.
        std::uint64_t state = 0x9e3779b97f4a7c15;
        for (const int pe : pe_of)
            state = mixed(state + static_cast<std::uint64_t>(pe));
        for (int &pe : pe_of) {
            state = mixed(state);
            pe = static_cast<int>(state % static_cast<std::uint64_t>(problem.pes));
        }
        return pe_of;
    }

  private:
    // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    static std::uint64_t mixed(std::uint64_t state) {
        state += 0x9e3779b97f4a7c15;
        state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
        state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
        return state ^ (state >> 31);
    }
};

const None kNone;
const Greedy kGreedy;
const GreedyComm kGreedyComm;
const Refine kRefine;
const RefineComm kRefineComm;
const Hierarchical kHierarchical;
const HierarchicalComm kHierarchicalComm;
const Spread kSpread;
const Follow kFollow;
const Rotate kRotate;
const Random kRandom;

constexpr std::array<std::string_view, 11> kNames{
    "none",   "greedy", "greedycomm", "refine", "refinecomm", "hierarchical", "hierarchicalcomm",
    "spread", "follow", "rotate",     "random"};
constexpr std::array<const Strategy *, kNames.size()> kStrategies{
    &kNone,   &kGreedy, &kGreedyComm, &kRefine, &kRefineComm, &kHierarchical, &kHierarchicalComm,
    &kSpread, &kFollow, &kRotate,     &kRandom};

} // namespace

const Strategy *strategy_of(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name)
            return kStrategies[i];
    return nullptr;
}

std::string_view name_of(const Strategy &strategy) {
    const auto *const found = std::find(kStrategies.begin(), kStrategies.end(), &strategy);
    return kNames[static_cast<std::size_t>(found - kStrategies.begin())];
}

std::span<const std::string_view> strategy_names() {
    return kNames;
}

} // namespace sennit::balance
