// SPDX-License-Identifier: Apache-2.0
// trace/: what is recorded is what readers find. Each test records in a child process and reads the
// file.
#include "sennit.h"

#include "base/config.h"
#include "openmp/runtime/library.h"
#include "tasks/trace/trace.h"
#include "trace/replay.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace sennit;
using nlohmann::json;
using trace::Kind;
namespace fs = std::filesystem;

namespace {

void some_task_function() {}
std::uint64_t entry() {
    return reinterpret_cast<std::uint64_t>(&some_task_function);
}
void *entry_pointer() {
    return reinterpret_cast<void *>(entry());
}
constexpr char kEntryName[] = "(anonymous namespace)::some_task_function()";

thread_local int t_row = -1;

void pass_time(std::chrono::microseconds time = std::chrono::microseconds(50)) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

class Trace : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "sennit-trace-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    // Run `body` in a process that traces as rank 7. Returns what it said on stderr.
    template <typename Body>
    std::string trace(Body body, const char *stats = "") {
        const fs::path errors = folder_ / "stderr";
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            if (!std::freopen(errors.c_str(), "w", stderr))
                std::_Exit(2);
            setenv("SENNIT_TRACE", (folder_ / "out").c_str(), 1);
            setenv("SENNIT_STATS", stats, 1);
            setenv("PMI_RANK", "7", 1);
            config_setup();
            runtime::statistics_setup();
            trace::set_row_of_thread([] { return t_row; });
            trace::setup();
            t_row = 0;
            body();
            std::exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        std::ifstream in(errors);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    trace::Process read(const char *file = "out/rank-7.sennit") {
        return trace::build_process(trace::TraceFile::read(folder_ / file));
    }

    fs::path folder_;
};

struct Piece {
    long begin, end; // nanoseconds
    int row;
    std::uint32_t task;
};

// When tasks ran, by begin.
std::vector<Piece> pieces(const trace::Process &process) {
    std::vector<Piece> found;
    for (const trace::ThreadModel &thread : process.threads)
        for (const trace::Interval &interval : thread.intervals)
            if (interval.state == trace::State::task)
                found.push_back({interval.begin, interval.end, thread.row, interval.task});
    std::stable_sort(found.begin(), found.end(),
                     [](const Piece &a, const Piece &b) { return a.begin < b.begin; });
    return found;
}

std::uint32_t ran(const trace::Process &process) {
    return static_cast<std::uint32_t>(std::count_if(process.tasks.begin(), process.tasks.end(),
                                                    [](const trace::Task &t) { return t.ran(); }));
}

std::vector<std::uint32_t> order(const std::vector<Piece> &pieces) {
    std::vector<std::uint32_t> tasks;
    for (const Piece &piece : pieces)
        tasks.push_back(piece.task);
    return tasks;
}

std::uint64_t make_task(std::uint64_t parent = 0) {
    std::uint64_t id = 0;
    trace::task_create(id, entry_pointer(), parent);
    return id;
}

void run_task(std::uint64_t id) {
    trace::task_start(id, entry_pointer());
    pass_time();
    trace::task_end(id);
}

void begin_span(std::uint64_t task, const char *name, int peer, int tag, std::uint64_t bytes,
                std::uint32_t direction = 0, std::uint32_t requests = 0) {
    trace::name_literal(name);
    trace::record(Kind::span_begin, task, reinterpret_cast<std::uint64_t>(name),
                  trace::pair(peer, tag), bytes, 0, direction | requests << 8);
}

void post_request(std::uint64_t task, const char *name, std::uint64_t request,
                  std::uint64_t bytes) {
    trace::name_literal(name);
    trace::record(Kind::post, task, reinterpret_cast<std::uint64_t>(name), trace::pair(1, 1), bytes,
                  0, trace::kReceive, request);
}

} // namespace

