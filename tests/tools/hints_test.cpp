// SPDX-License-Identifier: Apache-2.0
// Each hint on a trace that calls for it, and on one that does not.
#include "made_trace.h"
#include "report.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

using namespace sennit::trace;
using namespace sennit::report;
using namespace sennit::made;

namespace {

constexpr std::uint64_t kFunction = 16;

std::string hints_of(Process process) {
    Job job{};
    process.file.names[kFunction] = "main (halo.c:12)";
    job.processes.push_back(std::move(process));
    job.end = 1000;
    std::string all;
    for (const std::string &line : hints(Findings(job)))
        all += line + "\n";
    return all;
}

// Both threads run tasks one after the other, each 10 long, `gap` apart, and all are ready.
Process tasks_with_gaps(Ns gap) {
    const auto each = static_cast<std::uint32_t>(1000 / (10 + gap));
    Process process = make_process(0, 2 * each);
    std::uint32_t next = 1;
    for (const std::uint32_t thread : {0u, 1u})
        for (std::uint32_t i = 0; i < each; ++i) {
            const Ns start = gap + i * (10 + gap);
            process.tasks[next].entry = kFunction;
            run(process, next++, thread, 0, 0, start, start + 10);
        }
    fill_gaps(process);
    for (const std::uint32_t thread : {0u, 1u})
        process.parts.push_back({0, 1000, 1, kFunction, thread, 2});
    return process;
}

// A region of both threads, of which one works so long.
Process region_with(Ns work) {
    Process process = make_process(0, 0);
    process.threads[0].intervals = {{0, 1000, State::program, 0}};
    process.threads[1].intervals = {{0, work, State::program, 0}, {work, 1000, State::outside, 0}};
    for (const std::uint32_t thread : {0u, 1u})
        process.parts.push_back({0, 1000, 1, kFunction, thread, 2});
    return process;
}

} // namespace

TEST(ReportHints, TasksThatAreTooSmall) {
    EXPECT_EQ(hints_of(tasks_with_gaps(10)),
              "tasks of main (halo.c:12) last 0.0 us: 50% of their time is overhead; make each 9 "
              "times as large, or use taskloop grainsize(...)\n");
    EXPECT_EQ(hints_of(tasks_with_gaps(1)), "");
    Process process = tasks_with_gaps(10);
    process.tasks[1].receives = true;
    EXPECT_TRUE(hints_of(process).ends_with("is overhead; send fewer and larger messages\n"));
}

TEST(ReportHints, TasksThatTheirMakerRuns) {
    // The first thread makes and runs all; the other one has nothing.
    Process process = make_process(0, 10);
    for (std::uint32_t t = 1; t <= 10; ++t) {
        process.tasks[t].entry = kFunction;
        process.tasks[t].at_once = t % 4 != 0;
        const Ns at = 100 * (t - 1);
        run(process, t, 0, at, at, at, at + 100);
    }
    fill_gaps(process);
    for (const std::uint32_t thread : {0u, 1u})
        process.parts.push_back({0, 1000, 1, kFunction, thread, 2});
    EXPECT_NE(hints_of(process).find("80% of the tasks of main (halo.c:12) ran at once"),
              std::string::npos);
    for (Task &task : process.tasks)
        task.at_once = false;
    EXPECT_EQ(hints_of(process).find("at once"), std::string::npos);
}

TEST(ReportHints, CreatorsWhoseWindowIsFull) {
    // The first thread makes and runs all; the other one has nothing.
    constexpr std::uint32_t kTasks = 200;
    Process process = make_process(0, kTasks);
    for (std::uint32_t t = 1; t <= kTasks; ++t) {
        process.tasks[t].entry = kFunction;
        const Ns at = 5 * (t - 1);
        run(process, t, 0, at, at, at, at + 5);
    }
    fill_gaps(process);
    for (const std::uint32_t thread : {0u, 1u})
        process.parts.push_back({0, 1000, 1, kFunction, thread, 2});
    process.windows.resize(4); // of at least 12 looks
    EXPECT_TRUE(hints_of(process).starts_with("4 times a thread that made tasks let others go"));
    process.windows.resize(3);
    EXPECT_EQ(hints_of(process).find("let others go"), std::string::npos);
    // While the other thread has work, nothing is lost.
    process.windows.resize(12);
    process.threads[1].intervals = {{0, 1000, State::program, 0}};
    EXPECT_EQ(hints_of(process), "");
}

TEST(ReportHints, StacksThatWereRefused) {
    Process process = tasks_with_gaps(1);
    process.refusals.assign(7, {0, 8 << 20, 31000});
    EXPECT_EQ(hints_of(process),
              "7 times there was no memory for another stack of 8389 KB (first with 31000 in use): "
              "tasks ran on top of waiting ones; lower OMP_STACKSIZE, or raise 'ulimit -v' or "
              "vm.max_map_count\n");
}

TEST(ReportHints, PollsInVainWhileTasksAreReady) {
    // 10 of each 20 is not in tasks; a thread polls in these gaps.
    Process process = tasks_with_gaps(10);
    process.polls.push_back({0, 1000, 400, 0, 100, 25});
    EXPECT_NE(hints_of(process).find("% of the threads' time goes to polls that find no message"),
              std::string::npos);
    process.polls[0].completions = 100; // each has found one
    EXPECT_EQ(hints_of(process).find("polls"), std::string::npos);
    process.polls[0].completions = 25;
    for (std::uint32_t t = 1; t < process.tasks.size(); ++t) // no task is ready meanwhile
        process.tasks[t].ready = process.tasks[t].started;
    process.ready.clear();
    EXPECT_EQ(hints_of(process).find("polls"), std::string::npos);
}

