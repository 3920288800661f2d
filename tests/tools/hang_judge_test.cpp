// SPDX-License-Identifier: Apache-2.0
#include "hang/core_waits.h"
#include "hang/hang_judge.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace {

using namespace sennit::tool;

constexpr std::uint64_t s = 1'000'000'000;

std::string still(int rank, std::uint64_t since, std::uint64_t now, const std::string &calls = "",
                  bool abort = false, bool outside = false) {
    return fmt::format("hang\t{}\t{}\t{}\t{}\t{}\t{:d}\t{:d}\n{}\nsennit:   text of {}\n", rank,
                       1000 + rank, since * s, now * s, 10 * s, abort, outside, calls, rank);
}

// What is said of ranks, as many as there are, that stand still for long in these calls.
std::string text_of(std::initializer_list<std::string> calls_of_ranks) {
    HangJudge judge(static_cast<int>(calls_of_ranks.size()));
    int rank = 0;
    for (const std::string &calls : calls_of_ranks)
        judge.hear(still(rank++, 0, 20, calls));
    const auto verdict = judge.verdict();
    EXPECT_TRUE(verdict);
    return verdict ? verdict->text : "";
}

bool says(const std::string &text, const char *words) {
    return text.find(words) != std::string::npos;
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

TEST(HangJudge, RanksOfOneNodeOfSeveralAreToldOfAloneIfThatIsWanted) {
    for (const char *const wanted : {"0", "2"}) {
        HangJudge judge(4);
        for (const char *const rank : {"2", "3"})
            judge.hear(fmt::format("watch\t{}\t{}", rank, wanted));
        judge.hear(still(2, 0, 100, "", true));
        EXPECT_FALSE(judge.verdict()) << "rank 3 of this node may be at work";
        judge.hear(still(3, 0, 100, "", true));
        const auto verdict = judge.verdict();
        ASSERT_EQ(verdict.has_value(), wanted[0] == '2');
        if (!verdict)
            continue;
        EXPECT_TRUE(says(verdict->text, "none of ranks 2, 3 has moved for 100 s; ranks on other "
                                        "nodes may be at work\n"))
            << verdict->text;
        EXPECT_TRUE(says(verdict->text, "rank 3 (process 1003):\nsennit:   text of 3\n"));
        EXPECT_TRUE(verdict->processes.empty()) << "nobody knows that it hangs";
        EXPECT_FALSE(judge.verdict()) << "it is told once";
        judge.hear("move\t2");
        EXPECT_TRUE(says(judge.verdict()->text, "goes on"));
    }
}

TEST(HangJudge, OfTheRanksOfOneNodeThoseThatHaveEndedDoNotStandStill) {
    HangJudge judge(6);
    for (const int rank : {2, 3, 4}) {
        judge.hear(fmt::format("watch\t{}\t3", rank));
        judge.hear(rank == 3 ? "end\t3\t0" : still(rank, 0, 100));
    }
    EXPECT_TRUE(says(judge.verdict()->text, "none of ranks 2, 4 has moved for 100 s"));
    judge.hear("end\t4\t0");
    judge.hear("move\t2");
    EXPECT_TRUE(says(judge.verdict()->text, "goes on"));
    judge.hear(still(2, 0, 100));
    EXPECT_TRUE(says(judge.verdict()->text, "rank 2 has not moved for 100 s"));
}

TEST(HangJudge, SeveralNodesOnOneMachineAreJudgedTogether) {
    HangJudge judge(2);
    for (const int rank : {0, 1}) {
        judge.hear(fmt::format("watch\t{}\t1", rank));
        judge.hear(still(rank, 0, 20));
    }
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(says(verdict->text, "none of its 2 ranks has moved")) << verdict->text;
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

TEST(HangJudge, NamesARankThatIsStoppedWhileAllOthersStandStill) {
    bool is_stopped = true;
    HangJudge judge(3, [&](int process) { return process == 1001 && is_stopped; });
    for (int rank = 0; rank < 3; ++rank)
        judge.hear(fmt::format("here\t{}\t{}", rank, 1000 + rank));
    judge.hear(still(0, 0, 20));
    EXPECT_FALSE(judge.verdict()) << "rank 2 may be at work";
    judge.hear(still(2, 5, 20));
    EXPECT_FALSE(judge.verdict()) << "it is known to be stopped since 20";
    judge.hear(still(0, 0, 30));
    EXPECT_FALSE(judge.verdict());
    judge.hear(still(2, 5, 30));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(says(verdict->text, "sennit: rank 1 (process 1001) is stopped, by a signal or a "
                                    "debugger\nsennit: perhaps others wait for it: no other rank "
                                    "has moved for 10 s\n"))
        << verdict->text;
    EXPECT_TRUE(says(verdict->text, "sennit: rank 2 (process 1002):\nsennit:   text of 2\n"));
    EXPECT_TRUE(verdict->processes.empty());
    judge.hear(still(0, 0, 60));
    judge.hear(still(2, 5, 60));
    EXPECT_FALSE(judge.verdict()) << "it is told once";
    is_stopped = false;
    judge.hear("move\t0");
    const auto end = judge.verdict();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->text, "sennit: the job goes on\n");
    is_stopped = true;
    judge.hear(still(0, 70, 90));
    judge.hear(still(2, 5, 90));
    EXPECT_FALSE(judge.verdict()) << "it went on in between: stopped since 90";
}

TEST(HangJudge, ARankThatWasStoppedForAMomentIsNotNamed) {
    bool is_stopped = true;
    HangJudge judge(2, [&](int) { return is_stopped; });
    judge.hear("here\t1\t1001");
    judge.hear(still(0, 0, 20));
    EXPECT_FALSE(judge.verdict());
    is_stopped = false;
    judge.hear(still(0, 0, 25));
    EXPECT_FALSE(judge.verdict());
    is_stopped = true;
    judge.hear(still(0, 0, 30));
    EXPECT_FALSE(judge.verdict());
    judge.hear(still(0, 0, 39));
    EXPECT_FALSE(judge.verdict());
    judge.hear(still(0, 0, 40));
    EXPECT_TRUE(judge.verdict());
}

TEST(HangJudge, ARankThatWaitsForACoreIsNoDeadlock) {
    CoreWaits cores;
    std::uint64_t asked = 0;
    HangJudge judge(3, {}, [&](const RankProcesses &processes, std::uint64_t least_ns) {
        asked = least_ns;
        EXPECT_TRUE(processes.at(1).contains(1001));
        return cores;
    });
    for (int rank = 0; rank < 3; ++rank)
        judge.hear(fmt::format("here\t{}\t{}", rank, 1000 + rank));
    judge.hear(still(0, 0, 9));
    EXPECT_FALSE(judge.verdict());
    EXPECT_EQ(asked, 0) << "that is no time to ask for";
    judge.hear(still(0, 0, 20));
    EXPECT_FALSE(judge.verdict()) << "the two others compute, for however long";
    EXPECT_EQ(asked, 10 * s);
    cores = {{1}, "sennit: what the board says\n"};
    judge.hear(still(0, 0, 30));
    EXPECT_FALSE(judge.verdict()) << "rank 2 computes";
    judge.hear(still(2, 5, 30));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->text,
              "sennit: no deadlock: all ranks that have moved in the last 25 s wait for a core\n"
              "sennit: what the board says\n"
              "sennit: rank 0 (process 1000):\nsennit:   text of 0\n"
              "sennit: rank 2 (process 1002):\nsennit:   text of 2\n");
    EXPECT_TRUE(verdict->processes.empty());
    judge.hear(still(0, 0, 60));
    EXPECT_FALSE(judge.verdict()) << "it is told once";
    // It may still become one, in which the cores are told of, too.
    judge.hear(still(1, 40, 60));
    judge.hear(still(2, 5, 60));
    const auto hang = judge.verdict();
    ASSERT_TRUE(hang);
    EXPECT_TRUE(says(hang->text, "the job hangs"));
    EXPECT_TRUE(hang->text.ends_with("sennit: what the board says\n"));
    judge.hear("move\t0");
    const auto end = judge.verdict();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->text, "sennit: the job goes on\n");
}

