// SPDX-License-Identifier: Apache-2.0
// Balancing strategies: exact answers where they can be known by hand, promises elsewhere.
#include "decide/objects/gate.h"
#include "decide/objects/partners.h"
#include "decide/objects/strategies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace sennit::balance {
namespace {

Problem problem_of(const std::vector<MovableObject> &objects, int pes, int pes_of_node = 1) {
    Problem problem;
    problem.objects = objects;
    problem.pes = pes;
    problem.pes_of_node = pes_of_node;
    return problem;
}

Assignment assigned(const char *name, const Problem &problem) {
    return strategy_of(name)->assign(problem);
}

double slowest(const Problem &problem, const Assignment &pe_of) {
    const std::vector<double> loads = loads_of(problem, pe_of);
    return *std::max_element(loads.begin(), loads.end());
}

std::size_t moves(const Problem &problem, const Assignment &pe_of) {
    return forecast(problem, pe_of, {}, false).moves;
}

double heaviest(const std::vector<MovableObject> &objects) {
    double most = 0;
    for (const MovableObject &object : objects)
        most = std::max(most, object.load);
    return most;
}

double mean(const std::vector<MovableObject> &objects, int pes) {
    double sum = 0;
    for (const MovableObject &object : objects)
        sum += object.load;
    return sum / pes;
}

std::vector<MovableObject> random_objects(std::mt19937 &random, int count, int pes) {
    std::lognormal_distribution<double> load(0, 1);
    std::uniform_int_distribution<int> pe(0, pes - 1);
    std::vector<MovableObject> objects;
    objects.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
        objects.push_back({load(random), pe(random), 100});
    return objects;
}

TEST(Balance, ImbalanceIsThePapersEquation1) {
    EXPECT_DOUBLE_EQ(imbalance(std::vector{1.0, 1.0, 1.0, 5.0}), 1.5);
    EXPECT_DOUBLE_EQ(imbalance(std::vector{2.0, 2.0}), 0);
    EXPECT_DOUBLE_EQ(imbalance(std::vector{0.0, 0.0}), 0);
    EXPECT_DOUBLE_EQ(imbalance({}), 0);
}

TEST(Balance, EveryNameIsAStrategyAndNothingElse) {
    for (const std::string_view name : strategy_names()) {
        ASSERT_NE(strategy_of(name), nullptr) << name;
        EXPECT_EQ(name_of(*strategy_of(name)), name);
    }
    EXPECT_EQ(strategy_of("greed"), nullptr);
    EXPECT_EQ(strategy_of(""), nullptr);
}

TEST(Balance, AllStrategiesAnswerForEveryObjectAlikeEachTime) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const int pes_of_node = 1 + static_cast<int>(random() % 4);
        const int pes = 1 + static_cast<int>(random() % 13);
        const auto objects = random_objects(random, static_cast<int>(random() % 60), pes);
        const Problem problem = problem_of(objects, pes, pes_of_node);
        for (const std::string_view name : strategy_names()) {
            const Assignment pe_of = strategy_of(name)->assign(problem);
            ASSERT_EQ(pe_of.size(), objects.size()) << name;
            for (const int pe : pe_of) {
                ASSERT_GE(pe, 0) << name;
                ASSERT_LT(pe, pes) << name;
            }
            ASSERT_EQ(strategy_of(name)->assign(problem), pe_of) << name;
        }
    }
}

TEST(Balance, GreedyPutsTheHeaviestOnTheLeastLoaded) {
    // 9 7 6 5 3 on two PEs, in this order: 9+5, 7+6+3.
    const std::vector<MovableObject> objects{{5, 0, 0}, {9, 0, 0}, {3, 0, 0}, {7, 0, 0}, {6, 0, 0}};
    const Problem problem = problem_of(objects, 2);
    EXPECT_EQ(assigned("greedy", problem), (Assignment{0, 0, 1, 1, 1}));
}

