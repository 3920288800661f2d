// SPDX-License-Identifier: Apache-2.0
// Untied tasks that go on elsewhere (tasks/task/roaming.cpp) under every schedule: suspended by one
// worker, resumed by anybody at any time, and gone on with by whoever takes them from the queue.
#include "schedules.h"
#include "workers.h"

#include "tasks/task/lifecycle.h"
#include "tasks/task/roaming.h"
#include "tasks/task/task.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

struct PlainGroup final : sched::Group {};

// Thread 0 runs a task that is suspended twice. Thread 1 resumes it once, maybe before that. Thread
// 2 does so once the task has gone on. Who resumes a task finds it in the queue, and goes on with
// it.
class Roaming {
  public:
    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] { begin(); };
        for (std::size_t i = 0; i < kThreads; ++i)
            test.threads.emplace_back([this, i] { run(i); });
        test.state = [this] { return state(); };
        test.end = [this] { return end(); };
        return test;
    }

  private:
    static constexpr std::size_t kThreads = 3;
    static constexpr int kSuspensions = 2;

    void begin() {
        g_on_ready = [this](sched::Item &item) { queued_ = static_cast<Task *>(&item); };
        g_carry = [this](sched::Worker &, sched::RoamingFiber &fiber) { return carry(fiber); };
        make_anew(team_);
        make_anew(fiber_);
        make_anew(carries_);
        queued_ = nullptr;
        carried_ = over_ = false;
        task_ = new (allocate(sizeof(Task))) Task;
        task_->team = &team_;
        task_->flags = Task::kUntied;
        for (std::size_t i = 0; i < kThreads; ++i) {
            make_anew(slots_[i]);
            make_anew(workers_[i], static_cast<int>(i));
            slots_[i].group = &team_;
            workers_[i].slot = &slots_[i];
        }
        workers_[0].roaming.give_back(fiber_);
    }

    // The task, from one suspension to the next.
    bool carry(sched::RoamingFiber &fiber) {
        if (&fiber != &fiber_)
            fail("a task goes on on another fiber");
        if (std::exchange(carried_, true))
            fail("a task runs at two places");
        const int before = carries_.load(std::memory_order_relaxed);
        if (before > 0) {
            if (!task_->block_cell.signalled())
                fail("a task goes on though nobody has resumed it");
            task_->block_cell.reset();
        }
        carries_.store(before + 1, std::memory_order_release);
        carried_ = false;
        over_ = before == kSuspensions;
        return over_;
    }

    void run(std::size_t me) {
        if (me == 0)
            return task::roaming::run_item(workers_[0], slots_[0], task_);
        while (me == 2 && carries_.load(std::memory_order_acquire) < 2)
            wait_for_change();
        task::roaming::resume(*task_);
        if (Task *const task = std::exchange(queued_, nullptr))
            task::roaming::run_item(workers_[me], slots_[me], task);
    }

    std::uint64_t state() const { return (queued_ ? 1 : 0) + (carried_ ? 2 : 0) + (over_ ? 4 : 0); }
    std::string end() const { return over_ ? "" : "a task that was resumed does not go on"; }

    PlainGroup team_;
    std::array<sched::Slot, kThreads> slots_;
    std::array<TestWorker, kThreads> workers_{TestWorker(0), TestWorker(1), TestWorker(2)};
    sched::RoamingFiber fiber_;
    Task *task_ = nullptr;
    Task *queued_ = nullptr;
    Atomic<int> carries_{0};
    bool carried_ = false;
    bool over_ = false;
};

TEST(Roaming, ATaskThatIsResumedGoesOnOnceWhoeverTakesIt) {
    Roaming roaming;
    EXPECT_EQ(failure_of(roaming.test()), "");
}

TEST(Roaming, NeedsEachOfItsSteps) {
    Roaming roaming;
    using enum Flaw::Kind;
    EXPECT_EQ(
        not_refused({roaming.test()}, {{lost, "const bool armed = waiter_.compare_exchange_strong"},
                                       {torn, "const bool armed = waiter_.compare_exchange_strong"},
                                       {lost, "Fiber *const fiber = waiter_.exchange(mark()"},
                                       {torn, "Fiber *const fiber = waiter_.exchange(mark()"}}),
        "");
}

} // namespace
} // namespace sennit::schedules
