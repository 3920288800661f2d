// SPDX-License-Identifier: Apache-2.0
// Workers without work (tasks/sched/worker.cpp, idle.cpp) and the ticker (tasks/poll/poll.cpp)
// under every schedule: a sleeper hears of work, and somebody polls.
#include "rooms.h"

#include "tasks/poll/poll.cpp"  // the ticker has no name outside
#include "tasks/sched/idle.cpp" // nor has the idle poller

#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

using sched::Worker;

// A polling service with an operation, for which the tests look no further than to the first poll.
class Service {
  public:
    void begin() {
        make_anew(poll::detail::g_pending);
        make_anew(poll::g_services);
        make_anew(service_);
        service_.function = [](void *) -> int { end_schedule(); };
        poll::g_services.latest.store(&service_);
    }
    void add_operation() { poll::add_pending(&service_, 1); }

  private:
    sennit_poll_service service_{};
};

// In which services each thread is: a variable of the thread.
class Inside {
  public:
    void begin() { *this = {}, poll::t_inside = nullptr; }
    void switch_to(std::size_t thread) {
        of_threads_[current_] = poll::t_inside;
        current_ = thread;
        poll::t_inside = of_threads_[current_];
    }

  private:
    std::size_t current_ = 0;
    std::array<poll::Inside *, 4> of_threads_{};
};

struct PlainGroup final : sched::Group {};

// Workers of one group, of which the first ones have threads of the test.
class Workers {
  public:
    static constexpr std::size_t kMost = 3;
    virtual ~Workers() = default;

  protected:
    explicit Workers(int first_id = 0) : first_id_(first_id) {}

    // The threads of workers `first` and up.
    Test test_of(std::size_t first, std::size_t workers, std::span<std::byte> memory) {
        Test test;
        test.memory = {memory,
                       memory_of(sched::g_idle_poller),
                       memory_of(sched::g_asleep),
                       memory_of(sched::g_dormitory),
                       memory_of(poll::detail::g_pending),
                       memory_of(poll::g_services),
                       memory_of(poll::t_inside)};
        test.begin = [this] {
            make_group();
            begin();
            sched::g_processors.set_active(1);
        };
        test.switch_to = [this, first, workers](std::size_t thread) {
            inside_.switch_to(thread);
            if (thread < workers)
                workers_[first + thread].adopt_thread(0, nullptr);
            else
                Worker::forget_thread();
        };
        for (std::size_t i = 0; i < workers; ++i)
            test.threads.emplace_back([this, first, i] { run_worker(workers_[first + i]); });
        test.state = [this] { return state(); };
        test.end = [this] { return end(); };
        return test;
    }
    virtual void begin() = 0;
    virtual std::uint64_t state() const = 0;
    virtual std::string end() const { return ""; }
    // A task of the group, or a fiber of worker 0, goes on.
    virtual void go_on() {}

    PlainGroup group_;
    std::array<sched::Slot, kMost> slots_;
    std::array<Worker, kMost> workers_{Worker(0), Worker(1), Worker(2)};
    sched::Fiber fiber_; // parked, of worker 0
    sched::Item item_{};
    Service service_;

  private:
    static void run_item(Worker &, sched::Slot &, sched::Item *item) { g_rooms.run(*item); }
    void make_group() {
        sched::forget_sleepers();
        make_anew(sched::g_dormitory);
        service_.begin();
        inside_.begin();
        g_rooms = {};
        g_rooms.workers = workers_;
        g_rooms.run = [this](sched::Item &) { go_on(); };
        g_rooms.resume = [this](sched::Fiber &) { go_on(); };
        sched::Client client{};
        client.run = run_item;
        sched::plug(client);
        make_anew(group_);
        group_.size = kMost;
        group_.slots = all_slots_.data();
        group_.has_tasks.store(true);
        for (std::size_t i = 0; i < kMost; ++i) {
            make_anew(slots_[i]);
            slots_[i].group = &group_;
            all_slots_[i] = &slots_[i];
            Worker &worker = workers_[i];
            make_anew(worker, first_id_ + static_cast<int>(i));
            worker.fibers.root.home = &worker;
            worker.fibers.make_current(worker.fibers.root, worker.fibers.root);
            worker.slot = &slots_[i];
            worker.enter(slots_[i]);
        }
        make_anew(fiber_);
        fiber_.home = &workers_[0];
        make_anew(item_);
    }

    const int first_id_;
    Inside inside_;
    std::array<sched::Slot *, kMost> all_slots_{};
};

// ---- sleep ----------------------------------------------------------------------------------

// Worker 0 sleeps between two pieces of work: a fiber that thread 1 makes ready, and a task that
// thread 2 pushes.
class Sleep final : public Workers {
  public:
    explicit Sleep(bool in_dormitory) : in_dormitory_(in_dormitory) {}
    Test test() {
        Test test = test_of(0, 1, memory_of(*this));
        test.threads.emplace_back([this] { workers_[0].make_ready(&fiber_); });
        test.threads.emplace_back([this] { push_foreign(group_, &item_); });
        return test;
    }

  private:
    void begin() override {
        taken_ = 0;
        g_rooms.is_crowded = in_dormitory_;
    }
    std::uint64_t state() const override { return taken_; }
    void go_on() override {
        if (++taken_ == 2)
            end_thread();
    }

