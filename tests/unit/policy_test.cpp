// SPDX-License-Identifier: Apache-2.0
// sched/policy against the paper: its rules, its algorithms as printed, and what ours adds.
#include "policy_graph.h"

#include "decide/tasks/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <vector>

using namespace sennit;
using namespace sennit::policy;
using Verdict = Profile::Verdict;

namespace {

std::vector<std::vector<int>> successors(const Graph &graph) {
    std::vector<std::vector<int>> after(static_cast<std::size_t>(graph.size()));
    for (int task = 0; task < graph.size(); ++task)
        for (const int p : graph.before(task))
            after[static_cast<std::size_t>(p)].push_back(task);
    return after;
}

// Algorithm 1 as printed.
int compute_priority(int task, const std::vector<std::vector<int>> &after,
                     const std::vector<bool> &sends) {
    const auto t = static_cast<std::size_t>(task);
    if (sends[t])
        return kMostPriority;
    int most = 0;
    for (const int s : after[t])
        most = std::max(most, compute_priority(s, after, sends));
    return most == 0 ? 0 : most - 1;
}

// Algorithm 2 as printed, from all roots; a task counts as a send-task when its profile matches.
std::vector<int> prioritize(const Graph &graph, const std::vector<bool> &sends) {
    const auto after = successors(graph);
    std::vector<int> priority(after.size(), 0);
    std::vector<bool> visited(after.size(), false);
    std::deque<std::size_t> down;
    std::deque<std::size_t> up;
    for (std::size_t t = 0; t < after.size(); ++t)
        if (graph.before(static_cast<int>(t)).empty())
            down.push_back(t);
    while (!down.empty()) {
        const std::size_t t = down.front();
        down.pop_front();
        for (const int s : after[t]) {
            if (!visited[static_cast<std::size_t>(s)]) {
                visited[static_cast<std::size_t>(s)] = true;
                down.push_back(static_cast<std::size_t>(s));
            }
        }
        // The listing appends leaves only; a send-task amid the graph is matched on the way up, so
        // every task has to come by.
        up.push_back(t);
    }
    while (!up.empty()) {
        const std::size_t t = up.front();
        up.pop_front();
        if (sends[t])
            priority[t] = kMostPriority;
        for (const int before : graph.before(static_cast<int>(t))) {
            const auto p = static_cast<std::size_t>(before);
            if (priority[p] < priority[t] - 1) {
                priority[p] = priority[t] - 1;
                up.push_front(p);
            }
        }
    }
    return priority;
}

struct RandomGraph {
    std::vector<std::vector<int>> before;
    std::vector<int> kind;
};

RandomGraph random_graph(unsigned seed, int tasks, int kinds) {
    std::mt19937 random(seed);
    RandomGraph made;
    for (int t = 0; t < tasks; ++t) {
        std::set<int> before;
        for (int edges = static_cast<int>(random() % 4); t > 0 && edges > 0; --edges)
            before.insert(std::max(0, t - 1 - static_cast<int>(random() % 12)));
        made.before.emplace_back(before.begin(), before.end());
        made.kind.push_back(static_cast<int>(random() % static_cast<unsigned>(kinds)));
    }
    return made;
}

} // namespace

TEST(PolicyRules, FifoIsCreationOrderLifoNewestFirst) {
    const Rules fifo = rules_of(Policy::fifo, Order::automatic);
    EXPECT_TRUE(fifo.by_creation);
    EXPECT_LT(key(fifo, 0, 1), key(fifo, 0, 2));
    const Rules lifo = rules_of(Policy::lifo, Order::automatic);
    EXPECT_FALSE(lifo.by_creation);
    EXPECT_GT(key(lifo, 0, 1), key(lifo, 0, 2));
    EXPECT_EQ(clause_priority(fifo, 7), 0);
    EXPECT_FALSE(rules_of(Policy::fifo, Order::ready).by_creation);
    EXPECT_FALSE(rules_of(Policy::automatic, Order::creation).ordered);
}

