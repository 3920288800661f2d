// SPDX-License-Identifier: Apache-2.0
#include "hang_judge.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace {

using sennit::tool::HangJudge;

constexpr std::uint64_t s = 1'000'000'000;

std::string still(int rank, std::uint64_t since, std::uint64_t now, const std::string &calls = "",
                  bool abort = false, bool outside = false) {
    return fmt::format("hang\t{}\t{}\t{}\t{}\t{}\t{:d}\t{:d}\n{}\nsennit:   text of {}\n", rank,
                       1000 + rank, since * s, now * s, 10 * s, abort, outside, calls, rank);
}

TEST(HangJudge, ARankThatIsNotHeardOfMayBeAtWork) {
    HangJudge judge(2);
    judge.hear(still(0, 0, 100));
    EXPECT_FALSE(judge.verdict());
}

TEST(HangJudge, AllRanksMustStandStillAtTheSameTimeForTheGraceTime) {
    HangJudge judge(2);
    judge.hear(still(0, 0, 100));
    judge.hear(still(1, 95, 106)); // rank 0 may have been woken after 100
    EXPECT_FALSE(judge.verdict());
    judge.hear(still(0, 0, 104)); // together since 95: nine seconds
    EXPECT_FALSE(judge.verdict());
    judge.hear(still(0, 0, 105));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("none of its 2 ranks has moved for 10 s"), std::string::npos);
    EXPECT_NE(verdict->text.find("rank 1 (process 1001):\nsennit:   text of 1\n"),
              std::string::npos);
    EXPECT_TRUE(verdict->processes.empty());
}

TEST(HangJudge, ARankThatMovedInBetweenCounts) {
    HangJudge judge(2);
    judge.hear(still(0, 0, 100));
    judge.hear(still(1, 0, 6));
    judge.hear("move\t1");
    EXPECT_FALSE(judge.verdict());
    judge.hear(still(1, 98, 104));
    EXPECT_FALSE(judge.verdict());
}

TEST(HangJudge, TellsOnceAndTellsWhenItGoesOn) {
    HangJudge judge(1);
    judge.hear(still(0, 0, 10));
    EXPECT_TRUE(judge.verdict());
    judge.hear(still(0, 0, 20));
    EXPECT_FALSE(judge.verdict());
    judge.hear("move\t0");
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->text, "sennit: the job goes on\n");
}

TEST(HangJudge, NamesTheCycleOfRanks) {
    HangJudge judge(3);
    judge.hear(still(0, 0, 20, "MPI_Recv\t2\t1\t7\tMPI_COMM_WORLD\n"));
    judge.hear(still(1, 0, 20, "MPI_Recv\t2\t2\t7\tMPI_COMM_WORLD\n"));
    judge.hear(still(2, 0, 20, "MPI_Recv\t2\t0\t7\tMPI_COMM_WORLD\n"));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 2, "
                                 "rank 2 waits for rank 0\n"),
              std::string::npos);
}

TEST(HangJudge, ARankThatHasEndedSendsNothing) {
    HangJudge judge(2);
    judge.hear("end\t1\t11000000000");
    judge.hear(still(0, 0, 20, "MPI_Recv\t2\t1\t5\tMPI_COMM_WORLD\n", true));
    EXPECT_FALSE(judge.verdict()); // its last message may be on its way
    judge.hear(still(0, 0, 21, "MPI_Recv\t2\t1\t5\tMPI_COMM_WORLD\n", true));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("rank 0 waits for rank 1 to send a message with tag 5: nothing "
                                 "like it is under way in rank 1, which has ended\n"),
              std::string::npos);
    EXPECT_EQ(verdict->processes, std::vector<int>{1000});
}

TEST(HangJudge, AbortsNothingThatWaitsForTheOutside) {
    HangJudge judge(1);
    judge.hear(still(0, 0, 20, "", true, true));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(verdict->processes.empty());
}

TEST(HangJudge, IgnoresWhatItDoesNotUnderstand) {
    HangJudge judge(1);
    for (const char *message : {"", "hang", "hang\t0\t1\t2\t3\t4\t5", "end\tx\t1", "end\t-1\t1",
                                "end\t0", "hang\t0\t1\t0\t99999999999\t1\t0\t0\nMPI_Recv\t2\n"})
        judge.hear(message);
    EXPECT_FALSE(judge.verdict());
}

} // namespace