TEST(HangJudge, TellsOfTheCoresOfARankThatIsStopped) {
    HangJudge judge(
        2, [](int) { return true; },
        [](const RankProcesses &, std::uint64_t) {
            return CoreWaits{{}, "sennit: what the board says\n"};
        });
    judge.hear("here\t1\t1001");
    judge.hear(still(0, 0, 20));
    EXPECT_FALSE(judge.verdict());
    judge.hear(still(0, 0, 40));
    const auto verdict = judge.verdict();
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(verdict->text.ends_with("text of 0\nsennit: what the board says\n"));
}

// A board with rank 0 and rank 1 of a job, processes 1000 and 1001, and another program's 2000.
// Each owns the core of its slot.
Snapshot three_processes() {
    Snapshot now;
    for (int slot = 0; slot < 3; ++slot) {
        MemberNow one;
        one.slot = slot;
        one.pid = slot < 2 ? 1000 + slot : 2000;
        one.rank = slot < 2 ? slot : -1;
        one.program = slot < 2 ? "app" : "hog";
        one.shares_cores = true;
        now.members.push_back(one);
        CoreNow core;
        core.core = slot;
        core.owner = core.user = slot;
        now.cores.push_back(core);
    }
    return now;
}

CoreWaits waits_of(const Snapshot &now, Doing doing = Doing::computes) {
    return core_waits(now, {{0, {1000}}, {1, {1001, 3000}}}, 10 * s,
                      [=](const MemberNow &, const CoreNow &) { return doing; });
}

