// SPDX-License-Identifier: Apache-2.0
// Nothing can go on, and tasks are left: who waits for whom? A cycle is named, if there is one;
// else the messages that have one end.
#include "engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace sennit::sim {

// Waiters are tasks by their index, and the ranks' creating threads.
class Simulation::Waits {
  public:
    explicit Waits(Simulation &simulation) : of_(simulation) {
        of_.tasks_.each([&](std::uint32_t index, const Task &task) {
            if (!task.alive)
                return;
            by_rank_[of_.tasks_.rank_of(index)].push_back(index);
            if (!task.started && (task.begins(Kind::send) || task.begins(Kind::receive)))
                ends_[{task.call.message, task.kind}] = index;
            for (std::uint32_t i = 0; i < task.near_count; ++i)
                before_[task.near[i]].push_back(index);
            for (std::uint32_t at = task.far; at != kNone; at = of_.successors_[at].next)
                for (std::uint32_t i = 0; i < of_.successors_[at].count; ++i)
                    before_[of_.successors_[at].items[i]].push_back(index);
        });
    }

    // Each waits for the next, the last for the first; empty: there is no cycle.
    std::vector<std::uint32_t> find_cycle() {
        for (const auto &[rank, tasks] : by_rank_)
            for (const std::uint32_t task : tasks)
                if (const auto cycle = find_cycle_from(task); !cycle.empty())
                    return cycle;
        return {};
    }

    std::string name(std::uint32_t waiter) const {
        if (waiter & kCreator)
            return fmt::format("rank {}'s creating thread (it waits for its tasks)",
                               waiter & ~kCreator);
        const Task &task = of_.tasks_[waiter];
        const std::uint32_t rank = of_.tasks_.rank_of(waiter);
        const std::string &function = of_.functions_[static_cast<std::size_t>(task.function)];
        if (!of_.rules_.by_creation) // the age is no number of the task
            return fmt::format("a task {} of rank {}", function, rank);
        return fmt::format("rank {}'s task {} ({})", rank,
                           of_.workload_.number_of(static_cast<int>(rank), task.age), function);
    }
    // Not for another task of its rank, but for the other end of a message.
    bool for_message(std::uint32_t waiter) const {
        return !(waiter & kCreator) && of_.tasks_[waiter].started;
    }

  private:
    static constexpr std::uint32_t kCreator = 1u << 31;
    static_assert(kCreator > kWhoMask);

    struct End {
        std::uint64_t message;
        Kind kind;
        bool operator==(const End &) const = default;
    };
    struct HashEnd {
        std::size_t operator()(const End &end) const {
            return mix(end.message * 2 + (end.kind == Kind::send));
        }
    };

    std::vector<std::uint32_t> waits_for(std::uint32_t waiter) const {
        if (waiter & kCreator) {
            const auto tasks = by_rank_.find(waiter & ~kCreator);
            return tasks == by_rank_.end() ? std::vector<std::uint32_t>() : tasks->second;
        }
        const Task &task = of_.tasks_[waiter];
        if (!task.started) {
            const auto before = before_.find(waiter);
            return before == before_.end() ? std::vector<std::uint32_t>() : before->second;
        }
        if (task.kind == Kind::compute)
            return {};
        const Kind other = task.kind == Kind::send ? Kind::receive : Kind::send;
        if (const auto end = ends_.find({task.call.message, other}); end != ends_.end())
            return {end->second};
        if (task.call.peer < of_.ranks_.size() && of_.ranks_[task.call.peer].creating)
            return {task.call.peer | kCreator};
        return {};
    }

    std::vector<std::uint32_t> find_cycle_from(std::uint32_t start) {
        struct Step {
            std::uint32_t waiter;
            std::vector<std::uint32_t> others;
        };
        enum : char { on_the_way = 1, leads_nowhere = 2 };
        std::vector<Step> way;
        const auto enter = [&](std::uint32_t waiter) {
            seen_[waiter] = on_the_way;
            way.push_back({waiter, waits_for(waiter)});
        };
        if (!seen_.contains(start))
            enter(start);
        while (!way.empty()) {
            Step &step = way.back();
            if (step.others.empty()) {
                seen_[step.waiter] = leads_nowhere;
                way.pop_back();
                continue;
            }
            const std::uint32_t next = step.others.back();
            step.others.pop_back();
            const auto seen = seen_.find(next);
            if (seen == seen_.end()) {
                enter(next);
            } else if (seen->second == on_the_way) {
                std::vector<std::uint32_t> cycle;
                auto at = std::find_if(way.begin(), way.end(),
                                       [&](const Step &one) { return one.waiter == next; });
                for (; at != way.end(); ++at)
                    cycle.push_back(at->waiter);
                return cycle;
            }
        }
        return {};
    }

    Simulation &of_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_rank_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> before_;
    std::unordered_map<End, std::uint32_t, HashEnd> ends_; // tasks that have not come to their call
    std::unordered_map<std::uint32_t, char> seen_;
};

std::string Simulation::text_of_cycle() {
    Waits waits(*this);
    const std::vector<std::uint32_t> cycle = waits.find_cycle();
    if (cycle.empty())
        return {};
    constexpr std::size_t kMost = 12;
    std::string text = "; a cycle: " + waits.name(cycle[0]);
    for (std::size_t i = 0; i < std::min(cycle.size(), kMost); ++i)
        text += fmt::format("{} waits for {}{}", i > 0 ? ", which" : "",
                            waits.for_message(cycle[i]) ? "its message's other end, " : "",
                            waits.name(cycle[(i + 1) % cycle.size()]));
    if (cycle.size() > kMost)
        text += fmt::format(", and so on: {} in all", cycle.size());
    return text;
}

void Simulation::stuck(Time now) {
    std::string text = text_of_cycle();
    int listed = text.empty() ? 0 : 3;
    messages_.each([&](const Message &message) {
        if (listed++ >= 3)
            return;
        const bool sent = message.sent_at >= 0, posted = message.posted_at >= 0;
        if (sent && !posted)
            text +=
                fmt::format("; rank {} sent message {:#x} to rank {}, which does not receive it",
                            message.source, message.key, message.target);
        else if (posted && !sent)
            text += fmt::format("; rank {} waits for message {:#x}, which nobody sent",
                                message.target, message.key);
    });
    std::uint64_t unfinished = 0;
    for (const Rank &rank : ranks_)
        unfinished += rank.unfinished;
    throw Stuck(fmt::format("nothing can go on after {:.6f} s: {} tasks are not done{}",
                            static_cast<double>(now) * 1e-9, unfinished, text));
}

} // namespace sennit::sim
