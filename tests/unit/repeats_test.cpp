// SPDX-License-Identifier: Apache-2.0
// Repeated graphs: the edges are those that a model without any memory of repetitions finds,
// wherever a period begins and ends.
#include "openmp/team/team.h"
#include "tasks/task/depend.h"
#include "tasks/task/repeats.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace sennit;
using task::Depend;
using task::DependKind;

namespace {

using List = std::vector<std::pair<int, DependKind>>; // address, kind; address 0: all memory
using enum DependKind;
constexpr int kAddresses = 8;

// What depend.h says about generations, on numbers of tasks.
class Model {
  public:
    // The predecessors of the next task, completed or not.
    std::set<int> add(const List &list) {
        std::set<int> found;
        const int task = next_++;
        for (const auto &[address, kind] : list) {
            if (address == 0) {
                for (auto &[key, at] : cells_)
                    access(at, task, out, found);
                if (all_ >= 0)
                    found.insert(all_);
                all_ = task;
                continue;
            }
            auto [at, is_new] = cells_.try_emplace(address);
            if (is_new && all_ >= 0)
                at->second.now.insert(all_);
            access(at->second, task, kind, found);
        }
        found.erase(task);
        return found;
    }

  private:
    struct Cell {
        std::set<int> now, before;
        DependKind kind = out;
    };
    static void access(Cell &cell, int task, DependKind kind, std::set<int> &found) {
        if (cell.now.empty() || kind != cell.kind || kind == out) {
            cell.before = std::exchange(cell.now, {});
            cell.kind = kind;
        }
        found.insert(cell.before.begin(), cell.before.end());
        cell.now.insert(task);
    }
    std::map<int, Cell> cells_;
    int all_ = -1;
    int next_ = 0;
};

// A sequence of nodes without tasks, whose edges are compared with the model's.
class Sequence {
  public:
    explicit Sequence(sched::Worker &worker) : worker_(worker) {}
    ~Sequence() {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            complete(static_cast<int>(i));
        for (DependNode *node : nodes_)
            task::drop_node(&worker_, node);
    }

    void add(const List &list) {
        std::vector<Depend> depends;
        for (const auto &[address, kind] : list)
            depends.push_back({address ? &memory_[address] : nullptr, kind});
        DependNode *const node = task::make_node(worker_, nullptr);
        const int number = static_cast<int>(nodes_.size());
        numbers_[node] = number;
        nodes_.push_back(node);
        const bool is_ready = task::add_depends(worker_, *worker_.task, *node, depends.data(),
                                                static_cast<int>(depends.size()));
        if (list.size() > 1 && node->places == 1)
            ++replayed_;
        std::set<int> expected;
        for (const int before : model_.add(list))
            if (!nodes_[before]->done())
                expected.insert(before);
        std::set<int> found;
        int edges = 0;
        for (int before = 0; before < number; ++before) {
            if (nodes_[before]->done())
                continue;
            for (const DependEdge *edge = nodes_[before]->successors.load(); edge;
                 edge = edge->next)
                if (edge->successor == node) {
                    found.insert(before);
                    ++edges;
                }
        }
        ASSERT_EQ(found, expected) << "of task " << number;
        EXPECT_EQ(node->missing.load(), edges) << "of task " << number;
        EXPECT_EQ(is_ready, found.empty());
        EXPECT_TRUE(task::is_sound(*worker_.task->children_depend));
    }
    // With all that comes before it.
    void complete(int number) {
        DependNode &node = *nodes_[static_cast<std::size_t>(number)];
        if (node.done() || node.missing.load() != 0)
            return;
        task::release_successors(&worker_, node, [](DependNode &) {});
    }
    int size() const { return static_cast<int>(nodes_.size()); }
    // Tasks of several accesses that are in the table once, as a step.
    int replayed() const { return replayed_; }

  private:
    sched::Worker &worker_;
    std::vector<DependNode *> nodes_;
    std::map<const DependNode *, int> numbers_;
    Model model_;
    char memory_[kAddresses + 1] = {};
    int replayed_ = 0;
};

// `test` is run by a creator of its own, whose table ends with it.
void with_creator(const std::function<void(sched::Worker &)> &test) {
    omp::parallel(
        omp::here(), 1,
        [](omp::Member &, void *given) {
            (*static_cast<const std::function<void(sched::Worker &)> *>(given))(omp::here());
        },
        const_cast<void *>(static_cast<const void *>(&test)));
}

const std::vector<List> kSweep = {{{1, in}, {2, out}},
                                  {{1, out}, {3, in}, {2, in}},
                                  {{3, in}, {8, in}, {2, in}, {1, in}},
                                  {{4, out}, {2, in}},
                                  {{3, out}, {4, in}, {4, out}}};

} // namespace

TEST(Repeats, ASweepIsReplayedOnceItHasComeEightTimes) {
    with_creator([](sched::Worker &worker) {
        Sequence sequence(worker);
        for (int round = 0; round < 15; ++round)
            for (const List &list : kSweep)
                sequence.add(list);
        // In six rounds it is the anchor alone that comes again, the seventh is recorded, and the
        // eighth is compared. The third task has an access that stays with the table, so it is not
        // counted.
        EXPECT_EQ(sequence.replayed(), 7 * 4);
    });
}

