// SPDX-License-Identifier: Apache-2.0
// trace/: what is recorded comes out as a timeline that viewers accept. Each test records in a
// child process, as the timeline is written at exit, and reads the file.
#include "sennit.h"

#include "base/config.h"
#include "task/statistics.h"
#include "trace/records.h"
#include "trace/symbols.h"
#include "trace/trace.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
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
            task::statistics_setup();
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

    json read(const char *file = "out/rank-7.json") {
        return json::parse(std::ifstream(folder_ / file));
    }

    fs::path folder_;
};

struct Piece {
    long begin, end; // nanoseconds
    long row;
    std::string name;
    json args;
};

long nanoseconds(const json &micros) {
    return std::lround(micros.get<double>() * 1000);
}

std::vector<Piece> pieces(const json &file, const char *category) {
    std::vector<Piece> found;
    for (const json &event : file["traceEvents"])
        if (event["ph"] == "X" && event["cat"] == category) {
            EXPECT_EQ(event["pid"], 7);
            const long begin = nanoseconds(event["ts"]);
            found.push_back({begin, begin + nanoseconds(event["dur"]), event["tid"].get<long>(),
                             event["name"], event["args"]});
        }
    return found;
}

// Of one row two slices are apart or one is within the other, and outer ones come first.
void expect_nested(const std::vector<Piece> &all) {
    std::map<long, std::vector<const Piece *>> open;
    constexpr long kRounding = 16; // a double holds microseconds since the epoch no finer
    for (const Piece &piece : all) {
        auto &stack = open[piece.row];
        while (!stack.empty() && stack.back()->end <= piece.begin + kRounding)
            stack.pop_back();
        if (!stack.empty()) {
            EXPECT_LE(stack.back()->begin, piece.begin + kRounding);
            EXPECT_GE(stack.back()->end + kRounding, piece.end);
        }
        stack.push_back(&piece);
    }
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

} // namespace

TEST_F(Trace, ATaskThatRunsGivesOneSliceWithItsNameAndParent) {
    trace([] {
        const std::uint64_t outer = make_task();
        trace::task_start(outer, entry_pointer());
        const std::uint64_t inner = make_task(outer);
        trace::task_ready(inner);
        run_task(inner);
        trace::task_complete(inner);
        trace::task_end(outer);
    });
    const auto slices = pieces(read(), "task");
    ASSERT_EQ(slices.size(), 2u);
    expect_nested(slices);
    const Piece &outer = slices[0], &inner = slices[1];
    EXPECT_EQ(inner.name, kEntryName);
    EXPECT_EQ(inner.row, 0);
    EXPECT_EQ(inner.args["parent"], outer.args["id"]);
    EXPECT_GE(inner.end - inner.begin, 50'000 - 16);
    EXPECT_LE(inner.args["created"], inner.args["ready"]);
    EXPECT_LE(nanoseconds(inner.args["ready"]), inner.begin + 16);
    EXPECT_GE(nanoseconds(inner.args["completed"]), inner.end - 16);
}

TEST_F(Trace, ASuspendedTaskGivesASliceForEachTimeItRuns) {
    trace([] {
        const std::uint64_t a = make_task(), b = make_task();
        trace::task_start(a, entry_pointer());
        pass_time();
        trace::task_suspend(a);
        trace::fiber_switch("first", "second");
        run_task(b);
        trace::fiber_switch("second", "first");
        trace::task_resume(a);
        pass_time();
        trace::task_end(a);
    });
    const auto slices = pieces(read(), "task");
    ASSERT_EQ(slices.size(), 3u);
    EXPECT_EQ(slices[0].args["id"], slices[2].args["id"]);
    EXPECT_LE(slices[0].end, slices[1].begin);
    EXPECT_LE(slices[1].end, slices[2].begin);
    const long suspended = nanoseconds(slices[0].args["suspended"]);
    EXPECT_NEAR(static_cast<double>(suspended),
                static_cast<double>(slices[2].begin - slices[0].end), 5'000.0);
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
        trace::task_end(nested);
        pass_time();
        trace::task_end(a);
        trace::fiber_switch("one", "two");
        pass_time();
        trace::task_end(b);
    });
    const auto slices = pieces(read(), "task");
    expect_nested(slices);
    std::vector<std::uint64_t> order;
    for (const Piece &slice : slices)
        order.push_back(slice.args["id"]);
    EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 3, 2, 1, 3, 2}));
}

