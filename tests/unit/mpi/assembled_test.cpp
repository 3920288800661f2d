// SPDX-License-Identifier: Apache-2.0
// mpi/crowd/assembled.h: collective calls of a rank in memory that the node's ranks share; but for
// reductions for a root (reduce_test.cpp).
#include "assembled_fixture.h"

using namespace sennit;
using namespace sennit::mpi;

TEST_F(AssembledTest, TheLastOneToComeWorksTheResultOutAndWakesAll) {
    const std::uint32_t number = next();
    const int mine = 5;
    int sum = 0;
    const Reduction reduction = sum_of(mine, sum);
    AssembledCall call(g_crowd.assembled, "MPI_Allreduce", reduction);
    EXPECT_FALSE(others_come(number, reduction, 100));
    EXPECT_TRUE(call.test());
    EXPECT_EQ(sum, 205);
    EXPECT_TRUE(has_rung_all());
}

TEST_F(AssembledTest, WhoComesEarlierTakesTheResultAndWakesNobody) {
    const std::uint32_t number = next();
    const int mine = 5;
    int sum = 0;
    const Reduction reduction = sum_of(mine, sum);
    AssembledCall call(g_crowd.assembled, "MPI_Allreduce", reduction);
    EXPECT_FALSE(call.test());
    EXPECT_FALSE(call.test()) << "it counts itself once";
    EXPECT_TRUE(others_come(number, reduction, 7));
    EXPECT_TRUE(call.test());
    EXPECT_EQ(sum, 7);
    EXPECT_TRUE(fake::rung_slots().empty());
}

TEST_F(AssembledTest, WhereNothingIsCombinedAllMayGetThePartsOfAll) {
    for (const bool is_last : {false, true}) {
        const std::uint32_t number = next();
        const int mine = 5;
        int all[kRanks] = {};
        Reduction exchange;
        exchange.in = &mine;
        exchange.out = all;
        exchange.bytes = sizeof mine;
        exchange.combines = false;
        exchange.concatenates = true;
        AssembledCall call(g_crowd.assembled, "MPI_Comm_dup", exchange);
        if (!is_last) {
            EXPECT_FALSE(call.test());
        }
        for (int rank = 1; rank < kRanks; ++rank) {
            const int part = 10 * rank;
            std::memcpy(board_.part(rank).bytes, &part, sizeof part);
            if (assembly_->come(board_.part(rank), number, exchange.number())) {
                const int result[kRanks] = {5, 10, 20};
                std::memcpy(assembly_->result(), result, sizeof result);
                assembly_->end(number);
            }
        }
        EXPECT_TRUE(call.test());
        EXPECT_EQ(all[0], 5);
        EXPECT_EQ(all[1], 10);
        EXPECT_EQ(all[2], 20);
    }
}

// Two tasks are in a collective each; who polls may look at the later one first.
TEST_F(AssembledTest, OfTwoCallsTheSecondOneWaitsForTheFirst) {
    const std::uint32_t first = next();
    const std::uint32_t second = next();
    AssembledCall one(g_crowd.assembled, "MPI_Barrier", none_);
    AssembledCall two(g_crowd.assembled, "MPI_Barrier", none_);
    EXPECT_FALSE(two.test());
    EXPECT_FALSE(board_.part(0).has_come(second));
    EXPECT_FALSE(one.test());
    EXPECT_TRUE(board_.part(0).has_come(first));
    EXPECT_FALSE(two.test());
    EXPECT_TRUE(others_come(first, none_));
    EXPECT_FALSE(two.test()) << "this rank is not through with the first one";
    EXPECT_FALSE(board_.part(0).has_come(second));
    fake::rings_own();
    EXPECT_TRUE(one.test());
    EXPECT_EQ(fake::rings_own(), 1) << "the thread of the second one may sleep";
    EXPECT_FALSE(two.test());
    EXPECT_TRUE(board_.part(0).has_come(second));
    EXPECT_TRUE(others_come(second, none_));
    EXPECT_TRUE(two.test());
    EXPECT_EQ(fake::rings_own(), 0) << "nobody comes after it";
}

