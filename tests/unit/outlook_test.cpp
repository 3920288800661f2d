// SPDX-License-Identifier: Apache-2.0
// What is expected of loads, and the strategy that heeds it.
#include "decide/objects/outlook.h"
#include "decide/objects/problem.h"
#include "decide/objects/strategies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace sennit::balance {
namespace {

constexpr double kAlways = 1;
constexpr double kPassage = 8;

// Objects in a row. Neighbours talk to each other. In each period a front passes over `way` of
// them, from the left to the right.
struct Row {
    explicit Row(int count, int pes, int pes_of_node = 1)
        : objects(index(count)), positions(index(count)) {
        for (int i = 0; i < count; ++i) {
            objects[index(i)] = {kAlways, i * pes / count, 100};
            positions[index(i)] = {10.0 * i, 3, 0};
            if (i > 0)
                links.push_back({i - 1, i, 1000});
        }
        problem.objects = objects;
        problem.pes = pes;
        problem.pes_of_node = pes_of_node;
    }
    void use_positions() { problem.positions = positions; }
    void use_links() { problem.links = links; }
    void note(int first, int way) {
        for (std::size_t i = 0; i < objects.size(); ++i) {
            const auto at = static_cast<int>(i);
            objects[i].load = kAlways + (at >= first && at < first + way ? kPassage : 0);
        }
        history.note(objects);
    }
    // Objects take the loads that are expected, as the strategy's callers do it.
    LoadOutlook look() {
        LoadOutlook outlook(problem, history);
        for (std::size_t i = 0; i < objects.size(); ++i)
            objects[i].load = outlook.loads()[i];
        return outlook;
    }

    std::vector<MovableObject> objects;
    std::vector<Position> positions;
    std::vector<Link> links;
    Problem problem;
    History history;
};

// When the passage adds to the load, in the mean.
double middle(const Passage &passage) {
    double sum = 0;
    double moments = 0;
    for (std::size_t part = 0; part < Passage::kParts; ++part) {
        sum += passage.course[part];
        moments += passage.course[part] * (static_cast<double>(part) + 0.5) / Passage::kParts;
    }
    return moments / sum;
}

TEST(LoadOutlook, ANearestSourceIsFoundByPositions) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> place(0, 10);
    for (int round = 0; round < 50; ++round) {
        std::vector<Position> positions(100);
        for (Position &one : positions)
            one = {std::floor(place(random)), place(random), round % 2 ? place(random) : 0};
        std::vector<int> sources;
        for (int i = 0; i < 1 + round; ++i)
            sources.push_back(static_cast<int>(random() % positions.size()));
        Problem problem;
        problem.positions = positions;
        const std::vector<double> found = distances_from(problem, sources);
        ASSERT_EQ(found.size(), positions.size());
        for (std::size_t i = 0; i < positions.size(); ++i) {
            double least = kOutOfReach;
            for (const int source : sources) {
                const Position &other = positions[index(source)];
                least =
                    std::min(least, std::hypot(positions[i].x - other.x, positions[i].y - other.y,
                                               positions[i].z - other.z));
            }
            ASSERT_NEAR(found[i], least, 1e-9);
        }
    }
}

TEST(LoadOutlook, WithoutPositionsLinksAreCounted) {
    const std::vector<MovableObject> objects(7);
    const std::vector<Link> links{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}, {3, 4, 1}, {5, 6, 1}};
    Problem problem;
    problem.objects = objects;
    problem.links = links;
    const std::vector<int> sources{1, 6};
    EXPECT_EQ(distances_from(problem, sources), (std::vector<double>{1, 0, 1, 2, 3, 1, 0}));
    const std::vector<int> only{1};
    EXPECT_EQ(distances_from(problem, only)[5], kOutOfReach);
}

TEST(LoadOutlook, AFrontReachesTheNextObjectsInTheirOrder) {
    for (const bool positions : {true, false}) {
        Row row(60, 4);
        positions ? row.use_positions() : row.use_links();
        for (const int first : {0, 8, 16})
            row.note(first, 8);
        const LoadOutlook outlook = row.look();
        ASSERT_EQ(outlook.guess(), LoadOutlook::Guess::front);
        std::vector<double> reached(row.objects.size());
        double sum = 0;
        for (const Passage &passage : outlook.passages()) {
            reached[index(passage.object)] = passage.load;
            sum += passage.load;
        }
        EXPECT_NEAR(sum, 8 * kPassage, kPassage);
        for (int i = 0; i < 60; ++i) {
            const bool is_next = i >= 24 && i < 32;
            EXPECT_EQ(reached[index(i)] > 0.7 * kPassage, is_next) << i;
            EXPECT_NEAR(outlook.loads()[index(i)], kAlways + reached[index(i)], 1e-6);
            if (i < 24) {
                EXPECT_EQ(reached[index(i)], 0) << i;
            }
        }
        double last = -1;
        for (const Passage &passage : outlook.passages()) {
            EXPECT_GT(middle(passage), last);
            last = middle(passage);
        }
    }
}

