// SPDX-License-Identifier: Apache-2.0
// What must hold of every schedule, whatever the policy: checked on random graphs and on Cholesky.
#include "random_work.h"
#include "sim/cholesky.h"
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

using namespace sennit::sim;

namespace {

class Checker final : public Recorder {
  public:
    struct Run {
        int rank, thread;
        Time begin, end;
        Kind kind;
    };
    using Key = std::pair<int, std::uint64_t>;
    std::map<Key, Run> runs;
    std::map<Key, Time> births;
    std::vector<std::pair<Key, Key>> edges;

    void ran(const Ran &what) override {
        EXPECT_TRUE(runs.emplace(Key{what.rank, what.task},
                                 Run{what.rank, what.thread, what.begin, what.end, what.kind})
                        .second)
            << "ran twice";
    }
    void created(int rank, std::uint64_t task, int, Time at) override {
        EXPECT_TRUE(births.emplace(Key{rank, task}, at).second);
    }
    void depends(int rank, std::uint64_t before, std::uint64_t after) override {
        edges.push_back({{rank, before}, {rank, after}});
    }

    void check(std::uint64_t tasks) const {
        EXPECT_EQ(runs.size(), tasks);
        for (const auto &[before, after] : edges)
            ASSERT_LE(runs.at(before).end, runs.at(after).begin) << "before its dependences";
        for (const auto &[task, run] : runs)
            ASSERT_LE(births.at(task), run.begin) << "before it was created";
        std::map<std::pair<int, int>, std::vector<std::pair<Time, Time>>> by_thread;
        for (const auto &[task, run] : runs)
            by_thread[{run.rank, run.thread}].push_back({run.begin, run.end});
        for (auto &[thread, spans] : by_thread) {
            std::sort(spans.begin(), spans.end());
            for (std::size_t i = 1; i < spans.size(); ++i)
                ASSERT_LE(spans[i - 1].second, spans[i].first) << "two tasks on one thread";
        }
    }
};

Machine small_machine(int ranks, int threads) {
    Machine machine;
    machine.ranks = ranks;
    machine.threads = threads;
    return machine;
}

TEST(Schedules, OfRandomGraphsKeepTheRules) {
    for (const std::string &policy : known_choices()) {
        for (unsigned seed = 1; seed <= 12; ++seed) {
            const int ranks = 2 + static_cast<int>(seed % 4);
            const RandomWork work(ranks, 1500, seed);
            Checker checker;
            Setting setting;
            setting.machine = small_machine(ranks, 1 + static_cast<int>(seed % 5));
            setting.machine.tied = seed % 2;
            setting.machine.numa = seed % 3 == 0 ? 2 : 1;
            setting.machine.ranks_per_card = seed % 4 == 0 ? 2 : 1;
            setting.choice = parse_choice(policy, seed % 2 ? "auto" : "ready");
            setting.recorder = &checker;
            SCOPED_TRACE(policy + " " + std::to_string(seed));
            Result result;
            ASSERT_NO_THROW(result = simulate(work, setting));
            checker.check(work.count);
            EXPECT_EQ(result.tasks, work.count);
            EXPECT_EQ(result.sends, result.receives);
            // Conservation: the tasks' work, and two calls of MPI a message, is all that ran.
            const double calls =
                static_cast<double>(result.sends + result.receives) * setting.machine.overhead;
            EXPECT_NEAR(result.in_task, (static_cast<double>(work.work) + calls) * 1e-9, 1e-9);
            EXPECT_GE(result.idle, 0);
            EXPECT_GE(static_cast<double>(result.time) * 1e-9, result.busiest_rank);
            EXPECT_GE(static_cast<double>(result.time) * 1e-9, result.busiest_card);
            EXPECT_GE(result.time, critical_path(work, setting));
        }
    }
}

TEST(Schedules, AreTheSameForOneSeed) {
    const Cholesky work({.n = 20 * 512}, 4);
    for (const std::string &policy : known_choices()) {
        Setting setting;
        setting.machine = small_machine(4, 3);
        setting.machine.noise = 0.1;
        setting.choice = parse_choice(policy);
        const Result once = simulate(work, setting), again = simulate(work, setting);
        EXPECT_EQ(once.checksum, again.checksum) << policy;
        EXPECT_EQ(once.time, again.time) << policy;
        setting.seed = 2;
        EXPECT_NE(simulate(work, setting).checksum, once.checksum) << policy;
    }
}

// A change to the simulator that is not meant to change its schedules does not; one to the policies
// or to a model may: the new numbers belong here.
TEST(Schedules, AreTheseForTheseSeeds) {
    const auto run = [](const Workload &work, Setting setting, const char *policy) {
        setting.choice = parse_choice(policy);
        const Result result = simulate(work, setting);
        return std::pair(result.time, result.checksum);
    };
    Setting random;
    random.machine = small_machine(3, 2);
    random.machine.numa = 2;
    random.machine.noise = 0.1;
    random.seed = 7;
    const RandomWork graph(3, 1500, 7);
    CholeskyOptions options;
    options.n = 8192;
    Setting other;
    other.machine = small_machine(4, 3);
    other.machine.tied = 0;
    other.machine.window = 100;
    other.machine.ranks_per_card = 2;
    const Cholesky cholesky(options, 4);
    using Numbers = std::pair<Time, std::uint64_t>;
    const struct {
        const char *policy;
        Numbers random, cholesky;
    } expected[] = {
        {"steal", {10601890, 0x7d6ceddb181d976e}, {475935590, 0x3dc3675c52e43e48}},
        {"fifo", {10475247, 0x8d207b3985097846}, {504061413, 0x9ac15b17d70297f5}},
        {"sa", {10740948, 0xaefe5dead505aed3}, {466179719, 0x9e0a9f19875fc584}},
        {"fa", {10756565, 0x3393e7744ee1f2e8}, {466671458, 0xac06b268526d4a8e}},
    };
    for (const auto &row : expected) {
        EXPECT_EQ(run(graph, random, row.policy), row.random) << row.policy;
        EXPECT_EQ(run(cholesky, other, row.policy), row.cholesky) << row.policy;
    }
}

TEST(Schedules, AWindowBoundsTheUnfinished) {
    const Cholesky work({.n = 24 * 512}, 1);
    Setting setting;
    setting.machine = small_machine(1, 2);
    setting.machine.window = 50;
    setting.choice = parse_choice("fifo");
    EXPECT_EQ(simulate(work, setting).most_unfinished, 50u);
}

// Each rank's first tasks wait for what the other rank's last one sends, some in the call, some
// behind that one.
class LastOneSends final : public Workload {
  public:
    std::vector<std::string> functions() const override { return {"receive", "use", "send"}; }
    std::uint32_t data_of(int) const override { return 1; }
    std::uint64_t task_count() const override { return std::uint64_t{2} * (kWaiting + 2); }
    Tasks tasks_of(int rank, Marks) const override {
        for (int i = 0; i < kWaiting + 2; ++i) {
            TaskSpec task;
            const bool receives = i == 0, sends = i == kWaiting + 1;
            task.function = static_cast<std::uint8_t>(receives ? 0 : sends ? 2 : 1);
            task.kind = receives ? Kind::receive : sends ? Kind::send : Kind::compute;
            task.message = static_cast<std::uint64_t>(receives ? 1 - rank : rank);
            task.peer = static_cast<std::uint32_t>(1 - rank);
            task.bytes = 1000000;
            task.duration = 1000;
            if (!sends)
                task.add(0, Access::Mode::inout);
            co_yield task;
        }
    }