// Graham (1969), longest processing time first: at most 4/3 - 1/(3 PEs) of the best; and the best
// is at least the mean, and at least the heaviest object.
TEST(Balance, GreedyKeepsGrahamsBound) {
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        const int pes = 2 + static_cast<int>(random() % 8);
        // Loads that have a perfect assignment: each PE's time is cut at random places.
        std::vector<MovableObject> objects;
        for (int pe = 0; pe < pes; ++pe) {
            std::uniform_real_distribution<double> place(0, 1);
            std::set<double> cuts{0, 1};
            for (unsigned cut = random() % 6; cut > 0; --cut)
                cuts.insert(place(random));
            for (auto one = cuts.begin(); std::next(one) != cuts.end(); ++one)
                objects.push_back({*std::next(one) - *one, 0, 0});
        }
        const Problem problem = problem_of(objects, pes);
        EXPECT_LE(slowest(problem, assigned("greedy", problem)), 4. / 3 - 1. / (3 * pes) + 1e-9);
    }
}

TEST(Balance, GreedyKnowsOfSlowPEsAndOfWorkThatCannotMove) {
    const std::vector<MovableObject> objects(30, MovableObject{1, 0, 0});
    const std::vector<double> speeds{1, 2};
    const std::vector<double> fixed_s{5, 0};
    Problem problem = problem_of(objects, 2);
    problem.speeds = speeds;
    EXPECT_NEAR(slowest(problem, assigned("greedy", problem)), 10, 1e-9);
    problem.speeds = {};
    problem.fixed_s = fixed_s;
    EXPECT_NEAR(slowest(problem, assigned("greedy", problem)), 18, 1e-9);
}

TEST(Balance, GreedyCommKeepsTogetherWhoTalks) {
    // Two rings of four, laid out alternately. Load alone does not say which belong together.
    const std::vector<MovableObject> objects(8, MovableObject{1, 0, 0});
    std::vector<Link> links;
    for (const int i : {0, 1, 2, 3, 4, 5})
        links.push_back({i, i + 2, 1e6});
    Problem problem = problem_of(objects, 2);
    problem.links = links;
    problem.seconds_per_byte = 1e-6;
    const auto crossing = [&](const Assignment &pe_of) {
        return std::count_if(links.begin(), links.end(), [&](const Link &link) {
            return pe_of[static_cast<std::size_t>(link.a)] !=
                   pe_of[static_cast<std::size_t>(link.b)];
        });
    };
    EXPECT_EQ(crossing(assigned("greedycomm", problem)), 0);
    EXPECT_DOUBLE_EQ(slowest(problem, assigned("greedycomm", problem)), 4);
    // If messages cost nothing it is greedy.
    problem.seconds_per_byte = 0;
    EXPECT_DOUBLE_EQ(slowest(problem, assigned("greedycomm", problem)), 4);
}

TEST(Balance, GreedyCommPutsAnObjectOfEqualLoadWhereItTalks) {
    // Object i talks to 7 - i, and greedy puts no such two together.
    const std::vector<MovableObject> objects(8, MovableObject{1, 0, 0});
    std::vector<Link> links;
    for (const int i : {0, 1, 2, 3})
        links.push_back({i, 7 - i, 10});
    Problem problem = problem_of(objects, 4, 2);
    problem.links = links;
    const auto apart = [&](const Assignment &pe_of) {
        return std::count_if(links.begin(), links.end(), [&](const Link &link) {
            return pe_of[static_cast<std::size_t>(link.a)] !=
                   pe_of[static_cast<std::size_t>(link.b)];
        });
    };
    EXPECT_EQ(apart(assigned("greedy", problem)), 4);
    EXPECT_EQ(apart(assigned("greedycomm", problem)), 0);
    // Nothing is too dear to be apart, if the load is not.
    problem.seconds_per_byte = 0.01;
    problem.seconds_per_byte_in_node = 0.001;
    EXPECT_EQ(apart(assigned("greedycomm", problem)), 0);
    EXPECT_DOUBLE_EQ(slowest(problem, assigned("greedycomm", problem)), 2);
}

TEST(Balance, ForecastCountsLinksAndWhatMovesWithinANode) {
    const std::vector<MovableObject> objects{{1, 0, 100}, {1, 1, 100}, {1, 2, 100}};
    const std::vector<Link> links{{0, 1, 10}, {1, 2, 10}};
    Problem problem = problem_of(objects, 4, 2);
    problem.links = links;
    problem.seconds_per_byte = 0.5;
    problem.seconds_per_byte_in_node = 0.1;
    const Assignment to{0, 1, 3};
    const Costs costs{1, 0.01};
    EXPECT_DOUBLE_EQ(forecast(problem, to, costs, false).step_before_s, 1 + 1 + 5);
    EXPECT_EQ(forecast(problem, to, costs, false).bytes, 0U);
    problem.moves_in_node = true;
    EXPECT_EQ(forecast(problem, to, costs, false).bytes, 100U);
    EXPECT_DOUBLE_EQ(forecast(problem, to, costs, false).move_s, 2);
}