TEST(CoreWaits, ARankThatComputesOnItsCoreWaitsForNone) {
    const CoreWaits found = waits_of(three_processes());
    EXPECT_TRUE(found.ranks.empty());
    EXPECT_EQ(found.text, "sennit: no rank waits for a core\n");
}

TEST(CoreWaits, OwnerUserAndStateOfEachCoreBetweenTheJobAndOthersAreNamed) {
    Snapshot now = three_processes();
    now.cores[0].user = 1;
    now.cores[2].user = 0;
    EXPECT_EQ(waits_of(now, Doing::sleeps).text,
              "sennit: core 0, owned by rank 0 (process 1000), is used by rank 1 (process 1001), "
              "which sleeps in a system call\n"
              "sennit: core 2, owned by process 2000 (hog), is used by rank 0 (process 1000), "
              "which sleeps in a system call\n"
              "sennit: no rank waits for a core\n");
}

TEST(CoreWaits, ARankWaitsForACoreThatIsWantedBackForLong) {
    Snapshot now = three_processes();
    now.members[1].without = 1;
    now.cores[1].user = 2;
    EXPECT_TRUE(waits_of(now).ranks.empty()) << "it has not asked for it";
    now.cores[1].recalled = true;
    now.cores[1].recalled_ns = 9'000'000'000;
    EXPECT_TRUE(waits_of(now).ranks.empty()) << "that may be soon";
    now.cores[1].recalled_ns = 12'000'000'000;
    const CoreWaits found = waits_of(now);
    EXPECT_EQ(found.ranks, std::set<int>{1});
    EXPECT_TRUE(says(found.text,
                     "sennit: core 1, owned by rank 1 (process 1001), is used by process "
                     "2000 (hog), which computes; wanted back for 12 s\n"
                     "sennit: rank 1 (process 1001) waits for core 1, for no message: "
                     "process 2000 (hog) comes to no scheduling point "))
        << found.text;
    EXPECT_TRUE(says(waits_of(now, Doing::stopped).text,
                     "process 2000 (hog) is stopped: let it go on (kill -CONT 2000), or end it\n"));
    now.members[1].without = 0;
    EXPECT_TRUE(waits_of(now).ranks.empty()) << "nobody of it wants one now";
}

TEST(CoreWaits, NothingIsSaidWhereNoRankSharesCores) {
    Snapshot now = three_processes();
    for (int rank = 0; rank < 2; ++rank)
        now.members[rank].shares_cores = false;
    EXPECT_EQ(waits_of(now).text, "");
}

TEST(HangJudge, NamesTheCycleOfRanks) {
    const std::string verdict = text_of({"MPI_Recv\t2\t1\t7\tMPI_COMM_WORLD\tcall\n",
                                         "MPI_Recv\t2\t2\t7\tMPI_COMM_WORLD\tcall\n",
                                         "MPI_Recv\t2\t0\t7\tMPI_COMM_WORLD\tcall\n"});
    EXPECT_TRUE(says(verdict, "a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 2, "
                              "rank 2 waits for rank 0\n"));
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
    const std::string verdict =
        text_of({waits + "MPI_Irecv\t2\t1\t7\tMPI_COMM_WORLD\toperation\n",
                 waits + "MPI_Irecv\t2\t0\t7\tMPI_COMM_WORLD\toperation\n"});
    EXPECT_TRUE(says(verdict, "rank 1 waits for rank 0 to send a message with tag 7: nothing "
                              "like it is under way in rank 0, which is in MPI_Waitall\n"));
    EXPECT_TRUE(says(verdict, "sennit: a deadlock: rank 0 waits for rank 1, rank 1 waits for "
                              "rank 0\n"));
}

