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
    judge.hear(still(0, 0, 20, "MPI_Recv\t2\t1\t7\tMPI_COMM_WORLD\tcall\n"));
    judge.hear(still(1, 0, 20, "MPI_Recv\t2\t2\t7\tMPI_COMM_WORLD\tcall\n"));
    judge.hear(still(2, 0, 20, "MPI_Recv\t2\t0\t7\tMPI_COMM_WORLD\tcall\n"));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 2, "
                                 "rank 2 waits for rank 0\n"),
              std::string::npos);
}

TEST(HangJudge, ARankThatHasEndedSendsNothing) {
    HangJudge judge(2);
    judge.hear("end\t1\t11000000000");
    judge.hear(still(0, 0, 20, "MPI_Recv\t2\t1\t5\tMPI_COMM_WORLD\tcall\n", true));
    EXPECT_FALSE(judge.verdict()); // its last message may be on its way
    judge.hear(still(0, 0, 21, "MPI_Recv\t2\t1\t5\tMPI_COMM_WORLD\tcall\n", true));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("rank 0 waits for rank 1 to send a message with tag 5: nothing "
                                 "like it is under way in rank 1, which has ended\n"),
              std::string::npos);
    EXPECT_EQ(verdict->processes, std::vector<int>{1000});
}

const std::string waits = "MPI_Waitall\t0\t-1\t-1\t\tcall\n";

TEST(HangJudge, NamesTheCycleOfOperationsThatAreWaitedFor) {
    HangJudge judge(2);
    judge.hear(still(0, 0, 20, waits + "MPI_Irecv\t2\t1\t7\tMPI_COMM_WORLD\toperation\n"));
    judge.hear(still(1, 0, 20, waits + "MPI_Irecv\t2\t0\t7\tMPI_COMM_WORLD\toperation\n"));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("rank 1 waits for rank 0 to send a message with tag 7: nothing "
                                 "like it is under way in rank 0, which is in MPI_Waitall\n"),
              std::string::npos);
    EXPECT_NE(verdict->text.find("sennit: a deadlock: rank 0 waits for rank 1, rank 1 waits for "
                                 "rank 0\n"),
              std::string::npos);
}

// One of the requests that MPI_Waitall is given is not complete, nobody knows which.
TEST(HangJudge, SaysPerhapsOfWhatMayBeComplete) {
    const std::string received = "MPI_Irecv\t2\t{0}\t{1}\tMPI_COMM_WORLD\tperhaps\n";
    const std::string sent = "MPI_Isend\t1\t{0}\t{1}\tMPI_COMM_WORLD\tperhaps\n";
    HangJudge judge(2);
    judge.hear(still(0, 0, 20,
                     waits + fmt::format(fmt::runtime(received), 1, 3) +
                         fmt::format(fmt::runtime(received), 1, 4) +
                         fmt::format(fmt::runtime(sent), 1, 5)));
    judge.hear(still(1, 0, 20,
                     waits + fmt::format(fmt::runtime(received), 0, 6) +
                         fmt::format(fmt::runtime(sent), 0, 4)));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("rank 0 perhaps waits for rank 1 to send a message with tag 3"),
              std::string::npos);
    EXPECT_NE(verdict->text.find("rank 1 perhaps waits for rank 0 to send a message with tag 6"),
              std::string::npos);
    EXPECT_EQ(verdict->text.find("with tag 4"), std::string::npos); // it is there
    EXPECT_EQ(verdict->text.find("with tag 5"), std::string::npos); // most sends are complete
    EXPECT_NE(
        verdict->text.find("sennit: perhaps a deadlock: rank 0 waits for rank 1, rank 1 waits "
                           "for rank 0\n"),
        std::string::npos);
}

