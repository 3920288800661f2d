// SPDX-License-Identifier: Apache-2.0
// tasks/sched/: the ready queue (order, priorities, stealing), the counting of groups, the
// dormitory.
#include "base/clock.h"
#include "tasks/sched/idle.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/queue.h"
#include "tasks/sched/worker.h"
#include "wait/dormitory.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace sennit::sched;
using End = ReadyQueue::End;
using sennit::FutexWord;
using sennit::wait::Dormitory;

namespace {
struct TestItem : Item {
    explicit TestItem(int value_, int priority_ = 0)
        : Item{{nullptr}, {nullptr}, priority_, 0}, value(value_) {}
    int value;
};
int value(Item *node) {
    return node ? static_cast<TestItem *>(node)->value : -1;
}
} // namespace

TEST(ReadyQueue, FrontIsLastInFirstOutAndBackIsFirstInFirstOut) {
    ReadyQueue queue;
    TestItem a(1), b(2), c(3);
    queue.push(&a, End::front);
    queue.push(&b, End::front);
    queue.push(&c, End::back);
    EXPECT_EQ(queue.count(), 3u);
    EXPECT_EQ(value(queue.take_front()), 2);
    EXPECT_EQ(value(queue.steal(End::back)), 3);
    EXPECT_EQ(value(queue.take_front()), 1);
    EXPECT_EQ(queue.take_front(), nullptr);
    EXPECT_EQ(queue.count(), 0u);
}

TEST(ReadyQueue, HighestPriorityFirstThenOrder) {
    ReadyQueue queue;
    TestItem items[] = {TestItem(0),    TestItem(1, 5),  TestItem(2, 1023),
                        TestItem(3, 5), TestItem(4, 64), TestItem(5)};
    for (TestItem &item : items)
        queue.push(&item, End::back);
    for (int expected : {2, 4, 1, 3, 0, 5})
        EXPECT_EQ(value(queue.take_front()), expected);
}

TEST(ReadyQueue, AThiefAlsoGetsTheHighestPriority) {
    ReadyQueue queue;
    TestItem low(1), high(2, 7);
    queue.push(&high, End::back);
    queue.push(&low, End::back);
    EXPECT_EQ(value(queue.steal(End::back)), 2);
    EXPECT_EQ(value(queue.steal(End::back)), 1);
}

TEST(ReadyQueue, ConditionalTakeLooksOnlyAtTheFront) {
    ReadyQueue queue;
    TestItem a(1), b(2);
    queue.push(&a, End::back);
    queue.push(&b, End::back);
    EXPECT_EQ(queue.take_front_if(
                  [](const Item *n) { return static_cast<const TestItem *>(n)->value == 2; }),
              nullptr);
    EXPECT_EQ(value(queue.take_front_if([](const Item *) { return true; })), 1);
}

TEST(ReadyQueue, ConditionalTheftLooksOnlyAtTheGivenEnd) {
    ReadyQueue queue;
    TestItem first(1), last(2), high(3, 7), higher(4, 9);
    queue.push(&first, End::back);
    queue.push(&last, End::back);
    const auto is = [](int wanted) {
        return [=](const Item *n) { return static_cast<const TestItem *>(n)->value == wanted; };
    };
    EXPECT_EQ(queue.steal_if(End::back, is(1)), nullptr);
    EXPECT_EQ(value(queue.steal_if(End::back, is(2))), 2);
    queue.push(&high, End::back);
    queue.push(&higher, End::back);
    EXPECT_EQ(queue.steal_if(End::front, is(3)), nullptr); // it is not the highest one
    EXPECT_EQ(value(queue.steal_if(End::front, is(4))), 4);
    EXPECT_EQ(value(queue.steal_if(End::back, is(3))), 3);
    EXPECT_EQ(value(queue.steal_if(End::back, is(1))), 1);
    EXPECT_EQ(queue.steal_if(End::back, is(1)), nullptr);
    EXPECT_EQ(queue.count(), 0u);
}

namespace {
struct Values final : Sought {
    explicit Values(std::vector<int> values_) : values(std::move(values_)) {}
    bool is(const Item *item) const override {
        const int its = static_cast<const TestItem *>(item)->value;
        return std::find(values.begin(), values.end(), its) != values.end();
    }
    const std::vector<int> values;
};
} // namespace

