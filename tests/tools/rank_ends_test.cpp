// SPDX-License-Identifier: Apache-2.0
#include "job/rank_ends.h"
#include "job/rank_report.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace {

using namespace sennit::tool;

constexpr int launcher = 2000; // and of rank r: 1000 + r

#if __GLIBC_PREREQ(2, 32)
TEST(RankReport, SignalsHaveTheirNames) {
    for (int signal = 1; signal < 32; ++signal)
        EXPECT_EQ(signal_text(signal),
                  "signal " + std::to_string(signal) + " (SIG" + sigabbrev_np(signal) + ")");
    EXPECT_EQ(signal_text(40), "signal 40");
}
#endif

TEST(RankEnds, ARankThatNeverBeginsEndsThoseThatWaitForIt) {
    RankEnds ends(3);
    EXPECT_TRUE(ends.hear("begin\t0\t3", 1000));
    EXPECT_FALSE(ends.verdict());
    EXPECT_TRUE(ends.hear("end\t1\t5\t1001\t0\t0\t0", launcher));
    const auto verdict = ends.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->processes, std::vector<int>{1000});
    EXPECT_NE(verdict->text.find("rank 1 (process 1001) has ended with code 0 before MPI_Init, in "
                                 "which rank 0 waits for it"),
              std::string::npos)
        << verdict->text;
    EXPECT_EQ(ends.failure()->code, 1);
    EXPECT_FALSE(ends.verdict()) << "it is told once";
}

TEST(RankEnds, TheOthersMayComeLater) {
    RankEnds ends(2);
    ends.hear("end\t1\t5\t1001\t0\t7\t0", launcher);
    EXPECT_FALSE(ends.verdict()) << "perhaps no rank uses MPI";
    ends.hear("begin\t0\t2", 1000);
    EXPECT_TRUE(ends.verdict());
    EXPECT_EQ(ends.failure()->code, 7);
}

TEST(RankEnds, WhoHasBegunIsMpisConcern) {
    RankEnds ends(2);
    ends.hear("begin\t0\t2", 1000);
    ends.hear("begin\t1\t2", 1001);
    ends.hear("end\t1\t5\t1001\t11\t139\t0", launcher);
    EXPECT_FALSE(ends.verdict());
    EXPECT_EQ(ends.failure()->signal, 11);
}

TEST(RankEnds, NobodyWaitsWhoIsThroughOrGone) {
    RankEnds through(2);
    through.hear("begin\t0\t2", 1000);
    through.hear("begun\t0\t2", 1000);
    through.hear("end\t1\t5\t1001\t0\t0\t0", launcher);
    EXPECT_FALSE(through.verdict());
    RankEnds gone(2);
    gone.hear("begin\t0\t2", 1000);
    gone.hear("end\t0\t5\t1000\t9\t137\t0", launcher);
    gone.hear("end\t1\t5\t1001\t0\t0\t0", launcher);
    EXPECT_FALSE(gone.verdict());
    EXPECT_EQ(gone.failure()->rank, 0) << "the first one is the cause";
}

TEST(RankEnds, AnotherWorldsRanksAreNoneOfOurs) {
    RankEnds ends(2);
    ends.hear("end\t1\t5\t1001\t0\t0\t0", launcher);
    ends.hear("begin\t0\t4", 1000); // an mpiexec in rank 0
    ends.hear("begin\t7\t2", 1007);
    ends.hear("begin\t-1\t2", 1008);
    EXPECT_FALSE(ends.verdict());
    ends.hear("begin\t0\t-1", 1000); // the launcher has not said how many there are
    EXPECT_TRUE(ends.verdict());
}

TEST(RankEnds, RanksOfOtherNodesAreNotHeard) {
    RankEnds ends(2);
    EXPECT_TRUE(ends.hear("watch\t1\t0", 1001));
    EXPECT_TRUE(ends.hear("watch\t1\t0", 1001));
    EXPECT_TRUE(ends.hear("watch\t-1\t0", 1002)) << "nobody knows which one it is";
    EXPECT_FALSE(ends.hears_all());
    EXPECT_TRUE(ends.hear("watch\t0\t0", 1000));
    EXPECT_TRUE(ends.hears_all());
}

TEST(RankEnds, ANumberThatIsNoneIsNoMessage) {
    RankEnds ends(2);
    for (const char *message : {"", "end", "end\t0", "end\tx\t1\t1\t0\t0\t0", "begin\t0x1\t2",
                                "begin\t99999999999\t2", "end\t0\t1\t1\t0\t7\t0\t0"})
        EXPECT_FALSE(ends.hear(message, 1000)) << message;
    EXPECT_FALSE(ends.failure());
}

} // namespace
