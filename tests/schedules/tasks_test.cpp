// SPDX-License-Identifier: Apache-2.0
// The end of tasks (tasks/task/execute.cpp), waits for it (waits.cpp), and dependences (depend.cpp)
// under every schedule: who frees what, who is made ready, and when.
#include "schedules.h"
#include "workers.h"

#include "tasks/task/depend.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/task.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

struct PlainGroup final : sched::Group {};

// A team of a worker for each thread of the test, and some tasks: a parent, which worker 0 runs,
// and its children.
class Tasks {
  public:
    static constexpr std::size_t kThreads = 4;
    virtual ~Tasks() = default;

  protected:
    Test test_of(std::size_t threads, std::span<std::byte> memory) {
        Test test;
        test.memory = {memory, memory_of(sched::g_groups_with_tasks)};
        test.begin = [this] {
            make_team();
            begin();
        };
        for (std::size_t i = 0; i < threads; ++i)
            test.threads.emplace_back([this, i] { run(i); });
        test.state = [this] { return state(); };
        test.end = [this] { return end(); };
        return test;
    }
    virtual void begin() = 0;
    virtual void run(std::size_t me) = 0;
    virtual std::uint64_t state() const = 0;
    virtual std::string end() const { return ""; }

    Task *make_task(Task *parent) {
        auto *const task = new (allocate(sizeof(Task))) Task;
        task->parent = parent;
        task->team = &team_;
        task->home.store(&workers_[0], std::memory_order_relaxed);
        if (parent)
            ++parent->spawned;
        return task;
    }
    // Its body has returned.
    void complete(std::size_t me, Task &task) {
        task::complete(&workers_[me], task, task::Then::queue);
    }
    std::uint64_t completed() const {
        std::uint64_t all = team_.finished_elsewhere.load(std::memory_order_relaxed);
        for (const sched::Slot &slot : slots_)
            all += slot.finished.load(std::memory_order_relaxed);
        return all;
    }

    PlainGroup team_;
    std::array<sched::Slot, kThreads> slots_;
    std::array<sched::Slot *, kThreads> all_slots_{};
    std::array<TestWorker, kThreads> workers_{TestWorker(0), TestWorker(1), TestWorker(2),
                                              TestWorker(3)};

  private:
    void make_team() {
        make_anew(team_);
        make_anew(sched::g_groups_with_tasks);
        team_.size = kThreads;
        team_.slots = all_slots_.data();
        for (std::size_t i = 0; i < kThreads; ++i) {
            make_anew(slots_[i]);
            slots_[i].group = &team_;
            all_slots_[i] = &slots_[i];
            make_anew(workers_[i], static_cast<int>(i));
            workers_[i].slot = &slots_[i];
        }
    }
};

// ---- children -------------------------------------------------------------------------------

// Thread 0 runs the parent, which waits for its children or just ends; the others run a child each.
class Children final : public Tasks {
  public:
    Children(bool waits, bool withdraws) : waits_(waits), withdraws_(withdraws) {}
    Test test() { return test_of(kThreads, memory_of(*this)); }

  private:
    void begin() override {
        ended_ = 0;
        parent_ = make_task(nullptr);
        workers_[0].task = parent_;
        workers_[0].withdraws = withdraws_;
        for (Task *&child : children_)
            child = make_task(parent_);
    }
    void run(std::size_t me) override {
        if (me > 0) {
            ++ended_;
            return complete(me, *children_[me - 1]);
        }
        if (waits_)
            task::wait_children(workers_[0]);
        if (waits_ && ended_ != children_.size())
            fail("a task goes on before its children");
        complete(0, *parent_);
    }
    std::uint64_t state() const override { return ended_; }
    std::string end() const override {
        for (const Task *child : children_)
            if (!is_released(child))
                return "a child is never freed";
        if (!is_released(parent_))
            return "a parent is never freed";
        return workers_[0].is_ready() ? "a wake-up is left over" : "";
    }

    const bool waits_, withdraws_;
    Task *parent_ = nullptr;
    std::array<Task *, kThreads - 1> children_{};
    std::uint64_t ended_ = 0;
};

TEST(Tasks, AParentWaitsForItsChildrenAndIsFreedOnce) {
    for (const auto &[waits, withdraws] : {std::pair(true, false), {true, true}, {false, false}}) {
        Children children(waits, withdraws);
        EXPECT_EQ(failure_of(children.test()), "");
    }
}

TEST(Tasks, NeedEachStepOfTheirEnd) {
    Children waits(true, false), withdraws(true, true), ends(false, false);
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused(
                  {waits.test(), withdraws.test(), ends.test()},
                  {{late, "const bool armed = waiter_.compare_exchange_strong"}, // arms afterwards
                   {lost, "task_.pending.fetch_add(change"},
                   {torn, "task_.pending.fetch_add(change"},
                   {torn, "parent.pending.fetch_sub(Task::kChild"},
                   {lost, "parent.pending.fetch_sub(Task::kChild"},
                   {torn, "task.pending.fetch_add(change"},
                   {lost, "task_.pending.fetch_add(Task::kWaiting"}}),
              "");
}

