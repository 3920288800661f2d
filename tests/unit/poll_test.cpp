// SPDX-License-Identifier: Apache-2.0
// poll/: services, the ticker, timers.
#include "tasks/poll/poll.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace sennit;

namespace {

struct Probe {
    std::atomic<int> runs{0};
    std::atomic<int> inside{0};
    std::atomic<bool> overlapped{false};

    static int poll(void *self) {
        auto &probe = *static_cast<Probe *>(self);
        if (probe.inside.fetch_add(1) != 0)
            probe.overlapped = true;
        ++probe.runs;
        EXPECT_TRUE(poll::inside());
        probe.inside.fetch_sub(1);
        return 1;
    }
};

// The test's own limit ends a wait that is in vain.
template <class Predicate>
void wait_until(Predicate predicate) {
    while (!predicate())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// As long as this lives, the ticker is in a timer of ours, and polls nothing.
class BusyTicker : poll::Timer {
  public:
    BusyTicker() : poll::Timer{} {
        deadline_ns = poll::now_ns();
        fire = [](poll::Timer &timer) {
            auto &self = static_cast<BusyTicker &>(timer);
            self.inside_ = true;
            wait_until([&] { return self.over_.load(); });
        };
        poll::start_timer(*this);
        wait_until([&] { return inside_.load(); });
    }
    ~BusyTicker() {
        over_ = true;
        poll::stop_timer(*this);
    }
    BusyTicker(const BusyTicker &) = delete;
    BusyTicker &operator=(const BusyTicker &) = delete;

  private:
    std::atomic<bool> inside_{false};
    std::atomic<bool> over_{false};
};

} // namespace

TEST(Poll, RunsAServiceOnlyWhileItHasPendingOperations) {
    const BusyTicker nobody_else_polls;
    Probe probe;
    sennit_poll_service *service = nullptr;
    ASSERT_EQ(poll::register_service("probe", Probe::poll, &probe, &service), SENNIT_SUCCESS);
    poll::run();
    EXPECT_EQ(probe.runs, 0);
    poll::add_pending(service, 2);
    EXPECT_TRUE(poll::pending());
    poll::run();
    EXPECT_EQ(probe.runs, 1);
    poll::add_pending(service, -2);
    const int before = probe.runs;
    poll::run();
    EXPECT_EQ(probe.runs, before);
    EXPECT_EQ(poll::unregister_service(service), SENNIT_SUCCESS);
}

TEST(Poll, EachServiceHasItsOwnPendingOperations) {
    const BusyTicker nobody_else_polls;
    Probe probes[3];
    sennit_poll_service *services[3] = {};
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(poll::register_service("probe", Probe::poll, &probes[i], &services[i]),
                  SENNIT_SUCCESS);
    for (int with = 0; with < 3; ++with) {
        poll::add_pending(services[with], 2);
        int before[3];
        for (int i = 0; i < 3; ++i)
            before[i] = probes[i].runs;
        poll::run();
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(probes[i].runs > before[i], i == with) << i << ' ' << with;
        poll::add_pending(services[with], -2);
        EXPECT_FALSE(poll::pending());
    }
    // What is left of one goes with it, and nothing of the others'.
    for (sennit_poll_service *service : services)
        poll::add_pending(service, 1);
    for (sennit_poll_service *service : services) {
        EXPECT_TRUE(poll::pending());
        EXPECT_EQ(poll::unregister_service(service), SENNIT_SUCCESS);
    }
    EXPECT_FALSE(poll::pending());
}

// Task-aware MPI, section 4.5: progress also while no worker polls.
TEST(Poll, TheTickerPollsWhenNobodyElseDoes) {
    Probe probe;
    sennit_poll_service *service = nullptr;
    ASSERT_EQ(poll::register_service("ticked", Probe::poll, &probe, &service), SENNIT_SUCCESS);
    poll::add_pending(service, 1);
    wait_until([&] { return probe.runs >= 3; });
    poll::add_pending(service, -1);
    poll::unregister_service(service);
}

TEST(Poll, AServiceIsRunByOneThreadAtATime) {
    Probe probe;
    sennit_poll_service *service = nullptr;
    ASSERT_EQ(poll::register_service("single", Probe::poll, &probe, &service), SENNIT_SUCCESS);
    poll::add_pending(service, 1);
    std::thread threads[3];
    for (auto &thread : threads)
        thread = std::thread([] {
            for (int i = 0; i < 20000; ++i)
                poll::run();
        });
    for (auto &thread : threads)
        thread.join();
    poll::add_pending(service, -1);
    poll::unregister_service(service);
    const int after = probe.runs;
    poll::run();
    EXPECT_EQ(probe.runs, after) << "unregistered";
    EXPECT_FALSE(probe.overlapped);
}

TEST(Poll, AWatchThatIsTakenAwayNoLongerLooks) {
    struct Sight {
        std::atomic<int> looks{0};
        std::atomic<bool> looking{false};
    } sight;
    constexpr std::uint64_t period_ns = 1'000'000;
    poll::set_watch(
        poll::Watcher::hangs,
        [](void *arg) {
            auto &self = *static_cast<Sight *>(arg);
            self.looking = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ++self.looks;
            self.looking = false;
        },
        &sight, period_ns);
    poll::begin_watch();
    wait_until([&] { return sight.looks >= 2 && sight.looking; });
    poll::set_watch(poll::Watcher::hangs, nullptr, nullptr, 0);
    EXPECT_FALSE(sight.looking);
    const int looks = sight.looks;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(sight.looks, looks);
}

// A callback of the last operation may compute for long, or block.
TEST(Poll, AServiceThatDoesNotReturnIsBusyUnlessItsThreadBlocks) {
    static sennit_poll_service *service;
    static std::atomic<int> holder;
    static poll::PollActivity while_computing, while_blocked;
    const auto look = [](void *) {
        holder = gettid();
        poll::add_pending(service, -1);
        poll::activity([](int) { return false; });
        while_computing = poll::activity([](int) { return false; });
        while_blocked = poll::activity([](int thread_id) { return thread_id == holder; });
        return 1;
    };
    poll::set_watch(poll::Watcher::hangs, nullptr, nullptr, 0); // which would ask, too
    ASSERT_EQ(poll::register_service("slow", look, nullptr, &service), SENNIT_SUCCESS);
    poll::add_pending(service, 1);
    while (holder == 0) // perhaps the ticker does
        poll::run();
    poll::unregister_service(service);
    EXPECT_TRUE(while_computing.busy);
    EXPECT_FALSE(while_blocked.busy);
    poll::activity([](int) { return false; });
    EXPECT_FALSE(poll::activity([](int) { return false; }).busy) << "unregistered";
}

TEST(Poll, TimersFireInOrderAndNotEarly) {
    struct Shot : poll::Timer {
        std::atomic<std::uint64_t> fired_at{0};
        static void note(poll::Timer &timer) {
            static_cast<Shot &>(timer).fired_at = poll::now_ns();
        }
    };
    // Both are known before the first is due, however seldom this thread gets a processor.
    bool both_in_time = false;
    for (std::uint64_t delay = 20'000'000; !both_in_time; delay *= 2) {
        Shot late, early;
        const std::uint64_t now = poll::now_ns();
        late.deadline_ns = now + delay;
        early.deadline_ns = now + delay / 2;
        late.fire = early.fire = Shot::note;
        poll::start_timer(late);
        poll::start_timer(early);
        both_in_time = poll::now_ns() < early.deadline_ns;
        while (late.fired_at == 0 || early.fired_at == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_GE(early.fired_at.load(), early.deadline_ns);
        EXPECT_GE(late.fired_at.load(), late.deadline_ns);
        EXPECT_TRUE(!both_in_time || early.fired_at <= late.fired_at);
    }
}

TEST(Poll, ATimerMayBeSetToTheEndOfTime) {
    poll::Timer never{poll::time_after(poll::now_ns(), UINT64_MAX), [](poll::Timer &) { FAIL(); },
                      nullptr};
    EXPECT_GT(never.deadline_ns, poll::now_ns());
    poll::start_timer(never);
    std::atomic<bool> fired{false};
    struct Shot : poll::Timer {
        std::atomic<bool> *fired;
    } soon{{poll::now_ns(), [](poll::Timer &timer) { *static_cast<Shot &>(timer).fired = true; },
            nullptr},
           &fired};
    poll::start_timer(soon);
    while (!fired)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    poll::stop_timer(never);
}

TEST(Poll, RefusesNonsense) {
    sennit_poll_service *service = nullptr;
    EXPECT_EQ(poll::register_service("x", nullptr, nullptr, &service), SENNIT_ERR_PARAMETER);
    EXPECT_EQ(poll::register_service("x", Probe::poll, nullptr, nullptr), SENNIT_ERR_PARAMETER);
    EXPECT_EQ(poll::add_pending(nullptr, 1), SENNIT_ERR_PARAMETER);
    EXPECT_EQ(poll::unregister_service(nullptr), SENNIT_ERR_PARAMETER);
}

// Under TSan no child of a process with several threads can have more than one.
bool children_have_threads() {
#ifdef __SANITIZE_THREAD__
    return false;
#else
    return true;
#endif
}

// In a child of fork(): does `wait`, which waits for its ticker, come back?
template <class Wait>
bool comes_back_in_child(Wait wait) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        wait();
        _exit(7);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

TEST(Poll, AForkedChildPollsThoughItsParentsTickerWasAwake) {
    if (!children_have_threads())
        GTEST_SKIP() << "TSan ends a child that starts a thread";
    Probe probe;
    sennit_poll_service *service = nullptr;
    ASSERT_EQ(poll::register_service("parent", Probe::poll, &probe, &service), SENNIT_SUCCESS);
    poll::add_pending(service, 1);
    while (probe.runs == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(comes_back_in_child([] {
        Probe mine;
        sennit_poll_service *another = nullptr;
        poll::register_service("child", Probe::poll, &mine, &another);
        poll::add_pending(another, 1);
        while (mine.runs == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        poll::add_pending(another, -1);
        poll::unregister_service(another);
    }));
    poll::add_pending(service, -1);
    poll::unregister_service(service);
}

TEST(Poll, AForkedChildsTimersFireBehindThoseOfItsParent) {
    if (!children_have_threads())
        GTEST_SKIP() << "TSan ends a child that starts a thread";
    struct Shot : poll::Timer {
        std::atomic<bool> fired{false};
        explicit Shot(std::uint64_t when) : poll::Timer{when, note, nullptr} {}
        static void note(poll::Timer &timer) { static_cast<Shot &>(timer).fired = true; }
        void wait() const {
            while (!fired)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    // A child of a process whose ticker is just starting would hang: ASan's memory has a lock.
    Shot first(poll::now_ns());
    poll::start_timer(first);
    first.wait();
    Shot before(poll::now_ns() + 300'000'000);
    poll::start_timer(before);
    EXPECT_TRUE(comes_back_in_child([&] {
        Shot after(before.deadline_ns + 1);
        poll::start_timer(after);
        after.wait();
    }));
    before.wait();
}