// Section 3.2: "tasks with priority 1 are always scheduled over the ones with priority 0".
TEST(PolicyRules, ManualPolicies) {
    for (const Policy policy : {Policy::ma1, Policy::ma2}) {
        const Rules rules = rules_of(policy, Order::automatic);
        EXPECT_EQ(clause_priority(rules, 0), 0);
        EXPECT_EQ(clause_priority(rules, 1), 1);
        EXPECT_EQ(clause_priority(rules, 900), 1);
        EXPECT_LT(key(rules, 1, 100), key(rules, 0, 1));
        EXPECT_FALSE(rules.propagates());
    }
    const Rules ma3 = rules_of(Policy::ma3, Order::automatic);
    EXPECT_EQ(clause_priority(ma3, 900), 900);
    EXPECT_LT(key(ma3, 900, 100), key(ma3, 899, 1));
}

// Section 3.3: "marks send-tasks with an arbitrary priority ... the runtime internally sets its
// priority to the highest value".
TEST(PolicyRules, SemiAutomaticMarks) {
    const Rules sa = rules_of(Policy::sa, Order::automatic);
    EXPECT_EQ(clause_priority(sa, 1), kMostPriority);
    EXPECT_EQ(clause_priority(sa, 0), 0);
    EXPECT_TRUE(sa.propagates());
    EXPECT_FALSE(sa.learns());
    EXPECT_TRUE(rules_of(Policy::fa, Order::automatic).learns());
}

// "The shorter the path to the send-task in the local TDG, the higher the priorities on its paths."
TEST(Outlook, PriorityFallsWithTheDistanceToTheSend) {
    Graph graph;
    const int l = graph.add({});
    const int m = graph.add({l});
    const int n = graph.add({m});
    const int aside = graph.add({m});
    const int send = graph.add({n}, true);
    EXPECT_EQ(graph.priority(send), kMostPriority);
    EXPECT_EQ(graph.priority(n), kMostPriority - 1);
    EXPECT_EQ(graph.priority(m), kMostPriority - 2);
    EXPECT_EQ(graph.priority(l), kMostPriority - 3);
    EXPECT_EQ(graph.priority(aside), 0);
    EXPECT_EQ(graph.changes, 3);
    EXPECT_EQ(graph.raises(), 3u);
}

TEST(Outlook, AtCreationEqualsAlgorithm1) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        const RandomGraph made = random_graph(seed, 60, 5);
        Graph graph;
        std::vector<bool> sends;
        for (std::size_t t = 0; t < made.before.size(); ++t) {
            sends.push_back(made.kind[t] == 0);
            graph.add(made.before[t], sends.back());
        }
        const auto after = successors(graph);
        for (int t = 0; t < graph.size(); ++t)
            ASSERT_EQ(graph.priority(t), compute_priority(t, after, sends)) << seed << " " << t;
    }
}

TEST(Outlook, AfterLearningEqualsAlgorithm2) {
    constexpr int kKinds = 6;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        const RandomGraph made = random_graph(seed, 60, kKinds);
        std::deque<Profile> profiles;
        for (int k = 0; k < kKinds; ++k)
            profiles.emplace_back(ProfileKey{});
        Graph graph;
        std::vector<bool> sends;
        for (std::size_t t = 0; t < made.before.size(); ++t) {
            const auto kind = static_cast<std::size_t>(made.kind[t]);
            sends.push_back(kind < 2);
            graph.add(made.before[t], false, &profiles[kind]);
        }
        for (int k = 0; k < kKinds; ++k)
            graph.learn(profiles[static_cast<std::size_t>(k)], k < 2);
        ASSERT_TRUE(graph.outdated());
        graph.reconsider();
        EXPECT_FALSE(graph.outdated());
        const std::vector<int> expected = prioritize(graph, sends);
        for (int t = 0; t < graph.size(); ++t)
            ASSERT_EQ(graph.priority(t), expected[static_cast<std::size_t>(t)]) << seed << " " << t;
    }
}

