// SPDX-License-Identifier: Apache-2.0
// What tests of sched/policy share.
#pragma once

#include "decide/tasks/outlook.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <set>
#include <vector>

namespace sennit::policy {

// A graph built task by task, as a program would.
class Graph final : public Outlook {
  public:
    int add(std::initializer_list<int> predecessors, bool marked = false,
            Profile *profile = nullptr) {
        return add(std::vector<int>(predecessors), marked, profile);
    }
    int add(const std::vector<int> &predecessors, bool marked = false, Profile *profile = nullptr) {
        Vertex &vertex = make(predecessors, profile);
        vertex.marked = marked;
        create(vertex);
        return size() - 1;
    }
    // As a policy does, with the task's first priority.
    int add(const std::vector<int> &predecessors, int priority, const Rules &rules,
            Profile *profile) {
        place(rules, *this, make(predecessors, profile), priority);
        return size() - 1;
    }
    void run(int task) { start(tasks_[at(task)]->vertex); }
    void learn(Profile &profile, bool sent) {
        if (profile.record(sent))
            verdict_changed(sent);
    }
    int priority(int task) const { return tasks_[at(task)]->vertex.priority(); }
    Vertex &vertex(int task) { return tasks_[at(task)]->vertex; }
    const std::vector<int> &before(int task) const { return tasks_[at(task)]->before; }
    int size() const { return static_cast<int>(tasks_.size()); }
    int changes = 0;
    std::set<const Vertex *> gone;

  private:
    struct Task {
        Vertex vertex;
        std::vector<Vertex *> list;
        std::vector<int> before;
    };
    Vertex &make(const std::vector<int> &predecessors, Profile *profile) {
        auto &task = tasks_.emplace_back(std::make_unique<Task>());
        for (const int p : predecessors)
            if (!tasks_[at(p)]->vertex.started)
                task->list.push_back(&tasks_[at(p)]->vertex);
        task->before = predecessors;
        Vertex &vertex = task->vertex;
        vertex.profile = profile;
        vertex.predecessors = task->list.data();
        vertex.predecessor_count = static_cast<int>(task->list.size());
        return vertex;
    }
    static std::size_t at(int task) { return static_cast<std::size_t>(task); }
    void changed(Vertex &) override { ++changes; }
    void released(Vertex &vertex) override { EXPECT_TRUE(gone.insert(&vertex).second); }
    std::vector<std::unique_ptr<Task>> tasks_;
};

} // namespace sennit::policy
