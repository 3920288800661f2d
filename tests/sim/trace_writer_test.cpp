// SPDX-License-Identifier: Apache-2.0
// What was simulated, written as a trace and read again, is the same story; and `sennit report`
// counts in it what the simulation has counted.
#include "analysis.h"
#include "random_work.h"
#include "sim/cholesky.h"
#include "sim/replay.h"
#include "sim/simulation.h"
#include "sim/trace_writer.h"
#include "trace/replay.h"

#include <gtest/gtest.h>

#include <unistd.h>

using namespace sennit;
using namespace sennit::sim;

namespace {

class TraceOfSimulation : public testing::Test {
  protected:
    void SetUp() override {
        folder = std::filesystem::temp_directory_path() /
                 ("sennit-sim-" + std::to_string(getpid()) + "-" +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
        setting.machine.ranks = 4;
        setting.machine.threads = 3;
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    Result simulate_traced(const Workload &work, const std::string &policy) {
        setting.choice = parse_choice(policy);
        TraceWriter writer(folder, setting.machine, {"a test", policy, work.functions()});
        setting.recorder = &writer;
        const Result result = simulate(work, setting);
        writer.finish(result.time);
        return result;
    }
    // Reads it, and compares what both count.
    trace::Job check(const Result &result) {
        trace::Job job = trace::read_job(folder);
        EXPECT_TRUE(job.notes.empty()) << job.notes.front();
        EXPECT_EQ(job.processes.size(), static_cast<std::size_t>(setting.machine.rank_count()));
        EXPECT_EQ(job.messages.size(), result.messages);
        EXPECT_EQ(job.unmatched, 0u);
        std::uint64_t tasks = 0, suspended = 0;
        Time running = 0;
        for (const trace::Process &process : job.processes) {
            EXPECT_EQ(process.strange, 0u);
            EXPECT_EQ(process.threads.size(),
                      static_cast<std::size_t>(setting.machine.thread_count()));
            for (const trace::Task &task : process.tasks) {
                if (!task.seen())
                    continue;
                ++tasks;
                EXPECT_LE(task.created, task.ready);
                EXPECT_LE(task.ready, task.started);
                EXPECT_NE(task.ended, trace::kNever);
                running += task.running;
                suspended += static_cast<std::uint64_t>(task.suspensions);
            }
            for (const trace::Edge &edge : process.edges)
                EXPECT_LE(process.tasks[edge.predecessor].ended,
                          process.tasks[edge.successor].started);
        }
        EXPECT_EQ(tasks, result.tasks);
        EXPECT_EQ(suspended, result.suspended);
        // Not tied, a task may be over on another thread before its call has returned on its own.
        EXPECT_NEAR(static_cast<double>(running) * 1e-9, result.in_task,
                    setting.machine.tied > 0 ? 1e-9 : 2e-6);
        EXPECT_EQ(report::window_of_tasks(job).end, result.time);
        return job;
    }
    report::Shares shares_of(const trace::Job &job) {
        report::Shares all;
        for (const trace::Process &process : job.processes)
            for (const report::Shares &one :
                 report::divide_time(process, report::window_of_tasks(job)))
                all += one;
        return all;
    }

    std::filesystem::path folder;
    Setting setting;
};

TEST_F(TraceOfSimulation, OfRandomGraphsTellsTheirStory) {
    for (const std::string &policy : known_choices()) {
        for (unsigned seed = 1; seed <= 6; ++seed) {
            SCOPED_TRACE(policy + " " + std::to_string(seed));
            setting.machine.ranks = 2 + static_cast<int>(seed % 3);
            setting.machine.threads = 1 + static_cast<int>(seed % 4);
            setting.machine.tied = seed % 2;
            setting.machine.numa = seed % 3 == 0 ? 2 : 1;
            setting.machine.ranks_per_card = seed % 4 == 0 ? 2 : 1;
            setting.machine.window = seed % 2 ? 32768 : 2000;
            const RandomWork work(setting.machine.rank_count(), 1500, seed);
            check(simulate_traced(work, policy));
            std::filesystem::remove_all(folder); // the next one has fewer ranks
        }
    }
}

TEST_F(TraceOfSimulation, GivesTheReportTheSimulationsNumbers) {
    CholeskyOptions options;
    options.n = 8192;
    const Cholesky work(options, setting.machine.rank_count());
    for (const char *policy : {"steal", "fifo", "sa", "fa"})
        for (const double window : {32768., 100.})
            for (const int tied : {0, 1}) {
                SCOPED_TRACE(std::string(policy) + (tied ? " tied" : "") + " " +
                             std::to_string(window));
                setting.machine.window = window;
                setting.machine.tied = tied;
                const Result result = simulate_traced(work, policy);
                const report::Shares shares = shares_of(check(result));
                const double all = result.in_task + result.overhead + result.idle;
                const auto part = [&](trace::Ns time) {
                    return static_cast<double>(time) * 1e-9 / all;
                };
                constexpr double kRounding = 0.0005; // as it is printed
                EXPECT_NEAR(part(shares.task), result.in_task / all, kRounding);
                EXPECT_NEAR(part(shares.total() - shares.task),
                            (result.overhead + result.idle) / all, kRounding);
                // Tied, a thread may idle while another's task could go on: for the report that is
                // overhead.
                if (!tied) {
                    EXPECT_NEAR(part(shares.idle), result.idle / all, 0.005);
                }
            }
}

TEST_F(TraceOfSimulation, IsReplayedAsTheSameWork) {
    CholeskyOptions options;
    options.n = 8192;
    const Cholesky work(options, setting.machine.rank_count());
    const Result result = simulate_traced(work, "fifo");
    const Replay replay(folder);
    EXPECT_EQ(replay.ranks(), setting.machine.rank_count());
    EXPECT_EQ(replay.threads(), setting.machine.thread_count());
    EXPECT_EQ(replay.tasks(), result.tasks);
    EXPECT_EQ(replay.messages(), result.messages);
    EXPECT_TRUE(replay.notes().empty());
    setting.recorder = nullptr;
    const Result again = simulate(replay, setting);
    EXPECT_EQ(again.tasks, result.tasks);
    EXPECT_EQ(again.sends, result.sends);
    EXPECT_EQ(again.messages, result.messages);
    EXPECT_EQ(again.bytes, result.bytes);
    EXPECT_NEAR(static_cast<double>(again.time), static_cast<double>(result.time),
                0.02 * static_cast<double>(result.time));
}

TEST_F(TraceOfSimulation, ThatCannotBeWrittenSaysWhy) {
    EXPECT_THROW(TraceWriter("/proc/nowhere", setting.machine, {"a test", "fifo", {"f"}}),
                 std::runtime_error);
}

} // namespace
