// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload.h"

#include <random>
#include <string>
#include <vector>

namespace sennit::sim {

// Random tasks on random data; every message has both ends, created in an order that cannot get
// stuck: a send before any receive of a later message.
class RandomWork final : public Workload {
  public:
    RandomWork(int ranks, int tasks, unsigned seed) : tasks_(static_cast<std::size_t>(ranks)) {
        std::mt19937 random(seed);
        const auto below = [&](int bound) {
            return static_cast<int>(random() % static_cast<unsigned>(bound));
        };
        std::uint64_t message = 0;
        for (int i = 0; i < tasks; ++i) {
            TaskSpec task;
            const int rank = below(ranks);
            for (int n = below(4); n > 0; --n)
                task.add(static_cast<std::uint32_t>(below(kData)),
                         below(3) ? Access::Mode::in : Access::Mode::inout);
            const int other = below(ranks);
            if (other != rank && below(3) == 0) {
                task.message = message++;
                task.bytes = below(2) ? 100 : 1000000;
                task.kind = Kind::send;
                task.function = 1;
                task.peer = static_cast<std::uint32_t>(other);
                TaskSpec receive = task;
                receive.kind = Kind::receive;
                receive.function = 2;
                receive.count = 0;
                receive.peer = static_cast<std::uint32_t>(rank);
                receive.add(static_cast<std::uint32_t>(below(kData)), Access::Mode::inout);
                tasks_[static_cast<std::size_t>(rank)].push_back(task);
                tasks_[static_cast<std::size_t>(other)].push_back(receive);
                count += 2;
                continue;
            }
            task.duration = below(20000);
            work += task.duration;
            tasks_[static_cast<std::size_t>(rank)].push_back(task);
            ++count;
        }
    }
    std::vector<std::string> functions() const override { return {"compute", "send", "receive"}; }
    std::uint32_t data_of(int) const override { return kData; }
    std::uint64_t task_count() const override { return count; }
    Tasks tasks_of(int rank, Marks marks) const override {
        for (TaskSpec task : tasks_[static_cast<std::size_t>(rank)]) {
            task.clause = marks != Marks::none && task.kind == Kind::send;
            co_yield task;
        }
    }

    std::uint64_t count = 0;
    Time work = 0;

  private:
    static constexpr int kData = 12;
    std::vector<std::vector<TaskSpec>> tasks_;
};

} // namespace sennit::sim