TEST_F(AssembledTest, WhileItWaitsMpiGoesOnWithMessages) {
    const std::uint32_t number = next();
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    const int before = fake::probes();
    for (int i = 0; i < 10; ++i)
        EXPECT_FALSE(call.test());
    EXPECT_GE(fake::probes() - before, 5);
    EXPECT_TRUE(others_come(number, none_));
    EXPECT_TRUE(call.test());
}

TEST_F(AssembledTest, CallsThatDifferEndTheJob) {
    const std::uint32_t number = next();
    const int mine = 5;
    int sum = 0;
    const Reduction reduction = sum_of(mine, sum);
    EXPECT_EXIT(
        {
            AssembledCall call(g_crowd.assembled, "MPI_Allreduce", reduction);
            others_come(number, none_);
            call.test();
        },
        testing::ExitedWithCode(77),
        "rank 0 calls MPI_Allreduce \\(.* bytes\\) where rank 1 calls MPI_Barrier \\(0 bytes\\)");
    clear_parts();
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    others_come(number, none_);
    EXPECT_TRUE(call.test());
}

TEST_F(AssembledTest, ARankThatHasLeftEndsTheJob) {
    const std::uint32_t number = next();
    Idle other;
    board_.slot(1).holder.store(node::identity_of(other.pid()));
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    wait_in_vain(call, 2); // it lives, and may come
    other.end();
    EXPECT_EXIT(wait_in_vain(call, 4), testing::ExitedWithCode(77),
                "rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for rank 1, which has ended without "
                "MPI_Finalize");
    board_.slot(1).holder.store(node::own_identity());
    EXPECT_TRUE(others_come(number, none_));
    EXPECT_TRUE(call.test());
}

TEST_F(AssembledTest, ARankWhoseSlotAnotherJobHasHasLeft) {
    const std::uint32_t number = next();
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    EXPECT_FALSE(call.test());
    board_.slot(1).job.store(kJob + 1);
    EXPECT_EXIT(wait_in_vain(call, 4), testing::ExitedWithCode(77),
                "rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for rank 1, which has ended");
    board_.slot(1).job.store(kJob);
    EXPECT_TRUE(others_come(number, none_));
    EXPECT_TRUE(call.test());
}

TEST_F(AssembledTest, ARankThatIsStoppedIsNamedOnce) {
    const std::uint32_t number = next();
    const Idle other;
    other.stop();
    board_.slot(2).holder.store(node::identity_of(other.pid()));
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    testing::internal::CaptureStderr();
    wait_in_vain(call, 5);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said, "sennit: rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for rank 2 (process " +
                        std::to_string(other.pid()) +
                        "), which is stopped, by a signal or a debugger\n");
    board_.slot(2).holder.store(node::own_identity());
    EXPECT_TRUE(others_come(number, none_));
    EXPECT_TRUE(call.test());
}

// ---- broadcasts ---------------------------------------------------------------------------------

TEST_F(AssembledTest, TheRootOfABroadcastWakesAllAndGoesOn) {
    const std::uint32_t number = next();
    int value = 7;
    const Broadcast broadcast = broadcast_of(value, 0);
    BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_TRUE(call.test());
    EXPECT_TRUE(has_rung_all());
    EXPECT_EQ(assembly_->note(0).call_if_posted(number), broadcast.number());
    EXPECT_EQ(std::memcmp(assembly_->note(0).bytes, &value, sizeof value), 0);
}

