// SPDX-License-Identifier: Apache-2.0
// Gates, barriers and joins of a team (openmp/team/team.cpp, cancel.cpp, barrier() in region.cpp)
// under every schedule; and whether it has tasks (tasks/sched/group.h).
#include "schedules.h"
#include "workers.h"

#include "openmp/env/icv.h"
#include "openmp/team/cancel.h"
#include "openmp/team/team.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

using namespace omp;

// The threads of a region come to a barrier several times, and then to the join.
class Region {
  public:
    static constexpr int kMost = 3;
    enum class Ends : std::uint8_t { without_join, with_join, cancelled };
    Region(int size, int barriers, Ends ends, bool has_tasks = false)
        : size_(size), barriers_(barriers), ends_(ends), has_tasks_(has_tasks) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this), memory_of(sched::g_groups_with_tasks)};
        test.begin = [this] { begin(); };
        for (int i = 0; i < size_; ++i)
            test.threads.emplace_back([this, i] { run(i); });
        test.state = [this] {
            std::uint64_t all = 0;
            for (const int come : come_)
                all = 8 * all + static_cast<std::uint64_t>(come);
            return all;
        };
        test.end = [this] {
            for (const TestWorker &worker : workers_)
                if (worker.is_ready())
                    return "a wake-up is left over";
            if (has_tasks_ && (sched::g_groups_with_tasks.load() != 0 || team_.has_tasks.load()))
                return "a group without tasks is counted";
            return "";
        };
        return test;
    }

  private:
    void begin() {
        make_anew(team_);
        make_anew(sched::g_groups_with_tasks);
        team_.size = size_;
        team_.slots = slots_.data();
        for (int i = 0; i < size_; ++i) {
            Member &member = members_[i];
            make_anew(member);
            member.team = &team_;
            member.group = &team_;
            member.index = i;
            slots_[i] = &member;
            make_anew(workers_[i], i);
            workers_[i].slot = &member;
            workers_[i].task = &member.implicit;
            workers_[i].looks_after_group = has_tasks_;
        }
        come_ = {};
        is_cancelled_ = false;
    }
    // A task that the thread creates and runs.
    void run_task(int me) {
        members_[me].count_created();
        team_.note_tasks();
        if (sched::g_groups_with_tasks.load(std::memory_order_relaxed) == 0 ||
            !team_.has_tasks.load(std::memory_order_relaxed))
            fail("a task runs, and no group has tasks");
        members_[me].count_finished();
    }
    void run(int me) {
        bool left = false;
        for (int i = 0; i < barriers_ && !left; ++i) {
            if (has_tasks_ && (me == 0 || size_ == 2))
                run_task(me);
            ++come_[i];
            begin_anew(i);
            if (ends_ == Ends::cancelled && me == 2) { // it comes to a cancellation point
                wait_while(team_.cancelled.word(), 0);
                ++come_[kJoin];
                return arrive(team_, Team::kJoin);
            } else if (ends_ == Ends::cancelled && me == 0) {
                is_cancelled_ = true;
                left = cancel(workers_[me], Construct::parallel);
            } else if (has_tasks_ && me == 2) {
                return arrive(team_, 0); // what it does next has been seen with two threads
            } else {
                left = barrier(workers_[me]);
                if (left && !is_cancelled_)
                    fail("a barrier says that the region is cancelled");
                if (!left && come_[i] != size_)
                    fail("a thread goes on before the others have come");
            }
        }
        if (ends_ == Ends::without_join)
            return;
        // As omp::join.
        ++come_[kJoin];
        begin_anew(kJoin);
        const std::uint32_t seen = team_.barrier.epoch();
        arrive(team_, Team::kJoin);
        pass(workers_[me], members_[me], team_.barrier, seen);
        if (come_[kJoin] != size_)
            fail("a thread is through the join before the others have come");
    }

    static constexpr int kJoin = 3;
    const int size_, barriers_;
    const Ends ends_;
    const bool has_tasks_;
    Team team_;
    std::array<sched::Slot *, kMost> slots_{};
    std::array<Member, kMost> members_;
    std::array<TestWorker, kMost> workers_{TestWorker(0), TestWorker(1), TestWorker(2)};
    std::array<int, kJoin + 1> come_{}; // by barrier
    bool is_cancelled_ = false;
};

using Ends = Region::Ends;

std::string failure_of(int size, int barriers, Ends ends, bool has_tasks = false) {
    Region region(size, barriers, ends, has_tasks);
    return schedules::failure_of(region.test());
}

TEST(Team, ABarrierLetsAllThroughWhenAllHaveCome) {
    EXPECT_EQ(failure_of(2, 2, Ends::with_join), "");
    EXPECT_EQ(failure_of(3, 1, Ends::without_join), "");
}

TEST(Team, ABarrierOpensOnceThoughAllLookForTheEndOfTasks) {
    EXPECT_EQ(failure_of(2, 2, Ends::without_join, true), "");
    EXPECT_EQ(failure_of(3, 1, Ends::without_join, true), "");
}

TEST(Team, ACancelledRegionEndsWhenAllHaveComeToTheJoin) {
    EXPECT_EQ(failure_of(2, 1, Ends::cancelled), "");
    EXPECT_EQ(failure_of(3, 1, Ends::cancelled), "");
}

TEST(Team, NeedsEachOfItsSteps) {
    Region joined(2, 2, Ends::with_join), cancelled(2, 1, Ends::cancelled),
        tasks(2, 2, Ends::without_join, true);
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({joined.test(), cancelled.test(), tasks.test()},
                          {{lost, "parked_.fetch_add"},
                           {late, "parked_.fetch_add"},
                           {lost, "epoch_.fetch_add"},
                           {late, "epoch_.fetch_add"},
                           {stale, "gate_.epoch_.load"},
                           {lost, "team.cancelled.store"},
                           {torn, "team.arrived.fetch_add"},
                           {lost, "arrived.compare_exchange"},
                           {torn, "arrived.compare_exchange"},
                           {lost, "has_tasks.store"},
                           {late, "g_groups_with_tasks.fetch_add"},
                           {lost, "g_groups_with_tasks.fetch_sub"},
                           {late, "has_tasks.store", 3}, // the gate is open
                           {torn, "has_tasks.exchange"},
                           {torn, "waiter_.compare_exchange_strong(fiber, mark()"}}),
              "");
}

} // namespace
} // namespace sennit::schedules
