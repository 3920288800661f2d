// SPDX-License-Identifier: Apache-2.0
// A task whose priority changes on its way to an ordered queue (tasks/sched/ordered_queue.cpp)
// under every schedule.
#include "schedules.h"

#include "tasks/sched/ordered_queue.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

using sched::Item;
using sched::OrderedQueue;

// Thread 0 pushes a task behind others, thread 1 gives it a higher priority, and thread 2 takes the
// first of them all.
class Moving {
  public:
    ~Moving() { sched::detail::g_rules = {}; }
    explicit Moving(std::uint32_t others) : count_(others) {}
    Moving(const Moving &) = delete;
    Moving &operator=(const Moving &) = delete;

    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] {
            sched::detail::g_rules = policy::rules_of(Policy::ma3, Order::automatic);
            make_anew(queue_);
            for (std::uint32_t age = 0; age < count_; ++age) {
                others_[age] = {{nullptr}, {nullptr}, 1, age};
                queue_.push(&others_[age]);
            }
            moved_ = {{nullptr}, {nullptr}, 0, kMoved};
            taken_ = nullptr;
        };
        test.threads = {[this] { queue_.push(&moved_); },
                        [this] {
                            moved_.change_priority(2);
                            OrderedQueue::moved(&moved_);
                        },
                        [this] { taken_ = queue_.take(); }};
        test.state = [this] { return taken_ ? taken_->age + 1 : 0; };
        test.end = [this] { return end(); };
        return test;
    }

  private:
    std::string end() {
        if (!queue_.is_sound())
            return "the queue is not sound";
        if (taken_ != &moved_ && queue_.take() != &moved_)
            return "a task is queued by its old priority";
        for (std::uint32_t age = 0; age < count_; ++age)
            if (taken_ != &others_[age] && queue_.take() != &others_[age])
                return "a task is lost";
        return queue_.take() ? "a task is there twice" : "";
    }

    const std::uint32_t count_;
    OrderedQueue queue_;
    static constexpr std::uint32_t kMoved = 2; // its age
    std::array<Item, kMoved> others_{};
    Item moved_{};
    const Item *taken_ = nullptr;
};

TEST(OrderedQueue, AMovedTaskIsWhereItsPrioritySays) {
    Moving alone(0), behind_others(2);
    EXPECT_EQ(failure_of(alone.test()), "");
    EXPECT_EQ(failure_of(behind_others.test()), "");
    EXPECT_NE(explore(behind_others.test(), {Flaw::Kind::no_lock, "", 0}).failure, "");
    using enum Flaw::Kind;
    EXPECT_EQ(
        not_refused({alone.test(), behind_others.test()},
                    {{late, "queue_of(item).store(this", 2}, // reads the priority first
                     {lost, "queue_of(item).store(this"},
                     {late, "atomic_at(priority).store(to"},
                     {relaxed, "atomic_at(priority).store(to"},
                     {stale, "if (queue_of(item).load(std::memory_order_relaxed) != queue)"}}),
        "");
}

} // namespace
} // namespace sennit::schedules