// One of the requests that MPI_Waitall is given is not complete, nobody knows which.
TEST(HangJudge, SaysPerhapsOfWhatMayBeComplete) {
    const std::string received = "MPI_Irecv\t2\t{0}\t{1}\tMPI_COMM_WORLD\tperhaps\n";
    const std::string sent = "MPI_Isend\t1\t{0}\t{1}\tMPI_COMM_WORLD\tperhaps\n";
    const std::string verdict = text_of({waits + fmt::format(fmt::runtime(received), 1, 3) +
                                             fmt::format(fmt::runtime(received), 1, 4) +
                                             fmt::format(fmt::runtime(sent), 1, 5),
                                         waits + fmt::format(fmt::runtime(received), 0, 6) +
                                             fmt::format(fmt::runtime(sent), 0, 4)});
    EXPECT_TRUE(says(verdict, "rank 0 perhaps waits for rank 1 to send a message with tag 3"));
    EXPECT_TRUE(says(verdict, "rank 1 perhaps waits for rank 0 to send a message with tag 6"));
    EXPECT_FALSE(says(verdict, "with tag 4")); // it is there
    EXPECT_FALSE(says(verdict, "with tag 5")); // most sends are complete
    EXPECT_TRUE(says(verdict, "sennit: perhaps a deadlock: rank 0 waits for rank 1, rank 1 waits "
                              "for rank 0\n"));
}

// Its message has come, and it waits for what it sends: it says only the one of both.
TEST(HangJudge, SaysPerhapsOfAnExchange) {
    const std::string exchange = "MPI_Sendrecv\t3\t{0}\t{1}\tMPI_COMM_WORLD\tcall\n";
    const std::string verdict = text_of(
        {fmt::format(fmt::runtime(exchange), 1, 1), "MPI_Recv\t2\t0\t77\tMPI_COMM_WORLD\tcall\n"});
    EXPECT_TRUE(says(verdict, "rank 1 waits for rank 0 to send a message with tag 77"));
    EXPECT_FALSE(says(verdict, "sennit: rank 0 waits for"));
    const std::string cycle = text_of(
        {fmt::format(fmt::runtime(exchange), 1, 0), fmt::format(fmt::runtime(exchange), 0, 1)});
    EXPECT_TRUE(says(cycle, "rank 0 perhaps waits for rank 1 to send a message with tag 0: "
                            "nothing like it"));
    EXPECT_TRUE(says(cycle, "sennit: perhaps a deadlock: "));
}

TEST(HangJudge, APartitionedSendMayWaitForItsOwnRank) {
    const std::string sends = "MPI_Psend_init\t1\t0\t7\tMPI_COMM_WORLD\toperation\n";
    const std::string verdict =
        text_of({"MPI_Precv_init\t2\t1\t7\tMPI_COMM_WORLD\toperation\n", sends});
    EXPECT_FALSE(says(verdict, "nothing like it"));
    EXPECT_FALSE(says(verdict, "deadlock"));
    // no receive but a partitioned one takes it
    const std::string different = text_of({"MPI_Recv\t2\t1\t7\tMPI_COMM_WORLD\tcall\n", sends});
    EXPECT_TRUE(says(different, "rank 0 waits for rank 1 to send a message with tag 7: nothing "
                                "like it"));
}

TEST(HangJudge, SaysThatAMessageIsOnAnotherCommunicator) {
    const std::string verdict = text_of({"MPI_Recv\t2\t1\t5\tMPI_COMM_WORLD\tcall\n",
                                         "MPI_Ssend\t1\t0\t5\ta communicator of 2\tcall\n"});
    EXPECT_TRUE(says(verdict, "rank 0 waits for rank 1 to send a message with tag 5: nothing like "
                              "it is under way in rank 1, which is in MPI_Ssend; something like it "
                              "is on another communicator\n"));
}