TEST(Balance, RefineMovesNothingThatIsInBalance) {
    std::vector<MovableObject> objects;
    for (int i = 0; i < 64; ++i)
        objects.push_back({1 + 0.01 * (i % 2), i % 16, 0});
    const Problem problem = problem_of(objects, 16);
    EXPECT_EQ(moves(problem, assigned("refine", problem)), 0U);
}

TEST(Balance, RefineMovesLittleAndNeverMakesItWorse) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        const int pes = 2 + static_cast<int>(random() % 15);
        const auto objects = random_objects(random, 16 * pes, pes);
        const Problem problem = problem_of(objects, pes);
        const Assignment pe_of = assigned("refine", problem);
        EXPECT_LE(slowest(problem, pe_of), slowest(problem, where_they_are(problem)) + 1e-12);
        EXPECT_LT(moves(problem, pe_of), moves(problem, assigned("greedy", problem)));
        // Near the mean, or held up by one heavy object.
        const double share = mean(objects, pes);
        EXPECT_LE(slowest(problem, pe_of), std::max(share * 1.1, heaviest(objects) + share * 0.1));
    }
}

// Bytes between objects on different PEs, or on different nodes.
double told_apart(const Problem &problem, const Assignment &pe_of, bool nodes = false) {
    double bytes = 0;
    for (const Link &link : problem.links) {
        const int a = pe_of[index(link.a)];
        const int b = pe_of[index(link.b)];
        if (nodes ? problem.node_of(a) != problem.node_of(b) : a != b)
            bytes += link.bytes;
    }
    return bytes;
}

// The slowest PE with its links.
double slowest_linked(const Problem &problem, const Assignment &pe_of) {
    std::vector<double> times = loads_of(problem, pe_of);
    const std::vector<double> links_s = link_seconds_of(problem, pe_of);
    for (std::size_t i = 0; i < times.size(); ++i)
        times[i] += links_s[i];
    return *std::max_element(times.begin(), times.end());
}

std::vector<Link> random_links(std::mt19937 &random, int objects, int count) {
    std::uniform_int_distribution<int> object(0, objects - 1);
    std::exponential_distribution<double> bytes(1e-4);
    std::vector<Link> links;
    while (static_cast<int>(links.size()) < count) {
        const Link link{object(random), object(random), bytes(random)};
        if (link.a != link.b)
            links.push_back(link);
    }
    return links;
}

TEST(Balance, RefineCommMovesObjectsToWhomTheyTalk) {
    // PE 0 has two too many. Its last two talk to PE 1's. For loads alone any two will do.
    std::vector<MovableObject> objects(8, MovableObject{1, 0, 0});
    objects[6].pe = objects[7].pe = 1;
    const std::vector<Link> links{{0, 1, 10}, {2, 3, 10}, {4, 6, 10}, {5, 7, 10}};
    Problem problem = problem_of(objects, 2);
    problem.links = links;
    problem.seconds_per_byte = 1e-3;
    EXPECT_EQ(told_apart(problem, assigned("refine", problem)), 20);
    const Assignment pe_of = assigned("refinecomm", problem);
    EXPECT_EQ(pe_of, (Assignment{0, 0, 0, 0, 1, 1, 1, 1}));
    // Loads as they are measured are never equal: a little more is not worth a message.
    objects[0].load = 1.05;
    EXPECT_EQ(assigned("refinecomm", problem), pe_of);
    // If messages cost nothing they still say who belongs together.
    problem.seconds_per_byte = 0;
    EXPECT_EQ(assigned("refinecomm", problem), pe_of);
}