TEST(LoadOutlook, WithoutAPeriodToTryItOnAFrontIsNotGuessed) {
    Row row(60, 4);
    row.use_positions();
    for (const int first : {0, 8, 16}) {
        EXPECT_LT(row.history.periods(), 3U);
        row.note(first, 8);
        EXPECT_EQ(row.look().guess(),
                  first < 16 ? LoadOutlook::Guess::as_before : LoadOutlook::Guess::front);
    }
}

TEST(LoadOutlook, WhereNothingTellsWhatIsNearThereIsNoFront) {
    Row row(60, 4);
    for (const int first : {0, 8, 16})
        row.note(first, 8);
    const LoadOutlook outlook = row.look();
    EXPECT_EQ(outlook.guess(), LoadOutlook::Guess::as_before);
    EXPECT_TRUE(outlook.passages().empty());
    EXPECT_TRUE(std::ranges::equal(outlook.loads(), row.history.loads(0)));
}

TEST(LoadOutlook, LoadsThatStayOrChangeWithoutARuleAreAsBefore) {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> noise(0.9, 1.1);
    std::lognormal_distribution<double> load(0, 1);
    for (const double noisy : {0., 1., 10.}) {
        Row row(64, 4);
        row.use_positions();
        std::vector<double> always(row.objects.size());
        for (double &one : always)
            one = load(random);
        for (int period = 0; period < 8; ++period) {
            for (std::size_t i = 0; i < always.size(); ++i)
                row.objects[i].load = always[i] * (1 + noisy * (noise(random) - 1));
            row.history.note(row.objects);
            EXPECT_EQ(LoadOutlook(row.problem, row.history).guess(), LoadOutlook::Guess::as_before)
                << noisy << ", period " << period;
        }
    }
}

TEST(LoadOutlook, LoadsThatGrowGoOnGrowing) {
    Row row(16, 4);
    row.use_positions();
    for (int period = 0; period < 3; ++period) {
        for (std::size_t i = 0; i < row.objects.size(); ++i)
            row.objects[i].load = 1 + static_cast<double>(i) * period;
        row.history.note(row.objects);
    }
    const LoadOutlook outlook = row.look();
    EXPECT_EQ(outlook.guess(), LoadOutlook::Guess::trend);
    for (std::size_t i = 0; i < row.objects.size(); ++i)
        EXPECT_DOUBLE_EQ(outlook.loads()[i], 1 + static_cast<double>(i) * 3);
}

// Four rows of 32 objects, each with a front: four objects are reached at a time. Two nodes of two
// PEs.
struct Rows {
    static constexpr int kRows = 4;
    static constexpr int kColumns = 32;
    static constexpr int kWay = 4;

    explicit Rows(int (*first_pe)(int row, int column)) {
        for (int i = 0; i < kRows * kColumns; ++i) {
            objects.push_back({0, first_pe(i / kColumns, i % kColumns), 0});
            positions.push_back(
                {static_cast<double>(i % kColumns), static_cast<double>(i / kColumns), 0});
        }
        problem.objects = objects;
        problem.positions = positions;
        problem.pes = 4;
        problem.pes_of_node = 2;
        History history;
        for (int period = 0; period < 3; ++period) {
            for (std::size_t i = 0; i < objects.size(); ++i)
                objects[i].load =
                    kAlways + (static_cast<int>(i) % kColumns / kWay == period ? kPassage : 0);
            history.note(objects);
        }
        const LoadOutlook outlook(problem, history);
        EXPECT_EQ(outlook.guess(), LoadOutlook::Guess::front);
        for (std::size_t i = 0; i < objects.size(); ++i)
            objects[i].load = outlook.loads()[i];
        passages.assign(outlook.passages().begin(), outlook.passages().end());
        problem.passages = passages;
    }
    // Each step waits for the node that has most: so it is no help to have the front early in one's
    // objects if another has it late.
    void expect_apart(const Assignment &pe_of) const {
        for (int column = 3 * kWay; column < 4 * kWay; ++column) {
            std::vector<int> pes;
            for (int row = 0; row < kRows; ++row)
                pes.push_back(pe_of[index(row * kColumns + column)]);
            std::ranges::sort(pes);
            EXPECT_EQ(pes, (std::vector{0, 1, 2, 3})) << column;
        }
        EXPECT_LE(imbalance(loads_of(problem, pe_of)), 0.1);
    }
    struct Moves {
        int pes = 0;
        int nodes = 0;
    };
    Moves moves(const Assignment &pe_of) const {
        Moves found;
        for (std::size_t i = 0; i < objects.size(); ++i) {
            found.pes += pe_of[i] != objects[i].pe ? 1 : 0;
            found.nodes += problem.node_of(pe_of[i]) != problem.node_of(objects[i].pe) ? 1 : 0;
        }
        return found;
    }