// It may have posted a receive that it does not wait for.
TEST(HangJudge, DoesNotSayWhatARankOutsideOfMpiHasPosted) {
    const std::string verdict = text_of({"MPI_Ssend\t1\t1\t5\tMPI_COMM_WORLD\tcall\n", ""});
    EXPECT_TRUE(says(verdict, "sennit: rank 0 waits for rank 1 to receive a message with tag 5, "
                              "which is in no MPI call\n"));
}

TEST(HangJudge, ClaimsNothingAboutARankThatHasMoreCallsThanItTells) {
    const std::string verdict = text_of({"MPI_Recv\t2\t1\t5\tMPI_COMM_WORLD\tcall\n"
                                         "MPI_Barrier\t0\t-1\t-1\tMPI_COMM_WORLD\tcall\n",
                                         waits + "...\t0\t-1\t-1\t\tmore\n"});
    EXPECT_FALSE(says(verdict, "nothing like it"));
    EXPECT_FALSE(says(verdict, "not called"));
}

// What is said of ranks that stand still for long in these calls, when they are to be ended; none:
// something is under way.
std::optional<HangJudge::Verdict> judged(std::initializer_list<std::string> calls_of_ranks) {
    HangJudge judge(static_cast<int>(calls_of_ranks.size()));
    int rank = 0;
    for (const std::string &calls : calls_of_ranks)
        judge.hear(still(rank++, 0, 20, calls, true));
    return judge.verdict();
}

TEST(HangJudge, AMessageUnderWayIsNoHang) {
    const std::string sends = "MPI_Send\t1\t1\t5\tMPI_COMM_WORLD\tcall\n";
    EXPECT_FALSE(judged({sends, "MPI_Recv\t2\t0\t5\tMPI_COMM_WORLD\tcall\n"}));
    EXPECT_FALSE(judged({sends, "MPI_Recv\t2\t-1\t-1\tMPI_COMM_WORLD\tcall\n"}));
    EXPECT_FALSE(judged({sends, waits + "MPI_Irecv\t2\t0\t5\tMPI_COMM_WORLD\toperation\n"
                                        "MPI_Irecv\t2\t0\t6\tMPI_COMM_WORLD\toperation\n"}));
    EXPECT_TRUE(judged({sends, "MPI_Recv\t2\t0\t6\tMPI_COMM_WORLD\tcall\n"}));
    EXPECT_TRUE(judged({sends, "MPI_Recv\t2\t0\t5\thalo\tcall\tgroup=a,2\n"}));
}

// The rank goes on to another call before it waits for what it has begun.
TEST(HangJudge, WhatIsNotWaitedForIsUnderWayToo) {
    const std::string elsewhere = "MPI_Recv\t2\t1\t6\tMPI_COMM_WORLD\tcall\n";
    const std::string sends = "MPI_Isend\t1\t1\t5\tMPI_COMM_WORLD\tposted\n";
    const std::string receives = "MPI_Recv\t2\t0\t5\tMPI_COMM_WORLD\tcall\n";
    EXPECT_FALSE(judged({elsewhere + sends, receives}));
    EXPECT_FALSE(judged({elsewhere + "MPI_Irecv\t2\t1\t5\tMPI_COMM_WORLD\tposted\n",
                         "MPI_Ssend\t1\t0\t5\tMPI_COMM_WORLD\tcall\n"}));
    // nobody waits for either end
    const auto both = judged({elsewhere + sends, "MPI_Recv\t2\t0\t7\tMPI_COMM_WORLD\tcall\n"
                                                 "MPI_Irecv\t2\t0\t5\tMPI_COMM_WORLD\tposted\n"});
    ASSERT_TRUE(both);
    EXPECT_TRUE(says(both->text, "a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0"));
    EXPECT_EQ(both->processes.size(), 2U);
}

TEST(HangJudge, WhatMayBeOverOrIsNotWorkedForIsPerhapsUnderWay) {
    const std::string elsewhere = "MPI_Recv\t2\t1\t6\tMPI_COMM_WORLD\tcall\n";
    const std::string receives = "MPI_Recv\t2\t0\t5\tMPI_COMM_WORLD\tcall\n";
    const auto noted =
        judged({elsewhere + "MPI_Isend\t1\t1\t5\tMPI_COMM_WORLD\tnoted\n", receives});
    ASSERT_TRUE(noted);
    EXPECT_TRUE(says(noted->text, "sennit: perhaps the job hangs: ")) << noted->text;
    EXPECT_TRUE(noted->processes.empty());
    const auto outside = judged({"MPI_Isend\t1\t1\t5\tMPI_COMM_WORLD\tposted\n", receives});
    ASSERT_TRUE(outside);
    EXPECT_TRUE(outside->processes.empty());
}

