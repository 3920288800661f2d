// SPDX-License-Identifier: Apache-2.0
// The numbers of `sennit report` on jobs small enough to know the answers.
#include "made_trace.h"
#include "report.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

using namespace sennit::trace;
using namespace sennit::report;
using namespace sennit::made;

TEST(ReportShares, TimeOutsideOfTasksIsIdleOrOverheadByWhetherATaskIsReady) {
    Job job{};
    job.processes.push_back(make_process(0, 3));
    Process &process = job.processes[0];
    run(process, 1, 0, 0, 0, 100, 400); // ready from 0 to 100: overhead of both threads
    run(process, 2, 1, 0, 400, 450, 700);
    run(process, 3, 0, 0, 400, 700, 900); // ready from 400 to 700
    fill_gaps(process);
    job.end = 1000;
    const Window window = window_of_tasks(job);
    EXPECT_EQ(window.begin, 0);
    EXPECT_EQ(window.end, 900);
    const std::vector<Shares> shares = divide_time(process, window);
    EXPECT_EQ(shares[0].task, 300 + 200);
    EXPECT_EQ(shares[0].overhead, 100 + 300);
    EXPECT_EQ(shares[0].idle, 0);
    EXPECT_EQ(shares[1].task, 250);
    EXPECT_EQ(shares[1].overhead, 100 + 50);
    EXPECT_EQ(shares[1].idle, 300 + 200);
    for (const Shares &share : shares)
        EXPECT_EQ(share.total(), 900);
}

TEST(ReportShares, ProgressIsTakenFromWhatItWouldOtherwiseBe) {
    Job job{};
    job.processes.push_back(make_process(0, 1));
    Process &process = job.processes[0];
    run(process, 1, 0, 0, 200, 400, 900);
    fill_gaps(process);
    // Half of 100..300 in polling; half of that time a task is ready.
    process.polls.push_back({100, 300, 100, 1, 10, 0});
    // In a task there is no progress to account for.
    process.polls.push_back({500, 600, 50, 0, 10, 0});
    const std::vector<Shares> shares = divide_time(process, {0, 1000});
    EXPECT_EQ(shares[1].progress_idle, 50);
    EXPECT_EQ(shares[1].progress_overhead, 50);
    EXPECT_EQ(shares[1].paper_overhead(), 200);
    EXPECT_EQ(shares[1].paper_idle(), 800);
    EXPECT_EQ(shares[0].progress(), 0);
    EXPECT_EQ(shares[1].total(), 1000);
}

TEST(ReportShares, MpiOutsideOfTasksIsToldApart) {
    Job job{};
    job.processes.push_back(make_process(0, 0));
    Process &process = job.processes[0];
    process.threads[0].intervals = {{0, 600, State::program, 0}, {600, 1000, State::outside, 0}};
    process.threads[1].intervals = {{0, 1000, State::outside, 0}};
    process.calls.push_back(call(0, kReceive, 1, 100, 350, 0));
    const std::vector<Shares> shares = divide_time(process, {0, 1000});
    EXPECT_EQ(shares[0].program, 350);
    EXPECT_EQ(shares[0].program_mpi, 250);
    EXPECT_EQ(shares[0].idle, 400);
}