TEST_F(Trace, ATaskThatRunsGivesItsNameParentAndTimes) {
    trace([] {
        const std::uint64_t outer = make_task();
        trace::task_start(outer, entry_pointer());
        const std::uint64_t inner = make_task(outer);
        trace::task_ready(inner);
        run_task(inner);
        trace::task_complete(inner);
        trace::task_end(outer);
    });
    const trace::Process process = read();
    EXPECT_EQ(process.strange, 0u);
    ASSERT_EQ(process.tasks.size(), 3u);
    const trace::Task &outer = process.tasks[1], &inner = process.tasks[2];
    EXPECT_EQ(process.name(2), kEntryName);
    EXPECT_EQ(inner.parent, 1u);
    EXPECT_EQ(outer.parent, 0u);
    EXPECT_GE(inner.running, 50'000 - 16);
    EXPECT_LE(inner.created, inner.ready);
    EXPECT_LE(inner.ready, inner.started);
    EXPECT_GE(inner.completed, inner.ended);
    EXPECT_LE(outer.running, outer.ended - outer.started - inner.running + 16);
    EXPECT_EQ(order(pieces(process)), (std::vector<std::uint32_t>{1, 2, 1}));
}

TEST_F(Trace, ASuspendedTaskRunsInPieces) {
    trace([] {
        const std::uint64_t a = make_task(), b = make_task();
        trace::task_start(a, entry_pointer());
        pass_time();
        trace::task_suspend(a);
        trace::record(Kind::wait_begin, a, static_cast<trace::Word>(trace::WaitReason::resumption));
        trace::fiber_switch("first", "second");
        run_task(b);
        trace::fiber_switch("second", "first");
        trace::record(Kind::wait_end, a);
        trace::task_resume(a);
        pass_time();
        trace::task_end(a);
    });
    const trace::Process process = read();
    EXPECT_EQ(process.strange, 0u);
    const auto slices = pieces(process);
    EXPECT_EQ(order(slices), (std::vector<std::uint32_t>{1, 2, 1}));
    EXPECT_EQ(process.suspended_peak, 1u);
    EXPECT_EQ(process.tasks[1].suspensions, 1);
    ASSERT_EQ(slices.size(), 3u);
    EXPECT_GE(process.tasks[1].suspended, slices[2].begin - slices[0].end);
    EXPECT_LE(process.tasks[1].suspended, slices[2].end - slices[0].begin);
    ASSERT_EQ(process.waits.size(), 1u);
    EXPECT_EQ(process.waits[0].reason, trace::WaitReason::resumption);
}

// A parent in taskwait parks without being "suspended"; its child may park and outlast it.
TEST_F(Trace, TasksOfDifferentFibersNeverOverlap) {
    trace([] {
        const std::uint64_t a = make_task(), b = make_task(), nested = make_task();
        trace::task_start(a, entry_pointer());
        trace::task_start(nested, entry_pointer());
        pass_time();
        trace::fiber_switch("one", "two");
        trace::task_start(b, entry_pointer());
        pass_time();
        trace::fiber_switch("two", "one");
        pass_time();
        trace::task_end(nested);
        pass_time();
        trace::task_end(a);
        trace::fiber_switch("one", "two");
        pass_time();
        trace::task_end(b);
    });
    const trace::Process process = read();
    const auto slices = pieces(process);
    for (std::size_t i = 1; i < slices.size(); ++i)
        EXPECT_GE(slices[i].begin, slices[i - 1].end);
    EXPECT_EQ(order(slices), (std::vector<std::uint32_t>{1, 3, 2, 3, 1, 2}));
    EXPECT_EQ(process.strange, 0u);
}

TEST_F(Trace, SpansOfTasksOverlapAndEndEachInItsOwnTask) {
    trace([] {
        const std::uint64_t a = make_task(), b = make_task();
        begin_span(a, "MPI_\"Recv\"", 3, -1, 4096, trace::kReceive);
        begin_span(b, "MPI_Send", -2, 5, 1);
        trace::record(Kind::span_end, a, trace::pair(3, 17), 2048);
        begin_span(a, "MPI_Wait", 1, 1, 2);
        trace::record(Kind::span_end, b, trace::pair(-1, -1), 0);
    });
    const trace::Process process = read();
    ASSERT_EQ(process.calls.size(), 3u);
    const trace::Call &receive = process.calls[0], &send = process.calls[1],
                      &wait = process.calls[2];
    EXPECT_EQ(process.file.name_of(receive.name), "MPI_\"Recv\"");
    EXPECT_EQ(receive.peer, 3);
    EXPECT_EQ(receive.tag, 17); // as received
    EXPECT_EQ(receive.bytes, 2048u);
    EXPECT_FALSE(receive.open);
    EXPECT_EQ(send.peer, trace::kAny);
    EXPECT_EQ(send.bytes, 1u);
    EXPECT_GE(send.end, wait.begin);
    EXPECT_TRUE(wait.open);
}

TEST_F(Trace, AWaitIsForTheBytesOfItsRequests) {
    trace([] {
        const std::uint64_t id = make_task();
        for (const std::uint64_t request : {7, 8})
            post_request(id, "MPI_Start", request, 1000 * request);
        begin_span(id, "MPI_Waitall", -1, -1, 0, trace::kNeither, 2);
        for (const std::uint64_t request : {7, 8})
            trace::record(Kind::waits_for, id, request);
        trace::record(Kind::span_end, id, trace::pair(-1, -1), 0);
    });
    const trace::Process process = read();
    ASSERT_EQ(process.calls.size(), 3u);
    EXPECT_EQ(process.calls[2].bytes, 15'000u);
    EXPECT_EQ(process.calls[0].wait, 2u);
}

TEST_F(Trace, TimesAreThoseOfTheMonotonicClock) {
    const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
    const fs::path times = folder_ / "times";
    trace([&] {
        const std::uint64_t id = make_task();
        pass_time(std::chrono::milliseconds(20));
        const long before = now();
        trace::task_start(id, entry_pointer());
        pass_time(std::chrono::milliseconds(5));
        trace::task_end(id);
        const long after = now();
        pass_time(std::chrono::milliseconds(20));
        std::ofstream(times) << before << ' ' << after;
    });
    long before = 0, after = 0;
    std::ifstream(times) >> before >> after;
    const auto slices = pieces(read());
    ASSERT_EQ(slices.size(), 1u);
    constexpr long kSlack = 10'000;
    EXPECT_GE(slices[0].begin, before - kSlack);
    EXPECT_LE(slices[0].end, after + kSlack);
    EXPECT_GE(slices[0].end - slices[0].begin, 5'000'000 - kSlack);
}

TEST_F(Trace, AKilledProcessLeavesWhatItRecorded) {
    const std::string out = (folder_ / "out").string();
    const pid_t child = fork();
    if (child == 0) {
        setenv("SENNIT_TRACE", out.c_str(), 1);
        setenv("PMI_RANK", "7", 1);
        config_setup();
        trace::set_row_of_thread([] { return 0; });
        trace::setup();
        for (int i = 0; i < 10'000; ++i) {
            const std::uint64_t id = make_task();
            trace::task_start(id, entry_pointer());
            trace::task_end(id);
        }
        trace::task_start(make_task(), entry_pointer());
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const trace::Process process = read();
    EXPECT_EQ(ran(process), 10'001u);
    EXPECT_FALSE(process.file.finished());
    ASSERT_EQ(process.file.notes.size(), 1u);
    EXPECT_NE(process.file.notes[0].find("did not end in order"), std::string::npos);
    EXPECT_EQ(process.tasks[10'001].ended, trace::kNever);
}

TEST_F(Trace, ExitInsideATaskWhileOthersRecordLeavesWhatThereIs) {
    trace([] {
        std::vector<std::thread> threads;
        static std::atomic<int> running{0};
        for (int i = 1; i <= 3; ++i)
            threads.emplace_back([i] {
                t_row = i;
                run_task(make_task());
                ++running;
                for (;;)
                    run_task(make_task());
            });
        while (running < 3)
            pass_time();
        trace::task_start(make_task(), entry_pointer());
        std::exit(0); // the threads are never joined
    });
    const trace::Process process = read();
    EXPECT_TRUE(process.file.finished());
    EXPECT_EQ(process.file.header.dropped, 0u);
    std::map<int, int> per_row;
    for (const Piece &slice : pieces(process))
        ++per_row[slice.row];
    EXPECT_EQ(per_row.size(), 4u);
    EXPECT_EQ(per_row[0], 1);
}

TEST_F(Trace, WhatDoesNotFitIsCountedAndReported) {
    const std::string said = trace([] {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{4u << 20, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int i = 0; i < 200'000; ++i) {
            const std::uint64_t id = make_task();
            trace::task_start(id, entry_pointer());
            trace::task_end(id);
        }
    });
    EXPECT_NE(said.find("sennit: SENNIT_TRACE: no room for more"), std::string::npos) << said;
    const trace::Process process = read();
    EXPECT_NE(process.file.header.flags & trace::kIncomplete, 0u);
    std::uint64_t events = 0;
    for (const auto &thread : process.file.threads)
        process.file.each(thread, [&](const trace::Event &) { ++events; });
    EXPECT_GT(events, 50'000u);
    EXPECT_EQ(events + process.file.header.dropped, 600'000u);
}

TEST_F(Trace, AFolderThatCannotBeWrittenIsSaidAtOnceAndTracingStaysOff) {
    std::ofstream(folder_ / "out") << "a file";
    const std::string said = trace([] {
        if (trace::on())
            std::_Exit(1);
    });
    EXPECT_NE(said.find("cannot write to a folder"), std::string::npos) << said;
}

TEST_F(Trace, AProcessThatRecordedNothingDoesNotReplaceTheRanksFile) {
    trace([] { run_task(make_task()); });
    trace([] {});
    EXPECT_EQ(ran(read()), 1u);
    trace([] {
        run_task(make_task());
        run_task(make_task());
    });
    EXPECT_EQ(ran(read()), 2u);
    for (const auto &file : fs::directory_iterator(folder_ / "out"))
        EXPECT_EQ(file.path().filename(), "rank-7.sennit");
}

TEST_F(Trace, AForkedChildLeavesItsOwnFileAndOnlyItsOwnEvents) {
    trace([] {
        run_task(make_task());
        for (int i = 0; i < 2; ++i) {
            const pid_t child = fork();
            if (child == 0) {
                trace::after_fork_in_child();
                for (int task = 0; task < 5 * i; ++task)
                    run_task(make_task());
                std::exit(0);
            }
            waitpid(child, nullptr, 0);
        }
        run_task(make_task());
    });
    EXPECT_EQ(ran(read()), 2u);
    int others = 0;
    for (const auto &file : fs::directory_iterator(folder_ / "out")) {
        if (file.path().filename() == "rank-7.sennit")
            continue;
        ++others;
        EXPECT_EQ(ran(trace::build_process(trace::TraceFile::read(file.path()))), 5u);
    }
    EXPECT_EQ(others, 1);
}

TEST_F(Trace, EdgesAreKeptOnce) {
    trace([] {
        const std::uint64_t a = make_task(), b = make_task(), c = make_task();
        trace::edge(a, c, true);
        trace::edge(b, c, true);
        trace::edge(a, c, true);
        trace::edge(a, b, true);
    });
    const trace::Process process = read();
    ASSERT_EQ(process.edges.size(), 3u);
    EXPECT_EQ(process.edges[0].successor, 2u);
    EXPECT_EQ(process.edges[2].predecessor, 2u);
}

TEST_F(Trace, AGroupTranslatesItsMembers) {
    trace([] {
        const int ranks[] = {4, 7, 9};
        trace::name_group(77, 3, ranks, "mine");
        trace::name_literal("MPI_Send");
        trace::record(Kind::span_begin, 0, 0, trace::pair(2, 1), 8, 77, trace::kSend);
    });
    const trace::Process process = read();
    ASSERT_EQ(process.calls.size(), 1u);
    EXPECT_EQ(process.calls[0].peer, 9);
    EXPECT_EQ(process.file.groups.at(77).name, "mine");
}

// Some twenty chunks of the table, with little left at the end of each: what is long comes when
// what is short still fits.
TEST_F(Trace, NamesOfManyThreadsFillManyChunksOfTheTable) {
    constexpr int kThreads = 4, kGroups = 400;
    trace([] {
        std::vector<std::thread> threads;
        for (int t = 0; t < kThreads; ++t)
            threads.emplace_back([t] {
                for (int i = 0; i < kGroups; ++i)
                    trace::name_group(static_cast<std::uint64_t>(t * kGroups + i), 2, nullptr,
                                      std::string(i % 4 ? 10 : 6000, 'x').c_str());
            });
        for (std::thread &thread : threads)
            thread.join();
    });
    EXPECT_EQ(trace::TraceFile::read(folder_ / "out/rank-7.sennit").groups.size(),
              std::size_t{kThreads} * kGroups);
}

TEST_F(Trace, StatisticsAreWrittenAtExit) {
    trace([] {}, (folder_ / "stats").c_str());
    int found = 0;
    for (const auto &file : fs::directory_iterator(folder_)) {
        if (file.path().filename().string().rfind("stats.", 0) != 0)
            continue;
        ++found;
        const json numbers = json::parse(std::ifstream(file.path()));
        for (const char *name : {"tasks_created", "tasks_suspended", "suspended_peak",
                                 "suspended_now", "stacks_live", "polls"})
            EXPECT_TRUE(numbers.at(name).is_number_unsigned()) << name;
    }
    EXPECT_EQ(found, 1);
}

TEST(Statistics, NullIsRefused) {
    EXPECT_EQ(sennit_get_statistics(nullptr), SENNIT_ERR_PARAMETER);
    sennit_statistics now;
    EXPECT_EQ(sennit_get_statistics(&now), SENNIT_SUCCESS);
}

TEST(TraceIds, AreUniqueOverThreadsAndNeverZero) {
    constexpr int kThreads = 4, kIds = 10'000;
    std::vector<std::uint64_t> ids(kThreads * kIds);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < kIds; ++i)
                ids[static_cast<std::size_t>(t * kIds + i)] = trace::next_id();
        });
    for (std::thread &thread : threads)
        thread.join();
    std::sort(ids.begin(), ids.end());
    EXPECT_NE(ids.front(), 0u);
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(TraceNames, CompilersNamesBecomeReadable) {
    const struct {
        const char *symbol, *name;
    } cases[] = {
        {"main._omp_fn.3", "main task 3"},
        {"main._omp_fn.12.constprop.0", "main task 12"},
        {"_ZN3foo3barEi._omp_fn.0", "foo::bar(int) task 0"},
        {"__solver_MOD_step._omp_fn.1", "__solver_MOD_step task 1"},
        {".omp_task_entry.", "omp_task_entry"},
        {".omp_task_entry..5", "omp_task_entry..5"},
        {".omp_outlined.", "omp_outlined"},
        {"main.omp_outlined.2", "main.omp_outlined.2"},
        {"_Z3fooi", "foo(int)"},
        {"_Znonsense", "_Znonsense"},
        {"plain", "plain"},
    };
    for (const auto &[symbol, name] : cases) {
        char *readable = trace::readable_name(symbol);
        EXPECT_STREQ(readable, name);
        std::free(readable);
    }
}

TEST(TraceNames, LocalDynamicAndUnknownFunctionsAreFound) {
    trace::Symbols symbols;
    EXPECT_STREQ(symbols.name_of(entry()), kEntryName);
    EXPECT_STREQ(symbols.name_of(reinterpret_cast<std::uint64_t>(&gnu_get_libc_version)),
                 "gnu_get_libc_version");
    EXPECT_STREQ(symbols.name_of(16), "0x10");
    EXPECT_STREQ(symbols.name_of(0), "task");
    EXPECT_EQ(symbols.name_of(entry()), symbols.name_of(entry()));
}
