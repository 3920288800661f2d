// SPDX-License-Identifier: Apache-2.0
// What threads of virtual teams keep from region to region.
#include "openmp/team/thread_values.h"

#include <deque>
#include <gtest/gtest.h>

namespace sennit::omp {
namespace {

// As in the runtime, they are kept as long as the process: LeakSanitizer finds them here.
template <class T>
T &kept() {
    static auto &all = *new std::deque<T>;
    return all.emplace_back();
}

TEST(ThreadValues, AKeyThatNobodyHasSetHasNothing) {
    auto &values = kept<ThreadValues>();
    EXPECT_EQ(values.get(0), nullptr);
    int first = 0;
    int other = 0;
    values.set(3, &first);
    EXPECT_EQ(values.get(2), nullptr);
    EXPECT_EQ(values.get(3), &first);
    values.set(100, &other);
    EXPECT_EQ(values.get(3), &first);
    EXPECT_EQ(values.get(99), nullptr);
    EXPECT_EQ(values.get(100), &other);
    EXPECT_EQ(values.get(101), nullptr);
}

// Thread i has what thread i of the last region had, also where their numbers of threads differ.
TEST(ValueSets, TheNextRegionFindsWhatTheLastOneHasLeft) {
    auto &sets = kept<ValueSets>();
    std::atomic<ValueSet *> region{nullptr};
    int mine = 0;
    sets.take(region, 4).threads[3].set(1, &mine);
    sets.give_back(region);
    EXPECT_EQ(region.load(), nullptr);
    const ValueSet &larger = sets.take(region, 64);
    EXPECT_EQ(larger.threads[3].get(1), &mine);
    EXPECT_EQ(larger.threads[63].get(1), nullptr);
    sets.give_back(region);
    EXPECT_EQ(sets.take(region, 2).threads[3].get(1), &mine);
}

TEST(ValueSets, TheThreadsOfARegionHaveOneSet) {
    auto &sets = kept<ValueSets>();
    std::atomic<ValueSet *> region{nullptr};
    EXPECT_EQ(&sets.take(region, 4), &sets.take(region, 4));
    EXPECT_EQ(&sets.take(region, 4), region.load());
}

TEST(ValueSets, RegionsThatRunAtTheSameTimeShareNothing) {
    auto &sets = kept<ValueSets>();
    std::atomic<ValueSet *> outer{nullptr};
    std::atomic<ValueSet *> inner{nullptr};
    int of_outer = 0;
    int of_inner = 0;
    sets.take(outer, 4).threads[1].set(0, &of_outer);
    sets.take(inner, 8).threads[1].set(0, &of_inner);
    EXPECT_EQ(sets.take(outer, 4).threads[1].get(0), &of_outer);
    sets.give_back(inner);
    sets.give_back(outer);
    // The outer one takes its set first the next time, too.
    EXPECT_EQ(sets.take(outer, 4).threads[1].get(0), &of_outer);
    EXPECT_EQ(sets.take(inner, 8).threads[1].get(0), &of_inner);
    int threads = 0;
    const auto count = [&threads](const ThreadValues &) { ++threads; };
    sets.each_unused(count);
    EXPECT_EQ(threads, 0) << "regions have them";
    sets.give_back(inner);
    sets.each_unused(count);
    EXPECT_EQ(threads, 8);
}

} // namespace
} // namespace sennit::omp