TEST(Balance, RefineCommGoesToAPEThatIsNotTheLeastLoadedForItsLinks) {
    // Object 5 talks to PE 1, which has room; PE 2 has more.
    std::vector<MovableObject> objects(8, MovableObject{0.5, 0, 0});
    objects[6] = {1, 1, 0};
    objects[7] = {0.5, 2, 0};
    const std::vector<Link> links{{5, 6, 100}};
    Problem problem = problem_of(objects, 3);
    problem.links = links;
    problem.seconds_per_byte = 1e-4;
    const Assignment pe_of = assigned("refinecomm", problem);
    EXPECT_EQ(told_apart(problem, assigned("refine", problem)), 100);
    EXPECT_EQ(told_apart(problem, pe_of), 0);
    EXPECT_DOUBLE_EQ(slowest(problem, pe_of), 1.5);
}

TEST(Balance, RefineCommMovesNothingThatIsInBalance) {
    std::vector<MovableObject> objects;
    for (int i = 0; i < 64; ++i)
        objects.push_back({1, i % 16, 0});
    Problem problem = problem_of(objects, 16);
    std::vector<Link> links;
    for (int i = 0; i < 64; ++i)
        links.push_back({i, (i + 16) % 64, 1e6});
    problem.links = links;
    problem.seconds_per_byte = 1e-9;
    EXPECT_EQ(moves(problem, assigned("refinecomm", problem)), 0U);
    // Without links it is in balance where refine is.
    problem.links = {};
    EXPECT_EQ(moves(problem, assigned("refinecomm", problem)), 0U);
}

TEST(Balance, RefineCommEndsAndNeverMakesItWorse) {
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
        const int pes = 2 + round % 15;
        const std::vector<MovableObject> objects = random_objects(random, pes * 8, pes);
        const std::vector<Link> links = random_links(random, pes * 8, pes * 16);
        Problem problem = problem_of(objects, pes, 1 + round % 4);
        problem.links = links;
        // From nothing to more than the work itself.
        problem.seconds_per_byte = round % 3 == 0 ? 0 : round % 3 == 1 ? 1e-6 : 1e-4;
        problem.seconds_per_byte_in_node = problem.seconds_per_byte / 4;
        const Assignment before = where_they_are(problem);
        const Assignment pe_of = assigned("refinecomm", problem);
        EXPECT_LE(slowest_linked(problem, pe_of), slowest_linked(problem, before) * (1 + 1e-9));
    }
}

TEST(Balance, RefineCommKeepsAMeshTogetherBetterThanRefine) {
    // 16 x 16 domains on 16 PEs, in blocks. Those of a corner have more work.
    std::mt19937 random(3);
    std::uniform_real_distribution<double> noise(0.95, 1.05);
    std::vector<MovableObject> objects;
    std::vector<Link> links;
    for (int i = 0; i < 256; ++i) {
        const int x = i % 16;
        const int y = i / 16;
        objects.push_back({noise(random) * (x + y < 10 ? 3 : 1), y / 4 * 4 + x / 4, 0});
        if (x < 15)
            links.push_back({i, i + 1, 1000});
        if (y < 15)
            links.push_back({i, i + 16, 1000});
    }
    Problem problem = problem_of(objects, 16, 4);
    problem.links = links;
    problem.seconds_per_byte = 1e-6;
    problem.seconds_per_byte_in_node = 1e-7;
    // Between nodes a message is dear; within them hierarchicalcomm looks at the loads first.
    for (const bool nodes : {false, true}) {
        const std::string name = nodes ? "hierarchical" : "refine";
        const Assignment without = assigned(name.c_str(), problem);
        const Assignment with = assigned((name + "comm").c_str(), problem);
        EXPECT_LT(told_apart(problem, with, nodes), 0.85 * told_apart(problem, without, nodes))
            << name;
        EXPECT_LT(slowest(problem, with), 1.1 * slowest(problem, without)) << name;
    }
}

TEST(Balance, HierarchicalCommKeepsTalkersInANodeAndOnAPE) {
    // A mesh of 8 x 8, all on the first of four nodes.
    const std::vector<MovableObject> objects(64, MovableObject{1, 0, 0});
    std::vector<Link> links;
    for (int i = 0; i < 64; ++i) {
        if (i % 8 < 7)
            links.push_back({i, i + 1, 1000});
        if (i < 56)
            links.push_back({i, i + 8, 1000});
    }
    Problem problem = problem_of(objects, 8, 2);
    problem.links = links;
    problem.seconds_per_byte = 1e-6;
    problem.seconds_per_byte_in_node = 1e-7;
    const Assignment with = assigned("hierarchicalcomm", problem);
    const Assignment without = assigned("hierarchical", problem);
    EXPECT_LE(slowest(problem, with), slowest(problem, without) + 1);
    EXPECT_LT(told_apart(problem, with, true), told_apart(problem, without, true));
    EXPECT_LT(told_apart(problem, with), 0.8 * told_apart(problem, without));
}

