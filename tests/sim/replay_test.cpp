// SPDX-License-Identifier: Apache-2.0
// Traces that no run can have left: refused with the file, the task and the reason. Damage to the
// files themselves: tests/unit/trace_reader_test.cpp.
#include "sim/cholesky.h"
#include "sim/replay.h"
#include "sim/simulation.h"
#include "sim/trace_writer.h"
#include "trace/replay.h"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

using namespace sennit;
using namespace sennit::sim;

namespace {

class Replays : public testing::Test {
  protected:
    void SetUp() override {
        folder = std::filesystem::temp_directory_path() /
                 ("sennit-replay-" + std::to_string(getpid()) + "-" +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
        machine.ranks = 2;
        machine.threads = 1;
        writer = std::make_unique<TraceWriter>(
            folder, machine, TraceWriter::About{"a test", "fifo", {"work", "send"}});
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    // A task of 1 us on rank 0 that begins at `at`.
    void run(std::uint64_t task, Time at, Kind kind = Kind::compute) {
        writer->ran({.rank = 0,
                     .thread = 0,
                     .task = task,
                     .function = kind == Kind::send,
                     .kind = kind,
                     .begin = at,
                     .end = at + 1000,
                     .peer = 1,
                     .message = 7,
                     .bytes = 100,
                     .suspended = false});
        writer->ended(0, 0, task, at + 1000);
    }
    // In the file: the task that `after` depends on.
    void change_edge(trace::Word before, trace::Word after, trace::Word other) {
        std::fstream file(folder / "rank-0.sennit",
                          std::ios::binary | std::ios::in | std::ios::out);
        trace::Word words[3] = {};
        for (std::streamoff at = trace::kHeaderBytes;; at += sizeof(trace::Word)) {
            file.seekg(at);
            ASSERT_TRUE(file.read(reinterpret_cast<char *>(words), sizeof words)) << "no such edge";
            if ((words[0] & 0xff) == static_cast<trace::Word>(trace::Kind::edge) &&
                words[1] == before && words[2] == after) {
                file.seekp(at + static_cast<std::streamoff>(sizeof(trace::Word)));
                file.write(reinterpret_cast<const char *>(&other), sizeof other);
                return;
            }
        }
    }
    std::string reason() {
        try {
            const Replay replay(folder);
        } catch (const trace::TraceError &error) {
            return error.what();
        }
        return "accepted";
    }

    std::filesystem::path folder;
    Machine machine;
    std::unique_ptr<TraceWriter> writer;
};

bool tells(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

TEST_F(Replays, RefuseATaskThatDependsOnALaterOne) {
    writer->created(0, 1, 0, 100);
    writer->created(0, 2, 0, 200);
    writer->depends(0, 1, 2);
    writer->depends(0, 2, 1);
    run(1, 1000);
    run(2, 3000);
    writer->finish(5000);
    const std::string text = reason();
    EXPECT_TRUE(tells(text,
                      "rank-0.sennit: task 1 (work) depends on task 2, which was created after "
                      "it: a cycle"))
        << text;
}

TEST_F(Replays, RefuseADependenceOnAnUnknownTask) {
    writer->created(0, 1, 0, 100);
    writer->created(0, 2, 0, 200);
    writer->depends(0, 1, 2);
    run(1, 1000);
    run(2, 3000);
    writer->finish(5000);
    EXPECT_EQ(reason(), "accepted");
    change_edge(1, 2, 99);
    EXPECT_TRUE(tells(reason(),
                      "rank-0.sennit: task 2 (work) depends on task 99, which is not in the "
                      "trace"))
        << reason();
    change_edge(99, 2, 2);
    EXPECT_TRUE(tells(reason(), "task 2 (work) depends on task 2, itself")) << reason();
}

// Each of two ranks has received what the other one sent only after that.
TEST_F(Replays, NameTheTasksOfACycleOfMessages) {
    for (const int rank : {0, 1}) {
        const std::uint64_t first = rank == 0 ? 1 : 11, second = first + 1;
        writer->created(rank, first, 0, 100);
        writer->created(rank, second, 1, 200);
        writer->depends(rank, first, second);
        const auto call = [&](std::uint64_t task, Kind kind, Time at) {
            writer->ran(
                {.rank = rank,
                 .thread = 0,
                 .task = task,
                 .function = kind == Kind::send,
                 .kind = kind,
                 .begin = at,
                 .end = at + 1000,
                 .peer = static_cast<std::uint32_t>(1 - rank),
                 .message = static_cast<std::uint64_t>(kind == Kind::send ? rank : 1 - rank),
                 .bytes = 100,
                 .suspended = false});
            writer->ended(rank, 0, task, at + 1000);
        };
        call(first, Kind::receive, 1000);
        call(second, Kind::send, 3000);
    }
    writer->finish(5000);
    const Replay replay(folder);
    EXPECT_EQ(replay.messages(), 2u);
    Setting setting;
    setting.machine = machine;
    setting.choice = parse_choice("fifo");
    try {
        simulate(replay, setting);
        FAIL();
    } catch (const Stuck &stuck) {
        EXPECT_TRUE(tells(stuck.what(),
                          "a cycle: rank 0's task 1 (work) waits for its message's other end, "
                          "rank 1's task 2 (send), which waits for rank 1's task 1 (work), which "
                          "waits for its message's other end, rank 0's task 2 (send), which waits "
                          "for rank 0's task 1 (work)"))
            << stuck.what();
    }
}

// A task's completion may wait for what another task begins later.
TEST_F(Replays, KnowWhoWaitsForWhatIsBegunLater) {
    for (const int rank : {0, 1})
        for (const std::uint64_t task : {1, 2})
            writer->created(rank, task + 10 * static_cast<std::uint64_t>(rank), 0, 100);
    const auto call = [&](int rank, std::uint64_t task, Part part, Time at) {
        writer->ran({.rank = rank,
                     .thread = 0,
                     .task = task,
                     .function = 0,
                     .kind = rank == 0 ? Kind::send : Kind::receive,
                     .part = part,
                     .begin = at,
                     .end = at,
                     .peer = static_cast<std::uint32_t>(1 - rank),
                     .message = 7,
                     .bytes = 100,
                     .suspended = part == Part::bound});
    };
    call(0, 1, Part::bound, 1000);
    call(0, 2, Part::begin, 3000);
    writer->ended(0, 0, 2, 3000);
    call(1, 11, Part::begin, 2000);
    writer->ended(1, 0, 11, 2000);
    call(1, 12, Part::bound, 2000);
    for (const int rank : {0, 1})
        writer->ended(rank, 0, rank == 0 ? 1 : 12, 4000);
    writer->finish(5000);
    const trace::Job job = trace::read_job(folder);
    for (const trace::Process &process : job.processes) {
        EXPECT_EQ(process.strange, 0u);
        ASSERT_EQ(process.calls.size(), 1u);
        EXPECT_EQ(process.calls[0].bound, process.rank == 0 ? 1u : 2u);
    }
}

// The job of a process that died is what was recorded up to then.
TEST_F(Replays, SayWhatTheyLeaveOut) {
    writer->created(0, 1, 1, 100);
    run(1, 1000, Kind::send);
    writer->created(0, 2, 0, 2000);
    writer->finish(5000);
    const Replay replay(folder);
    std::string notes;
    for (const std::string &note : replay.notes())
        notes += note + "\n";
    EXPECT_TRUE(tells(notes, "1 tasks did not end before the trace did: left out")) << notes;
    EXPECT_TRUE(tells(notes,
                      "1 sends and receives have no other end in the trace, the first is rank "
                      "0's MPI_Send to rank 1"))
        << notes;
    Setting setting;
    setting.machine = machine;
    setting.choice = parse_choice("fifo");
    EXPECT_EQ(simulate(replay, setting).tasks, 1u);
}

// A factorization on four ranks, simulated: what is known of it holds for its changed forms.
class ChangedReplays : public testing::Test {
  protected:
    void SetUp() override {
        folder = std::filesystem::temp_directory_path() /
                 ("sennit-changed-" + std::to_string(getpid()) + "-" +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
        setting.machine.threads = 2;
        setting.machine.latency = 100'000;
        setting.choice = parse_choice("fifo");
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    Replay record() {
        const Cholesky work({.n = 4096, .block = 256}, 4);
        TraceWriter writer(folder, setting.machine, {"a test", "fifo", work.functions()});
        Setting recorded = setting;
        recorded.recorder = &writer;
        writer.finish(simulate(work, recorded).time);
        return Replay(folder);
    }
    Result run(const Replay &replay) const { return simulate(replay, setting); }

    std::filesystem::path folder;
    Setting setting;
};

TEST_F(ChangedReplays, BoundCallsSuspendNoTask) {
    Replay replay = record();
    const Result before = run(replay);
    ASSERT_GT(before.suspended, 0u);
    EXPECT_EQ(replay.bind_last_calls("gemm"), 0u);
    EXPECT_EQ(run(replay).checksum, before.checksum); // nothing has changed
    EXPECT_EQ(replay.bind_last_calls("send"), before.messages);
    EXPECT_EQ(replay.bind_last_calls("send"), 0u); // they are bound
    EXPECT_EQ(replay.bind_last_calls("receive"), before.messages);
    const Result after = run(replay);
    EXPECT_EQ(after.suspended, 0u);
    EXPECT_EQ(after.messages, before.messages);
}

// Rank 1 sends ten messages. Rank 0 receives each into one of its buffers, and reads it for 1 ms.
class Stream final : public Workload {
  public:
    static constexpr std::uint32_t kMessages = 10;
    explicit Stream(std::uint32_t buffers) : buffers_(buffers) {}
    std::vector<std::string> functions() const override { return {"receive", "use", "send"}; }
    std::uint32_t data_of(int rank) const override { return rank == 0 ? buffers_ : kMessages; }
    std::uint64_t task_count() const override { return 0; }
    Tasks tasks_of(int rank, Marks) const override {
        for (std::uint32_t i = 0; i < kMessages; ++i) {
            TaskSpec call;
            call.function = rank == 0 ? 0 : 2;
            call.kind = rank == 0 ? Kind::receive : Kind::send;
            call.peer = rank == 0 ? 1 : 0;
            call.message = i;
            call.bytes = 1000;
            call.add(rank == 0 ? i % buffers_ : i, Access::Mode::inout);
            co_yield call;
            if (rank != 0)
                continue;
            TaskSpec use;
            use.function = 1;
            use.duration = 1'000'000;
            use.add(i % buffers_, Access::Mode::in);
            co_yield use;
        }
    }

  private:
    std::uint32_t buffers_;
};

// A message that is not sent before its receive is posted takes 1 ms, too.
TEST_F(ChangedReplays, ASecondBufferReceivesWhileTheFirstIsRead) {
    setting.machine.ranks = 2;
    setting.machine.threads = 1;
    setting.machine.latency = 1'000'000;
    setting.machine.eager = 0;
    const auto replay_of = [&](std::uint32_t buffers) {
        const Stream work(buffers);
        TraceWriter writer(folder, setting.machine, {"a test", "fifo", work.functions()});
        Setting recorded = setting;
        recorded.recorder = &writer;
        writer.finish(simulate(work, recorded).time);
        return Replay(folder);
    };
    Replay own = replay_of(Stream::kMessages);
    EXPECT_EQ(own.add_second_buffers(), 0u);
    const Time with_two = run(replay_of(2)).time;
    Replay one = replay_of(1);
    const Time with_one = run(one).time;
    EXPECT_GT(static_cast<double>(with_one), 1.3 * static_cast<double>(with_two));
    EXPECT_EQ(one.add_second_buffers(), Stream::kMessages - 1);
    EXPECT_NEAR(static_cast<double>(run(one).time), static_cast<double>(with_two), 50'000);
}

TEST_F(ChangedReplays, MergedTasksAreFewerAndDoTheSameWork) {
    Replay replay = record();
    const Result before = run(replay);
    EXPECT_EQ(replay.merge_tasks(1), 0u);
    EXPECT_EQ(run(replay).checksum, before.checksum); // nothing has changed
    const std::uint64_t fewer = replay.merge_tasks(4);
    const Result after = run(replay);
    EXPECT_GT(fewer, before.compute / 4);
    EXPECT_LE(fewer, before.compute * 3 / 4);
    EXPECT_EQ(after.compute, before.compute - fewer);
    EXPECT_EQ(after.messages, before.messages);
    EXPECT_NEAR(after.mean_work, before.mean_work, 1e-6 * before.mean_work);
    EXPECT_GT(after.time, before.time); // less can run at once
}

// Rows of seven blocks of 100 us each: a block waits for the one before it in its row.
class Rows final : public Workload {
  public:
    static constexpr std::uint32_t kRows = 2, kBlocks = 7;
    std::vector<std::string> functions() const override { return {"relax"}; }
    std::uint32_t data_of(int) const override { return kRows; }
    std::uint64_t task_count() const override { return std::uint64_t{kRows} * kBlocks; }
    Tasks tasks_of(int, Marks) const override {
        for (std::uint32_t i = 0; i < kRows * kBlocks; ++i) {
            TaskSpec block;
            block.duration = 100'000;
            block.add(i / kBlocks, Access::Mode::inout);
            co_yield block;
        }
    }
};

TEST_F(ChangedReplays, MergedTasksKeepToTheirRow) {
    setting.machine.ranks = 1;
    setting.machine.threads = 2;
    const Rows work;
    TraceWriter writer(folder, setting.machine, {"a test", "fifo", work.functions()});
    Setting recorded = setting;
    recorded.recorder = &writer;
    writer.finish(simulate(work, recorded).time);
    Replay replay(folder);
    EXPECT_EQ(replay.merge_tasks(4), 2u * 5); // four and three of each row
    EXPECT_NEAR(static_cast<double>(run(replay).time), 700'000, 20'000); // side by side
}

TEST_F(ChangedReplays, EqualRanksHaveTheMeanWork) {
    Replay replay = record();
    const Result before = run(replay);
    ASSERT_GT(before.busiest_rank, 1.05 * before.mean_work);
    EXPECT_EQ(replay.make_ranks_equal(), 4u);
    const Result after = run(replay);
    EXPECT_NEAR(after.mean_work, before.mean_work, 0.001 * before.mean_work);
    EXPECT_NEAR(after.busiest_rank, after.mean_work, 0.001 * after.mean_work);
    EXPECT_LT(after.time, before.time);
}

// Tasks of rank 0 compute for 300 us and then send, those of rank 1 receive and then compute for
// 100 us.
trace::Job calls_in_tasks() {
    constexpr std::uint32_t kTasks = 10;
    constexpr trace::Ns kBegin = 1'000'000;
    trace::Job job{};
    for (const int rank : {0, 1}) {
        trace::Process &process = job.processes.emplace_back();
        process.rank = rank;
        process.file.header.ranks = 2;
        process.tasks.resize(kTasks + 1);
        process.threads.push_back({0, {}, 0, 10 * kBegin, {}});
        for (std::uint32_t t = 1; t <= kTasks; ++t) {
            trace::Task &task = process.tasks[t];
            task.created = task.ready = task.order = t;
            task.running = rank == 0 ? 300'000 : 100'000;
            task.started = kBegin + 300'000 * t;
            task.ended = task.completed = task.started + task.running;
            trace::Call call{};
            call.begin = call.end = rank == 0 ? task.ended : task.started;
            call.task = t;
            call.direction = rank == 0 ? trace::kSend : trace::kReceive;
            call.peer = 1 - rank;
            call.ran_before = rank == 0 ? task.running : 0;
            call.wait = trace::kNone;
            call.message = t - 1;
            process.calls.push_back(call);
        }
    }
    for (std::uint32_t i = 0; i < kTasks; ++i)
        job.messages.push_back({0, i, 1, i});
    return job;
}

TEST_F(ChangedReplays, EqualRanksHaveTheMeanOfWhatTheyCompute) {
    setting.machine.ranks = 2;
    setting.machine.threads = 1;
    Replay replay(calls_in_tasks());
    const Result before = run(replay);
    ASSERT_NEAR(before.busiest_rank, 1.5 * before.mean_work, 0.01 * before.mean_work);
    EXPECT_EQ(before.messages, 10u);
    EXPECT_EQ(replay.make_ranks_equal(), 2u);
    const Result after = run(replay);
    EXPECT_NEAR(after.mean_work, before.mean_work, 0.01 * before.mean_work);
    EXPECT_NEAR(after.busiest_rank, after.mean_work, 0.01 * after.mean_work);
}

TEST_F(ChangedReplays, KnowTheNetworkOfTheirRun) {
    const Replay replay = record();
    EXPECT_EQ(replay.policy(), "fifo");
    EXPECT_TRUE(replay.network().one_machine); // whose clock the files have
    EXPECT_EQ(replay.network().latency, 0);    // there are no short messages
    // Of 512 KiB at 10 GB/s, 100 us later.
    EXPECT_GT(replay.network().bandwidth, 1);
    EXPECT_LT(replay.network().bandwidth, 10);
}

} // namespace
