// SPDX-License-Identifier: Apache-2.0
// The paper's policies, whole, on the graph of its Figures 1 and 3: a Cholesky factorization of 4 x
// 4 tiles on two ranks, here with a tile's column deciding its rank. What each sentence says and
// which test holds us to it is listed in docs/papers.md.
#include "policy_graph.h"

#include "decide/tasks/outlook.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

using namespace sennit;
using namespace sennit::policy;

namespace {

struct Step {
    const char *name;
    std::vector<const char *> before;
    int sa;       // the priority of Algorithm 1, less than the greatest by; -1: none
    bool on_path; // a send or before one
};

constexpr int kNone = -1;

// What one rank runs, in the order of creation; dependences as the program's tiles give them.
const std::vector<Step> &rank0() {
    static const std::vector<Step> steps = {
        {"potrf 0", {}, 2, true},
        {"trsm 1 0", {"potrf 0"}, 1, true},
        {"send 1 0", {"trsm 1 0"}, 0, true},
        {"trsm 2 0", {"potrf 0"}, 1, true},
        {"send 2 0", {"trsm 2 0"}, 0, true},
        {"trsm 3 0", {"potrf 0"}, 1, true},
        {"send 3 0", {"trsm 3 0"}, 0, true},
        {"syrk 2 0", {"trsm 2 0"}, 4, true},
        {"gemm 3 2 0", {"trsm 3 0", "trsm 2 0"}, 3, true},
        {"recv 2 1", {}, 3, true},
        {"recv 3 1", {}, 3, true},
        {"syrk 2 1", {"recv 2 1", "syrk 2 0"}, 3, true},
        {"gemm 3 2 1", {"recv 3 1", "recv 2 1", "gemm 3 2 0"}, 2, true},
        {"potrf 2", {"syrk 2 1"}, 2, true},               // the paper's
        {"trsm 3 2", {"potrf 2", "gemm 3 2 1"}, 1, true}, // L, M, N
        {"send 3 2", {"trsm 3 2"}, 0, true},              // and O
    };
    return steps;
}

const std::vector<Step> &rank1() {
    static const std::vector<Step> steps = {
        {"recv 1 0", {}, 3, true},
        {"recv 2 0", {}, 3, true},
        {"recv 3 0", {}, 3, true},
        {"syrk 1 0", {"recv 1 0"}, 3, true},
        {"gemm 2 1 0", {"recv 2 0", "recv 1 0"}, 2, true},
        {"gemm 3 1 0", {"recv 3 0", "recv 1 0"}, 2, true},
        {"syrk 3 0", {"recv 3 0"}, kNone, false},
        {"potrf 1", {"syrk 1 0"}, 2, true},
        {"trsm 2 1", {"potrf 1", "gemm 2 1 0"}, 1, true},
        {"send 2 1", {"trsm 2 1"}, 0, true},
        {"trsm 3 1", {"potrf 1", "gemm 3 1 0"}, 1, true},
        {"send 3 1", {"trsm 3 1"}, 0, true},
        {"syrk 3 1", {"trsm 3 1", "syrk 3 0"}, kNone, false},
        {"recv 3 2", {}, kNone, false},
        {"syrk 3 2", {"recv 3 2", "syrk 3 1"}, kNone, false},
        {"potrf 3", {"syrk 3 2"}, kNone, false},
    };
    return steps;
}

std::string kind_of(const Step &step) {
    const std::string name = step.name;
    return name.substr(0, name.find(' '));
}
bool sends(const Step &step) {
    return kind_of(step) == "send";
}
int discrete(const Step &step) {
    return step.sa == kNone ? 0 : kMostPriority - step.sa;
}

// A rank's tasks, created under a policy by a user who writes `clause` for each.
class Rank {
  public:
    Rank(Policy policy, const std::vector<Step> &steps, int (*clause)(const Step &))
        : rules_(rules_of(policy, Order::automatic)), steps_(steps) {
        create(clause);
    }