TEST(ReportHints, CallsOutsideOfTasks) {
    Process process = make_process(0, 1);
    run(process, 1, 1, 0, 0, 0, 1000);
    process.threads[0].intervals = {{0, 1000, State::program, 0}};
    process.threads[1].intervals = {{0, 1000, State::task, 1}};
    EXPECT_EQ(hints_of(process), "");
    process.calls.push_back(call(0, kReceive, 1, 100, 500, 0));
    EXPECT_EQ(hints_of(process),
              "for 20% of the threads' time MPI is called outside of tasks, most in MPI_Recv of "
              "rank 0 (0.4 us); a task that calls it leaves its thread to others\n");
    process.calls[0].end = 110;
    EXPECT_EQ(hints_of(process), "");
}

TEST(ReportHints, RanksOfUnequalWork) {
    const auto found = [](Ns work) {
        Job job{};
        for (const int rank : {0, 1}) {
            job.processes.push_back(make_process(rank, 0));
            Process &process = job.processes.back();
            process.threads.pop_back();
            process.threads[0].intervals = {{0, 1000, State::program, 0}};
            process.calls.push_back(call(0, kNeither, -1, rank == 0 ? 1000 : work, 1000, 0));
        }
        job.end = 1000;
        return hints(Findings(job));
    };
    ASSERT_EQ(found(500).size(), 1u);
    EXPECT_NE(found(500)[0].find("rank works 33% longer than the mean"), std::string::npos);
    EXPECT_TRUE(found(950).empty());
}

TEST(ReportHints, RegionsOfUnequalThreads) {
    EXPECT_EQ(hints_of(region_with(500)),
              "in the parallel region main (halo.c:12) the most loaded thread works 33% longer "
              "than the mean; a loop there may need schedule(dynamic)\n");
    EXPECT_EQ(hints_of(region_with(900)), "");
}

TEST(ReportHints, LongSerialParts) {
    Process process = make_process(0, 0);
    process.threads[0].intervals = {{0, 1000, State::program, 0}};
    process.threads[1].intervals = {{0, 600, State::outside, 0}, {600, 1000, State::program, 0}};
    for (const std::uint32_t thread : {0u, 1u})
        process.parts.push_back({600, 1000, 1, kFunction, thread, 2});
    EXPECT_NE(
        hints_of(process).find("30% of the threads' time is lost outside of parallel regions"),
        std::string::npos);
    process.threads[1].intervals = {{0, 200, State::outside, 0}, {200, 1000, State::program, 0}};
    for (Part &part : process.parts)
        part.begin = 200;
    EXPECT_EQ(hints_of(process), "");
}

TEST(ReportHints, NoSerialPartsWhereARankHasOneThread) {
    Process process = make_process(0, 0);
    process.threads.pop_back();
    process.threads[0].intervals = {{0, 600, State::program, 0}};
    EXPECT_EQ(hints_of(process), "");
}

TEST(ReportHints, AreThreeAtMostAndTheCostliestIsFirst) {
    // Small tasks of three functions on one thread; the other one is in MPI for some time.
    Process process = tasks_with_gaps(10);
    process.threads[1].intervals = {{0, 300, State::program, 0}, {300, 1000, State::outside, 0}};
    for (std::uint32_t t = 51; t < process.tasks.size(); ++t)
        process.tasks[t] = {};
    for (std::uint32_t t = 1; t <= 50; ++t)
        process.tasks[t].entry = kFunction + t % 3;
    process.file.names[kFunction + 1] = "one";
    process.file.names[kFunction + 2] = "other";
    process.calls.push_back(call(0, kReceive, 1, 0, 300, 0));
    process.calls[0].thread = 1;
    const std::string all = hints_of(process);
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3) << all;
    EXPECT_TRUE(all.starts_with("for 15% of the threads' time MPI is called")) << all;
    EXPECT_EQ(all.find("main"), std::string::npos) << all; // has the fewest tasks
}

TEST(ReportHints, AreOfTheRunThatHasEndedAndOfASmallTrace) {
    namespace fs = std::filesystem;
    char name[] = "/tmp/sennit-hints-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    const fs::path folder = name;
    const auto since = fs::file_time_type::clock::now();
    const auto later = since + std::chrono::seconds(1);
    const auto make = [&](const char *file, std::uintmax_t bytes) {
        std::ofstream(folder / file) << "x";
        fs::resize_file(folder / file, bytes);
        fs::last_write_time(folder / file, later);
    };
    EXPECT_FALSE(worth_reading_at_once(folder, since)); // there is none
    make("rank-0.sennit", 1000);
    // What else is there does not count.
    make("core", 100 << 20);
    fs::create_directory(folder / "page");
    EXPECT_TRUE(worth_reading_at_once(folder, since));
    make("rank-1.sennit", 16 << 20);
    EXPECT_FALSE(worth_reading_at_once(folder, since));
    make("rank-1.sennit", 1000);
    EXPECT_TRUE(worth_reading_at_once(folder, since));
    fs::last_write_time(folder / "rank-1.sennit", since - std::chrono::seconds(1));
    EXPECT_FALSE(worth_reading_at_once(folder, since)); // of an earlier run
    EXPECT_FALSE(worth_reading_at_once(folder / "none", since));
    fs::remove_all(folder);
}