// "If T is not queued": a task that runs is left alone, and so is what only it leads to.
TEST(Outlook, StartedTasksAreNotTouched) {
    Graph graph;
    const int first = graph.add({});
    const int second = graph.add({first});
    graph.run(first);
    const int send = graph.add({first, second}, true);
    EXPECT_EQ(graph.priority(first), 0);
    EXPECT_EQ(graph.priority(second), kMostPriority - 1);
    graph.run(second);
    graph.run(send);
    for (const int task : {first, second, send})
        EXPECT_TRUE(graph.gone.count(&graph.vertex(task))) << task;
}

TEST(Outlook, NoTaskIsPreferredBeforeAnySendIsKnown) {
    Profile unknown{ProfileKey{}};
    Profile computes{ProfileKey{}};
    Graph graph;
    const int first = graph.add({}, false, &computes);
    const int second = graph.add({first}, false, &unknown);
    graph.learn(computes, false);
    EXPECT_FALSE(graph.outdated());
    EXPECT_EQ(graph.priority(first), 0);
    EXPECT_EQ(graph.priority(second), 0);
}

// The trap: the diagonal's send is learned, the panel's not yet. The way to the panel's send must
// not fall behind.
TEST(Outlook, AHalfLearnedGraphDoesNotPreferTheKnownSend) {
    Profile potrf{ProfileKey{}};
    Profile trsm{ProfileKey{}};
    Profile send_diagonal{ProfileKey{}};
    Profile send_panel{ProfileKey{}};
    Graph graph;
    const int factor = graph.add({}, false, &potrf);
    const int diagonal = graph.add({factor}, false, &send_diagonal);
    const int solve = graph.add({factor}, false, &trsm);
    const int panel = graph.add({solve}, false, &send_panel);
    graph.learn(potrf, false);
    graph.learn(trsm, false);
    graph.learn(send_diagonal, true);
    graph.reconsider();
    EXPECT_EQ(graph.priority(diagonal), kMostPriority);
    EXPECT_EQ(graph.priority(panel), kMostPriority);
    EXPECT_EQ(graph.priority(solve), kMostPriority - 1);
    EXPECT_EQ(graph.priority(factor), kMostPriority - 1);
    graph.learn(send_panel, false); // it turns out that it does not send
    graph.reconsider();
    EXPECT_EQ(graph.priority(panel), 0);
    EXPECT_EQ(graph.priority(solve), 0);
    EXPECT_EQ(graph.priority(factor), kMostPriority - 1);
}

TEST(Outlook, TheUsersPriorityIsAFloor) {
    Profile computes{ProfileKey{}};
    computes.record(false);
    Graph graph;
    const int task = graph.add({}, false, &computes);
    graph.vertex(task).floor = 5;
    EXPECT_EQ(graph.priority(task), 5);
    graph.add({task}, true);
    EXPECT_EQ(graph.priority(task), kMostPriority - 1);
}

// With tasks of milliseconds, what runs in the wrong order until then is never made up.
TEST(Outlook, TheFirstVerdictsAreHeededAtOnce) {
    Profile sends{ProfileKey{}};
    Profile computes{ProfileKey{}};
    Graph graph;
    for (int t = 0; t < 100; ++t)
        graph.add({}, false, t % 2 ? &sends : &computes);
    graph.learn(sends, true);
    EXPECT_TRUE(graph.overdue());
    graph.reconsider();
    graph.learn(computes, false);
    graph.run(0);
    EXPECT_TRUE(graph.overdue());
}

TEST(Outlook, PassesStayRareBesideTheTasks) {
    Profile changing{ProfileKey{}};
    Graph graph;
    std::vector<int> tasks;
    for (int t = 0; t < 2000; ++t)
        tasks.push_back(graph.add({}, false, &changing));
    int run = 0;
    for (bool sent = true; run < 1500; ++run) {
        graph.run(run);
        if (run % 20 == 0)
            sent = !sent;
        graph.learn(changing, sent);
        if (graph.overdue())
            graph.reconsider();
    }
    EXPECT_GT(graph.passes(), 10u);
    EXPECT_LT(graph.passes(), 40u);
}