TEST_F(Trace, WithoutFiberSwitchesSlicesStillNest) {
    trace([] {
        std::uint64_t ids[4];
        for (std::uint64_t &id : ids) {
            id = make_task();
            trace::task_start(id, entry_pointer());
            pass_time(); // a slice without length would not be written
            trace::task_suspend(id);
        }
        for (const std::uint64_t id : {ids[2], ids[0], ids[3], ids[1]}) {
            trace::task_resume(id);
            pass_time();
            trace::task_suspend(id);
        }
        for (const std::uint64_t id : {ids[1], ids[3], ids[0], ids[2]}) {
            trace::task_resume(id);
            pass_time();
            trace::task_end(id);
        }
    });
    const auto slices = pieces(read(), "task");
    EXPECT_GE(slices.size(), 12u);
    expect_nested(slices);
}

TEST_F(Trace, SpansThatOverlapAreOnDifferentLanes) {
    trace([] {
        const std::uint64_t a = make_task(), b = make_task();
        trace::record(Kind::span_begin, a, trace::pack_span(3, -1), 4096, "MPI_\"Recv\"");
        trace::record(Kind::span_begin, b, trace::pack_span(-2, 5), 1, "MPI_Send");
        trace::record(Kind::span_end, a);
        trace::record(Kind::span_begin, a, trace::pack_span(1, 1), 2, "MPI_Wait");
        trace::record(Kind::span_end, b);
    });
    const auto spans = pieces(read(), "mpi");
    ASSERT_EQ(spans.size(), 3u);
    EXPECT_EQ(spans[0].name, "MPI_\"Recv\"");
    EXPECT_EQ(spans[0].args["peer"], 3);
    EXPECT_EQ(spans[0].args["tag"], -1);
    EXPECT_EQ(spans[0].args["bytes"], 4096);
    EXPECT_EQ(spans[1].args["peer"], -2);
    EXPECT_EQ(spans[0].row, 1000);
    EXPECT_EQ(spans[1].row, 1001);
    EXPECT_EQ(spans[2].row, 1000);
    EXPECT_EQ(spans[2].args["unfinished"], true);
    EXPECT_FALSE(spans[1].args.contains("unfinished"));
}

TEST_F(Trace, TimesAreThoseOfTheRealtimeClock) {
    using std::chrono::nanoseconds, std::chrono::system_clock;
    const auto now = [] { return nanoseconds(system_clock::now().time_since_epoch()).count(); };
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
    const json file = read();
    const long epoch = file["otherData"]["epoch_unix_s"].get<long>() * 1'000'000'000;
    const auto slices = pieces(file, "task");
    ASSERT_EQ(slices.size(), 1u);
    constexpr long kSlack = 10'000;
    EXPECT_GE(epoch + slices[0].begin, before - kSlack);
    EXPECT_LE(epoch + slices[0].end, after + kSlack);
    EXPECT_GE(slices[0].end - slices[0].begin, 5'000'000 - kSlack);
}

TEST_F(Trace, ExitInsideATaskWhileOthersRecordWritesWhatThereIs) {
    trace([] {
        std::vector<std::thread> threads;
        static std::atomic<int> running{0};
        for (int i = 1; i <= 3; ++i)
            threads.emplace_back([i] {
                t_row = i;
                ++running;
                for (;;)
                    run_task(make_task());
            });
        while (running < 3)
            pass_time();
        pass_time(std::chrono::milliseconds(20));
        trace::task_start(make_task(), entry_pointer());
        std::exit(0); // the threads are never joined
    });
    const json file = read();
    const auto slices = pieces(file, "task");
    expect_nested(slices);
    std::map<long, int> per_row;
    for (const Piece &slice : slices)
        ++per_row[slice.row];
    EXPECT_EQ(per_row.size(), 4u);
    EXPECT_EQ(per_row[0], 1);
    EXPECT_EQ(file["otherData"]["events_dropped"], 0);
}

