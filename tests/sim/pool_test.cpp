// SPDX-License-Identifier: Apache-2.0
// Several programs on the cores of one node: what the policies are worth, by simulation.
#include "sim/pool.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <string>

namespace {

using namespace sennit::sim;
using sennit::node::policy_names;
using sennit::node::policy_of;

const Node kNode;

std::vector<PoolProgram> programs(const std::vector<std::string> &texts) {
    std::vector<PoolProgram> all(texts.size());
    std::transform(texts.begin(), texts.end(), all.begin(), parse_pool_program);
    return all;
}

double makespan(const std::vector<PoolProgram> &all, std::string_view policy,
                const std::vector<int> &split = {}) {
    return simulate_pool(kNode, all, *policy_of(policy), split).makespan_s;
}

double ideal(const std::vector<PoolProgram> &all) {
    double work = 0;
    for (const PoolProgram &one : all)
        work += one.leftover ? 0 : one.work_s();
    return work / kNode.cores;
}

// The paper's four programs at every split of the cores in steps of 3.
struct Splits {
    double fastest = 1e9, equal = 0, slowest = 0;
    std::vector<int> best;
};
Splits paper_splits() {
    const std::vector<PoolProgram> all = programs(paper_programs());
    Splits found;
    for (int a = 3; a <= 39; a += 3)
        for (int b = 3; a + b <= 42; b += 3)
            for (int c = 3; a + b + c <= 45; c += 3) {
                const std::vector<int> split = {a, b, c, 48 - a - b - c};
                const double time = makespan(all, "static", split);
                if (time < found.fastest) {
                    found.fastest = time;
                    found.best = split;
                }
                found.slowest = std::max(found.slowest, time);
                if (split == std::vector<int>(4, 12))
                    found.equal = time;
            }
    return found;
}

TEST(PoolSimulation, AProgramAloneTakesWhatItsCurveSays) {
    for (const std::string &name : paper_programs())
        for (const int cores : {1, 7, 24, 48}) {
            const std::vector<PoolProgram> one = programs({name});
            EXPECT_NEAR(makespan(one, "static", {cores}), one[0].time_s(cores), 1e-6) << name;
        }
}

TEST(PoolSimulation, NoWorkIsLost) {
    const auto all = programs({"a:ranks=4,threads=12,work=2,iterations=20,wait=.01,imbalance=.4",
                               "b:ranks=3,threads=20,work=3,iterations=20,imbalance=.9,rotates=1"});
    for (const std::string_view policy : policy_names()) {
        const PoolResult result = simulate_pool(kNode, all, *policy_of(policy));
        EXPECT_NEAR(result.computed, all[0].work_s() + all[1].work_s(), 1e-6);
        EXPECT_GE(result.makespan_s, ideal(all));
        EXPECT_EQ(result.makespan_s, makespan(all, policy)) << "not deterministic";
    }
}

// The paper, section 5: "the smaller kernels exhaust their parallelism more quickly".
TEST(PoolSimulation, SmallerKernelsExhaustTheirParallelismMoreQuickly) {
    const auto all = programs(paper_programs());
    EXPECT_LT(all[0].best_cores(48), 30); // bt.A
    EXPECT_GT(all[0].time_s(48), all[0].time_s(24));
    EXPECT_EQ(all[1].best_cores(48), 48); // lu.C
    EXPECT_LT(all[1].time_s(48), .7 * all[1].time_s(24));
}

// Its Figure 3b: "there are sweet spots of scheduling for these four programs".
TEST(PoolSimulation, ASplitOfTheFourProgramsIsASweetSpot) {
    const Splits splits = paper_splits();
    EXPECT_LT(splits.fastest, .5 * splits.equal);
    EXPECT_LT(splits.fastest, .2 * splits.slowest);
    EXPECT_LT(splits.fastest, .8 * one_after_the_other_s(kNode, programs(paper_programs())));
    for (const int cores : splits.best)
        EXPECT_LE(cores, 39); // no end of the range
}

// Without knowing anything of the programs, and beginning with equal parts.
TEST(PoolSimulation, MoldableIsNearTheSweetSpot) {
    const auto all = programs(paper_programs());
    const double moldable = makespan(all, "moldable"), lend = makespan(all, "lend");
    EXPECT_LT(moldable, 1.1 * paper_splits().fastest);
    EXPECT_LT(moldable, 1.01 * lend);
    EXPECT_LT(moldable, .75 * one_after_the_other_s(kNode, all));
}

TEST(PoolSimulation, MoldableLeavesAProgramTheCoresThatMakeItFast) {
    const auto alone = programs({"bt.A:work=1000"});
    EXPECT_LT(makespan(alone, "moldable"), 1.05 * alone[0].time_s(alone[0].best_cores(48)));
    EXPECT_GT(makespan(alone, "lend"), 1.15 * alone[0].time_s(alone[0].best_cores(48)));
    // Long programs, one of which soon has enough.
    const auto two = programs({"mg.C:work=300", "lu.C:work=1500"});
    EXPECT_LT(makespan(two, "moldable"), .95 * makespan(two, "lend"));
}

TEST(PoolSimulation, LendingRecoversImbalance) {
    const char *const pairs[][2] = {
        {"a:ranks=4,threads=24,iterations=100,work=4,wait=.005,imbalance=.5",
         "b:ranks=4,threads=24,iterations=80,work=5,wait=.01,imbalance=.5"},
        {"a:ranks=8,threads=12,iterations=100,work=4,wait=.002,imbalance=.6,rotates=1",
         "b:ranks=8,threads=12,iterations=100,work=4,wait=.002,imbalance=.6,rotates=1"},
        {"a:ranks=2,threads=48,iterations=60,work=6,wait=.01,imbalance=.5",
         "b:ranks=6,threads=16,iterations=90,work=4,wait=.01,imbalance=.7,rotates=1"},
    };
    for (const auto &pair : pairs) {
        const auto all = programs({pair[0], pair[1]});
        const double alone = one_after_the_other_s(kNode, all);
        const double halves = makespan(all, "static", {24, 24});
        for (const char *policy : {"lend", "fair"}) {
            const double time = makespan(all, policy);
            EXPECT_LE(time, .85 * alone) << policy << ": " << pair[0];
            EXPECT_LE(time, 1.05 * ideal(all)) << policy << ": " << pair[0];
            EXPECT_LE(time, .85 * halves) << policy << ": " << pair[0];
        }
    }
}

// Pairs of programs at random, also such as have fewer threads than there are cores.
TEST(PoolSimulation, NothingIsMuchWorseThanStatic) {
    std::mt19937 random(1);
    const auto from = [&](double least, double most) {
        return std::uniform_real_distribution(least, most)(random);
    };
    for (int round = 0; round < 25; ++round) {
        std::vector<PoolProgram> all(2);
        for (PoolProgram &one : all) {
            one.ranks = 1 << static_cast<int>(from(1, 4));
            one.threads = kNode.cores / one.ranks / static_cast<int>(from(1, 3));
            PoolPhase phase;
            phase.iterations = static_cast<int>(from(20, 120));
            phase.work_s = from(.5, 5);
            phase.imbalance = from(.2, .9);
            phase.rotates = from(0, 1) < .5;
            phase.wait_s = from(0, .2) * phase.work_s / 24;
            one.phases.push_back(phase);
        }
        const double before = std::min(makespan(all, "static"), makespan(all, "static", {24, 24}));
        EXPECT_LE(makespan(all, "lend"), 1.01 * before) << round;
        EXPECT_LE(makespan(all, "fair"), 1.02 * before) << round;
        EXPECT_LE(makespan(all, "moldable"), 1.1 * before) << round;
    }
}

TEST(PoolSimulation, AServiceCostsNothing) {
    const std::string program = "a:ranks=4,threads=12,iterations=50,work=4,wait=.02,imbalance=.5";
    const double alone = makespan(programs({program}), "lend");
    const auto both = programs({program, "service:work=1e6,leftover=1"});
    for (const std::string_view policy : policy_names()) {
        const PoolResult result = simulate_pool(kNode, both, *policy_of(policy));
        EXPECT_LT(result.makespan_s, 1.03 * makespan({both[0]}, policy)) << policy;
        EXPECT_GT(result.computed - both[0].work_s(), .2 * kNode.cores * alone) << policy;
    }
}

TEST(PoolSimulation, MoreRanksThanCoresEnd) {
    Node node;
    node.cores = 3;
    node.domains = 1;
    const auto all = programs({"a:ranks=4,threads=1,work=1,iterations=3,imbalance=.3",
                               "b:ranks=2,threads=2,work=1,iterations=3"});
    for (const std::string_view policy : policy_names())
        EXPECT_LT(simulate_pool(node, all, *policy_of(policy)).makespan_s, 6. / 3 * 2.5) << policy;
}

TEST(PoolSimulation, WhoComesLaterGetsItsShare) {
    const auto all = programs({"a:work=480", "b:work=240,start=4"});
    const PoolResult result = simulate_pool(kNode, all, *policy_of("lend"));
    EXPECT_NEAR(result.end_s[1], 4 + 10, .1);
    EXPECT_NEAR(result.end_s[0], 15, .1);
    const auto second = programs({"a:work=480", "b:work=240,start=4,share=3"});
    EXPECT_NEAR(simulate_pool(kNode, second, *policy_of("lend")).end_s[1], 4 + 20. / 3, .1);
}

TEST(PoolSimulation, WhatIsNoProgramIsRefused) {
    EXPECT_EQ(parse_pool_program("x:work=3/work=4,most=2").phases.size(), 2U);
    EXPECT_EQ(parse_pool_program("bt.A:share=2").share, 2);
    for (const char *text : {"x", "", ":work=1", "x:work", "x:work=a", "x:work=1e99", "x:speed=3",
                             "x:ranks=1.5", "x:ranks=0", "x:work=-1", "x:work=nan"})
        EXPECT_THROW(parse_pool_program(text), std::invalid_argument) << text;
}

} // namespace