// Its message has come, and it waits for what it sends: it says only the one of both.
TEST(HangJudge, SaysPerhapsOfAnExchange) {
    const std::string exchange = "MPI_Sendrecv\t3\t{0}\t{1}\tMPI_COMM_WORLD\tcall\n";
    HangJudge judge(2);
    judge.hear(still(0, 0, 20, fmt::format(fmt::runtime(exchange), 1, 1)));
    judge.hear(still(1, 0, 20, "MPI_Recv\t2\t0\t77\tMPI_COMM_WORLD\tcall\n"));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("rank 1 waits for rank 0 to send a message with tag 77"),
              std::string::npos);
    EXPECT_EQ(verdict->text.find("sennit: rank 0 waits for"), std::string::npos);
    HangJudge both(2);
    for (const int rank : {0, 1})
        both.hear(still(rank, 0, 20, fmt::format(fmt::runtime(exchange), 1 - rank, rank)));
    const auto cycle = both.verdict();
    ASSERT_TRUE(cycle);
    EXPECT_NE(cycle->text.find("rank 0 perhaps waits for rank 1 to send a message with tag 0: "
                               "nothing like it"),
              std::string::npos);
    EXPECT_NE(cycle->text.find("sennit: perhaps a deadlock: "), std::string::npos);
}

TEST(HangJudge, APartitionedSendMayWaitForItsOwnRank) {
    const std::string sends = "MPI_Psend_init\t1\t0\t7\tMPI_COMM_WORLD\toperation\n";
    HangJudge judge(2);
    judge.hear(still(0, 0, 20, "MPI_Precv_init\t2\t1\t7\tMPI_COMM_WORLD\toperation\n"));
    judge.hear(still(1, 0, 20, sends));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->text.find("nothing like it"), std::string::npos);
    EXPECT_EQ(verdict->text.find("deadlock"), std::string::npos);
    HangJudge mixed(2); // no receive but a partitioned one takes it
    mixed.hear(still(0, 0, 20, "MPI_Recv\t2\t1\t7\tMPI_COMM_WORLD\tcall\n"));
    mixed.hear(still(1, 0, 20, sends));
    const auto different = mixed.verdict();
    ASSERT_TRUE(different);
    EXPECT_NE(different->text.find("rank 0 waits for rank 1 to send a message with tag 7: nothing "
                                   "like it"),
              std::string::npos);
}

TEST(HangJudge, SaysThatAMessageIsOnAnotherCommunicator) {
    HangJudge judge(2);
    judge.hear(still(0, 0, 20, "MPI_Recv\t2\t1\t5\tMPI_COMM_WORLD\tcall\n"));
    judge.hear(still(1, 0, 20, "MPI_Ssend\t1\t0\t5\ta communicator of 2\tcall\n"));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(
        verdict->text.find("rank 0 waits for rank 1 to send a message with tag 5: nothing like "
                           "it is under way in rank 1, which is in MPI_Ssend; something like it "
                           "is on another communicator\n"),
        std::string::npos);
}

// It may have posted a receive that it does not wait for.
TEST(HangJudge, DoesNotSayWhatARankOutsideOfMpiHasPosted) {
    HangJudge judge(2);
    judge.hear(still(0, 0, 20, "MPI_Ssend\t1\t1\t5\tMPI_COMM_WORLD\tcall\n"));
    judge.hear(still(1, 0, 20));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("sennit: rank 0 waits for rank 1 to receive a message with tag 5, "
                                 "which is in no MPI call\n"),
              std::string::npos);
}

TEST(HangJudge, ClaimsNothingAboutARankThatHasMoreCallsThanItTells) {
    HangJudge judge(2);
    judge.hear(still(0, 0, 20,
                     "MPI_Recv\t2\t1\t5\tMPI_COMM_WORLD\tcall\n"
                     "MPI_Barrier\t0\t-1\t-1\tMPI_COMM_WORLD\tcall\n"));
    judge.hear(still(1, 0, 20, waits + "...\t0\t-1\t-1\t\tmore\n"));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->text.find("nothing like it"), std::string::npos);
    EXPECT_EQ(verdict->text.find("not called"), std::string::npos);
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