TEST(ReportCriticalPath, FollowsDependencesAndMessages) {
    // Rank 0: 1 (100) -> 2 (50, sends after 30); 3 (200) alone.
    // Rank 1: 1 (receives; 10 before, 40 after) -> 2 (70).
    Job job{};
    job.processes.push_back(make_process(0, 3));
    job.processes.push_back(make_process(1, 2));
    Process &zero = job.processes[0];
    Process &one = job.processes[1];
    run(zero, 1, 0, 0, 0, 0, 100);
    run(zero, 2, 0, 0, 100, 100, 150);
    run(zero, 3, 1, 0, 0, 0, 200);
    zero.edges = {{1, 2}};
    run(one, 1, 0, 0, 0, 0, 400);
    one.tasks[1].running = 50;
    run(one, 2, 0, 0, 400, 400, 470);
    one.edges = {{1, 2}};
    zero.calls.push_back(call(2, kSend, 1, 130, 140, 30));
    one.calls.push_back(call(1, kReceive, 0, 10, 360, 10));
    zero.calls[0].message = one.calls[0].message = 0;
    job.messages = {{0, 0, 1, 0}};
    const CriticalPath path = critical_path(job);
    EXPECT_EQ(path.length, 100 + 30 + 40 + 70);
    EXPECT_EQ(path.messages, 1u);
    std::vector<std::pair<std::uint32_t, Ns>> pieces;
    Ns sum = 0;
    for (const PathPiece &piece : path.pieces) {
        sum += piece.ran;
        pieces.emplace_back(piece.process * 10 + piece.task, piece.ran);
    }
    EXPECT_EQ(sum, path.length);
    EXPECT_EQ(pieces,
              (std::vector<std::pair<std::uint32_t, Ns>>{{1, 100}, {2, 30}, {11, 40}, {12, 70}}));
}

TEST(ReportCriticalPath, AParentGoesOnAfterItsChildren) {
    // 1 runs 20, makes 2 (300), runs 10, waits, runs 5.
    Job job{};
    job.processes.push_back(make_process(0, 2));
    Process &process = job.processes[0];
    run(process, 1, 0, 0, 0, 0, 400);
    process.tasks[1].running = 35;
    run(process, 2, 1, 20, 20, 25, 325);
    process.tasks[2].parent = 1;
    process.tasks[2].parent_ran = 20;
    process.waits.push_back({30, 330, 1, 0, WaitReason::children, 30});
    EXPECT_EQ(critical_path(job).length, 20 + 300 + 5);
}

TEST(ReportWaits, AreSummedByCallAndPeer) {
    Job job{};
    job.processes.push_back(make_process(0, 1));
    Process &process = job.processes[0];
    run(process, 1, 0, 0, 0, 0, 900);
    process.calls = {call(1, kReceive, 3, 100, 300, 0), call(1, kReceive, 3, 400, 450, 0),
                     call(1, kSend, 2, 500, 510, 0)};
    process.calls[0].ran_within = 20;
    const std::vector<Waited> waits = who_waited(job, {0, 1000});
    ASSERT_EQ(waits.size(), 2u);
    EXPECT_EQ(waits[0].peer, 3);
    EXPECT_EQ(waits[0].calls, 2u);
    EXPECT_EQ(waits[0].total, 180 + 50);
    EXPECT_EQ(waits[0].longest, 180);
    EXPECT_EQ(waits[0].longest_tag, 5);
    EXPECT_EQ(waits[1].peer, 2);
}