TEST(Repeats, APeriodMayEndAtEveryTask) {
    const std::vector<List> others = {
        {{2, out}, {3, out}},           {{1, in}, {3, in}},      {{0, out}}, {{5, out}, {1, in}},
        {{2, mutexinoutset}, {8, out}}, {{4, inoutset}, {8, in}}};
    for (const List &other : others)
        for (std::size_t at = 0; at < kSweep.size(); ++at)
            for (const bool is_skipped : {false, true})
                with_creator([&](sched::Worker &worker) {
                    Sequence sequence(worker);
                    for (int round = 0; round < 20; ++round)
                        for (std::size_t i = 0; i < kSweep.size(); ++i) {
                            const bool is_here = round == 10 && i == at;
                            if (is_here)
                                sequence.add(other);
                            if (!is_here || !is_skipped)
                                sequence.add(kSweep[i]);
                        }
                    EXPECT_GE(sequence.replayed(), 8);
                });
}

TEST(Repeats, RandomPeriodsHaveTheEdgesOfTheModel) {
    std::mt19937 random(7);
    const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
    int replayed = 0;
    for (int program = 0; program < 150; ++program)
        with_creator([&](sched::Worker &worker) {
            Sequence sequence(worker);
            const int addresses = 1 + below(kAddresses);
            const int kinds = 2 + 2 * (below(3) == 0);
            const auto draw = [&] {
                List list;
                for (int left = 1 + below(3); left > 0; --left)
                    list.emplace_back(1 + below(addresses), static_cast<DependKind>(below(kinds)));
                if (below(60) == 0)
                    list = {{0, out}};
                return list;
            };
            std::vector<List> period;
            for (int left = 1 + below(7); left > 0; --left)
                period.push_back(draw());
            for (int tasks = 0; tasks < 250; ++tasks) {
                if (below(60) == 0)
                    sequence.add(draw());
                if (below(200) == 0)
                    period[static_cast<std::size_t>(below(static_cast<int>(period.size())))] =
                        draw();
                sequence.add(period[static_cast<std::size_t>(tasks) % period.size()]);
                while (below(3) != 0)
                    sequence.complete(sequence.size() - 1 - below(std::min(sequence.size(), 12)));
            }
            replayed += sequence.replayed();
        });
    EXPECT_GT(replayed, 1000);
}

// A path is as long in a period that comes forty times as in one that goes on for ever.
TEST(Repeats, PrioritiesAreThoseOfAPeriodThatGoesOn) {
    constexpr int kMost = 1023, kRounds = 40, kRound = 5;
    std::mt19937 random(11);
    const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
    int found = 0;
    for (int program = 0; program < 200; ++program)
        with_creator([&](sched::Worker &worker) {
            char memory[kAddresses + 1];
            std::vector<List> period(static_cast<std::size_t>(1 + below(9)));
            std::vector<bool> sends;
            for (List &list : period) {
                for (int left = 2 + below(2); left > 0; --left)
                    list.emplace_back(1 + below(kAddresses), below(2) ? in : out);
                sends.push_back(below(4) == 0);
            }
            const std::size_t size = period.size();
            Model model;
            std::vector<int> expected(size * kRounds);
            std::vector<std::set<int>> before;
            for (std::size_t task = 0; task < expected.size(); ++task) {
                before.push_back(model.add(period[task % size]));
                expected[task] = sends[task % size] ? kMost : 0;
            }
            for (std::size_t task = expected.size(); task-- > 0;)
                for (const int one : before[task])
                    expected[one] = std::max(expected[one], expected[task] - 1);

            task::Repeats repeats;
            std::vector<DependNode *> nodes;
            for (std::size_t task = 0; task < expected.size() && !repeats.replays(); ++task) {
                std::vector<Depend> depends;
                for (const auto &[address, kind] : period[task % size])
                    depends.push_back({&memory[address], kind});
                nodes.push_back(task::make_node(worker, nullptr));
                if (repeats.counts(depends[0]))
                    repeats.look(worker, depends.data(), static_cast<int>(depends.size()),
                                 *nodes.back());
            }
            std::size_t steps = 0;
            repeats.each_latest([&](const task::Repeats::Step &) { ++steps; });
            if (repeats.replays() && steps == size) {
                std::size_t at = nodes.size(); // of the task that comes next, the first step
                repeats.find_priorities(1, kMost, [&](const task::Repeats::Step &) {
                    return static_cast<bool>(sends[at++ % size]);
                });
                EXPECT_TRUE(repeats.has_priorities(1));
                repeats.each_latest([&](const task::Repeats::Step &step) {
                    EXPECT_EQ(step.priority, expected[kRound * size + at++ % size])
                        << "program " << program;
                    ++found;
                });
            }
            repeats.release(&worker);
            for (DependNode *node : nodes)
                task::drop_node(&worker, node);
        });
    EXPECT_GT(found, 500);
}