TEST(HangJudge, APartitionedSendIsUnderWayWhenAllOfItIsReady) {
    const std::string receives = "MPI_Precv_init\t2\t1\t7\tMPI_COMM_WORLD\toperation\n";
    const std::string sends = "MPI_Psend_init\t1\t0\t7\tMPI_COMM_WORLD\t";
    EXPECT_FALSE(judged({waits + receives, waits + sends + "operation\twithheld=0\n"}));
    const auto withheld = judged({waits + receives, waits + sends + "operation\twithheld=1\n"});
    ASSERT_TRUE(withheld);
    EXPECT_EQ(withheld->processes.size(), 2U);
    const auto unknown = judged({waits + receives, waits + sends + "operation\n"});
    ASSERT_TRUE(unknown);
    EXPECT_TRUE(unknown->processes.empty());
    const std::string elsewhere = "MPI_Recv\t2\t0\t6\tMPI_COMM_WORLD\tcall\n";
    EXPECT_FALSE(judged({waits + receives, elsewhere + sends + "posted\twithheld=0\n"}));
    const auto not_ready = judged({waits + receives, elsewhere + sends + "posted\twithheld=1\n"});
    ASSERT_TRUE(not_ready);
    EXPECT_EQ(not_ready->processes.size(), 2U);
}

TEST(HangJudge, AMessageOnACommunicatorOfTheSameRanksIsUnderWay) {
    const std::string sends = "MPI_Send\t1\t1\t5\thalo\tcall\tgroup=ab,2\n";
    EXPECT_FALSE(judged({sends, "MPI_Recv\t2\t0\t5\thalo\tcall\tgroup=ab,2\n"}));
    EXPECT_TRUE(judged({sends, "MPI_Recv\t2\t0\t5\thalo\tcall\tgroup=ac,2\n"}));
    const auto named_differently = judged({sends, "MPI_Recv\t2\t0\t5\tedge\tcall\tgroup=ab,2\n"});
    ASSERT_TRUE(named_differently);
    EXPECT_TRUE(says(named_differently->text, "sennit: perhaps the job hangs: "));
    EXPECT_TRUE(named_differently->processes.empty());
}

TEST(HangJudge, ExchangesThatFitAreUnderWay) {
    const std::string exchange = "MPI_Sendrecv\t3\t{0}\t5\tMPI_COMM_WORLD\tcall\tto={0},{1}\n";
    EXPECT_FALSE(judged(
        {fmt::format(fmt::runtime(exchange), 1, 5), fmt::format(fmt::runtime(exchange), 0, 5)}));
    const auto wrong_tags = judged(
        {fmt::format(fmt::runtime(exchange), 1, 6), fmt::format(fmt::runtime(exchange), 0, 6)});
    ASSERT_TRUE(wrong_tags);
    EXPECT_EQ(wrong_tags->processes.size(), 2U);
    const std::string requests = waits + "MPI_Irecv\t2\t{0}\t5\tMPI_COMM_WORLD\tperhaps\n"
                                         "MPI_Isend\t1\t{0}\t5\tMPI_COMM_WORLD\tperhaps\n";
    EXPECT_FALSE(
        judged({fmt::format(fmt::runtime(requests), 1), fmt::format(fmt::runtime(requests), 0)}));
}

// What is known says that there is a partner, but one that may be complete.
TEST(HangJudge, EndsNothingThatMayBeUnderWay) {
    const auto verdict = judged({waits + "MPI_Irecv\t2\t1\t3\tMPI_COMM_WORLD\tperhaps\n"
                                         "MPI_Irecv\t2\t1\t4\tMPI_COMM_WORLD\tperhaps\n",
                                 "MPI_Ssend\t1\t0\t4\tMPI_COMM_WORLD\tcall\n"});
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(says(verdict->text, "sennit: perhaps the job hangs: "));
    EXPECT_TRUE(verdict->processes.empty());
    EXPECT_TRUE(judged({"MPI_Win_flush\t0\t-1\t-1\t\tcall\n", waits})->processes.empty());
}