  private:
    static constexpr int kWaiting = 5;
};

TEST(Schedules, AFullWindowHoldsUpNobody) {
    for (const std::string &policy : known_choices())
        for (const double window : {1., 2., 4., 7.}) {
            SCOPED_TRACE(policy + " " + std::to_string(window));
            Setting setting;
            setting.machine = small_machine(2, 2);
            setting.machine.window = window;
            setting.choice = parse_choice(policy);
            EXPECT_EQ(simulate(LastOneSends(), setting).tasks, LastOneSends().task_count());
        }
}

TEST(Schedules, OneThreadAndOneRankTakeTheSumOfAll) {
    const Cholesky work({.n = 12 * 512}, 1);
    Setting setting;
    setting.machine = small_machine(1, 1);
    setting.machine.create = setting.machine.depend = setting.machine.schedule = 0;
    setting.choice = parse_choice("fifo");
    const Result result = simulate(work, setting);
    EXPECT_NEAR(static_cast<double>(result.time) * 1e-9, result.in_task, 1e-6);
}

// Rank 0 creates two tasks that nobody waits for; then one in two pieces, and behind that one which
// computes, and sends to rank 1.
class InPieces final : public Workload {
  public:
    std::vector<std::string> functions() const override {
        return {"other", "first", "second", "ahead", "send", "receive"};
    }
    std::uint32_t data_of(int) const override { return 5; }
    std::uint64_t task_count() const override { return 7; }
    Tasks tasks_of(int rank, Marks marks) const override {
        if (rank == 1) {
            co_yield one(5, Kind::receive);
            co_return;
        }
        for (std::uint32_t i = 0; i < 2; ++i) {
            TaskSpec other = one(0, Kind::compute);
            other.add(i, Access::Mode::inout);
            co_yield other;
        }
        for (std::uint8_t function = 1; function <= 4; ++function) {
            const bool sends = function > 2, goes_on = function % 2 == 0;
            TaskSpec piece = one(function, function == 4 ? Kind::send : Kind::compute);
            piece.sends = sends;
            piece.clause = sends && marks == Marks::sends;
            piece.goes_on = goes_on;
            piece.add(sends ? 3 : 2, Access::Mode::inout);
            if (sends && !goes_on)
                piece.add(2, Access::Mode::in);
            co_yield piece;
        }
    }