    // One more time the same tasks: the next iteration.
    void create(int (*clause)(const Step &)) {
        std::map<std::string, int> number;
        for (const Step &step : steps_) {
            std::vector<int> before;
            for (const char *name : step.before)
                before.push_back(number.at(name));
            Profile *profile = rules_.learns() ? &profile_of(step) : nullptr;
            const int first = first_priority(rules_, graph_, profile, clause(step), true);
            const int task = graph_.add(before, first, rules_, profile);
            number[step.name] = task;
            clauses_.push_back(first);
        }
    }
    // MPI and the tasks' ends tell what there is to know.
    void learn() {
        for (const Step &step : steps_)
            graph_.learn(profile_of(step), sends(step));
    }
    void fall_idle() {
        if (graph_.outdated())
            graph_.reconsider();
    }
    // Of the `iteration`-th creation.
    std::map<std::string, int> priorities(std::size_t iteration = 0) const {
        std::map<std::string, int> all;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const std::size_t task = iteration * steps_.size() + i;
            all[steps_[i].name] =
                rules_.propagates() ? graph_.priority(static_cast<int>(task)) : clauses_[task];
        }
        return all;
    }

  private:
    Profile &profile_of(const Step &step) {
        const auto [at, fresh] = profiles_.try_emplace(kind_of(step), nullptr);
        if (fresh)
            at->second = &store_.emplace_back(ProfileKey{});
        return *at->second;
    }

    const Rules rules_;
    const std::vector<Step> &steps_;
    Graph graph_;
    std::vector<int> clauses_;
    std::deque<Profile> store_;
    std::map<std::string, Profile *> profiles_;
};

std::map<std::string, int> expected(const std::vector<Step> &steps, int (*priority)(const Step &)) {
    std::map<std::string, int> all;
    for (const Step &step : steps)
        all[step.name] = priority(step);
    return all;
}

const std::vector<Step> *const kRanks[] = {&rank0(), &rank1()};

int no_clause(const Step &) {
    return 0;
}
int mark_sends(const Step &step) {
    return sends(step) ? 1 : 0;
}

} // namespace

// "MA-1: the user has to manually set priority 1 on send-tasks, and sets no priority on other tasks
// resulting in a 0 low priority internally."
TEST(PolicyFigure3, Ma1) {
    for (const auto *rank : kRanks)
        EXPECT_EQ(Rank(Policy::ma1, *rank, mark_sends).priorities(), expected(*rank, mark_sends));
}

// "MA-2 consists in setting to 1 the priority on send-tasks and on all their predecessors
// recursively."
TEST(PolicyFigure3, Ma2) {
    const auto path = [](const Step &step) { return step.on_path ? 1 : 0; };
    for (const auto *rank : kRanks)
        EXPECT_EQ(Rank(Policy::ma2, *rank, path).priorities(), expected(*rank, path));
}

// "MA-3 relies on discrete priorities to prioritize various send-tasks distinctly."
TEST(PolicyFigure3, Ma3) {
    for (const auto *rank : kRanks)
        EXPECT_EQ(Rank(Policy::ma3, *rank, discrete).priorities(), expected(*rank, discrete));
}

// "In SA the user simply marks send-tasks with an arbitrary priority. The runtime internally sets
// its priority to the highest value, and automatically propagates it through the TDG following
// Algorithm 1."
TEST(PolicyFigure3, Sa) {
    for (const auto *rank : kRanks)
        for (const auto clause : {+[](const Step &s) { return sends(s) ? 1 : 0; },
                                  +[](const Step &s) { return sends(s) ? 77 : 0; }})
            EXPECT_EQ(Rank(Policy::sa, *rank, clause).priorities(), expected(*rank, discrete));
}

