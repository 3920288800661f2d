// SPDX-License-Identifier: Apache-2.0
// tasks/sched/: the parts of a worker, each by itself: ready fibers and the inbox (fibers.h),
// thefts (steals.h), memberships (group.h), activity (idle.h).
#include "base/clock.h"
#include "tasks/sched/fibers.h"
#include "tasks/sched/group.h"
#include "tasks/sched/idle.h"
#include "tasks/sched/steals.h"
#include "tasks/sched/thread.h"
#include "tasks/sched/worker.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

using namespace sennit::sched;
using sennit::ticks;

namespace {

// The numbers of the fibers that are ready, in the order in which they go on. None is left.
std::vector<int> drain(ReadyFibers &ready) {
    std::vector<int> numbers;
    while (Fiber *const fiber = ready.first()) {
        ready.remove_first();
        numbers.push_back(fiber->thread);
    }
    return numbers;
}

// A group of two members, whose queues can be filled.
class Pair : public testing::Test {
  protected:
    struct TestGroup final : Group {
        bool may_settle = false;
        int settled = 0;
        bool can_settle() const override { return may_settle; }
        void settle() override { ++settled; }
    };

    Pair() {
        group_.size = 2;
        group_.slots = slots_;
        for (Slot *slot : slots_)
            slot->group = &group_;
        group_.has_tasks = true;
    }

    TestGroup group_;
    Slot mine_, other_;
    Slot *slots_[2] = {&mine_, &other_};
    Item items_[64] = {};
};

using Stealing = Pair;
using Members = Pair;

} // namespace

TEST(ReadyFibers, GoOnInTheOrderInWhichTheyBecameReady) {
    Fiber fibers[6];
    for (int i = 0; i < 6; ++i)
        fibers[i].thread = i;
    ReadyFibers ready;
    sennit::Inbox<Fiber> inbox;
    EXPECT_EQ(ready.first(), nullptr);
    EXPECT_FALSE(inbox.any());

    ready.append(fibers[1]);
    for (int i : {2, 3, 4})
        inbox.push(fibers[i]);
    EXPECT_TRUE(inbox.any());
    ready.append_all(inbox);
    EXPECT_FALSE(inbox.any());
    ready.append(fibers[5]);
    ready.prepend(fibers[0]);
    EXPECT_EQ(drain(ready), (std::vector<int>{0, 1, 2, 3, 4, 5}));

    // Once empty, it is as new.
    ready.prepend(fibers[0]);
    ready.append(fibers[1]);
    EXPECT_EQ(drain(ready), (std::vector<int>{0, 1}));
    inbox.push(fibers[2]);
    ready.append_all(inbox);
    EXPECT_EQ(drain(ready), (std::vector<int>{2}));
}

TEST(Inbox, StressEveryFiberArrivesOnceInTheOrderOfItsSender) {
    constexpr int kSenders = 4;
    constexpr int kEach = 20000;
    const auto fibers = std::make_unique<Fiber[]>(kSenders * kEach);
    sennit::Inbox<Fiber> inbox;
    std::vector<std::thread> senders;
    for (int sender = 0; sender < kSenders; ++sender)
        senders.emplace_back([&, sender] {
            for (int i = 0; i < kEach; ++i) {
                Fiber &fiber = fibers[sender * kEach + i];
                fiber.thread = sender * kEach + i;
                inbox.push(fiber);
            }
        });
    int next[kSenders] = {};
    ReadyFibers ready;
    for (int seen = 0; seen < kSenders * kEach;) {
        if (!inbox.any()) {
            std::this_thread::yield();
            continue;
        }
        ready.append_all(inbox);
        for (const int number : drain(ready)) {
            ASSERT_EQ(number % kEach, next[number / kEach]++);
            ++seen;
        }
    }
    for (std::thread &sender : senders)
        sender.join();
    EXPECT_FALSE(inbox.any());
}

TEST(Steals, LookLessAndLessOftenUntilThereIsATask) {
    Steals steals;
    for (int round = 0; round < 2; ++round) {
        for (const int pause : {1, 2, 4, 8, 16, 32, 32, 32})
            EXPECT_EQ(steals.next_pause(), pause);
        steals.found_task();
    }
}

TEST_F(Stealing, TakesItsOwnFirstAndManyOfALongQueue) {
    for (int i = 0; i < 40; ++i)
        other_.queue.push(&items_[i], ReadyQueue::End::back);
    mine_.queue.push(&items_[40], ReadyQueue::End::back);
    mine_.worker.store(&Worker::here());
    Steals steals;
    EXPECT_EQ(steals.take(mine_), &items_[40]);
    EXPECT_EQ(other_.queue.count(), 40u);
    EXPECT_NE(steals.take(mine_), nullptr);
    EXPECT_EQ(other_.queue.count(), 20u); // half of them
    EXPECT_EQ(mine_.queue.count(), 19u);
    mine_.worker.store(nullptr);
}

// What is more than one would stay in a queue that nobody else knows.
TEST_F(Stealing, TakesOneForASlotWithoutAWorker) {
    for (int i = 0; i < 40; ++i)
        other_.queue.push(&items_[i], ReadyQueue::End::back);
    Steals steals;
    EXPECT_NE(steals.take(mine_), nullptr);
    EXPECT_EQ(other_.queue.count(), 39u);
    EXPECT_EQ(mine_.queue.count(), 0u);
}