TEST(ReadyQueue, WhatIsSoughtIsFoundBehindAllOthersWhichStay) {
    ReadyQueue queue;
    TestItem items[] = {TestItem(0),    TestItem(1),    TestItem(2),      TestItem(3),
                        TestItem(4),    TestItem(5),    TestItem(6),      TestItem(7),
                        TestItem(8, 7), TestItem(9, 7), TestItem(10, 900)};
    for (int i = 0; i < 4; ++i) // so the ring's end is among them
        queue.push(&items[3 - i], End::front);
    for (int i = 4; i < 11; ++i)
        queue.push(&items[i], End::back);
    EXPECT_EQ(queue.take_any(Values({11})), nullptr);
    EXPECT_EQ(value(queue.take_any(Values({5, 9}))), 9); // the higher priority
    EXPECT_EQ(value(queue.take_any(Values({5, 2}))), 2); // from the front on
    EXPECT_EQ(value(queue.take_any(Values({5}))), 5);
    EXPECT_EQ(value(queue.take_any(Values({7}))), 7); // the last one
    EXPECT_EQ(value(queue.take_any(Values({8}))), 8); // of a level the last one
    EXPECT_TRUE(queue.is_sound());
    for (int expected : {10, 0, 1, 3, 4, 6})
        EXPECT_EQ(value(queue.take_front()), expected);
    EXPECT_EQ(queue.count(), 0u);
}

TEST(ReadyQueue, BatchKeepsOrder) {
    ReadyQueue victim, thief;
    std::vector<std::unique_ptr<TestItem>> items;
    for (int i = 0; i < 10; ++i) {
        items.push_back(std::make_unique<TestItem>(i));
        victim.push(items.back().get(), End::back);
    }
    EXPECT_EQ(victim.steal_batch(thief, 4), 0); // it is empty
    EXPECT_EQ(thief.steal_batch(victim, 4), 4);
    EXPECT_EQ(thief.count(), 4u);
    EXPECT_EQ(victim.count(), 6u);
    for (int expected : {6, 7, 8, 9})
        EXPECT_EQ(value(thief.take_front()), expected);
}

// Every pushed node is taken exactly once, whoever takes it and from whichever end.
TEST(ReadyQueue, StressOwnerAgainstThieves) {
    constexpr int kItems = 100000;
    ReadyQueue queue;
    std::vector<std::unique_ptr<TestItem>> items;
    for (int i = 0; i < kItems; ++i)
        items.push_back(std::make_unique<TestItem>(i, i % 7 == 0 ? i % 50 : 0));
    std::vector<std::atomic<int>> taken(kItems);
    std::atomic<int> total{0};
    auto count = [&](Item *node) {
        if (!node)
            return;
        taken[static_cast<std::size_t>(value(node))].fetch_add(1);
        total.fetch_add(1);
    };
    std::vector<std::thread> thieves;
    for (int t = 0; t < 2; ++t)
        thieves.emplace_back([&] {
            while (total.load() < kItems)
                count(queue.steal(End::back));
        });
    for (int i = 0; i < kItems; ++i) {
        queue.push(items[static_cast<std::size_t>(i)].get(), i % 2 ? End::front : End::back);
        if (i % 3 == 0)
            count(queue.take_front());
    }
    while (total.load() < kItems)
        count(queue.take_front());
    for (auto &thief : thieves)
        thief.join();
    for (auto &times : taken)
        ASSERT_EQ(times.load(), 1);
}

TEST(Group, IsQuiescentWhenAsManyFinishedAsWereCreated) {
    struct TestGroup final : Group {
    } group;
    Slot first, second;
    Slot *slots[] = {&first, &second};
    group.size = 2;
    group.slots = slots;
    EXPECT_TRUE(group.quiescent());
    first.count_created();
    first.count_created();
    EXPECT_FALSE(group.quiescent());
    second.count_finished();
    EXPECT_FALSE(group.quiescent());
    group.finished_elsewhere.fetch_add(1);
    EXPECT_TRUE(group.quiescent());
}