// ---- taskgroups -----------------------------------------------------------------------------

// Thread 0 waits for the tasks of a group, whose place is another's afterwards.
class Group final : public Tasks {
  public:
    explicit Group(bool withdraws) : withdraws_(withdraws) {}
    Test test() { return test_of(kThreads, memory_of(*this)); }

  private:
    void begin() override {
        ended_ = 0;
        parent_ = make_task(nullptr);
        workers_[0].task = parent_;
        workers_[0].withdraws = withdraws_;
        group_ = new (allocate(sizeof(Taskgroup))) Taskgroup;
        task::begin_taskgroup(workers_[0], *group_);
        for (Task *&task : tasks_) {
            task = make_task(nullptr);
            task->taskgroup = group_;
            group_->count.fetch_add(2, std::memory_order_relaxed);
        }
    }
    void run(std::size_t me) override {
        if (me > 0) {
            ++ended_;
            return complete(me, *tasks_[me - 1]);
        }
        task::end_taskgroup(workers_[0]);
        if (ended_ != tasks_.size())
            fail("a taskgroup ends before its tasks");
        release(group_);
    }
    std::uint64_t state() const override { return ended_; }
    std::string end() const override {
        return workers_[0].is_ready() ? "a wake-up is left over" : "";
    }

    const bool withdraws_;
    Task *parent_ = nullptr;
    Taskgroup *group_ = nullptr;
    std::array<Task *, kThreads - 1> tasks_{};
    std::uint64_t ended_ = 0;
};

TEST(Tasks, ATaskgroupEndsAfterItsTasks) {
    Group waits(false), withdraws(true);
    for (const schedules::Test &test : {waits.test(), withdraws.test()})
        EXPECT_EQ(failure_of(test), "");
    using enum Flaw::Kind;
    EXPECT_EQ(
        not_refused({waits.test(), withdraws.test()},
                    {{late, "const bool armed = waiter_.compare_exchange_strong"}, // counts first
                     {lost, "group_.count.fetch_add(1, std::memory_order_acq_rel)"},
                     {torn, "group_.count.fetch_add(1, std::memory_order_acq_rel)"},
                     {torn, "group->count.fetch_sub(2"},
                     {lost, "group->count.fetch_sub(2"}}),
        "");
}

// ---- dependences ----------------------------------------------------------------------------

// Thread 0 creates a task that depends on two others, which complete meanwhile.
class Successor final : public Tasks {
  public:
    // The count of what is missing begins with what is found so far, not with the bias.
    explicit Successor(bool has_bias = true) : has_bias_(has_bias) {}
    Test test() { return test_of(1 + kPredecessors, memory_of(*this)); }

  private:
    static constexpr std::size_t kPredecessors = 2;
    void begin() override {
        ready_ = 0;
        is_over_ = {};
        parent_ = make_task(nullptr);
        workers_[0].task = parent_;
        g_on_ready = [this](sched::Item &) { note_ready(); };
        for (std::size_t i = 0; i < kPredecessors; ++i) {
            predecessors_[i] = make_task(parent_);
            if (!add(*predecessors_[i], i, 1))
                std::abort();
        }
        successor_ = make_task(parent_);
    }
    // A task that writes `count` of the addresses.
    bool add(Task &task, std::size_t first, int count) {
        const task::Depend all[] = {{&addresses_[0], task::DependKind::out},
                                    {&addresses_[1], task::DependKind::out}};
        task.depend = task::make_node(workers_[0], &task);
        if (!has_bias_ && &task == successor_)
            task.depend->missing.store(1, std::memory_order_relaxed);
        return task::add_depends(workers_[0], *parent_, *task.depend, all + first, count);
    }
    void note_ready() {
        ++ready_;
        if (!is_over_[0] || !is_over_[1])
            fail("a task is ready before its predecessors");
    }
    void run(std::size_t me) override {
        if (me == 0) {
            if (add(*successor_, 0, 2))
                note_ready();
        } else {
            is_over_[me - 1] = true;
            task::release_depends(&workers_[me], *predecessors_[me - 1], task::Then::queue);
        }
    }
    std::uint64_t state() const override { return ready_ * 4 + is_over_[0] * 2 + is_over_[1]; }
    std::string end() const override {
        return ready_ == 1 || !has_bias_ ? "" : "a task is not ready once";
    }

    const bool has_bias_;
    Task *parent_ = nullptr, *successor_ = nullptr;
    std::array<Task *, kPredecessors> predecessors_{};
    std::array<bool, kPredecessors> is_over_{};
    std::array<char, kPredecessors> addresses_{};
    std::uint64_t ready_ = 0;
};

