// SPDX-License-Identifier: Apache-2.0
// tasks/task/loop_pieces.h: a taskloop's iterations are cut as the clauses say, none twice and none
// left.
#include "tasks/task/loop_pieces.h"

#include <cstdint>
#include <gtest/gtest.h>

namespace sennit::task {
namespace {

using By = LoopCut::By;
constexpr std::uint64_t kMost = ~std::uint64_t{0};

// The pieces follow each other from 0 to the end of the loop, and none is empty.
void expect_whole(std::uint64_t trip, const LoopCut &cut) {
    const LoopPieces pieces = cut_loop(trip, cut);
    ASSERT_EQ(pieces.count == 0, trip == 0);
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < pieces.count; ++i) {
        ASSERT_EQ(pieces.first(i), next) << trip << " iterations, piece " << i;
        ASSERT_GT(pieces.end(i), next);
        if (i + 1 < pieces.count) {
            ASSERT_EQ(pieces.end(i) - next, pieces.length(i));
        }
        next = pieces.end(i);
    }
    ASSERT_EQ(next, trip);
}

TEST(LoopPieces, CoverTheLoop) {
    for (std::uint64_t trip : {0, 1, 2, 3, 7, 8, 9, 63, 64, 65})
        for (const By by : {By::nothing, By::grainsize, By::num_tasks})
            for (const bool strict : {false, true})
                for (std::uint64_t value : {0, 1, 2, 3, 8, 64, 1000})
                    for (std::uint64_t usual : {1, 2, 8})
                        expect_whole(trip, {by, strict, value, usual});
}

TEST(LoopPieces, AGrainsizeIsTheLeastOfATask) {
    const LoopPieces pieces = cut_loop(10, {.by = By::grainsize, .value = 4});
    EXPECT_EQ(pieces.count, 2u);
    EXPECT_EQ(pieces.end(0), 5u);
}

TEST(LoopPieces, AStrictGrainsizeLeavesTheLastTaskTheRest) {
    const LoopPieces pieces = cut_loop(10, {.by = By::grainsize, .strict = true, .value = 4});
    EXPECT_EQ(pieces.count, 3u);
    EXPECT_EQ(pieces.end(0), 4u);
    EXPECT_EQ(pieces.end(2) - pieces.first(2), 2u);
}

TEST(LoopPieces, NumTasksAreNeverMoreThanIterations) {
    EXPECT_EQ(cut_loop(3, {.by = By::num_tasks, .value = 5}).count, 3u);
    EXPECT_EQ(cut_loop(kMost, {.by = By::num_tasks, .value = 5}).count, 5u);
}

TEST(LoopPieces, NobodyMakesATaskForEachGrainOfAnEndlessLoop) {
    for (const bool strict : {false, true}) {
        const LoopCut cut{.by = By::grainsize, .strict = strict, .value = 1, .usual = 8};
        EXPECT_EQ(cut_loop(kMost, cut).count, 8u);
        expect_whole(kMost, cut);
    }
}

} // namespace
} // namespace sennit::task
