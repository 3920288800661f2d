// SPDX-License-Identifier: Apache-2.0
// Lists of cores, moves and tables of pools, on boards that are made up.
#include "common/failure.h"
#include "inspect/top_table.h"
#include "pool/core_list.h"
#include "pool/pool_targets.h"

#include "node/share.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace sennit::tool;
using sennit::Spent;
using sennit::SpentNow;
namespace node = sennit::node;

TEST(CoreList, IsReadAndWritten) {
    for (const char *text : {"0", "0-3", "0,2", "0-2,4,6-9", "1023"})
        EXPECT_EQ(core_list(parse_cores("--cores", text)), text);
    EXPECT_EQ(core_list(parse_cores("--cores", "3,1,2")), "1-3");
    EXPECT_EQ(core_list({}), "none");
    for (const char *text : {"", "-", "1-", "-1", "2-1", "1,", "a", "1024", "1 2", "0x1"})
        EXPECT_THROW(parse_cores("--cores", text), Failure) << text;
    EXPECT_EQ(core_list(without(parse_cores("", "0-5"), parse_cores("", "2-3"))), "0,1,4,5");
    EXPECT_EQ(core_list(both(parse_cores("", "0-5"), parse_cores("", "4-9"))), "4,5");
}

MemberNow member(int slot, int job, const char *program, int owns, double share = 1) {
    MemberNow one;
    one.slot = slot;
    one.job = job;
    one.identity = 100 + static_cast<std::uint64_t>(slot);
    one.pid = 1000 + slot;
    one.rank = slot - job;
    one.program = program;
    one.shares_cores = true;
    one.owns = owns;
    one.share = share;
    return one;
}

// a: two ranks with 3 and 1 cores; b: 2; c: 2, of a quarter of the share.
Snapshot three_programs() {
    Snapshot now;
    now.members = {member(0, 0, "a", 3), member(1, 0, "a", 1), member(2, 2, "b", 2),
                   member(3, 3, "c", 2, 0.25)};
    for (int core = 0; core < 8; ++core)
        now.cores.push_back({core});
    return now;
}

TEST(Moves, NameAProgram) {
    Snapshot now = three_programs();
    EXPECT_EQ(find_job(now, "a"), 0);
    EXPECT_EQ(find_job(now, "b"), 2);
    EXPECT_EQ(find_job(now, "c:3"), 3);
    EXPECT_EQ(find_job(now, ":2"), 2);
    EXPECT_THROW(find_job(now, "c:2"), Failure);
    EXPECT_THROW(find_job(now, "d"), Failure);
    now.members[2].program = "a";
    EXPECT_THROW(find_job(now, "a"), Failure);
    EXPECT_EQ(find_job(now, "a:2"), 2);
}

TEST(Moves, AreNumbersOrSteps) {
    EXPECT_EQ(parse_move("3", 5), 3);
    EXPECT_EQ(parse_move("+1", 5), 6);
    EXPECT_EQ(parse_move("-2", 5), 3);
    for (const char *text : {"", "+", "-", "x", "1.5", "-5", "0", "3 ", "+-1", "-+1", "--1",
                             "+2147483647", "2147483648", "-2147483648"})
        EXPECT_THROW(parse_move(text, 5), Failure) << text;
}

TEST(Moves, KeepTheSumAndOneForEach) {
    const Snapshot now = three_programs();
    EXPECT_EQ(plan_move(now, 2, 3), (std::vector{4, 3, 1})); // who has most for its share gives
    EXPECT_EQ(plan_move(now, 0, 2), (std::vector{2, 4, 2}));
    EXPECT_EQ(plan_move(now, 0, 6), (std::vector{6, 1, 1}));
    EXPECT_THROW(plan_move(now, 0, 7), Failure);
    Snapshot alone = three_programs();
    alone.members.resize(2);
    EXPECT_THROW(plan_move(alone, 0, 4), Failure);
}

TEST(Moves, LeaveThoseAloneThatGetWhatOthersLeave) {
    Snapshot now = three_programs();
    now.members[3].leftover = true;
    now.members[3].owns = 0;
    now.members[2].owns = 4;
    EXPECT_EQ(plan_move(now, 0, 7), (std::vector{7, 1, 0}));
    EXPECT_THROW(plan_move(now, 3, 1), Failure);
}

TEST(Top, SaysWhoBorrowedAndLent) {
    Period period;
    Snapshot now = three_programs();
    now.now_ns = 1'000'000'000;
    now.members[0].lent = 3;
    period.add(now);
    now.now_ns += 500'000'000;
    now.members[0].lent = 0;
    now.members[2].used_ns = 1'000'000'000;
    now.members[2].borrowed_ns = 250'000'000;
    now.members[2].moves = 7;
    now.members[2].progress = 50;
    period.add(now);
    EXPECT_DOUBLE_EQ(period.rates(now.members[0]).lent, 0.5);
    const Rates rates = period.rates(now.members[2]);
    EXPECT_DOUBLE_EQ(rates.cores, 2);
    EXPECT_DOUBLE_EQ(rates.borrowed, 0.25);
    EXPECT_DOUBLE_EQ(rates.moves, 14);
    EXPECT_DOUBLE_EQ(rates.speed, 100);
    // Another process in the same slot has a past of its own.
    now.members[2].identity = 999;
    period.add(now);
    EXPECT_DOUBLE_EQ(period.rates(now.members[2]).moves, 0);
}

