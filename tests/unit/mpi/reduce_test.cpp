// SPDX-License-Identifier: Apache-2.0
// mpi/crowd/assembled.h: reductions for a root in memory that the node's ranks share.
#include "assembled_fixture.h"

using namespace sennit;
using namespace sennit::mpi;

namespace {

using Assembly = node::Assembly;
constexpr int kMostInts = Assembly::kMostBytes / sizeof(int);

class ReduceTest : public AssembledTest {
  protected:
    // This rank is not the root, and so is through with it.
    void bring(const Reduction &reduction) {
        ReduceCall call(g_crowd.assembled, "MPI_Reduce", reduction);
        EXPECT_TRUE(call.test());
    }
    std::uint32_t called_by_this(std::uint32_t number, int note = 0) {
        return board_.part(0).posted[note].call_if_posted(number);
    }
    int brought(std::size_t offset) {
        int value = 0;
        std::memcpy(&value, board_.part(0).brought + offset, sizeof value);
        return value;
    }

    const int mine_ = 5;
    int sum_ = 0;
};

} // namespace

TEST_F(ReduceTest, WhoIsNotTheRootBringsItsPartAndGoesOn) {
    const std::uint32_t first = next();
    const std::uint32_t second = next();
    const Reduction one = sum_of(mine_, sum_, 1);
    const int other = 6;
    const Reduction two = sum_of(other, sum_, 2);
    bring(one);
    bring(two);
    EXPECT_EQ(called_by_this(first, 0), one.number());
    EXPECT_EQ(called_by_this(second, 1), two.number());
    EXPECT_EQ(brought(0), 5);
    EXPECT_EQ(brought(16), 6);
    EXPECT_TRUE(fake::rung_slots().empty()) << "others are still to come";
    EXPECT_EQ(sum_, 0);
}

TEST_F(ReduceTest, TheLastOneToBringItsPartWakesTheRootAlone) {
    const std::uint32_t number = next();
    const Reduction reduction = sum_of(mine_, sum_, 2);
    EXPECT_EQ(other_brings(1, number, reduction, 7), 1);
    EXPECT_EQ(other_brings(2, number, reduction, 7), 2);
    bring(reduction);
    EXPECT_EQ(fake::rung_slots(), std::vector<int>{2});
}

TEST_F(ReduceTest, TheRootWaitsForAllAndTakesTheirParts) {
    for (int note = 0; note < 3; ++note) { // the same note may be used again: it is cleared
        const std::uint32_t number = next();
        const Reduction reduction = sum_of(mine_, sum_, 0);
        const std::size_t offset = 16 * static_cast<std::size_t>(note);
        ReduceCall call(g_crowd.assembled, "MPI_Reduce", reduction);
        EXPECT_FALSE(call.test());
        EXPECT_EQ(other_brings(2, number, reduction, 70, note, offset), 2);
        EXPECT_FALSE(call.test());
        other_brings(1, number, reduction, 100, note, offset);
        EXPECT_TRUE(call.test());
        EXPECT_EQ(sum_, 175);
        EXPECT_EQ(assembly_->note(note).brought(), 0);
    }
    EXPECT_TRUE(fake::rung_slots().empty());
}

TEST_F(ReduceTest, NobodyBringsMoreUntilAllHaveTakenTheLastNote) {
    const Reduction reduction = sum_of(mine_, sum_, 1);
    std::uint32_t number = 0;
    for (int i = 0; i < Assembly::kNotes; ++i) {
        number = next();
        bring(reduction);
    }
    EXPECT_TRUE(board_.part(0).has_come(number));
    const std::uint32_t again = next();
    ReduceCall call(g_crowd.assembled, "MPI_Reduce", reduction);
    EXPECT_FALSE(call.test());
    EXPECT_EQ(called_by_this(again), 0U);
    EXPECT_TRUE(others_are_through(number, reduction.number()));
    EXPECT_TRUE(call.test());
    EXPECT_EQ(called_by_this(again), reduction.number());
}

// 256 bytes in all, so ranks count themselves before the second one.
TEST_F(ReduceTest, NobodyBringsMoreThanThereIsRoomFor) {
    const int many[kMostInts] = {1, 2, 3};
    int sums[kMostInts] = {};
    const Reduction reduction = sum_of(many[0], sums[0], 1, kMostInts);
    next();
    bring(reduction);
    const std::uint32_t second = next();
    ReduceCall call(g_crowd.assembled, "MPI_Reduce", reduction);
    EXPECT_FALSE(call.test());
    EXPECT_FALSE(call.test()) << "it counts itself once";
    EXPECT_TRUE(board_.part(0).has_come(second));
    EXPECT_EQ(called_by_this(second), 0U);
    EXPECT_TRUE(others_are_through(second, reduction.number()));
    EXPECT_TRUE(call.test());
    EXPECT_EQ(called_by_this(second), reduction.number()) << "in the first note again";
    EXPECT_EQ(brought(8), 3);
}

TEST_F(ReduceTest, ReductionsAndBroadcastsShareTheNotes) {
    const std::uint32_t first = next();
    const std::uint32_t second = next();
    const std::uint32_t third = next();
    int value = 0;
    bring(sum_of(mine_, sum_, 1));
    const Broadcast broadcast = broadcast_of(value, 2);
    BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_FALSE(call.test());
    other_posts(second, 2, 9, 1);
    EXPECT_TRUE(call.test());
    EXPECT_EQ(value, 9);
    bring(sum_of(mine_, sum_, 2));
    EXPECT_NE(called_by_this(first, 0), 0U);
    EXPECT_NE(called_by_this(third, 2), 0U);
}