  private:
    static TaskSpec one(std::uint8_t function, Kind kind) {
        TaskSpec task;
        task.function = function;
        task.kind = kind;
        task.duration = 100'000;
        task.message = 1;
        task.peer = kind == Kind::send;
        task.bytes = 100;
        return task;
    }
};

class OrderOfRank0 final : public Recorder {
  public:
    void created(int, std::uint64_t, int, Time) override {}
    void depends(int, std::uint64_t, std::uint64_t) override {}
    void ran(const Ran &what) override {
        if (what.rank == 0)
            functions.push_back(what.function);
    }
    std::vector<int> functions;
};

// A task in pieces is one task to the queue and to the policy.
TEST(Schedules, ATaskInPiecesIsOneTask) {
    const auto order_under = [](const char *policy, const char *age) {
        OrderOfRank0 order;
        Setting setting;
        setting.machine = small_machine(2, 1);
        setting.choice = parse_choice(policy, age);
        setting.recorder = &order;
        simulate(InPieces(), setting);
        return order.functions;
    };
    EXPECT_EQ(order_under("fifo", "ready"), (std::vector{0, 0, 1, 2, 3, 4}));
    EXPECT_EQ(order_under("lifo", "ready"), (std::vector{1, 2, 3, 4, 0, 0}));
    EXPECT_EQ(order_under("sa", "creation"), (std::vector{1, 2, 3, 4, 0, 0}));
}

// One message of one second of bandwidth each: from two senders to one receiver.
class ThreeRanks final : public Workload {
  public:
    std::vector<std::string> functions() const override { return {"send", "receive"}; }
    std::uint32_t data_of(int) const override { return 4; }
    std::uint64_t task_count() const override { return 4; }
    Tasks tasks_of(int rank, Marks) const override {
        for (std::uint64_t from : {1, 2}) {
            if (rank != 0 && static_cast<int>(from) != rank)
                continue;
            TaskSpec task;
            task.kind = rank == 0 ? Kind::receive : Kind::send;
            task.function = rank == 0;
            task.message = from;
            task.peer = rank == 0 ? static_cast<std::uint32_t>(from) : 0;
            task.bytes = 1000000000;
            co_yield task;
        }
    }
};

TEST(Network, ACardReceivesOneMessageAtATime) {
    Setting setting;
    setting.machine = small_machine(3, 1);
    setting.machine.bandwidth = 1;
    setting.choice = parse_choice("fifo");
    EXPECT_NEAR(static_cast<double>(simulate(ThreeRanks(), setting).time) * 1e-9, 2, 0.001);
    EXPECT_NEAR(simulate(ThreeRanks(), setting).busiest_card, 2, 0.001);
    setting.machine.ranks_per_card = 3; // through memory
    setting.machine.memory_bandwidth = 1;
    EXPECT_NEAR(static_cast<double>(simulate(ThreeRanks(), setting).time) * 1e-9, 1, 0.001);
}

// Rank 1's card is busy with a message to rank 2 when it is handed one for rank 0; rank 3's message
// to rank 0 must not wait for that.
class HeadOfLine final : public Workload {
  public:
    std::vector<std::string> functions() const override { return {"send", "receive"}; }
    std::uint32_t data_of(int) const override { return 1; }
    std::uint64_t task_count() const override { return 6; }
    Tasks tasks_of(int rank, Marks) const override {
        struct Leg {
            int from, to;
            std::uint64_t bytes;
        };
        int number = 0;
        for (const Leg leg :
             {Leg{1, 2, 2000000000}, Leg{1, 0, 1000000000}, Leg{3, 0, 1000000000}}) {
            ++number;
            if (rank != leg.from && rank != leg.to)
                continue;
            TaskSpec task;
            task.kind = rank == leg.from ? Kind::send : Kind::receive;
            task.function = rank != leg.from;
            task.message = static_cast<std::uint64_t>(number);
            task.peer = static_cast<std::uint32_t>(rank == leg.from ? leg.to : leg.from);
            task.bytes = leg.bytes;
            co_yield task;
        }
    }
};

TEST(Network, AMessageThatIsNotThereYetHoldsUpNobody) {
    Setting setting;
    setting.machine = small_machine(4, 1);
    setting.machine.bandwidth = 1;
    setting.choice = parse_choice("fifo");
    // 2 s to rank 2, then 1 s to rank 0; rank 3's goes meanwhile. Reserved when posted: 4 s.
    EXPECT_NEAR(static_cast<double>(simulate(HeadOfLine(), setting).time) * 1e-9, 3, 0.001);
}

class Lonely final : public Workload {
  public:
    std::vector<std::string> functions() const override { return {"receive"}; }
    std::uint32_t data_of(int) const override { return 1; }
    std::uint64_t task_count() const override { return 1; }
    Tasks tasks_of(int, Marks) const override {
        TaskSpec task;
        task.kind = Kind::receive;
        task.message = 7;
        co_yield task;
    }
};

TEST(Network, AMessageThatNobodySendsIsNamed) {
    Setting setting;
    setting.machine = small_machine(1, 1);
    setting.choice = parse_choice("fifo");
    try {
        simulate(Lonely(), setting);
        FAIL();
    } catch (const Stuck &stuck) {
        EXPECT_NE(std::string(stuck.what()).find("rank 0 waits for message 0x7"), std::string::npos)
            << stuck.what();
    }
}

// Each of two ranks receives before it sends what the other one waits for.
class Embrace final : public Workload {
  public:
    explicit Embrace(bool waits) : waits_(waits) {}
    std::vector<std::string> functions() const override { return {"receive", "send"}; }
    std::uint32_t data_of(int) const override { return 2; }
    std::uint64_t task_count() const override { return 4; }
    Tasks tasks_of(int rank, Marks) const override {
        for (const int sends : {0, 1}) {
            TaskSpec task;
            task.kind = sends ? Kind::send : Kind::receive;
            task.function = static_cast<std::uint8_t>(sends);
            task.message = static_cast<std::uint64_t>(sends ? rank : 1 - rank) + 1;
            task.peer = static_cast<std::uint32_t>(1 - rank);
            task.bytes = 8;
            if (waits_)
                task.after_all = sends == 1;
            else
                task.add(0, Access::Mode::inout);
            co_yield task;
        }
    }