// What a policy has learned, on a board of this test's own.
TEST(Top, TellsTheSpeedUpThatWasMeasured) {
    std::string folder = std::filesystem::temp_directory_path() / "sennit-top-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    node::Board board;
    node::Reason reason;
    ASSERT_TRUE(board.open((folder + "/board").c_str(), reason)) << reason.text;
    node::ProcessInfo member;
    for (int core = 0; core < 4; ++core)
        member.cores.add(core);
    node::BoardSlot *const slot = board.join(7, member);
    node::Share share;
    share.begin(board, *slot);
    EXPECT_EQ(look_at(board).members.at(0).speed_up, 0) << "nothing is measured";
    node::Memory::Program &row = board.policy_memory().programs[0];
    row.program = board.number_of(*slot);
    row.taken = 1;
    row.speed_count = 2;
    row.speeds[0] = {1, 1, 100};
    row.speeds[1] = {4, 1, 300};
    const MemberNow now = look_at(board).members.at(0);
    EXPECT_NEAR(now.speed_up, 3, 1e-6);
    ASSERT_EQ(now.speeds.size(), 2U);
    EXPECT_EQ(now.speeds[1].cores, 4);
    share.end();
    board.leave(*slot);
    board.close();
    std::filesystem::remove_all(folder);
}

TEST(Top, HasTheEfficiencyOfJobsThatCountTheirTime) {
    const auto process = [](int slot, int job, Spent spent) {
        MemberNow one;
        one.slot = slot;
        one.job = job;
        one.program = job == 0 ? "a" : "b";
        one.identity = static_cast<node::Identity>(slot) + 1;
        one.counts = true;
        one.spent.threads = 2;
        one.spent.spent = spent;
        one.spent.doing = {.useful = 1, .mpi = 1};
        return one;
    };
    Snapshot first;
    first.now_ns = 1'000'000'000;
    first.members = {process(0, 0, {.useful = 60, .imbalance = 20}), process(1, 0, {.mpi = 80}),
                     process(2, 2, {.useful = 1})};
    Snapshot now = first;
    now.now_ns = 2'000'000'000;
    now.members[0].spent.spent += {.useful = 80};
    now.members[1].spent.spent += {.useful = 30, .mpi = 40, .imbalance = 10};
    Period period;
    period.add(first);
    period.add(now);
    const JobEfficiency found = period.efficiency(0, false);
    EXPECT_EQ(found.spent, (Spent{.useful = 110, .mpi = 40, .imbalance = 10}));
    EXPECT_DOUBLE_EQ(found.mpi.rank_balance, 0.75);
    EXPECT_DOUBLE_EQ(found.mpi.communication, 1);
    EXPECT_DOUBLE_EQ(period.efficiency(0, true).spent.parallel(), 170. / 320);
    std::vector<std::string> lines = top_lines({"board", "", ""}, period, 0);
    EXPECT_EQ(lines.at(5),
              "a:0                  efficiency now: parallel 69% = MPI 75% (load balance 75% x "
              "communication 100%) x OpenMP 92% (serial parts 100% x load balance 92% x "
              "scheduling 100%)");
    EXPECT_TRUE(lines.at(6).starts_with("a:0                  efficiency since the start: parallel "
                                        "53%"))
        << lines.at(6);
    ASSERT_EQ(lines.size(), 8U); // the other job did nothing now
    EXPECT_NE(lines.at(2).find(" runs "), std::string::npos) << lines.at(2);
    EXPECT_NE(live_json({"", "", ""}, period, 1, true).find("\"over\":true"), std::string::npos);
}

// Of a process that has two places on the board, one for its times.
TEST(Top, PutsThePlacesOfAProcessTogether) {
    std::string folder = std::filesystem::temp_directory_path() / "sennit-top-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    node::Board board;
    node::Reason reason;
    ASSERT_TRUE(board.open((folder + "/board").c_str(), reason)) << reason.text;
    node::BoardSlot *const times = board.join(8, {});
    SpentNow counted;
    counted.threads = 3;
    times->spent.write(counted);
    EXPECT_EQ(look_at(board).members.at(0).spent.threads, 3);
    node::ProcessInfo member;
    member.rank = 5;
    node::BoardSlot *const rank = board.join(7, member);
    const Snapshot both = look_at(board);
    ASSERT_EQ(both.members.size(), 1U);
    EXPECT_EQ(both.members[0].rank, 5);
    EXPECT_EQ(both.members[0].spent.threads, 3);
    board.leave(*times);
    EXPECT_FALSE(look_at(board).members.at(0).counts);
    board.leave(*rank);
    board.close();
    std::filesystem::remove_all(folder);
}

TEST(Top, IsATable) {
    Period period;
    period.add({});
    EXPECT_EQ(top_lines({"pool night", "night", "lend"}, period, 0),
              (std::vector<std::string>{"pool night", "no process takes part"}));
    Snapshot now = three_programs();
    for (CoreNow &core : now.cores)
        core.owner = core.core < 4 ? 0 : 2;
    now.cores[0].user = 0;
    now.cores[1].user = 3;
    Period other;
    other.add(now);
    const std::vector<std::string> lines = top_lines({"pool night", "night", "lend"}, other, 0);
    EXPECT_EQ(lines[1], "core 0       a:0.0");
    EXPECT_EQ(lines[2], "core 1       a:0.0 -> c:3.0");
    EXPECT_EQ(lines[3], "core 2-3     a:0.0 free");
    EXPECT_EQ(lines[4], "core 4-7     b:2.0 free");
    EXPECT_EQ(lines.size(), 10U);
    for (const std::string &line : top_lines({"pool night", "night", "lend"}, other, 20))
        EXPECT_LE(line.size(), 20U);
    EXPECT_TRUE(lines[5].ends_with(" SPEEDUP")) << lines[5];
    EXPECT_TRUE(lines[6].ends_with("       -")) << lines[6];
    EXPECT_NE(top_json({"", "night\xff", "lend"}, other).find("\"owner\": 2"), std::string::npos);
}

} // namespace