TEST(HangJudge, EndsWhatTurnsOutToHang) {
    HangJudge judge(1);
    judge.hear(still(0, 0, 20, "...\t0\t-1\t-1\t\tmore\n", true));
    EXPECT_TRUE(judge.verdict()->processes.empty());
    judge.hear(still(0, 0, 21, "MPI_Recv\t2\t0\t5\tMPI_COMM_WORLD\tcall\n", true));
    EXPECT_EQ(judge.verdict()->processes, std::vector<int>{1000});
    EXPECT_FALSE(judge.verdict());
}

TEST(HangJudge, WhatRanksDoWhileTheyAreEndedIsNoGoingOn) {
    HangJudge judge(1);
    judge.hear(still(0, 0, 20, "MPI_Recv\t2\t0\t5\tMPI_COMM_WORLD\tcall\n", true));
    EXPECT_FALSE(judge.verdict()->processes.empty());
    judge.hear("move\t0");
    EXPECT_FALSE(judge.verdict());
}

TEST(HangJudge, ACollectiveCallThatAllHaveComeToIsNoHang) {
    const std::string third =
        "MPI_Bcast\t0\t-1\t-1\tMPI_COMM_WORLD\tcall\tnumber=3\n"
        "-\t0\t-1\t-1\tMPI_COMM_WORLD\tmade\tnumber=3\tlatest=MPI_Bcast:0,MPI_Barrier:-1\n";
    // the root has gone on to the next one, and another rank to a message
    const std::string beyond = "-\t0\t-1\t-1\tMPI_COMM_WORLD\tmade\tnumber=4\t"
                               "latest=MPI_Barrier:-1,MPI_Bcast_c:0\n";
    EXPECT_FALSE(judged({third, "MPI_Barrier\t0\t-1\t-1\tMPI_COMM_WORLD\tcall\tnumber=4\n" + beyond,
                         "MPI_Recv\t2\t0\t5\tMPI_COMM_WORLD\tcall\n" + beyond}));
    const auto absent = judged({third, "MPI_Recv\t2\t0\t5\tMPI_COMM_WORLD\tcall\n"
                                       "-\t0\t-1\t-1\tMPI_COMM_WORLD\tmade\tnumber=2\tlatest=\n"});
    ASSERT_TRUE(absent);
    EXPECT_TRUE(says(absent->text, "sennit: MPI_Bcast on MPI_COMM_WORLD: not called by rank 1\n"));
    EXPECT_TRUE(
        says(absent->text, "a deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n"));
    EXPECT_EQ(absent->processes.size(), 2U);
}

TEST(HangJudge, NamesCollectiveCallsThatDoNotMatch) {
    // the small message of the broadcast's root was on its way: it waits in the next call already
    const auto verdict = judged(
        {"MPI_Barrier\t0\t-1\t-1\tpair\tcall\tgroup=1,2\tnumber=6\n"
         "-\t0\t-1\t-1\tpair\tmade\tgroup=1,2\tnumber=6\tlatest=MPI_Barrier:-1,MPI_Bcast:0\n",
         "MPI_Barrier\t0\t-1\t-1\tpair\tcall\tgroup=1,2\tnumber=5\n"
         "-\t0\t-1\t-1\tpair\tmade\tgroup=1,2\tnumber=5\tlatest=MPI_Barrier:-1,MPI_Bcast:0\n"});
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(says(verdict->text, "collective calls on pair do not match: its 5th one is "
                                    "MPI_Barrier in rank 1, MPI_Bcast in rank 0; "));
}

TEST(HangJudge, NamesAReceiveFromAnybodyForWhichNothingIsSent) {
    const std::string receives = "MPI_Recv\t2\t-1\t5\tMPI_COMM_WORLD\tcall\n";
    const std::string ends = "MPI_Finalize\t0\t-1\t-1\t\tcall\n";
    EXPECT_TRUE(
        says(text_of({receives, ends, ends}),
             "sennit: rank 0 waits for any rank to send a message with tag 5: no other rank "
             "can send it, ranks 1, 2 are in MPI_Finalize; "));
    EXPECT_FALSE(says(text_of({receives, ends, "...\t0\t-1\t-1\t\tmore\n"}), "no other rank"));
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