// Each theft of a single task is over at once. So the next one comes after a delay, which ends.
TEST_F(Stealing, BriefTheftsAreDelayedAndNotForEver) {
    constexpr int kThefts = 6;
    Steals steals;
    int in_vain = 0;
    for (int i = 0; i < kThefts; ++i) {
        other_.queue.push(&items_[i], ReadyQueue::End::back);
        const std::uint64_t end = ticks() + 1'000'000 * ticks_per_us();
        while (steals.take(mine_) != &items_[i]) {
            ++in_vain;
            ASSERT_LT(ticks(), end);
        }
        EXPECT_EQ(other_.queue.count(), 0u);
    }
    EXPECT_GT(in_vain, 0);
}

TEST_F(Stealing, NothingIsTakenFromAGroupThatHasNoTasks) {
    group_.has_tasks = false;
    other_.queue.push(&items_[0], ReadyQueue::End::back);
    Steals steals;
    EXPECT_EQ(steals.take(mine_), nullptr);
}

TEST_F(Members, TheLastSlotComesFirstAndAnyMayBeLeft) {
    Worker &worker = Worker::here();
    Slot third;
    third.group = &group_;
    Memberships members;
    for (Slot *slot : {&mine_, &other_, &third})
        members.enter(*slot, worker);
    EXPECT_EQ(members.first(), &third);
    EXPECT_EQ(other_.worker.load(), &worker);
    members.leave(other_);
    EXPECT_EQ(other_.worker.load(), nullptr);
    EXPECT_EQ(members.first(), &third);
    EXPECT_EQ(third.next_of_worker, &mine_);
    EXPECT_EQ(mine_.next_of_worker, nullptr);
    members.leave(third);
    members.leave(mine_);
    EXPECT_EQ(members.first(), nullptr);
}

TEST_F(Members, SeeTheWorkOfTheirGroups) {
    Memberships members;
    members.enter(mine_, Worker::here());
    EXPECT_FALSE(members.any_work(nullptr));
    other_.queue.push(&items_[0], ReadyQueue::End::back);
    EXPECT_TRUE(members.any_ready());
    EXPECT_TRUE(members.any_work(nullptr));
    EXPECT_FALSE(members.any_work(&mine_));
    other_.queue.take_front();
    EXPECT_FALSE(members.any_ready());
    members.settle();
    EXPECT_EQ(group_.settled, 0);
    group_.may_settle = true;
    EXPECT_TRUE(members.any_work(nullptr));
    members.settle();
    EXPECT_EQ(group_.settled, 1);
    members.leave(mine_);
}

TEST_F(Members, AreCountedAsleepInTheirGroups) {
    Memberships members;
    members.enter(mine_, Worker::here());
    members.count_asleep(1, true);
    members.count_asleep(1, false);
    EXPECT_EQ(group_.sleepers.load(), 2);
    EXPECT_EQ(group_.light_sleepers.load(), 1);
    members.count_asleep(-1, true);
    members.count_asleep(-1, false);
    EXPECT_EQ(group_.sleepers.load(), 0);
    EXPECT_EQ(group_.light_sleepers.load(), 0);
    members.leave(mine_);
}

// One that is entered meanwhile is not counted before the worker is idle once more.
TEST_F(Members, AreCountedIdleInTheirGroups) {
    Memberships members;
    members.count_idle(true);
    members.enter(mine_, Worker::here());
    members.count_idle(false);
    EXPECT_EQ(group_.idle.load(), 0);
    members.count_idle(true);
    members.count_idle(true);
    EXPECT_EQ(group_.idle.load(), 1);
    members.count_idle(false);
    EXPECT_EQ(group_.idle.load(), 0);
    members.leave(mine_);
}

TEST(Activity, IdlesFromTheFirstTimeThatItFindsNothing) {
    Worker &worker = Worker::here();
    const Activity &activity = worker.activity;
    EXPECT_FALSE(activity.idles());
    worker.note_idle();
    const std::uint64_t since = activity.idle_since();
    EXPECT_NE(since, 0u);
    worker.note_idle();
    EXPECT_EQ(activity.idle_since(), since);
    worker.note_busy();
    EXPECT_FALSE(activity.idles());
}

TEST(Activity, AWorkerThatIsWokenBeforeItSleepsDoesNotSleep) {
    Activity activity;
    Thread thread;
    for (const auto how : {Activity::kAsleep, Activity::kDorm}) {
        activity.fall_asleep(how);
        EXPECT_TRUE(activity.asleep());
        activity.wake(0, thread);
        EXPECT_FALSE(activity.asleep());
        if (how == Activity::kAsleep)
            activity.sleep_on_state(-1);
        else
            activity.sleep_in_dormitory(0, -1);
        EXPECT_TRUE(activity.was_woken());
    }
    activity.fall_asleep(Activity::kAsleep);
    EXPECT_FALSE(activity.was_woken());
    EXPECT_FALSE(activity.asleep());
}