TEST(Balance, HierarchicalCrossesNodesLessThanGreedy) {
    std::mt19937 random(4);
    for (int round = 0; round < 50; ++round) {
        const auto objects = random_objects(random, 16 * 32, 32);
        const Problem problem = problem_of(objects, 32, 8);
        const Assignment pe_of = assigned("hierarchical", problem);
        EXPECT_LT(forecast(problem, pe_of, {}, false).bytes,
                  forecast(problem, assigned("greedy", problem), {}, false).bytes / 4);
        EXPECT_LE(slowest(problem, pe_of), std::max(heaviest(objects), mean(objects, 32) * 1.05));
    }
}

// 5 PEs on nodes of 2: the last node has one.
TEST(Balance, HierarchicalKnowsOfASmallLastNode) {
    const std::vector<MovableObject> objects(50, MovableObject{1, 0, 0});
    Problem problem = problem_of(objects, 5, 2);
    EXPECT_LE(slowest(problem, assigned("hierarchical", problem)), 11);
    problem.moves_in_node = true;
    EXPECT_LE(slowest(problem, assigned("hierarchical", problem)), 11);
}

// PEs that are processes: to move from one to the next costs something, whatever node they are on.
TEST(Balance, HierarchicalMovesFewWithinANodeIfThatCostsSomething) {
    std::mt19937 random(8);
    for (const char *name : {"hierarchical", "hierarchicalcomm"})
        for (int round = 0; round < 20; ++round) {
            std::vector<MovableObject> objects = random_objects(random, 16 * 8, 8);
            Problem problem = problem_of(objects, 8, 4);
            problem.moves_in_node = true;
            const Assignment pe_of = assigned(name, problem);
            EXPECT_LE(moves(problem, pe_of), objects.size() / 2) << name;
            EXPECT_LE(slowest(problem, pe_of),
                      std::max(heaviest(objects), mean(objects, 8) * 1.05));
            for (std::size_t i = 0; i < objects.size(); ++i)
                objects[i].pe = pe_of[i];
            problem.objects = objects;
            EXPECT_LE(moves(problem, assigned(name, problem)), 8U) << name;
        }
}

// On every line of a mesh, and in every small square, each node has about its part.
TEST(Balance, SpreadPutsNeighboursApart) {
    constexpr int kSide = 32;
    std::vector<MovableObject> objects;
    std::vector<Position> positions;
    for (int i = 0; i < kSide * kSide; ++i) {
        objects.push_back({1, 0, 0});
        positions.push_back({5. + 0.1 * (i % kSide), -3 + 0.1 * (i / kSide), 7});
    }
    Problem problem = problem_of(objects, 32, 2);
    problem.positions = positions;
    const Assignment pe_of = assigned("spread", problem);
    for (int y = 0; y < kSide; ++y) {
        std::vector<int> row(16);
        std::vector<int> column(16);
        for (int x = 0; x < kSide; ++x) {
            ++row[index(problem.node_of(pe_of[index(y * kSide + x)]))];
            ++column[index(problem.node_of(pe_of[index(x * kSide + y)]))];
        }
        EXPECT_LE(*std::max_element(row.begin(), row.end()), 4) << "of a mean of 2, row " << y;
        EXPECT_LE(*std::max_element(column.begin(), column.end()), 4) << "column " << y;
    }
    EXPECT_LE(imbalance(node_loads_of(problem, pe_of)), 0.03);
    // Once apart, they stay.
    std::vector<MovableObject> placed = objects;
    for (std::size_t i = 0; i < placed.size(); ++i)
        placed[i].pe = pe_of[i];
    problem.objects = placed;
    EXPECT_EQ(forecast(problem, assigned("spread", problem), {}, false).bytes, 0U);
    // All at one place, or no positions at all: it answers nevertheless.
    positions.assign(positions.size(), Position{1, 1, 1});
    EXPECT_LE(imbalance(loads_of(problem, assigned("spread", problem))), 0.05);
    problem.positions = {};
    EXPECT_LE(imbalance(loads_of(problem, assigned("spread", problem))), 0.05);
}