// Two domains, with all members near the second: what comes from outside goes to the first, and a
// member that is about to sleep must see it.
TEST(Group, HasWorkInAQueueThatIsNoMembersOwn) {
    struct TestGroup final : Group {
    } group;
    Slot slot;
    Slot *slots[] = {&slot};
    group.size = 1;
    group.slots = slots;
    slot.group = &group;
    TestItem item(1);
    const auto try_it = [&] { // in a process of its own: the rules are everybody's
        detail::g_rules.ordered = true;
        detail::g_machine.domains = 2;
        make_queues(group);
        slot.set_domain(1);
        const bool before = group.any_ready();
        push_foreign(group, &item);
        std::_Exit(!before && group.any_ready() && slot.ready() == 0 ? 0 : 1);
    };
    EXPECT_EXIT(try_it(), testing::ExitedWithCode(0), "");
}

TEST(Threads, IdleWorkersSleepAtOnceWhereHelpersNeedTheirProcessors) {
    const int before = processors();
    set_processors(2);
    set_active_workers(1);
    add_helpers(1);
    EXPECT_GT(spin_budget(), 0u);
    set_active_workers(2);
    EXPECT_EQ(spin_budget(), 0u);
    add_helpers(-1);
    EXPECT_GT(spin_budget(), 0u);
    set_processors(before);
}

TEST(Threads, RanksOnProcessorsOfTheirOwnShareThemWithNobody) {
    EXPECT_EQ(sharing(1, 8, 8), 1);
    EXPECT_EQ(sharing(4, 8, 8), 4) << "not bound";
    EXPECT_EQ(sharing(2, 1, 2), 1) << "a core each";
    EXPECT_EQ(sharing(4, 8, 16), 2) << "a socket for two";
    EXPECT_EQ(sharing(3, 1, 2), 2) << "two of them on one core";
    EXPECT_EQ(sharing(4, 8, 4), 4) << "the launcher has fewer: they were not given by it";
}

// A thread of a team. What it computes, it computes by its own clock, however busy the machine is.
class Computing {
  public:
    explicit Computing(bool waits_first) {
        slots_[0] = &slot_;
        group_.slots = slots_;
        group_.size = 1;
        slot_.group = &group_;
        thread_ = std::thread([this, waits_first] { live(waits_first); });
        await(kReady);
    }
    ~Computing() {
        step_ = kEnd;
        thread_.join();
    }
    Computing(const Computing &) = delete;
    Computing &operator=(const Computing &) = delete;

    void compute() {
        step_ = kCompute;
        await(kDone);
    }
    // All that it has ever computed.
    std::int64_t ns() const { return sennit::work_ns_of(id_); }

    static constexpr std::int64_t kWorkNs = 3'000'000;

  private:
    enum Step { kBegin, kReady, kCompute, kDone, kEnd };
    struct TestGroup final : Group {};

    void live(bool waits_first) {
        id_ = gettid();
        Worker &worker = Worker::here();
        worker.enter(slot_);
        if (waits_first)
            worker.thread.yield();
        step_ = kReady;
        await(kCompute);
        const std::int64_t end = sennit::thread_work_ns() + kWorkNs;
        while (sennit::thread_work_ns() < end)
            continue;
        step_ = kDone;
        await(kEnd);
        worker.leave(slot_);
    }
    void await(Step step) const {
        while (step_ < step)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    TestGroup group_;
    Slot slot_;
    Slot *slots_[1];
    std::atomic<Step> step_{kBegin};
    pid_t id_ = 0;
    std::thread thread_; // last: the others are there when it begins
};

// In a process of its own, as all its threads are to be on one processor.
TEST(OwnWork, IsThatOfTheTeamOnTheProcessorOfWhoAsks) {
    const auto try_it = [] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_setaffinity(0, sizeof one, &one);
        Worker &mine = Worker::here();
        mine.thread.yield();
        Computing here(true);
        Computing nobody_knows_where(false);
        const OwnWork work(mine.thread);
        here.compute();
        nobody_knows_where.compute();
        const bool counts = work.ns() >= Computing::kWorkNs;
        std::_Exit(counts && work.ns() <= here.ns() ? 7 : 1);
    };
    EXPECT_EXIT(try_it(), testing::ExitedWithCode(7), "");
}