TEST(Profile, TheFirstOutcomeDecides) {
    Profile profile{ProfileKey{}};
    EXPECT_EQ(profile.verdict(), Verdict::unknown);
    EXPECT_TRUE(profile.record(true));
    EXPECT_EQ(profile.verdict(), Verdict::sends);
    EXPECT_FALSE(profile.record(true));
}

// "A function which sends only sometimes does not poison the rest."
TEST(Profile, ARareSenderIsNone) {
    Profile profile{ProfileKey{}};
    int changes = 0;
    for (int run = 0; run < 1000; ++run)
        changes += profile.record(run % 10 == 5);
    EXPECT_EQ(profile.verdict(), Verdict::computes);
    EXPECT_EQ(changes, 1);
}

TEST(Profile, EveryOtherTimeDoesNotFlip) {
    Profile profile{ProfileKey{}};
    int changes = 0;
    for (int run = 0; run < 1000; ++run)
        changes += profile.record(run % 2 == 0);
    EXPECT_EQ(profile.verdict(), Verdict::sends);
    EXPECT_EQ(changes, 1);
}

TEST(Profile, Forgets) {
    Profile profile{ProfileKey{}};
    for (int run = 0; run < 100; ++run)
        profile.record(true);
    for (int run = 0; run < 16; ++run)
        profile.record(false);
    EXPECT_EQ(profile.verdict(), Verdict::computes);
}

TEST(Profiles, FullMatching) {
    Profiles profiles;
    int entries[2];
    ProfileKey key{&entries[0], nullptr, 24, 1, 2};
    Profile *first = profiles.find(key);
    EXPECT_EQ(profiles.find(key), first);
    std::set<Profile *> all{first};
    ProfileKey other = key;
    other.entry = &entries[1];
    all.insert(profiles.find(other));
    other = key;
    other.parent_entry = &entries[1];
    all.insert(profiles.find(other));
    other = key;
    other.size = 32;
    all.insert(profiles.find(other));
    other = key;
    other.properties = 0;
    all.insert(profiles.find(other));
    other = key;
    other.dependences = 3;
    all.insert(profiles.find(other));
    EXPECT_EQ(all.size(), 6u);
    int seen = 0;
    profiles.each([&](const Profile &) { ++seen; });
    EXPECT_EQ(seen, 6);
}

TEST(Profiles, TooManyAreNone) {
    Profiles profiles;
    int made = 0;
    for (std::uint32_t size = 0; size < 2 * Profiles::kCapacity; ++size)
        made += profiles.find(ProfileKey{nullptr, nullptr, size, 0, 0}) != nullptr;
    EXPECT_EQ(made, static_cast<int>(Profiles::kCapacity * 3 / 4));
    EXPECT_NE(profiles.find(ProfileKey{nullptr, nullptr, 5, 0, 0}), nullptr);
}

TEST(QueueTree, NearNodesBeforeFarOnes) {
    Machine machine; // two packages of two domains each
    machine.domains = 4;
    for (int domain = 0; domain < 4; ++domain)
        machine.package[domain] = static_cast<std::uint8_t>(domain / 2);
    auto order = [&](int from) {
        std::vector<int> domains;
        for (int rank = 0; rank < machine.domains; ++rank)
            domains.push_back(machine.look_at(from, rank));
        return domains;
    };
    EXPECT_EQ(order(0), (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(order(1), (std::vector<int>{1, 0, 2, 3}));
    EXPECT_EQ(order(3), (std::vector<int>{3, 2, 0, 1}));
    EXPECT_EQ(Machine{}.look_at(0, 0), 0);
    EXPECT_EQ(machine.distance(2, 2), 0);
    EXPECT_EQ(machine.distance(2, 3), 1);
    EXPECT_EQ(machine.distance(1, 2), Machine::kFar);
}
