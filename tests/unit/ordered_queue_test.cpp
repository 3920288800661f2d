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

Node make(int priority, std::uint32_t age) {
    return Node{{nullptr}, {nullptr}, priority, age};
}

} // namespace

TEST_F(OrderedQueueTest, PriorityThenAge) {
    std::mt19937 random(7);
    std::vector<Node> nodes;
    for (std::uint32_t age = 0; age < 1000; ++age)
        nodes.push_back(make(static_cast<int>(random() % 8), age));
    std::vector<Node *> order;
    for (Node &node : nodes)
        order.push_back(&node);
    std::shuffle(order.begin(), order.end(), random);
    OrderedQueue queue;
    for (Node *node : order)
        queue.push(node);
    EXPECT_EQ(queue.count(), 1000u);
    std::sort(order.begin(), order.end(),
              [](const Node *a, const Node *b) { return key_of(*a) < key_of(*b); });
    for (const Node *node : order)
        ASSERT_EQ(queue.take(), node);
    EXPECT_EQ(queue.take(), nullptr);
}

TEST_F(OrderedQueueTest, ANodeMovesWhenItsPriorityChanges) {
    std::mt19937 random(8);
    std::vector<Node> nodes;
    for (std::uint32_t age = 0; age < 500; ++age)
        nodes.push_back(make(static_cast<int>(random() % 50), age));
    OrderedQueue queue;
    for (Node &node : nodes)
        queue.push(&node);
    for (int change = 0; change < 2000; ++change) {
        Node &node = nodes[random() % nodes.size()];
        node.change_priority(static_cast<int>(random() % 50));
        OrderedQueue::moved(&node);
    }
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node *node = queue.take();
        ASSERT_NE(node, nullptr);
        ASSERT_GE(key_of(*node), last);
        last = key_of(*node);
    }
    OrderedQueue::moved(nodes.data()); // is in no queue: nothing happens
    EXPECT_EQ(queue.count(), 0u);
}

// In order, out of order, and out of the line when the priority changes; over and over, so that the
// line wraps and grows.
TEST_F(OrderedQueueTest, ThoseInOrderAndThoseWhoAreNot) {
    std::mt19937 random(9);
    std::vector<Node> nodes(3000);
    OrderedQueue queue;
    std::vector<Node *> queued;
    std::uint32_t age = 0;
    const auto less = [](const Node *a, const Node *b) { return key_of(*a) < key_of(*b); };
    for (std::size_t next = 0; next < nodes.size() || !queued.empty();) {
        const bool filling = next < nodes.size() && (next / 1000 % 2 == 0 || random() % 3 == 0);
        if (filling || (next < nodes.size() && queued.empty())) {
            // Ages are each other's but once: no two keys are equal.
            nodes[next] = make(random() % 8 == 0 ? 3 : 0, age ^ (random() % 16 == 0 ? 64u : 0u));
            age += 128;
            queue.push(&nodes[next]);
            queued.push_back(&nodes[next++]);
        } else {
            const auto least = std::min_element(queued.begin(), queued.end(), less);
            ASSERT_EQ(queue.take(), *least);
            queued.erase(least);
        }
        if (!queued.empty() && random() % 4 == 0) {
            Node *node = queued[random() % queued.size()];
            node->change_priority(static_cast<int>(random() % 5));
            OrderedQueue::moved(node);
        }
        ASSERT_EQ(queue.count(), queued.size());
    }
    EXPECT_EQ(queue.take(), nullptr);
}

TEST_F(OrderedQueueTest, TakeIfLooksAtTheFirstOnly) {
    Node low = make(1, 0);
    Node high = make(2, 1);
    OrderedQueue queue;
    queue.push(&low);
    queue.push(&high);
    EXPECT_EQ(queue.take_if([&](const Node *node) { return node == &low; }), nullptr);
    EXPECT_EQ(queue.take_if([&](const Node *node) { return node == &high; }), &high);
    EXPECT_EQ(queue.count(), 1u);
}

// One thread raises priorities of tasks that others push and take. Whatever the interleaving, a
// task that stays in the queue stands where its last priority belongs.
TEST_F(OrderedQueueTest, RaisingRacesWithPushing) {
    constexpr int kNodes = 64;
    for (int round = 0; round < 300; ++round) {
        std::vector<Node> nodes;
        for (std::uint32_t age = 0; age < kNodes; ++age)
            nodes.push_back(make(0, age));
        OrderedQueue queue;
        std::thread raiser([&] {
            for (std::size_t i = 0; i < kNodes; i += 2) {
                nodes[i].change_priority(static_cast<int>(i) + 1);
                OrderedQueue::moved(&nodes[i]);
            }
        });
        for (Node &node : nodes)
            queue.push(&node);
        raiser.join();
        std::uint64_t last = 0;
        for (int i = 0; i < kNodes; ++i) {
            const Node *node = queue.take();
            ASSERT_NE(node, nullptr);
            ASSERT_GE(key_of(*node), last);
            last = key_of(*node);
        }
    }
}
