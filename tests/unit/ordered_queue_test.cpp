// SPDX-License-Identifier: Apache-2.0
// tasks/sched/ordered_queue.h: order, keys that change while a task is queued or about to be,
// threads.
#include "openmp/team/team.h"
#include "tasks/sched/ordered_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

using namespace sennit;
using namespace sennit::sched;

namespace {

class OrderedQueueTest : public testing::Test {
  protected:
    // The rules are everybody's. Threads that wait for a region would look for queues that their
    // teams do not have: they go first.
    void SetUp() override {
        if (Worker *const worker = Worker::self())
            omp::release_threads(*worker);
        sennit::sched::detail::g_rules = policy::rules_of(Policy::ma3, Order::automatic);
    }
    void TearDown() override { sennit::sched::detail::g_rules = policy::Rules{}; }
};

Item make(int priority, std::uint32_t age) {
    return Item{{nullptr}, {nullptr}, priority, age};
}

} // namespace

TEST_F(OrderedQueueTest, PriorityThenAge) {
    std::mt19937 random(7);
    std::vector<Item> items;
    for (std::uint32_t age = 0; age < 1000; ++age)
        items.push_back(make(static_cast<int>(random() % 8), age));
    std::vector<Item *> order;
    for (Item &item : items)
        order.push_back(&item);
    std::shuffle(order.begin(), order.end(), random);
    OrderedQueue queue;
    for (Item *item : order)
        queue.push(item);
    EXPECT_EQ(queue.count(), 1000u);
    std::sort(order.begin(), order.end(),
              [](const Item *a, const Item *b) { return key_of(*a) < key_of(*b); });
    for (const Item *item : order)
        ASSERT_EQ(queue.take(), item);
    EXPECT_EQ(queue.take(), nullptr);
}

TEST_F(OrderedQueueTest, ANodeMovesWhenItsPriorityChanges) {
    std::mt19937 random(8);
    std::vector<Item> items;
    for (std::uint32_t age = 0; age < 500; ++age)
        items.push_back(make(static_cast<int>(random() % 50), age));
    OrderedQueue queue;
    for (Item &item : items)
        queue.push(&item);
    for (int change = 0; change < 2000; ++change) {
        Item &item = items[random() % items.size()];
        item.change_priority(static_cast<int>(random() % 50));
        OrderedQueue::moved(&item);
    }
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Item *item = queue.take();
        ASSERT_NE(item, nullptr);
        ASSERT_GE(key_of(*item), last);
        last = key_of(*item);
    }
    OrderedQueue::moved(items.data()); // is in no queue: nothing happens
    EXPECT_EQ(queue.count(), 0u);
}

// In order, out of order, and out of the line when the priority changes; over and over, so that the
// line wraps and grows.
TEST_F(OrderedQueueTest, ThoseInOrderAndThoseWhoAreNot) {
    std::mt19937 random(9);
    std::vector<Item> items(3000);
    OrderedQueue queue;
    std::vector<Item *> queued;
    std::uint32_t age = 0;
    const auto less = [](const Item *a, const Item *b) { return key_of(*a) < key_of(*b); };
    for (std::size_t next = 0; next < items.size() || !queued.empty();) {
        const bool filling = next < items.size() && (next / 1000 % 2 == 0 || random() % 3 == 0);
        if (filling || (next < items.size() && queued.empty())) {
            // Ages are each other's but once: no two keys are equal.
            items[next] = make(random() % 8 == 0 ? 3 : 0, age ^ (random() % 16 == 0 ? 64u : 0u));
            age += 128;
            queue.push(&items[next]);
            queued.push_back(&items[next++]);
        } else {
            const auto least = std::min_element(queued.begin(), queued.end(), less);
            ASSERT_EQ(queue.take(), *least);
            queued.erase(least);
        }
        if (!queued.empty() && random() % 4 == 0) {
            Item *item = queued[random() % queued.size()];
            item->change_priority(static_cast<int>(random() % 5));
            OrderedQueue::moved(item);
        }
        ASSERT_EQ(queue.count(), queued.size());
    }
    EXPECT_EQ(queue.take(), nullptr);
}

TEST_F(OrderedQueueTest, TakeIfLooksAtTheFirstOnly) {
    Item low = make(1, 0);
    Item high = make(2, 1);
    OrderedQueue queue;
    queue.push(&low);
    queue.push(&high);
    EXPECT_EQ(queue.take_if([&](const Item *item) { return item == &low; }), nullptr);
    EXPECT_EQ(queue.take_if([&](const Item *item) { return item == &high; }), &high);
    EXPECT_EQ(queue.count(), 1u);
}

// Whatever is taken from the midst of line and heap, the others keep their order.
TEST_F(OrderedQueueTest, WhatIsSoughtIsTheFirstInOrderOfThose) {
    struct Third final : Sought {
        bool is(const Item *item) const override { return item->age % 3 == 0; }
    };
    std::vector<Item> items;
    for (std::uint32_t age = 0; age < 60; ++age)
        items.push_back(make(static_cast<int>(age * 7 % 5), age));
    OrderedQueue queue;
    for (Item &item : items)
        queue.push(&item);
    const auto in_order = [](const Item *last, const Item *next) {
        return !last || key_of(*last) <= key_of(*next);
    };
    const Item *last = nullptr;
    for (int i = 0; i < 20; ++i) {
        const Item *const item = queue.take_any(Third{});
        ASSERT_NE(item, nullptr);
        EXPECT_TRUE(item->age % 3 == 0 && in_order(last, item));
        ASSERT_TRUE(queue.is_sound());
        last = item;
    }
    EXPECT_EQ(queue.take_any(Third{}), nullptr);
    EXPECT_EQ(queue.count(), 40u);
    last = nullptr;
    while (const Item *const item = queue.take()) {
        EXPECT_TRUE(item->age % 3 != 0 && in_order(last, item));
        last = item;
    }
}

// One thread raises priorities of tasks that others push and take. Whatever the interleaving, a
// task that stays in the queue stands where its last priority belongs.
TEST_F(OrderedQueueTest, RaisingRacesWithPushing) {
    constexpr int kNodes = 64;
    for (int round = 0; round < 300; ++round) {
        std::vector<Item> items;
        for (std::uint32_t age = 0; age < kNodes; ++age)
            items.push_back(make(0, age));
        OrderedQueue queue;
        std::thread raiser([&] {
            for (std::size_t i = 0; i < kNodes; i += 2) {
                items[i].change_priority(static_cast<int>(i) + 1);
                OrderedQueue::moved(&items[i]);
            }
        });
        for (Item &item : items)
            queue.push(&item);
        raiser.join();
        std::uint64_t last = 0;
        for (int i = 0; i < kNodes; ++i) {
            const Item *item = queue.take();
            ASSERT_NE(item, nullptr);
            ASSERT_GE(key_of(*item), last);
            last = key_of(*item);
        }
    }
}
