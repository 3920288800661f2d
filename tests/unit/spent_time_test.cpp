// SPDX-License-Identifier: Apache-2.0
// How time is counted while the program runs: what threads do after each event, and what others
// read of it.
#include "tasks/trace/spent_time.h"

#include "base/spent_page.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sennit::trace {
namespace {

thread_local int t_row = 0; // the worker's number

class SpentTime : public ::testing::Test {
  protected:
    void SetUp() override {
        count_time([] { return t_row; });
    }
    void TearDown() override { g_counts = false; }

    static SpentNow now() {
        SpentNow counted;
        EXPECT_TRUE(read_spent_time(counted));
        const Spent all = counted.all();
        EXPECT_EQ(all.total(), counted.threads * (counted.at_ns - counted.begin_ns));
        EXPECT_EQ(counted.doing.total(), counted.threads);
        return counted;
    }
    static Spent doing() { return now().doing; }
    static void event(Kind kind, Word a = 0, Word b = 0, Word c = 0) { count(kind, a, b, c); }
    static void call(const char *name) {
        event(Kind::span_begin, 0, reinterpret_cast<std::uintptr_t>(name));
    }
};

// All that a worker of its own does there, and then it waits without work.
template <class Does>
void by_worker(Does does) {
    std::thread([&] {
        t_row = 1;
        does();
        count(Kind::wait_begin, 0, 0, 0);
    }).join();
}

TEST_F(SpentTime, TheProgramIsUsefulOutsideOfMpi) {
    EXPECT_EQ(doing(), (Spent{.useful = 1}));
    call("MPI_Recv");
    EXPECT_EQ(doing(), (Spent{.mpi = 1}));
    call("a span of the program's own");
    event(Kind::span_end);
    EXPECT_EQ(doing(), (Spent{.mpi = 1}));
    event(Kind::span_end);
    EXPECT_EQ(doing(), (Spent{.useful = 1}));
    call("mine");
    EXPECT_EQ(doing(), (Spent{.useful = 1}));
    event(Kind::span_end);
    event(Kind::span_end); // of none
    EXPECT_EQ(doing(), (Spent{.useful = 1}));
    EXPECT_EQ(now().mpi_calls, 1);
}

TEST_F(SpentTime, AThreadWithoutWorkIsSerialOrUnbalanced) {
    by_worker([] {});
    EXPECT_EQ(doing(), (Spent{.useful = 1, .serial = 1}));
    count_region(); // of another thread, whose part begins later
    count_region();
    event(Kind::part_begin, 2, 0, 2);
    EXPECT_EQ(doing(), (Spent{.useful = 1, .imbalance = 1}));
    event(Kind::wait_begin);
    EXPECT_EQ(doing(), (Spent{.scheduling = 2})); // a region, and nobody works
    event(Kind::wait_end);
    event(Kind::part_end, 2);
    call("MPI_Barrier");
    EXPECT_EQ(doing(), (Spent{.mpi = 2}));
    event(Kind::span_end);
    EXPECT_EQ(now().parallels, 2);
    EXPECT_EQ(now().threads, 2);
}

TEST_F(SpentTime, AReadyTaskIsSchedulingUnlessItWaitsForAnother) {
    by_worker([] {});
    event(Kind::part_begin, 1, 0, 2);
    event(Kind::create, 7);
    EXPECT_EQ(doing(), (Spent{.useful = 1, .scheduling = 1}));
    event(Kind::create, 8);
    event(Kind::edge, 7, 8, 1);
    event(Kind::start, 7);
    EXPECT_EQ(doing(), (Spent{.useful = 1, .imbalance = 1}));
    event(Kind::ready, 8);
    EXPECT_EQ(doing(), (Spent{.useful = 1, .scheduling = 1}));
    event(Kind::end, 7);
    event(Kind::create, 9);
    event(Kind::edge, 7, 9, 0); // which is complete
    event(Kind::start, 8);
    EXPECT_EQ(doing(), (Spent{.useful = 1, .scheduling = 1}));
    event(Kind::end, 8);
    event(Kind::start, 9);
    EXPECT_EQ(doing(), (Spent{.useful = 1, .imbalance = 1}));
    EXPECT_EQ(now().tasks, 3);
}

TEST_F(SpentTime, ATaskThatWaitsForAMessageKeepsOneThreadFromWork) {
    by_worker([] {});
    event(Kind::part_begin, 1, 0, 2);
    event(Kind::create, 7);
    event(Kind::start, 7);
    event(Kind::span_begin, 7, reinterpret_cast<std::uintptr_t>("MPI_Recv"));
    EXPECT_EQ(doing(), (Spent{.mpi = 2})); // nobody works, and somebody is in MPI
    event(Kind::wait_begin, 7);
    event(Kind::fiber_switch, 100, 200);
    event(Kind::create, 8);
    event(Kind::start, 8); // on the other fiber
    EXPECT_EQ(doing(), (Spent{.useful = 1, .mpi = 1}));
    event(Kind::end, 8);
    EXPECT_EQ(doing(), (Spent{.mpi = 2}));
    event(Kind::fiber_switch, 200, 100);
    event(Kind::wait_end);
    EXPECT_EQ(doing(), (Spent{.mpi = 2}));
    event(Kind::span_end, 7);
    EXPECT_EQ(doing(), (Spent{.useful = 1, .imbalance = 1}));
    event(Kind::waits_for, 7, 1); // bound to its completion
    event(Kind::end, 7);
    event(Kind::wait_begin);
    EXPECT_EQ(doing(), (Spent{.mpi = 2}));
    event(Kind::complete, 7);
    EXPECT_EQ(doing(), (Spent{.scheduling = 2}));
}

TEST_F(SpentTime, APeriodBeginsWithTheThreadsThatComeLater) {
    const SpentNow begin = now();
    by_worker([] {});
    const SpentNow end = now();
    const Spent period = end.since(begin);
    EXPECT_EQ(period.total(), 2 * (end.at_ns - begin.at_ns));
    EXPECT_GT(period.serial, 0);
    EXPECT_GT(end.until(end.at_ns + 1000).since(end).serial, 999);
}

TEST_F(SpentTime, AThreadThatEndsLeavesItsPlaceToTheNextOne) {
    const auto end_in_the_middle = [] {
        event(Kind::part_begin, 1, 0, 2);
        event(Kind::start, 7);
        event(Kind::span_begin, 7, reinterpret_cast<std::uintptr_t>("MPI_Recv"));
        EXPECT_EQ(doing(), (Spent{.useful = 1, .mpi = 1}));
        count_out();
    };
    for (int i = 0; i < 3; ++i) {
        std::thread(end_in_the_middle).join();
        EXPECT_EQ(doing(), (Spent{.useful = 1, .serial = 1}));
        EXPECT_EQ(now().threads, 2);
    }
    by_worker([] {});
    EXPECT_EQ(doing(), (Spent{.useful = 1, .serial = 1}));
}

TEST_F(SpentTime, NothingIsLostThoughManyThreadsTellAtOnce) {
    constexpr Word kTasks = 20'000;
    std::atomic<Word> made{0};
    by_worker([] {}); // both are there from the begin on
    std::thread runner([&] {
        t_row = 1;
        for (Word task = 1; task <= kTasks; ++task) {
            while (made.load(std::memory_order_acquire) < task)
                std::this_thread::yield();
            event(Kind::start, task); // which another thread has made
            event(Kind::fiber_switch, 100 + task, 101 + task);
            event(Kind::fiber_switch, 101 + task, 100 + task);
            event(Kind::end, task);
            event(Kind::complete, task);
        }
        event(Kind::wait_begin);
        count_out(); // counts its notes before its memory goes
    });
    for (Word task = 1; task <= kTasks; ++task) {
        event(Kind::create, task);
        made.store(task, std::memory_order_release);
        if (task % 1000 == 0)
            now(); // a reader in between
    }
    runner.join();
    EXPECT_EQ(now().tasks, static_cast<std::int64_t>(kTasks));
    EXPECT_EQ(doing().scheduling, 0); // no task is ready
    EXPECT_EQ(doing().useful, 1);
}

TEST(SpentPage, AReaderSeesAllOrNothingOfAWrite) {
    SpentPage page{};
    SpentNow seen;
    EXPECT_FALSE(page.read(seen));
    std::atomic<bool> over{false};
    std::thread writer([&] {
        for (std::int64_t i = 1; i <= 200'000; ++i) {
            SpentNow now;
            now.begin_ns = now.at_ns = now.threads = now.spent.mpi = now.tasks = i;
            page.write(now);
        }
        over = true;
    });
    std::int64_t latest = 0;
    while (!over || latest == 0) {
        if (!page.read(seen))
            continue;
        ASSERT_GE(seen.begin_ns, latest);
        latest = seen.begin_ns;
        ASSERT_TRUE(seen.at_ns == latest && seen.threads == latest && seen.spent.mpi == latest &&
                    seen.tasks == latest);
    }
    writer.join();
    page.clear();
    EXPECT_FALSE(page.read(seen));
}

} // namespace
} // namespace sennit::trace