// The part of the barrier is another one than what was brought, which the root may still read.
TEST_F(ReduceTest, AnyOtherCallLeavesWhatWasBrought) {
    const std::uint32_t first = next();
    const std::uint32_t second = next();
    bring(sum_of(mine_, sum_, 1));
    const int other = 6;
    const Reduction reduction = sum_of(other, sum_);
    AssembledCall call(g_crowd.assembled, "MPI_Allreduce", reduction);
    EXPECT_FALSE(call.test());
    EXPECT_TRUE(board_.part(0).has_come(second));
    EXPECT_EQ(brought(0), 5);
    EXPECT_NE(called_by_this(first), 0U);
    EXPECT_FALSE(g_crowd.assembled.is_taken());
    EXPECT_TRUE(others_come(second, reduction));
    EXPECT_TRUE(call.test());
    EXPECT_TRUE(g_crowd.assembled.is_taken());
}

TEST_F(ReduceTest, WhatWasBroughtIsTakenWhenAllHaveCounted) {
    const Reduction reduction = sum_of(mine_, sum_, 1);
    EXPECT_TRUE(g_crowd.assembled.is_taken());
    std::uint32_t number = 0;
    for (int i = 0; i < Assembly::kNotes; ++i) {
        number = next();
        bring(reduction);
        EXPECT_FALSE(g_crowd.assembled.is_taken());
    }
    EXPECT_TRUE(others_are_through(number, reduction.number()));
    EXPECT_TRUE(g_crowd.assembled.is_taken());
}

TEST_F(ReduceTest, OnlyTheRootMustHaveRoomForTheResult) {
    Reduction reduction = sum_of(mine_, sum_, 1);
    const auto may = [&](const void *in, void *out, int root) {
        reduction.in = in;
        reduction.out = out;
        reduction.root = root;
        return g_crowd.assembled.may_reduce(reduction);
    };
    EXPECT_TRUE(may(&mine_, nullptr, 1));
    EXPECT_TRUE(may(&sum_, &sum_, 1)) << "it is not looked at";
    EXPECT_FALSE(may(MPI_IN_PLACE, &sum_, 1));
    EXPECT_FALSE(may(nullptr, &sum_, 1));
    EXPECT_TRUE(may(&mine_, &sum_, 0));
    EXPECT_TRUE(may(MPI_IN_PLACE, &sum_, 0));
    EXPECT_FALSE(may(&mine_, nullptr, 0));
    EXPECT_FALSE(may(&mine_, MPI_IN_PLACE, 0));
    EXPECT_FALSE(may(&sum_, &sum_, 0));
    EXPECT_FALSE(may(&mine_, &sum_, kRanks));
}

TEST_F(ReduceTest, ReductionsForTwoRootsEndTheJob) {
    const std::uint32_t number = next();
    const Reduction reduction = sum_of(mine_, sum_, 0);
    const Reduction other = sum_of(mine_, sum_, 1);
    EXPECT_EXIT(
        {
            other_brings(2, number, reduction, 7);
            other_brings(1, number, other, 7);
            ReduceCall call(g_crowd.assembled, "MPI_Reduce", reduction);
            call.test();
        },
        testing::ExitedWithCode(77),
        "rank 0 calls MPI_Reduce \\(4 bytes\\) where rank 1 calls MPI_Reduce \\(4 bytes\\) with "
        "another root");
    clear_parts();
    bring(other);
}

// Nobody is the last one to come. Who has waited for long finds out why.
TEST_F(ReduceTest, AReductionWhereOthersCallSomethingElseEndsTheJob) {
    const std::uint32_t number = next();
    const Reduction reduction = sum_of(mine_, sum_, 0);
    EXPECT_EXIT(
        {
            ReduceCall call(g_crowd.assembled, "MPI_Reduce", reduction);
            others_come(number, none_);
            wait_in_vain(call, 4);
        },
        testing::ExitedWithCode(77),
        "rank 0 calls MPI_Reduce \\(4 bytes\\) where rank 1 calls MPI_Barrier \\(0 bytes\\);");
    clear_parts();
    EXPECT_EXIT(
        {
            AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
            other_brings(2, number, reduction, 7);
            wait_in_vain(call, 4);
        },
        testing::ExitedWithCode(77),
        "rank 0 calls MPI_Barrier \\(0 bytes\\) where rank 2 calls MPI_Reduce \\(4 bytes\\);");
    clear_parts();
    int value = 3;
    const Broadcast broadcast = broadcast_of(value, 0);
    EXPECT_EXIT(
        {
            other_brings(1, number, reduction, 7);
            BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
            call.test();
        },
        testing::ExitedWithCode(77), "rank 0 calls MPI_Bcast .* where rank 1 calls MPI_Reduce");
    clear_parts();
    EXPECT_EXIT(
        {
            other_posts(number, 1, 5);
            ReduceCall call(g_crowd.assembled, "MPI_Reduce", reduction);
            call.test();
        },
        testing::ExitedWithCode(77), "rank 0 calls MPI_Reduce .* where rank 1 calls MPI_Bcast");
    clear_parts();
    bring(sum_of(mine_, sum_, 1));
}

TEST_F(ReduceTest, ARankThatHasLeftWithoutItsPartEndsTheJob) {
    const std::uint32_t number = next();
    const Reduction reduction = sum_of(mine_, sum_, 0);
    ReduceCall call(g_crowd.assembled, "MPI_Reduce", reduction);
    EXPECT_FALSE(call.test());
    other_brings(2, number, reduction, 7);
    expect_to_wait_for_rank_1_alone(call, "MPI_Reduce");
    other_brings(1, number, reduction, 7);
    EXPECT_TRUE(call.test());
    EXPECT_EQ(sum_, 19);
}