TEST(ReportCores, AreLentByWhomTheyAreBorrowed) {
    Job job{};
    EXPECT_TRUE(core_shares(job).empty());
    for (int rank = 0; rank < 2; ++rank) {
        job.processes.push_back(make_process(rank, 0));
        job.processes.back().file.header.process = 70 + static_cast<std::uint32_t>(rank);
    }
    EXPECT_TRUE(core_shares(job).empty());
    // On another node, where another process has the same number.
    job.processes.push_back(make_process(2, 0));
    job.processes[2].file.header.process = 71;
    std::strcpy(job.processes[2].file.header.host, "another");
    job.processes[2].cores = {{0, 10, 0, 2, 71, CoreStep::own, CoreStep::lends, 0}};
    job.processes[0].cores = {
        {0, 400, 0, 2, 70, CoreStep::own, CoreStep::lends, 10},
        {100, 300, 1, 3, 71, CoreStep::borrowed, CoreStep::leaves, 0},
        {300, 350, 1, -1, 0, CoreStep::without, CoreStep::lends, 20},
    };
    const std::vector<CoreShares> shares = core_shares(job);
    ASSERT_EQ(shares.size(), 3u);
    EXPECT_EQ(shares[0].own, 400);
    EXPECT_EQ(shares[0].borrowed, 200);
    EXPECT_EQ(shares[0].without, 50);
    EXPECT_EQ(shares[0].waited, 30);
    EXPECT_EQ(shares[0].borrowings, 1u);
    EXPECT_EQ(shares[0].recalls, 1u);
    EXPECT_EQ(shares[0].late, 1u);
    EXPECT_EQ(shares[1].lent, 200);
    EXPECT_EQ(shares[1].used(), 0);
    EXPECT_EQ(shares[2].lent, 0);
    EXPECT_EQ(nodes_of(job), (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(ReportFindings, AreTheSumsOfItsProcesses) {
    Job job{};
    for (const int rank : {0, 1}) {
        job.processes.push_back(make_process(rank, 1));
        Process &process = job.processes.back();
        run(process, 1, 0, 0, 0, 100, 400 + 100 * rank);
        fill_gaps(process);
        process.policy_passes = 2;
        process.policy_ns = 30;
    }
    const Findings found(job);
    EXPECT_EQ(found.window.length(), 500);
    EXPECT_EQ(found.of(0).task, 300);
    EXPECT_EQ(found.of(1).task, 400);
    EXPECT_EQ(found.all().task, 700);
    EXPECT_EQ(found.all().total(), 4 * 500);
    EXPECT_EQ(found.path.length, 400);
    EXPECT_EQ(found.kinds.size(), 1u);
    EXPECT_EQ(found.policy.passes, 4u);
    EXPECT_EQ(found.policy.spent, 60);
}

TEST(ReportBalance, LambdaOfNodesRanksAndThreads) {
    Job job{};
    std::vector<std::vector<Shares>> shares;
    for (const int rank : {0, 1, 2, 3}) {
        job.processes.push_back(make_process(rank, 0));
        std::strcpy(job.processes.back().file.header.host, rank < 2 ? "here" : "there");
        Shares first{};
        first.task = 100 * rank;
        first.program_mpi = 5000; // is no work
        Shares second{};
        second.program = 100;
        second.idle = 70;
        shares.push_back({first, second});
    }
    const Balance balance = balance_of(job, shares);
    EXPECT_EQ(balance.threads.parts, 8u);
    EXPECT_EQ(balance.threads.all, 1000);
    EXPECT_DOUBLE_EQ(balance.threads.imbalance(), 100 * (300.0 / 125 - 1));
    EXPECT_EQ(balance.ranks.most, 400);
    EXPECT_DOUBLE_EQ(balance.ranks.imbalance(), 100 * (400.0 / 250 - 1));
    EXPECT_EQ(balance.nodes.parts, 2u);
    EXPECT_DOUBLE_EQ(balance.nodes.imbalance(), 100 * (700.0 / 500 - 1));
    EXPECT_TRUE(balance.regions.empty());
    EXPECT_DOUBLE_EQ(Spread{}.imbalance(), 0);
}

TEST(ReportBalance, LambdaOfRegionsByFunction) {
    Job job{};
    job.processes.push_back(make_process(0, 1));
    Process &process = job.processes[0];
    process.file.names[16] = "uneven";
    process.file.names[32] = "even";
    process.threads[0].intervals = {{0, 300, State::program, 0},
                                    {300, 400, State::outside, 0},
                                    {400, 500, State::program, 0},
                                    {500, 1000, State::outside, 0}};
    process.threads[1].intervals = {{0, 100, State::program, 0},   {100, 350, State::outside, 0},
                                    {350, 380, State::task, 1}, // in the region's barrier
                                    {380, 400, State::outside, 0}, {400, 600, State::program, 0},
                                    {600, 1000, State::outside, 0}};
    process.parts = {{0, 400, 1, 16, 0, 2},
                     {400, 600, 2, 32, 0, 2},
                     {0, 100, 1, 16, 1, 2},
                     {150, 160, 1, 16, 1, 2}, // on a fiber of its own
                     {400, 600, 2, 32, 1, 2}};
    Call mpi = call(0, 0, 1, 450, 550, 0); // half of it in the region's thread
    mpi.thread = 1;
    process.calls.push_back(mpi);
    process.tasks[1].started = 350;
    const Balance balance = balance_of(job, {std::vector<Shares>(2)});
    ASSERT_EQ(balance.regions.size(), 2u);
    const RegionKind &uneven = balance.regions[0];
    EXPECT_EQ(uneven.name, "uneven");
    EXPECT_EQ(uneven.runs, 1u);
    EXPECT_EQ(uneven.workers, 2);
    EXPECT_EQ(uneven.work, 300 + 130);
    EXPECT_DOUBLE_EQ(uneven.imbalance(), 100 * (300.0 / 215 - 1));
    EXPECT_DOUBLE_EQ(uneven.lost(), 85);
    EXPECT_EQ(balance.regions[1].name, "even");
    EXPECT_DOUBLE_EQ(balance.regions[1].imbalance(), 0); // 100, and 200 less 100 in MPI
}

TEST(ReportBalance, WorkersThatHadNoPartCount) {
    Job job{};
    job.processes.push_back(make_process(0, 0));
    Process &process = job.processes[0];
    process.threads[0].intervals = {{0, 1000, State::program, 0}};
    for (std::uint64_t run : {1, 2, 3})
        process.parts.push_back({0, 100, run, 0, 0, 4});
    const Balance balance = balance_of(job, {std::vector<Shares>(2)});
    ASSERT_EQ(balance.regions.size(), 1u);
    EXPECT_EQ(balance.regions[0].name, "(unknown)");
    EXPECT_EQ(balance.regions[0].runs, 3u);
    EXPECT_DOUBLE_EQ(balance.regions[0].imbalance(), 300);
}

// Two ranks, two objects: both on rank 0 of the set, which is rank 5 of the job. A call moves one;
// the other grows.
TEST(ReportObjects, WhatACallFoundDidAndGained) {
    Job job{};
    job.processes.push_back(make_process(5, 0));
    job.processes.push_back(make_process(7, 0));
    const std::uint64_t set = 42;
    auto &first = job.processes[0];
    auto &second = job.processes[1];
    first.balance_calls.push_back({400, 500, set, 0, 2, 1, 0, false, 1.0, .5, .25, 30});
    first.objects.push_back({set, 0, 0, 0, 0, 300, 10, 1});
    first.objects.push_back({set, 0, 1, 0, 1, 100, 20, 1});
    first.objects.push_back({set, 1, 0, 0, 0, 300, 10, 1});  // until the end
    second.objects.push_back({set, 1, 1, 1, 1, 400, 30, 2}); // a rank of twice the speed
    const Objects objects = objects_of(job);
    EXPECT_EQ(objects.sets, 1u);
    ASSERT_EQ(objects.calls.size(), 1u);
    const BalanceCallRow &call = objects.calls[0];
    EXPECT_DOUBLE_EQ(call.imbalance, 100);
    EXPECT_DOUBLE_EQ(call.node_imbalance, 50);
    EXPECT_DOUBLE_EQ(call.promised, 25);
    EXPECT_EQ(call.lost, 200); // 400 and 0
    EXPECT_DOUBLE_EQ(call.then, 20);
    EXPECT_EQ(call.lost_then, 50); // 300 and 200
    EXPECT_EQ(call.moved, 1);
    EXPECT_EQ(call.took, 100);
    EXPECT_EQ(objects.took, 100);
    EXPECT_EQ(objects.moved, 1u);
    EXPECT_EQ(objects.bytes, 30u);
    ASSERT_EQ(objects.objects.size(), 2u);
    EXPECT_EQ(objects.objects[0].object, 0);
    EXPECT_EQ(objects.objects[0].work, 600);
    EXPECT_EQ(objects.objects[0].rank, 5);
    EXPECT_EQ(objects.objects[0].moves, 0);
    EXPECT_EQ(objects.objects[1].work, 500);
    EXPECT_EQ(objects.objects[1].rank, 7);
    EXPECT_EQ(objects.objects[1].moves, 1);
    EXPECT_EQ(objects.objects[1].bytes, 30u);
    ASSERT_EQ(objects.ranks.size(), 2u);
    EXPECT_EQ(objects.ranks[0].rank, 5);
    EXPECT_EQ(objects.ranks[0].work, 700);
    EXPECT_EQ(objects.ranks[0].held, 1u);
    EXPECT_EQ(objects.ranks[0].left, 1u);
    EXPECT_EQ(objects.ranks[0].bytes_left, 20u);
    EXPECT_EQ(objects.ranks[1].came, 1u);
    EXPECT_EQ(objects.ranks[1].held, 1u);
}

TEST(ReportObjects, SetsAreToldApartAndTheLastPeriodOfOneMayBeUnknown) {
    Job job{};
    job.processes.push_back(make_process(0, 0));
    auto &process = job.processes[0];
    process.balance_calls.push_back({700, 800, 9, 0, 1, 0, 0, true, 0, 0, 0, 0});
    process.balance_calls.push_back({100, 200, 8, 0, 1, 0, 2, false, 0, 0, 0, 0});
    process.objects.push_back({8, 0, 0, 0, 0, 10, 1, 1});
    process.objects.push_back({9, 0, 0, 0, 0, 20, 1, 1});
    const Objects objects = objects_of(job);
    EXPECT_EQ(objects.sets, 2u);
    ASSERT_EQ(objects.calls.size(), 2u);
    EXPECT_EQ(objects.calls[0].set, 0u);
    EXPECT_EQ(objects.calls[0].failed, 2);
    EXPECT_TRUE(objects.calls[1].declined);
    EXPECT_LT(objects.calls[0].then, 0);
    ASSERT_EQ(objects.objects.size(), 2u);
    EXPECT_EQ(objects.objects[0].set, 1u);
    EXPECT_TRUE(objects_of(Job{}).objects.empty());
}

TEST(ReportMoved, TimeUnderWayIsHiddenUnlessItIsWaitedFor) {
    Job job{};
    for (const int rank : {0, 1}) {
        job.processes.push_back(make_process(rank, 1));
        Process &process = job.processes.back();
        process.file.names = {
            {10, "MPI_Recv"}, {11, "MPI_Send"}, {20, "halo.c:7"}, {21, "halo.c:8"}};
        // Alone: 300 until the wait, 100 in it.
        process.moved.push_back({100, 400, 500, 10, 20, 0, MovedHow::later, 1});
    }
    Process &process = job.processes[1];
    // Two together: 50 of the wait count for each.
    process.moved.push_back({600, 700, 800, 10, 21, 0, MovedHow::later, 2});
    process.moved.push_back({650, 700, 800, 11, 21, 0, MovedHow::later, 2});
    process.moved.push_back({0, 900, 900, 11, 20, 1, MovedHow::bound, 1});
    process.moved.push_back({900, 900, 950, 11, 20, 1, MovedHow::at_once, 1});
    const std::vector<MovedKind> moved = moved_calls(job);
    ASSERT_EQ(moved.size(), 5u);
    const auto expect = [&](std::size_t at, const char *call, const char *place,
                            std::uint64_t times, Ns until_wait, Ns waited, double hidden) {
        EXPECT_EQ(moved[at].call, call);
        EXPECT_EQ(moved[at].place, place);
        EXPECT_EQ(moved[at].times, times);
        EXPECT_EQ(moved[at].until_wait, until_wait);
        EXPECT_EQ(moved[at].waited, waited);
        EXPECT_DOUBLE_EQ(moved[at].hidden(), hidden);
    };
    expect(0, "MPI_Send", "halo.c:7", 1, 900, 0, 1);
    expect(1, "MPI_Recv", "halo.c:7", 2, 600, 200, 0.75);
    expect(2, "MPI_Recv", "halo.c:8", 1, 100, 50, 0.75);
    expect(3, "MPI_Send", "halo.c:8", 1, 50, 50, 2.0 / 3);
    expect(4, "MPI_Send", "halo.c:7", 1, 0, 50, 0);
    EXPECT_EQ(how_moved(moved[0]), "bound to its task");
    EXPECT_EQ(how_moved(moved[1]), "waited for later");
    EXPECT_EQ(how_moved(moved[2]), "together with 1");
    EXPECT_EQ(how_moved(moved[4]), "where it stood");
    EXPECT_TRUE(moved_calls(Job{}).empty());
}

class ReportFiles : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "sennit-report-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string read(const char *name) const {
        std::ostringstream text;
        text << std::ifstream(folder_ / name).rdbuf();
        return text.str();
    }
    std::filesystem::path folder_;
};

TEST(ReportLanes, SpansThatOverlapAreOnDifferentLanes) {
    EXPECT_EQ(lanes_of({}), std::vector<int>());
    EXPECT_EQ(lanes_of({{0, 10}, {2, 4}, {3, 20}, {4, 5}, {10, 12}, {11, 11}, {11, 30}, {21, 22}}),
              (std::vector<int>{0, 1, 2, 1, 0, 1, 1, 0}));
}

TEST_F(ReportFiles, ForPerfettoAProgramsNameMayBeNoText) {
    Job job;
    job.processes.push_back(make_process(0, 0));
    std::strcpy(job.processes[0].file.header.program, "so\"l\xffver\xc3\xa9");
    write_perfetto(job, folder_ / "timeline.json");
    const std::string written = read("timeline.json");
    EXPECT_NE(written.find("rank 0: so\\\"l\xef\xbf\xbdver\xc3\xa9\""), std::string::npos)
        << written;
}

TEST_F(ReportFiles, ForPerfettoACoreIsThatOfItsNode) {
    Job job;
    for (const char *const host : {"one", "other"}) {
        job.processes.push_back(make_process(static_cast<int>(job.processes.size()), 0));
        std::strcpy(job.processes.back().file.header.host, host);
        job.processes.back().cores = {{0, 10, 0, 2, 71, CoreStep::own, CoreStep::lends, 0}};
    }
    write_perfetto(job, folder_ / "timeline.json");
    EXPECT_NE(read("timeline.json").find("\"core 2 of node 0\""), std::string::npos);
    EXPECT_NE(read("timeline.json").find("\"core 2 of node 1\""), std::string::npos);
}

TEST_F(ReportFiles, SourcesMayLieInFoldersWithASpaceInTheirNames) {
    const std::filesystem::path tool = folder_ / "addr2line";
    std::ofstream(tool) << "#!/bin/sh\n"
                           "echo '/my sources/halo.c:12 (discriminator 3)'\n"
                           "echo '??:0'\n"
                           "echo '/my sources/main task.c:7'\n";
    std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
    const std::string path = std::getenv("PATH");
    setenv("PATH", (folder_.string() + ":" + path).c_str(), 1);
    Job job;
    job.processes.push_back(make_process(0, 0));
    auto &file = job.processes[0].file;
    for (const std::uint64_t entry : {1, 2, 3}) {
        file.names[entry] = "main+0x" + std::to_string(entry);
        file.places[entry] = {tool, entry};
    }
    name_by_source(job);
    setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(file.names[1], "halo.c:12");
    EXPECT_EQ(file.names[2], "main+0x2");
    EXPECT_EQ(file.names[3], "main task.c:7");
}

TEST(ReportCounters, AreSumsByFunctionAndQuotients) {
    Job job{};
    for (const int rank : {0, 1}) {
        job.processes.push_back(make_process(rank, 2));
        Process &process = job.processes.back();
        process.file.names[16] = "solve";
        process.file.names[32] = "copy";
        process.tasks[1].entry = 16;
        process.tasks[2].entry = 32;
        run(process, 1, 0, 0, 0, 0, 600);
        run(process, 2, 0, 0, 0, 600, 1000);
        fill_gaps(process);
    }
    EXPECT_TRUE(counters_of(job, task_kinds(job)).rows.empty());
    // The ranks name them in different orders, and one has one more.
    const auto name = [&](std::size_t rank, std::vector<const char *> names) {
        for (std::size_t i = 0; i < names.size(); ++i)
            std::strcpy(job.processes[rank].file.header.counters[i], names[i]);
    };
    name(0, {"instructions", "cycles", "cache-misses"});
    name(1, {"cycles", "instructions"});
    job.processes[0].counted = {{5, 1}, {1000, 400, 3}, {100, 200, 7}};
    job.processes[1].counted = {{}, {100, 1000}, {200, 100}};
    job.processes[1].counted_outside = {0, 9};
    const Counters found = counters_of(job, task_kinds(job));
    EXPECT_EQ(found.names, (std::vector<std::string>{"instructions", "cycles", "cache-misses"}));
    ASSERT_EQ(found.rows.size(), 4u);
    EXPECT_EQ(found.rows[0].name, "solve");
    EXPECT_EQ(found.rows[0].tasks, 2u);
    EXPECT_EQ(found.rows[0].values, (std::vector<std::uint64_t>{2000, 500, 3}));
    EXPECT_DOUBLE_EQ(*found.instructions_a_cycle(found.rows[0]), 4);
    EXPECT_DOUBLE_EQ(*found.cache_misses(found.rows[0]), 1.5);
    EXPECT_FALSE(found.branch_misses(found.rows[0]));
    EXPECT_EQ(found.rows[1].values, (std::vector<std::uint64_t>{200, 400, 7}));
    EXPECT_EQ(found.rows[2].values, (std::vector<std::uint64_t>{5, 1, 0}));
    EXPECT_EQ(found.rows[3].values, (std::vector<std::uint64_t>{9, 0, 0}));
}

TEST(ReportCurves, CountsByThreadAndTasksThatWaitByReason) {
    Process process = make_process(0, 3);
    EXPECT_TRUE(curves_of(process).empty());
    std::strcpy(process.file.header.counters[0], "cycles");
    process.counts = {{10, 0, {5}}, {20, 0, {7}}, {15, 1, {1}}};
    process.threads.push_back({-1, {}, 0, 1000, {}});
    process.polls = {{30, 40, 2, 1, 10, 3}, {30, 40, 2, 2, 10, 3}};
    process.ready = {{100, 1}, {100, 1}, {200, -1}};
    const auto wait = [&](Ns begin, Ns end, std::uint32_t task, WaitReason reason) {
        process.waits.push_back({begin, end, task, 0, reason, 0});
    };
    wait(300, 500, 1, WaitReason::primitive);
    wait(400, 600, 2, WaitReason::primitive);
    wait(300, 400, 3, WaitReason::lock);
    wait(300, 400, 0, WaitReason::lock); // an implicit task's
    process.windows = {700, 650};
    process.refusals = {{800, 1 << 20, 9}};
    const auto said = [](const Curve &curve) {
        std::string text = curve.name;
        if (curve.thread != kNone)
            text += " of " + std::to_string(curve.thread);
        for (const auto &[at, value] : curve.points)
            text += ' ' + std::to_string(at) + (curve.adds_up ? '+' : '=') + std::to_string(value);
        return text;
    };
    std::vector<std::string> found;
    for (const Curve &curve : curves_of(process))
        found.push_back(said(curve));
    EXPECT_EQ(
        found,
        (std::vector<std::string>{
            "cycles of 0 10+5 20+7", "cycles of 1 15+1", "rounds of polling of 1 40+10",
            "completions found by polling of 1 40+3", "ready tasks 100=2 200=1",
            "tasks waiting for a lock 300=1 400=0", "tasks waiting in libc 300=1 400=2 500=1 600=0",
            "creators that made too many tasks 650+1 700+1", "stacks that were refused 800+1"}));
}