TEST_F(AssembledTest, AReceiverWaitsForItsRootAlone) {
    const std::uint32_t first = next();
    const std::uint32_t second = next();
    int value = 0;
    const Broadcast broadcast = broadcast_of(value, 2);
    BroadcastCall one(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_FALSE(one.test());
    other_posts(first, 2, 5);
    other_posts(second, 2, 6, 1); // the root is ahead
    EXPECT_TRUE(one.test());
    EXPECT_EQ(value, 5);
    BroadcastCall two(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_TRUE(two.test());
    EXPECT_EQ(value, 6);
    EXPECT_EQ(one.error(), MPI_SUCCESS);
    EXPECT_TRUE(fake::rung_slots().empty());
}

TEST_F(AssembledTest, TheRootWaitsUntilAllHaveReadTheLastNote) {
    int value = 0;
    const Broadcast broadcast = broadcast_of(value, 0);
    const std::uint32_t number = take_all_notes(broadcast);
    const std::uint32_t again = next();
    BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_FALSE(call.test());
    EXPECT_EQ(assembly_->note(0).call_if_posted(again), 0U);
    EXPECT_TRUE(others_are_through(number, broadcast.number()));
    EXPECT_TRUE(call.test());
    EXPECT_NE(assembly_->note(0).call_if_posted(again), 0U);
}

TEST_F(AssembledTest, TheLastOneToReadTheLastNoteWakesAll) {
    int value = 0;
    const Broadcast broadcast = broadcast_of(value, 1);
    std::uint32_t number = 0;
    for (int i = 0; i < node::Assembly::kNotes; ++i) {
        number = next();
        other_posts(number, 1, i, i);
    }
    EXPECT_FALSE(others_are_through(number, broadcast.number()));
    for (int i = 0; i < node::Assembly::kNotes; ++i) {
        EXPECT_FALSE(assembly_->is_over(number));
        EXPECT_TRUE(fake::rung_slots().empty());
        BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
        EXPECT_TRUE(call.test());
        EXPECT_EQ(value, i);
    }
    EXPECT_TRUE(assembly_->is_over(number));
    EXPECT_TRUE(has_rung_all());
}

TEST_F(AssembledTest, AnyOtherCallWaitsUntilAllHaveReadTheLastNote) {
    int value = 0;
    const Broadcast broadcast = broadcast_of(value, 0);
    const std::uint32_t number = take_all_notes(broadcast);
    const std::uint32_t barrier = next();
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    EXPECT_FALSE(call.test());
    EXPECT_FALSE(board_.part(0).has_come(barrier)) << "it would be counted for two calls";
    EXPECT_TRUE(others_are_through(number, broadcast.number()));
    EXPECT_FALSE(call.test());
    EXPECT_TRUE(board_.part(0).has_come(barrier));
    EXPECT_TRUE(others_come(barrier, none_));
    EXPECT_TRUE(call.test());
    next(); // the first note is the next one again
    BroadcastCall again(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_TRUE(again.test());
    EXPECT_NE(assembly_->note(0).call_if_posted(barrier + 1), 0U);
}

TEST_F(AssembledTest, ABroadcastWaitsForTheCallBeforeIt) {
    const std::uint32_t first = next();
    const std::uint32_t second = next();
    int value = 0;
    const Broadcast broadcast = broadcast_of(value, 0);
    AssembledCall one(g_crowd.assembled, "MPI_Barrier", none_);
    BroadcastCall two(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_FALSE(two.test());
    EXPECT_FALSE(one.test());
    EXPECT_TRUE(others_come(first, none_));
    EXPECT_FALSE(two.test());
    EXPECT_EQ(assembly_->note(0).call_if_posted(second), 0U);
    EXPECT_TRUE(one.test());
    EXPECT_TRUE(two.test());
}

TEST_F(AssembledTest, WhatIsNotSideBySideIsPacked) {
    constexpr MPI_Datatype type = 100; // so many bytes
    char spread[2][200] = {};
    for (int i = 0; i < 100; ++i)
        spread[0][2 * i] = static_cast<char>(i);
    const std::uint32_t first = next();
    next();
    Broadcast sent(spread[0], 1, type, 0);
    ASSERT_TRUE(sent.fits(node::Assembly::kMostBytes));
    BroadcastCall one(g_crowd.assembled, "MPI_Bcast", sent);
    EXPECT_TRUE(one.test());
    EXPECT_EQ(assembly_->note(0).call_if_posted(first), sent.number());
    Broadcast received(spread[1], 1, type, 1);
    ASSERT_TRUE(received.fits(node::Assembly::kMostBytes));
    std::memcpy(assembly_->note(1).bytes, assembly_->note(0).bytes, 100);
    assembly_->note(1).post(first + 1, received.number());
    BroadcastCall two(g_crowd.assembled, "MPI_Bcast", received);
    EXPECT_TRUE(two.test());
    EXPECT_EQ(std::memcmp(spread[0], spread[1], sizeof spread[0]), 0);
}

TEST_F(AssembledTest, ABroadcastThatMpiRefusesTakesNoNumber) {
    char data[200] = {};
    Broadcast broadcast(data, 1, 100, 0);
    ASSERT_TRUE(broadcast.fits(node::Assembly::kMostBytes));
    fake::refuse_packing(true);
    BroadcastCall refused(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_EQ(refused.error(), MPI_ERR_OTHER);
    EXPECT_EQ(refused.untold(), MPI_SUCCESS);
    fake::refuse_packing(false);
    const std::uint32_t number = next();
    BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_TRUE(call.test());
    EXPECT_EQ(assembly_->note(0).call_if_posted(number), broadcast.number());
}

TEST_F(AssembledTest, ABroadcastOfAnotherLengthIsAnErrorOfTheReceiver) {
    const std::uint32_t first = next();
    const std::uint32_t second = next();
    int values[2] = {1, 2};
    const std::uint32_t call = CallNumber::of(CallNumber::kBroadcast, 2 * sizeof(int), 1);
    assembly_->note(0).post(first, call);
    const Broadcast shorter = broadcast_of(values[0], 1);
    BroadcastCall one(g_crowd.assembled, "MPI_Bcast", shorter);
    EXPECT_TRUE(one.test());
    EXPECT_EQ(one.error(), MPI_ERR_TRUNCATE);
    EXPECT_EQ(one.untold(), MPI_ERR_TRUNCATE);
    EXPECT_EQ(values[0], 1);
    other_posts(second, 1, 5, 1);
    Broadcast longer(values, 2, MPI_INT, 1);
    ASSERT_TRUE(longer.fits(node::Assembly::kMostBytes));
    BroadcastCall two(g_crowd.assembled, "MPI_Bcast", longer);
    EXPECT_TRUE(two.test());
    EXPECT_EQ(two.error(), MPI_ERR_OTHER) << "so MPICH says";
}

TEST_F(AssembledTest, BroadcastsThatMpiMakes) {
    int value = 0;
    const std::size_t most = node::Assembly::kMostBytes;
    EXPECT_FALSE(Broadcast(&value, 0, MPI_INT, 0).fits(most));
    EXPECT_FALSE(Broadcast(&value, -1, MPI_INT, 0).fits(most));
    EXPECT_FALSE(Broadcast(&value, 1, MPI_DATATYPE_NULL, 0).fits(most));
    EXPECT_FALSE(Broadcast(&value, 1, MPI_INT, MPI_PROC_NULL).fits(most));
    EXPECT_FALSE(Broadcast(&value, 1, MPI_INT, MPI_ROOT).fits(most));
    EXPECT_FALSE(Broadcast(nullptr, 1, MPI_INT, 0).fits(most));
    EXPECT_FALSE(Broadcast(MPI_IN_PLACE, 1, MPI_INT, 0).fits(most));
    EXPECT_TRUE(Broadcast(nullptr, 1, 100, 0).fits(most)) << "MPI_BOTTOM";
    EXPECT_TRUE(Broadcast(&value, 256, MPI_CHAR, 0).fits(most));
    EXPECT_FALSE(Broadcast(&value, 257, MPI_CHAR, 0).fits(most));
    EXPECT_FALSE(g_crowd.assembled.has_member(kRanks));
}

TEST_F(AssembledTest, BroadcastsOfTwoRootsEndTheJob) {
    const std::uint32_t number = next();
    int value = 0;
    const Broadcast broadcast = broadcast_of(value, 0);
    other_posts(number, 1, 5);
    EXPECT_EXIT(
        {
            BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
            call.test();
        },
        testing::ExitedWithCode(77),
        "rank 0 calls MPI_Bcast \\(4 bytes\\) where rank 1 calls MPI_Bcast \\(4 bytes\\) with "
        "another root");
    EXPECT_EXIT(
        {
            const Broadcast third = broadcast_of(value, 2);
            BroadcastCall call(g_crowd.assembled, "MPI_Bcast", third);
            call.test();
        },
        testing::ExitedWithCode(77), "rank 0 calls MPI_Bcast .* where rank 1 calls MPI_Bcast");
    const Broadcast right = broadcast_of(value, 1);
    BroadcastCall call(g_crowd.assembled, "MPI_Bcast", right);
    EXPECT_TRUE(call.test());
    EXPECT_EQ(value, 5);
}

// Nobody is the last one to come. Who has waited for long finds out why.
TEST_F(AssembledTest, ABroadcastWhereOthersCallSomethingElseEndsTheJob) {
    const std::uint32_t number = next();
    int value = 0;
    const Broadcast broadcast = broadcast_of(value, 1);
    EXPECT_EXIT(
        {
            BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
            others_come(number, none_);
            wait_in_vain(call, 4);
        },
        testing::ExitedWithCode(77),
        "rank 0 calls MPI_Bcast \\(4 bytes\\) where rank 1 calls MPI_Barrier \\(0 bytes\\);");
    clear_parts();
    EXPECT_EXIT(
        {
            AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
            other_posts(number, 1, 5);
            wait_in_vain(call, 4);
        },
        testing::ExitedWithCode(77),
        "rank 0 calls MPI_Barrier \\(0 bytes\\) where rank 1 calls MPI_Bcast \\(4 bytes\\);");
    // In this process the call is still to come.
    assembly_->begin(kRanks);
    board_.part(0).came.store(0);
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    others_come(number, none_);
    EXPECT_TRUE(call.test());
}

TEST_F(AssembledTest, WhoReadsTheLastNoteWhereOthersCallSomethingElseEndsTheJob) {
    int value = 0;
    const Broadcast broadcast = broadcast_of(value, 1);
    std::uint32_t number = 0;
    for (int i = 1; i < node::Assembly::kNotes; ++i) {
        number = next();
        other_posts(number, 1, i, i - 1);
        BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
        EXPECT_TRUE(call.test());
    }
    number = next();
    other_posts(number, 1, 0, node::Assembly::kNotes - 1);
    EXPECT_EXIT(
        {
            assembly_->come(board_.part(1), number, broadcast.number(), true);
            assembly_->come(board_.part(2), number, none_.number());
            BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
            call.test();
        },
        testing::ExitedWithCode(77),
        "rank 0 calls MPI_Bcast \\(4 bytes\\) where rank 2 calls MPI_Barrier \\(0 bytes\\);");
    clear_parts();
    EXPECT_FALSE(others_are_through(number, broadcast.number()));
    BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
    EXPECT_TRUE(call.test());
}

TEST_F(AssembledTest, ARootThatHasLeftEndsTheJob) {
    const std::uint32_t number = next();
    int value = 0;
    const Broadcast broadcast = broadcast_of(value, 1);
    BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
    expect_to_wait_for_rank_1_alone(call, "MPI_Bcast");
    other_posts(number, 1, 5);
    EXPECT_TRUE(call.test());
}