// Of each thread. In place of libc's, for all code of ours that is linked into the tests.
static thread_local int t_system_yields = 0;
extern "C" int sched_yield() noexcept {
    ++t_system_yields;
    return static_cast<int>(syscall(SYS_sched_yield));
}

// In a process of its own: the processors are everybody's.
TEST(Workers, YieldsThatFindNothingToRunGiveTheProcessorAwayOnce) {
    const auto try_it = [] {
        struct TestGroup final : Group {
        } group;
        Slot slot;
        Slot *slots[] = {&slot};
        group.size = 1;
        group.slots = slots;
        slot.group = &group;
        Worker &worker = Worker::here();
        worker.enter(slot);
        worker.slot = &slot;
        set_processors(1);
        constexpr int rounds = 64;
        const auto system_yields = [&worker](WaitPolicy policy) {
            set_wait_policy(policy);
            set_active_workers(2);
            t_system_yields = 0;
            for (int i = 0; i < rounds; ++i)
                worker.yield();
            return t_system_yields;
        };
        // This policy heeds no others, whoever they are.
        const int among_own = system_yields(WaitPolicy::active);
        const std::uint64_t later = sennit::ticks() + 10'000'000 * ticks_per_us();
        g_processors.note_yield(later - 1'000'000 * ticks_per_us(), later, 0);
        const int beside_others = system_yields(WaitPolicy::unset);
        std::_Exit(among_own == rounds && beside_others == 1 ? 7 : 1);
    };
    EXPECT_EXIT(try_it(), testing::ExitedWithCode(7), "");
}

// A wake-up that is lost ends the test after its limit.
TEST(Dormitory, StressEverySleeperIsWokenEachTime) {
    constexpr int kSleepers = Dormitory::kBeds;
    constexpr int kRounds = 300;
    constexpr std::uint32_t kHere = 3;
    constexpr std::int64_t kLimitNs = 600'000'000'000;
    Dormitory dormitory;
    std::vector<FutexWord> states(kSleepers);
    std::vector<std::thread> sleepers;
    for (int i = 0; i < kSleepers; ++i)
        sleepers.emplace_back([&, i] {
            FutexWord &state = states[static_cast<std::size_t>(i)];
            for (int round = 0; round < kRounds; ++round) {
                state.store(kHere);
                while (state.load() == kHere)
                    dormitory.sleep(i, state, kHere, kLimitNs);
            }
            state.store(1);
        });
    for (int ended = 0; ended < kSleepers;) {
        std::uint32_t bits = 0;
        ended = 0;
        for (int i = 0; i < kSleepers; ++i) {
            FutexWord &state = states[static_cast<std::size_t>(i)];
            std::uint32_t here = kHere;
            if (state.compare_exchange_strong(here, 0))
                bits |= Dormitory::bit_of(i);
            ended += here == 1 ? 1 : 0;
        }
        if (bits != 0)
            dormitory.wake(bits);
        else
            std::this_thread::yield();
    }
    for (std::thread &sleeper : sleepers)
        sleeper.join();
}

// A report of a hang looks at a worker's tasks from another thread, which a child does not have.
TEST(Workers, AChildDoesNotWaitForWhoLookedAtItsWorker) {
    Worker &mine = Worker::here();
    std::atomic<int> step{0};
    std::thread looks([&] {
        mine.events.lock.lock();
        step = 1;
        while (step != 2)
            std::this_thread::yield();
        mine.events.lock.unlock();
    });
    while (step != 1)
        std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        mine.events.lock.lock();
        _exit(7);
    }
    step = 2;
    looks.join();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

// Its next thread takes over the worker of one that had ended before.
TEST(Workers, AForkedChildSeesAllWorkersOfItsThreads) {
    std::thread([] { Worker::here(); }).join();
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        bool seen = false;
        std::thread([&seen] {
            const Worker &mine = Worker::here();
            for (const Worker &worker : Worker::all())
                seen = seen || &worker == &mine;
        }).join();
        _exit(seen ? 7 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