#if !SENNIT_ASAN && !SENNIT_TSAN // their shadow memory is beyond any limit
TEST_F(Trace, WhatDoesNotFitIsCountedAndReported) {
    const std::string said = trace([] {
        // trace() has reserved the buffers already: start over with little address space.
        std::ifstream status("/proc/self/statm");
        rlim_t pages = 0;
        status >> pages;
        const rlimit limit{pages * 4096 + (12u << 20), RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &limit);
        trace::setup();
        const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &none);
        for (int i = 0; i < 200'000; ++i) {
            const std::uint64_t id = make_task();
            trace::task_start(id, entry_pointer());
            trace::task_end(id);
        }
    });
    EXPECT_NE(said.find("sennit: SENNIT_TRACE: "), std::string::npos) << said;
    EXPECT_NE(said.find(" events were dropped: the buffers of "), std::string::npos) << said;
    const json file = read();
    const auto slices = pieces(file, "task");
    EXPECT_GT(slices.size(), 50'000u);
    EXPECT_LT(slices.size(), 200'000u);
    // Every event is in the file or counted.
    const std::uint64_t dropped = file["otherData"]["events_dropped"];
    const std::uint64_t whole = slices.size() * 3;
    EXPECT_GE(whole + dropped, 600'000u);
    EXPECT_LE(whole + dropped, 600'002u);
}
#endif

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
    EXPECT_EQ(pieces(read(), "task").size(), 1u);
    trace([] {
        run_task(make_task());
        run_task(make_task());
    });
    EXPECT_EQ(pieces(read(), "task").size(), 2u);
    for (const auto &file : fs::directory_iterator(folder_ / "out"))
        EXPECT_EQ(file.path().filename(), "rank-7.json");
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
    });
    EXPECT_EQ(pieces(read(), "task").size(), 1u);
    int others = 0;
    for (const auto &file : fs::directory_iterator(folder_ / "out")) {
        if (file.path().filename() == "rank-7.json")
            continue;
        ++others;
        EXPECT_EQ(pieces(json::parse(std::ifstream(file.path())), "task").size(), 5u);
    }
    EXPECT_EQ(others, 1);
}

TEST_F(Trace, RowsAndTheProcessHaveNames) {
    trace([] {
        run_task(make_task());
        std::thread([] {
            t_row = 4;
            run_task(make_task());
        }).join();
    });
    std::map<long, std::string> rows;
    std::string process;
    const json file = read();
    for (const json &event : file["traceEvents"]) {
        if (event["name"] == "thread_name")
            rows[event["tid"]] = event["args"]["name"];
        if (event["name"] == "process_name")
            process = event["args"]["name"];
    }
    EXPECT_EQ(rows, (std::map<long, std::string>{{0, "worker 0"}, {4, "worker 4"}}));
    EXPECT_EQ(process.rfind("rank 7: ", 0), 0u) << process;
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

TEST(TraceClock, CountsFromTheBeginningAlsoWhereTheStampWraps) {
    const std::uint64_t begin = (std::uint64_t{1} << 56) - 1000;
    const trace::Clock clock({begin, 0, 0}, {begin + 4000, 1000, 1000});
    EXPECT_EQ(clock.ns(trace::stamp(begin, Kind::start)), 0u);
    EXPECT_EQ(clock.ns(trace::stamp(begin + 400, Kind::start)), 100u);
    EXPECT_EQ(clock.ns(trace::stamp(begin + 2000, Kind::start)), 500u); // wrapped
    EXPECT_EQ(clock.ns(trace::stamp(begin - 1, Kind::start)), 0u);      // another core, behind
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