// "FA enables a TDG prioritization similar to MA-3, but with absolutely no hints given by the
// users." "There is no prioritization for the first executed tasks": none before a send is known,
// all priorities once a thread has fallen idle, and those of the next iteration at their creation.
TEST(PolicyFigure3, Fa) {
    for (const auto *steps : kRanks) {
        Rank rank(Policy::fa, *steps, no_clause);
        EXPECT_EQ(rank.priorities(), expected(*steps, no_clause));
        rank.learn();
        EXPECT_EQ(rank.priorities(), expected(*steps, no_clause)); // nobody idles yet
        rank.fall_idle();
        EXPECT_EQ(rank.priorities(), expected(*steps, discrete));
        rank.create(no_clause);
        EXPECT_EQ(rank.priorities(1), expected(*steps, discrete));
    }
}

// Table 1: who says which tasks send, and who says what leads to them: the user (u) or the runtime.
TEST(PolicyTable1, WhoDoesWhat) {
    const struct {
        Policy policy;
        bool user_marks, runtime_finds_path, runtime_finds_sends;
    } rows[] = {{Policy::ma1, true, false, false},
                {Policy::ma2, true, false, false},
                {Policy::ma3, true, false, false},
                {Policy::sa, true, true, false},
                {Policy::fa, false, true, true}};
    for (const auto &row : rows) {
        const auto clause = row.user_marks ? mark_sends : no_clause;
        Rank rank(row.policy, rank0(), clause);
        if (row.runtime_finds_sends) {
            rank.learn();
            rank.fall_idle();
        }
        const auto got = rank.priorities();
        EXPECT_GT(got.at("send 3 2"), 0);
        EXPECT_EQ(got.at("trsm 3 2") > 0, row.runtime_finds_path);
        EXPECT_GE(got.at("send 3 2"), got.at("trsm 3 2"));
    }
}

// Algorithm 1, line by line.
TEST(PolicyAlgorithm1, EachLine) {
    Graph graph;
    const int leaf = graph.add({});  // lines 4, 5: no successor
    const int aside = graph.add({}); // lines 8 to 10: no path to a send
    graph.add({aside});
    const int fork = graph.add({});
    const int near = graph.add({fork});
    const int far = graph.add({fork});
    const int middle = graph.add({far});
    const int first = graph.add({near}, true); // lines 2, 3
    const int second = graph.add({middle}, true);
    EXPECT_EQ(graph.priority(leaf), 0);
    EXPECT_EQ(graph.priority(aside), 0);
    EXPECT_EQ(graph.priority(first), kMostPriority);
    EXPECT_EQ(graph.priority(second), kMostPriority);
    EXPECT_EQ(graph.priority(near), kMostPriority - 1);
    EXPECT_EQ(graph.priority(middle), kMostPriority - 1);
    EXPECT_EQ(graph.priority(far), kMostPriority - 2);
    EXPECT_EQ(graph.priority(fork), kMostPriority - 2); // line 12: the highest of both, less one
}

// A send-task before another one has the highest priority, not one less (lines 2 and 3 come first).
TEST(PolicyAlgorithm1, ASendBeforeASendHasTheHighestPriority) {
    Graph graph;
    const int first = graph.add({}, true);
    const int between = graph.add({first});
    const int second = graph.add({between}, true);
    EXPECT_EQ(graph.priority(first), kMostPriority);
    EXPECT_EQ(graph.priority(between), kMostPriority - 1);
    EXPECT_EQ(graph.priority(second), kMostPriority);
}

// A chain longer than there are priorities: far from the send, none.
TEST(PolicyAlgorithm1, PrioritiesEndAtZero) {
    Graph graph;
    int task = graph.add({});
    const int begin = task;
    for (int i = 0; i < kMostPriority + 5; ++i)
        task = graph.add({task});
    graph.add({task}, true);
    EXPECT_EQ(graph.priority(task), kMostPriority - 1);
    EXPECT_EQ(graph.priority(begin), 0);
}