    std::vector<MovableObject> objects;
    std::vector<Position> positions;
    std::vector<Passage> passages;
    Problem problem;
};

TEST(Follow, ObjectsThatAreReachedTogetherAreApartAndOthersStay) {
    Rows rows([](int, int column) { return column / 8; });
    const Assignment pe_of = strategy_of("follow")->assign(rows.problem);
    rows.expect_apart(pe_of);
    // Half of the front leaves its node, and about as much of the rest comes.
    EXPECT_GE(rows.moves(pe_of).nodes, Rows::kRows * Rows::kWay / 2);
    EXPECT_LE(rows.moves(pe_of).nodes, Rows::kRows * Rows::kWay);
}

TEST(Follow, WhatIsApartAlreadyStaysInItsNode) {
    Rows rows([](int row, int) { return row; });
    const Assignment pe_of = strategy_of("follow")->assign(rows.problem);
    rows.expect_apart(pe_of);
    EXPECT_EQ(rows.moves(pe_of).nodes, 0);
    // Not even within it, if that costs something.
    rows.problem.moves_in_node = true;
    EXPECT_EQ(rows.moves(strategy_of("follow")->assign(rows.problem)).pes, 0);
}

// Two PEs have as much work as each other in the whole period, but at each time one has all of it.
TEST(Follow, AForecastComparesPartsOfThePeriod) {
    std::vector<MovableObject> objects{{3, 0, 0}, {3, 0, 0}, {3, 1, 0}, {3, 1, 0}};
    std::vector<Passage> passages;
    for (int object = 0; object < 4; ++object) {
        Passage passage{object, 2, {}}; // of the load, 1 is always there
        for (std::size_t part = 0; part < Passage::kParts; ++part)
            passage.course[part] = (part < Passage::kParts / 2) == (object < 2) ? 4 : 0;
        passages.push_back(passage);
    }
    Problem problem;
    problem.objects = objects;
    problem.pes = 2;
    const Assignment mixed{0, 1, 0, 1};
    EXPECT_DOUBLE_EQ(forecast(problem, mixed, {}, false).gain_s(1), 0);
    problem.passages = passages;
    const Forecast found = forecast(problem, mixed, {}, false);
    EXPECT_DOUBLE_EQ(found.step_before_s, 10);
    EXPECT_DOUBLE_EQ(found.step_after_s, 6);
    // The same of nodes whose PEs share the work.
    problem.pes_of_node = 2;
    problem.pes = 4;
    for (std::size_t i = 0; i < objects.size(); ++i)
        objects[i].pe = i < 2 ? 0 : 2;
    const Forecast shared = forecast(problem, Assignment{0, 2, 0, 2}, {}, true);
    EXPECT_DOUBLE_EQ(shared.step_before_s, 5);
    EXPECT_DOUBLE_EQ(shared.step_after_s, 3);
}

TEST(Follow, WithoutAFrontItIsSpread) {
    std::mt19937 random(3);
    std::lognormal_distribution<double> load(0, 1);
    for (int round = 0; round < 50; ++round) {
        Row row(static_cast<int>(1 + random() % 60), static_cast<int>(1 + random() % 9));
        if (round % 2 == 0)
            row.use_positions();
        for (MovableObject &one : row.objects)
            one.load = load(random);
        EXPECT_EQ(strategy_of("follow")->assign(row.problem),
                  strategy_of("spread")->assign(row.problem));
    }
}

} // namespace
} // namespace sennit::balance