    const bool in_dormitory_;
    std::uint64_t taken_ = 0;
};

TEST(Workers, ASleeperMissesNoWork) {
    Sleep alone(false), in_dormitory(true);
    EXPECT_EQ(failure_of(alone.test()), "");
    EXPECT_EQ(failure_of(in_dormitory.test()), "");
}

TEST(Workers, NeedEachStepOfTheirSleep) {
    Sleep alone(false), in_dormitory(true);
    EXPECT_NE(explore(alone.test(), {Flaw::Kind::no_fence, "", 0}).failure, "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({alone.test(), in_dormitory.test()},
                          {{late, "state_.store(how"},
                           {lost, "group.sleepers.fetch_add"},
                           {late, "group.sleepers.fetch_add", 4},
                           {lost, "state_.exchange(kAwake, std::memory_order_seq_cst"},
                           {late, "newest_.compare_exchange_weak"},
                           {stale, "return newest_.load"}, // before it says that it sleeps
                           {late, "count_.store(count_.load"},
                           {stale, "count() const { return count_.load"}}),
              "");
}

// ---- pushes that wake nobody ----------------------------------------------------------------

// One processor, and one worker awake, which is blocked until the task has run: so a push wakes
// worker 0 only if no sleeper is a light one.
class Skip final : public Workers {
  public:
    // `believed`: light sleepers that there are not.
    explicit Skip(bool is_light, int believed = 0)
        : Workers(is_light ? 0 : wait::Dormitory::kBeds), believed_(believed) {}
    Test test() {
        Test test = test_of(0, 1, memory_of(*this));
        test.threads.emplace_back([this] { push_foreign(group_, &item_); });
        test.limits = Test::Limits::at_last;
        return test;
    }

  private:
    void begin() override {
        g_rooms.is_crowded = true;
        g_rooms.yields_in_vain = true;
        group_.light_sleepers.store(believed_);
    }
    std::uint64_t state() const override { return 0; }
    void go_on() override { end_thread(); }

    const int believed_;
};

TEST(Workers, ATaskIsFoundThoughNobodyIsWoken) {
    Skip light(true), heavy(false), deceived(false, 1);
    EXPECT_EQ(failure_of(light.test()), "");
    EXPECT_EQ(failure_of(heavy.test()), "");
    EXPECT_EQ(explore(deceived.test()).failure, "somebody waits for ever");
}

// ---- the idle poller ------------------------------------------------------------------------

// Worker 0, the poller, turns to work, and is at it from then on. Others, from 1 on, are idle.
class Polling final : public Workers {
  public:
    explicit Polling(std::size_t idle) : idle_(idle) {}
    Test test() {
        Test test = test_of(1, idle_, memory_of(*this));
        test.threads.emplace_back([this] { sched::give_up_polling(workers_[0]); });
        return test;
    }

  private:
    void begin() override {
        sched::g_idle_poller.store(workers_.data());
        service_.add_operation();
    }
    std::uint64_t state() const override { return 0; }

    const std::size_t idle_;
};

TEST(Workers, SomebodyPolls) {
    Polling polling(1), two(2);
    EXPECT_EQ(failure_of(polling.test()), "");
    EXPECT_EQ(failure_of(two.test()), "");
    EXPECT_NE(explore(polling.test(), {Flaw::Kind::no_fence, "", 0}).failure, "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({polling.test()},
                          {{lost, "g_idle_poller.store(nullptr, std::memory_order_relaxed"},
                           {late, "g_idle_poller.store(nullptr, std::memory_order_relaxed"},
                           {lost, "g_asleep.fetch_add(1"},
                           {late, "g_asleep.fetch_add(1"},
                           {stale, "!g_idle_poller.load(std::memory_order_relaxed)"}}),
              "");
}

// ---- the ticker -----------------------------------------------------------------------------

// It dozes after some ticks in vain; thread 1 adds an operation.
class Ticks {
  public:
    Test test() {
        Test test;
        test.memory = {memory_of(*this), memory_of(poll::g_ticker), memory_of(poll::g_services),
                       memory_of(poll::detail::g_pending), memory_of(poll::t_inside)};
        test.switch_to = [this](std::size_t thread) { inside_.switch_to(thread); };
        test.begin = [this] {
            service_.begin();
            inside_.begin();
            make_anew(poll::g_ticker);
            poll::g_ticker.ring();
        };
        test.threads = {[] { g_rooms.thread(g_rooms.thread_argument); },
                        [this] { service_.add_operation(); }};
        test.state = [] { return 0; };
        test.end = [] { return ""; };
        test.limits = Test::Limits::any_time;
        return test;
    }

  private:
    Service service_;
    Inside inside_;
};

TEST(Ticker, SeesWhatIsPending) {
    Ticks ticks;
    EXPECT_EQ(failure_of(ticks.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(
        not_refused({ticks.test()}, {{late, "awake_.store(quiet"}, // looks first
                                     {relaxed, "awake_.store(quiet"},
                                     {lost, "bell_.fetch_add(1"},
                                     {late, "detail::g_pending.fetch_add(delta"},
                                     {stale, "detail::g_pending.load(std::memory_order_seq"}}),
        "");
}

} // namespace
} // namespace sennit::schedules