  private:
    bool waits_;
};

TEST(Network, ACycleIsNamed) {
    Setting setting;
    setting.machine = small_machine(2, 2);
    setting.choice = parse_choice("fifo");
    const auto reason = [&](bool waits) -> std::string {
        try {
            simulate(Embrace(waits), setting);
        } catch (const Stuck &stuck) {
            return stuck.what();
        }
        return "it ended";
    };
    EXPECT_NE(reason(false).find(
                  "4 tasks are not done; a cycle: rank 0's task 0 (receive) waits for its "
                  "message's other end, rank 1's task 1 (send), which waits for rank 1's task 0 "
                  "(receive), which waits for its message's other end, rank 0's task 1 (send), "
                  "which waits for rank 0's task 0 (receive)"),
              std::string::npos)
        << reason(false);
    EXPECT_NE(reason(true).find("rank 0's task 0 (receive) waits for its message's other end, "
                                "rank 1's creating thread (it waits for its tasks), which waits"),
              std::string::npos)
        << reason(true);
}

// One task, and ten that wait for it.
class Fan final : public Workload {
  public:
    std::vector<std::string> functions() const override { return {"one"}; }
    std::uint32_t data_of(int) const override { return 1; }
    std::uint64_t task_count() const override { return 11; }
    Tasks tasks_of(int, Marks) const override {
        TaskSpec task;
        task.duration = 1000000;
        task.add(0, Access::Mode::inout);
        co_yield task;
        task.accesses[0].mode = Access::Mode::in;
        for (int i = 0; i < 10; ++i)
            co_yield task;
    }
};

// tests/programs/sennit_release_order.c asks the runtime the same.
TEST(Policies, SuccessorsAreReleasedNewestFirst) {
    struct Order final : Recorder {
        std::vector<std::uint64_t> made, ran_so_far;
        void created(int, std::uint64_t task, int, Time) override { made.push_back(task); }
        void depends(int, std::uint64_t, std::uint64_t) override {}
        void ran(const Ran &what) override { ran_so_far.push_back(what.task); }
        std::vector<std::ptrdiff_t> numbers() const {
            std::vector<std::ptrdiff_t> all;
            for (const std::uint64_t task : ran_so_far)
                all.push_back(std::find(made.begin(), made.end(), task) - made.begin());
            return all;
        }
    };
    const auto order = [](const char *policy) {
        Order recorder;
        Setting setting;
        setting.machine = small_machine(1, 1);
        setting.choice = parse_choice(policy);
        setting.recorder = &recorder;
        simulate(Fan(), setting);
        return recorder.numbers();
    };
    using Numbers = std::vector<std::ptrdiff_t>;
    EXPECT_EQ(order("fifo"), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(order("lifo"), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(order("steal"), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

// Every task's profile is looked for once and noted once; every task with dependences goes into the
// graph once and out of it once.
TEST(Policies, PayForWhatTheyKeep) {
    const RandomWork work(1, 1000, 3);
    const auto overhead = [&](const char *policy, double match, double place) {
        Setting setting;
        setting.machine = small_machine(1, 1);
        setting.machine.match = match;
        setting.machine.place = place;
        setting.machine.raise = setting.machine.reconsider = 0;
        setting.choice = parse_choice(policy);
        return simulate(work, setting).overhead * 1e9;
    };
    const double all = static_cast<double>(work.count);
    EXPECT_NEAR(overhead("fa", 100, 0) - overhead("fa", 0, 0), 200 * all, 1);
    EXPECT_NEAR(overhead("sa", 100, 0), overhead("sa", 0, 0), 1);
    EXPECT_NEAR(overhead("fifo", 100, 100), overhead("fifo", 0, 0), 1);
    const double kept = overhead("sa", 0, 100) - overhead("sa", 0, 0);
    EXPECT_GT(kept, 0);
    EXPECT_LT(kept, 200 * all); // some tasks of the work have no dependences
}

TEST(Policies, LearnedPrioritiesComeCloseToMarkedOnes) {
    const Cholesky work({.n = 64 * 512}, 8);
    Setting setting;
    setting.machine = small_machine(8, 8);
    setting.machine.bandwidth = 3;
    const auto time = [&](const char *policy) {
        setting.choice = parse_choice(policy);
        return simulate(work, setting).time;
    };
    const Time fifo = time("fifo"), sa = time("sa"), fa = time("fa");
    EXPECT_LT(sa, fifo);
    EXPECT_LT(fa, fifo);
    EXPECT_LT(static_cast<double>(fa), static_cast<double>(sa) * 1.05);
}

} // namespace
