// SPDX-License-Identifier: Apache-2.0
// The wave front on a virtual machine: what is known by hand, and what the paper's study claims.
#include "sim/front.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sennit::sim {
namespace {

// Two PEs, one domain each: 1 s serial, and 8 s of loops that only the first one has.
std::vector<std::vector<DomainTime>> uneven() {
    return {{{1, 8}}, {{1, 0}}};
}
constexpr SharingCosts kFree{0, 0, 1};

TEST(Front, WithoutSharingAPeDoesItsOwn) {
    NodeOfPes node(2, Sharing::none, kFree);
    const NodeOfPes::Step step = node.run(uneven());
    EXPECT_DOUBLE_EQ(step.end_s, 9);
    EXPECT_EQ(step.busy_s, (std::vector<double>{9, 1}));
}

// Both are busy when the loop begins: nobody is idle, so it is not cut. Once others took pieces,
// and be it by the probe, it is.
TEST(Front, HistoryMakesWorkStealableBeforeOthersAreIdle) {
    NodeOfPes node(2, Sharing::loops, kFree);
    std::vector<std::vector<DomainTime>> domains{{{1, 8}}, {{2, 0}}};
    EXPECT_DOUBLE_EQ(node.run(domains).end_s, 9);
    double end_s = 9;
    for (int step = 1; step < balance::Exposure::kProbeEvery; ++step)
        end_s = node.run(domains).end_s;
    EXPECT_LT(end_s, 9) << "no probe";
}

TEST(Front, AnIdlePeTakesHalfOfALoop) {
    NodeOfPes node(2, Sharing::loops, kFree);
    // The second is idle at 0.5.
    const NodeOfPes::Step step =
        node.run(std::vector<std::vector<DomainTime>>{{{1, 8}}, {{.5, 0}}});
    EXPECT_DOUBLE_EQ(step.end_s, 5);
    EXPECT_EQ(step.busy_s, (std::vector<double>{5, 4.5}));
}

TEST(Front, AnIdlePeTakesWholeDomainsFirst) {
    NodeOfPes node(2, Sharing::objects, kFree);
    const NodeOfPes::Step step =
        node.run(std::vector<std::vector<DomainTime>>{{{1, 0}, {1, 0}, {1, 0}, {1, 0}}, {}});
    EXPECT_DOUBLE_EQ(step.end_s, 2);
}

// Nobody is idle when the loop begins. The paper's loop is not cut then, and ends at 9.
TEST(Front, ALoopOfTasksIsCutThoughNobodyIsIdle) {
    NodeOfPes node(2, Sharing::tasks, kFree);
    const NodeOfPes::Step step = node.run(std::vector<std::vector<DomainTime>>{{{1, 8}}, {{5, 0}}});
    EXPECT_DOUBLE_EQ(step.end_s, 9); // of two pieces, the owner's second had begun at 5
    EXPECT_DOUBLE_EQ(node.run(std::vector<std::vector<DomainTime>>{{{1, 8}}, {{4, 0}}}).end_s, 8);
}

TEST(Front, NothingIsLostOrDoneTwice) {
    for (const Sharing sharing :
         {Sharing::none, Sharing::loops, Sharing::objects, Sharing::tasks}) {
        NodeOfPes node(4, sharing, kFree);
        for (int step = 0; step < 100; ++step) {
            std::vector<std::vector<DomainTime>> domains(4);
            double work = 0;
            for (int i = 0; i < 40; ++i) {
                const DomainTime one{0.1 * (i % 7), i % 5 == step % 5 ? 0.3 * i : 0};
                domains[static_cast<std::size_t>(i * i % 4)].push_back(one);
                work += one.serial_s + one.loops_s;
            }
            const NodeOfPes::Step done = node.run(domains);
            double busy = 0;
            for (const double one : done.busy_s)
                busy += one;
            ASSERT_NEAR(busy, work, 1e-9);
            ASSERT_GE(done.end_s * 4 + 1e-9, work);
        }
    }
}

TEST(Exposure, ALoopThatNobodyHelpsWithIsNotCutButForProbes) {
    balance::Exposure exposure;
    int cut = 0;
    for (int run = 0; run < 640; ++run) {
        const int pieces = exposure.pieces(0, 16);
        cut += pieces > 0 ? 1 : 0;
        exposure.record(pieces, 0);
    }
    EXPECT_EQ(cut, 10);
}

TEST(Exposure, AsManyAsAreIdleOrAsWereTaken) {
    balance::Exposure exposure;
    EXPECT_EQ(exposure.pieces(5, 16), 5);
    EXPECT_EQ(exposure.pieces(40, 16), 15);
    for (int run = 0; run < balance::Exposure::kLength; ++run)
        exposure.record(10, 5);
    EXPECT_EQ(exposure.pieces(0, 17), 8);
    EXPECT_EQ(exposure.pieces(12, 17), 12);
    for (int run = 0; run < balance::Exposure::kLength; ++run)
        exposure.record(10, 0);
    EXPECT_EQ(exposure.pieces(0, 17), 0);
}

TEST(Exposure, ALoopThatBecomesBalancedIsNotCutAfterEightRuns) {
    balance::Exposure exposure;
    for (int run = 0; run < 100; ++run)
        exposure.record(exposure.pieces(0, 16) + 1, exposure.pieces(0, 16) + 1);
    EXPECT_EQ(exposure.pieces(0, 16), 15);
    int cut = 0;
    for (int run = 0; run < balance::Exposure::kProbeEvery; ++run) {
        const int pieces = exposure.pieces(0, 16);
        cut += pieces > 0 ? 1 : 0;
        exposure.record(pieces, 0);
    }
    EXPECT_EQ(cut, 8);
    // And what was taken before that does not come back with the next one that is.
    exposure.record(1, 1);
    EXPECT_DOUBLE_EQ(exposure.mean(), 1.0 / balance::Exposure::kLength);
}

TEST(Wave, CountsTheCellsInTheBand) {
    // A far source: the front is nearly a straight line. It covers half of a domain.
    const Wave wave({4, 1, 0.5, 27, -1000, 0.5});
    double band = 0;
    for (std::size_t domain = 0; domain < wave.domains(); ++domain)
        band += wave.work(domain, 4002).band;
    EXPECT_NEAR(band, 4 * 0.5 * 27, 0.1 * 27);
}

// A small machine; the claims of the paper's section 5, which docs/performance.md has in full.
struct Study {
    FrontMachine machine;
    FrontProgram program;
    Study() {
        machine.nodes = 16;
        program.wave.side = 64;
        program.steps = 300;
        program.wave.speed = 0.3;
        program.step_s = 0;
    }
    FrontResult run(const char *strategy, Sharing sharing, int period = 50) const {
        FrontWay way;
        way.strategy = strategy ? balance::strategy_of(strategy) : nullptr;
        way.period = period;
        way.sharing = sharing;
        return simulate_front(machine, program, way);
    }
};

TEST(Front, BothKindsOfBalanceAreBetterThanEither) {
    const Study study;
    const FrontResult none = study.run(nullptr, Sharing::none);
    const FrontResult greedy = study.run("greedy", Sharing::none);
    const FrontResult loops = study.run(nullptr, Sharing::loops);
    const FrontResult both = study.run("greedy", Sharing::loops);
    EXPECT_LT(greedy.total_s(), none.total_s());
    EXPECT_LT(loops.total_s(), none.total_s());
    EXPECT_LT(both.total_s(), greedy.total_s());
    EXPECT_LT(both.total_s(), loops.total_s());
    EXPECT_LT(both.pe_imbalance, greedy.pe_imbalance);
    EXPECT_LT(greedy.node_imbalance, none.node_imbalance);
    EXPECT_NEAR(none.ideal_s, both.ideal_s, 1e-9);
    EXPECT_EQ(none.balance_s, 0);
    EXPECT_EQ(none.moved, 0U);
}

TEST(Front, BalancingOftenCostsMore) {
    const Study study;
    EXPECT_GT(study.run("greedy", Sharing::none, 10).balance_s,
              study.run("greedy", Sharing::none, 50).balance_s * 4);
}

TEST(Front, NeighboursApartIsBetterThanLoadsOfThePast) {
    const Study study;
    EXPECT_LT(study.run("spread", Sharing::objects).node_imbalance,
              study.run("greedy", Sharing::objects).node_imbalance);
    EXPECT_LT(study.run("spread", Sharing::objects).balance_s,
              study.run("greedy", Sharing::objects).balance_s);
}

// At each time the nodes have the front in as many of their domains, and few others move.
TEST(Front, AStrategyThatLooksAheadIsBetterThanLoadsOfThePast) {
    Study study;
    study.program.wave.speed = .1;
    study.program.steps = 500;
    for (const int period : {20, 50, 100}) {
        const FrontResult greedy = study.run("greedy", Sharing::none, period);
        const FrontResult follow = study.run("follow", Sharing::none, period);
        EXPECT_LT(follow.node_imbalance, 0.9 * greedy.node_imbalance) << period;
        EXPECT_LT(follow.pe_imbalance, 0.9 * greedy.pe_imbalance) << period;
        EXPECT_LT(follow.moved, greedy.moved) << period;
        EXPECT_LT(follow.total_s(), greedy.total_s()) << period;
    }
}

TEST(Front, AStrategyThatLooksAheadIsSpreadWhereNothingMoves) {
    Study study;
    study.program.wave.speed = 0;
    study.program.steps = 200;
    const FrontResult spread = study.run("spread", Sharing::none);
    const FrontResult follow = study.run("follow", Sharing::none);
    EXPECT_EQ(follow.steps_s, spread.steps_s);
    EXPECT_EQ(follow.moved, spread.moved);
}

// What docs/performance.md says of 1024 cores.
TEST(Front, GoalsOfThePapersStudy) {
    const FrontMachine machine;
    FrontProgram program;
    program.wave = {128, .17, .31, 27};
    const auto run = [&](const char *strategy, Sharing sharing) {
        FrontWay way;
        way.strategy = strategy ? balance::strategy_of(strategy) : nullptr;
        way.sharing = sharing;
        return simulate_front(machine, program, way);
    };
    const FrontResult none = run(nullptr, Sharing::none);
    const FrontResult greedy = run("greedy", Sharing::none);
    const FrontResult shared = run(nullptr, Sharing::tasks);
    const FrontResult both = run("greedy", Sharing::tasks);
    const FrontResult spread = run("spread", Sharing::tasks);
    const FrontResult follow = run("follow", Sharing::tasks);
    EXPECT_LE(both.pe_imbalance, .25);
    EXPECT_LE(spread.pe_imbalance, .25);
    EXPECT_LE(spread.node_imbalance, .137);
    EXPECT_GE(none.total_s() / both.total_s(), 1.5);
    EXPECT_GE(greedy.total_s() / both.total_s(), 1.1);
    EXPECT_GE(none.total_s() / shared.total_s(), 1.21);
    EXPECT_LE(spread.balance_s, .03 * spread.total_s());
    EXPECT_LE(follow.pe_imbalance, .25);
    EXPECT_LE(follow.node_imbalance, .08);
    EXPECT_LE(follow.balance_s, .03 * follow.total_s());
}

// Domains are still moved for their loads, but less of what they tell each other crosses nodes, or
// the slowest PE waits less for it.
TEST(Front, StrategiesWithLinksTakeLessTime) {
    Study study;
    study.program.steps = 120;
    study.program.halo_bytes = 64 << 10;
    const auto run = [&](const char *strategy) { return study.run(strategy, Sharing::none, 20); };
    EXPECT_LT(run("hierarchicalcomm").told_bytes, 0.8 * run("hierarchical").told_bytes);
    EXPECT_LT(run("hierarchicalcomm").total_s(), run("hierarchical").total_s());
    EXPECT_LT(run("refinecomm").total_s(), run("refine").total_s());
    // Nobody moves: what is told between nodes is known by hand. 4 x 4 nodes, 16 x 16 domains each.
    EXPECT_NEAR(study.run(nullptr, Sharing::none).told_bytes, 2. * (64 << 10) * 2 * 3 * 64, 1e-3);
}

TEST(Front, TheGateDeclinesWhatDoesNotPay) {
    Study study;
    study.machine.bytes_per_s = 1e6;
    FrontWay way;
    way.strategy = balance::strategy_of("greedy");
    way.gate = true;
    const FrontResult result = simulate_front(study.machine, study.program, way);
    EXPECT_EQ(result.declined, result.calls);
    EXPECT_GT(result.calls, 0);
    EXPECT_EQ(result.moved, 0U);
}

} // namespace
} // namespace sennit::sim