TEST(Tasks, ASuccessorIsReadyOnceAndAfterItsPredecessors) {
    Successor right, without_bias(false);
    EXPECT_EQ(failure_of(right.test()), "");
    EXPECT_EQ(explore(without_bias.test()).failure, "a task is ready before its predecessors");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({right.test()}, {{torn, "predecessor->successors.compare_exchange_weak"},
                                           {lost, "predecessor->successors.compare_exchange_weak"},
                                           {torn, "node.successors.exchange(DependNode::closed()"},
                                           {lost, "node.successors.exchange(DependNode::closed()"},
                                           {torn, "successor->missing.fetch_sub(1"},
                                           {lost, "successor->missing.fetch_sub(1"},
                                           {torn, "node.missing.fetch_sub(taken"}}),
              "");
}

// ---- events ---------------------------------------------------------------------------------

// Thread 0 runs a task whose body has two events, which the others fulfil.
class Events final : public Tasks {
  public:
    Test test() { return test_of(3, memory_of(*this)); }

  private:
    void begin() override {
        fulfilled_ = 0;
        task_ = make_task(nullptr);
        task::bind_events(*task_, 1);
        task::bind_detach_event(*task_);
    }
    void run(std::size_t me) override {
        if (me > 0) {
            ++fulfilled_;
            return me == 1 ? task::fulfil_events(*task_, 1) : task::fulfil_detach_event(*task_);
        }
        if (!task::all_events(workers_[0], *task_))
            return;
        if (fulfilled_ != 2)
            fail("a task is complete before its events");
        complete(0, *task_);
    }
    std::uint64_t state() const override { return fulfilled_; }
    std::string end() const override {
        if (completed() != 1 || !is_released(task_))
            return "a task is not complete once";
        return workers_[0].events.any() ? "a task is still listed" : "";
    }

    Task *task_ = nullptr;
    std::uint64_t fulfilled_ = 0;
};

TEST(Tasks, ATaskIsCompleteOnceAllItsEventsAreFulfilled) {
    Events events;
    EXPECT_EQ(failure_of(events.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({events.test()}, {{torn, "task.events.fetch_sub(fulfilled"},
                                            {lost, "task.events.fetch_sub(fulfilled"}}),
              "");
}

// Thread 0 discards a task, thread 1 fulfils its event.
class Discarded final : public Tasks {
  public:
    Test test() { return test_of(2, memory_of(*this)); }

  private:
    void begin() override {
        task_ = make_task(nullptr);
        task::bind_detach_event(*task_);
        task_->flags |= Task::kDiscarded;
    }
    void run(std::size_t me) override {
        if (me == 1)
            return task::fulfil_detach_event(*task_);
        if (!task::all_events(workers_[0], *task_))
            fail("a discarded task waits for its event");
        complete(0, *task_);
    }
    std::uint64_t state() const override { return 0; }
    std::string end() const override {
        return completed() == 1 && is_released(task_) ? "" : "a task is never freed";
    }

    Task *task_ = nullptr;
};

TEST(Tasks, ADiscardedTaskIsFreedOnceWhenItsEventComesEarlyOrLate) {
    Discarded discarded;
    EXPECT_EQ(failure_of(discarded.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({discarded.test()}, {{lost, "task.pending.fetch_add(Task::kChild"},
                                               {lost, "task.pending.fetch_sub(Task::kChild"},
                                               {torn, "task.events.fetch_sub(fulfilled"},
                                               {torn, "parent.pending.fetch_sub(Task::kChild"}}),
              "");
}

// Thread 0, the creator of an undeferred task, waits for the two events that its body has bound,
// and not for that of `detach`.
class Held final : public Tasks {
  public:
    Test test() { return test_of(kThreads, memory_of(*this)); }

  private:
    void begin() override {
        fulfilled_ = 0;
        task_ = make_task(nullptr);
        task::bind_events(*task_, 2);
        task::bind_detach_event(*task_);
    }
    void run(std::size_t me) override {
        if (me == 3)
            return task::fulfil_detach_event(*task_);
        if (me > 0) {
            ++fulfilled_;
            return task::fulfil_events(*task_, 1);
        }
        task::await_bound_events(workers_[0], *task_);
        if (fulfilled_ != 2)
            fail("a creator goes on before the events of the task's body");
    }
    std::uint64_t state() const override { return fulfilled_; }
    std::string end() const override {
        return workers_[0].is_ready() ? "a wake-up is left over" : "";
    }

    Task *task_ = nullptr;
    std::uint64_t fulfilled_ = 0;
};

TEST(Tasks, TheCreatorOfAnUndeferredTaskWaitsForWhatTheTaskHasBound) {
    Held held;
    EXPECT_EQ(failure_of(held.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({held.test()}, {{torn, "task.events.fetch_add(Task::kHoldsCreator"},
                                          {lost, "task.events.fetch_add(Task::kHoldsCreator"},
                                          {torn, "task.events.fetch_sub(fulfilled"},
                                          {lost, "task.events.fetch_sub(fulfilled"}}),
              "");
}

} // namespace
} // namespace sennit::schedules