// Processes of one node, or of two: neighbours are on different ones, and stay there.
TEST(Balance, SpreadPutsNeighboursOnDifferentProcesses) {
    constexpr int kSide = 16;
    for (const int pes_of_node : {8, 4, 3}) {
        std::vector<MovableObject> objects(kSide * kSide, MovableObject{1, 0, 0});
        std::vector<Position> positions;
        for (int i = 0; i < kSide * kSide; ++i)
            positions.push_back({1. * (i % kSide), 1. * (i / kSide), 0});
        Problem problem = problem_of(objects, 8, pes_of_node);
        problem.positions = positions;
        problem.moves_in_node = true;
        const Assignment pe_of = assigned("spread", problem);
        EXPECT_LE(imbalance(loads_of(problem, pe_of)), 0.05);
        int together = 0;
        for (int i = 0; i < kSide * kSide; ++i) {
            together += i % kSide > 0 && pe_of[index(i)] == pe_of[index(i - 1)] ? 1 : 0;
            together += i >= kSide && pe_of[index(i)] == pe_of[index(i - kSide)] ? 1 : 0;
        }
        EXPECT_LE(together, kSide) << pes_of_node;
        for (std::size_t i = 0; i < objects.size(); ++i)
            objects[i].pe = pe_of[i];
        problem.objects = objects;
        EXPECT_LE(moves(problem, assigned("spread", problem)), 8U) << pes_of_node;
    }
}

TEST(Balance, RotateMovesAllOfThemOnePEOn) {
    const std::vector<MovableObject> objects{{1, 0, 0}, {1, 2, 0}, {1, 1, 0}};
    EXPECT_EQ(assigned("rotate", problem_of(objects, 3)), (Assignment{1, 0, 2}));
}

TEST(Balance, AForecastCountsWhatCrossesNodes) {
    const std::vector<MovableObject> objects{{4, 0, 1000}, {2, 0, 500}, {1, 1, 10}, {1, 2, 10}};
    const Problem problem = problem_of(objects, 4, 2);
    const Costs costs{0.25, 1e-3};
    // The second to PE 1 (the same node), the third to PE 3 (another node).
    const Forecast found = forecast(problem, Assignment{0, 1, 3, 2}, costs, false);
    EXPECT_EQ(found.moves, 2U);
    EXPECT_EQ(found.bytes, 10U);
    EXPECT_DOUBLE_EQ(found.step_before_s, 6);
    EXPECT_DOUBLE_EQ(found.step_after_s, 4);
    EXPECT_DOUBLE_EQ(found.move_s, 0.25 + 0.01);
    EXPECT_DOUBLE_EQ(found.gain_s(10), 20 - 0.26);
    // What it takes to decide, and to wait for others, is no cost of the moves.
    EXPECT_EQ(forecast(problem, where_they_are(problem), costs, false).move_s, 0);
    // Nodes that share: 7 and 1 seconds on two PEs each.
    EXPECT_DOUBLE_EQ(forecast(problem, where_they_are(problem), costs, true).step_before_s, 3.5);
}

Forecast forecast_of(double gain_of_step_s, double move_s) {
    Forecast found;
    found.step_before_s = 10 + gain_of_step_s;
    found.step_after_s = 10;
    found.move_s = move_s;
    found.moves = 1;
    return found;
}

TEST(Gate, OneOddMeasurementSaysNothing) {
    MoveGate gate({1, 0.5});
    const auto costs = [&] { return gate.costs().seconds_per_object; };
    gate.measured(10, 1e6);
    EXPECT_DOUBLE_EQ(costs(), 1);
    for (int i = 0; i < 20; ++i)
        gate.measured(10, i % 3 == 2 ? 1e6 : 10);
    EXPECT_DOUBLE_EQ(costs(), 1);
    EXPECT_DOUBLE_EQ(gate.costs().seconds_per_byte, 0.5);
}

TEST(Gate, CostsFollowWhatIsMeasuredInBothDirections) {
    MoveGate gate({1, 0.5});
    const auto take = [&](double seconds) { // for the move of one object
        for (int i = 0; i < 4; ++i)
            gate.measured(gate.costs().seconds_per_object, seconds);
        return gate.costs().seconds_per_object;
    };
    EXPECT_DOUBLE_EQ(take(300), 300);
    EXPECT_DOUBLE_EQ(take(0.25), 0.25);
    gate.measured(0, 1); // nothing has moved
    EXPECT_DOUBLE_EQ(gate.costs().seconds_per_byte, 0.125);
}

TEST(Gate, WhatIsLostByStayingAddsUpUntilItWouldHavePaidToMove) {
    MoveGate gate({1, 0});
    const Forecast found = forecast_of(1, 10); // 4 steps gain 4
    for (int i = 0; i < 2; ++i) {              // and then anew
        for (int call = 0; call < 7; ++call)
            EXPECT_FALSE(gate.pays(found, 4)) << call;
        EXPECT_TRUE(gate.pays(found, 4));
    }
    EXPECT_TRUE(gate.pays(forecast_of(3, 10), 4));
}

TEST(Gate, WhatGainsNothingNeverPays) {
    MoveGate gate({1, 0});
    EXPECT_FALSE(gate.pays(forecast_of(1, 7), 4));
    EXPECT_FALSE(gate.pays(forecast_of(1, 7), 4));
    EXPECT_FALSE(gate.pays(forecast_of(0, 0.5), 4)); // in balance: what was lost is forgotten
    EXPECT_FALSE(gate.pays(forecast_of(1, 7), 4));
    EXPECT_FALSE(gate.pays(forecast_of(-1, 0), 4));
}

TEST(Partners, AreFoundByRanksAndTag) {
    const Mail mail[] = {
        {true, 0, 1, 7, 3, 100}, {false, 1, 0, 7, 5, 100}, // 3 to 5
        {true, 1, 0, 7, 5, 20},  {false, 0, 1, 7, 3, 20},  // and back
        {true, 0, 1, 8, 3, 50},  {false, 1, 0, 8, 4, 50},  // another tag
        {true, 2, 1, 7, 6, 30},  {false, 1, 2, 7, 4, 30},  // another rank
    };
    const std::vector<Link> expected = {{3, 4, 50}, {3, 5, 120}, {4, 6, 30}};
    EXPECT_EQ(partners(mail), expected);
}

TEST(Partners, ReceiversThatNameTheSenderComeBeforeThoseThatTakeAny) {
    const Mail mail[] = {
        {true, 0, 1, 7, 1, 100}, {false, 1, 0, 7, 2, 100},       {false, 1, kAnyone, 7, 3, 100},
        {true, 2, 1, 7, 4, 10},  {false, 1, kAnyone, 9, 5, 100}, {true, 2, 1, 8, 6, 1},
        {true, 0, 1, 8, 7, 2},   {false, 1, 0, kAnyone, 8, 2},   {false, 1, kAnyone, kAnyone, 9, 2},
    };
    const std::vector<Link> expected = {{1, 2, 100}, {3, 4, 10}, {6, 9, 1}, {7, 8, 2}};
    EXPECT_EQ(partners(mail), expected);
}

TEST(Partners, ReceiversWithOneTagShareByWhatTheyReceive) {
    const Mail mail[] = {{true, 0, 1, 0, 1, 100},
                         {true, 0, 1, 0, 2, 300},
                         {false, 1, 0, 0, 3, 100},
                         {false, 1, 0, 0, 4, 300}};
    const std::vector<Link> expected = {{1, 3, 25}, {1, 4, 75}, {2, 3, 75}, {2, 4, 225}};
    EXPECT_EQ(partners(mail), expected);
}

TEST(Partners, WhoTalksToNobodyWeKnowHasNoLink) {
    const Mail mail[] = {{true, 0, 1, 0, 1, 100},
                         {false, 1, 0, 5, 2, 100},
                         {true, 0, 0, 3, 4, 100},
                         {false, 0, 0, 3, 4, 100}, // to itself
                         {false, 1, 2, 0, 3, 100}};
    EXPECT_TRUE(partners(mail).empty());
    EXPECT_TRUE(partners({}).empty());
}

} // namespace
} // namespace sennit::balance
