// SPDX-License-Identifier: Apache-2.0
// Workers of a virtual team (openmp/team/virtual_team.cpp) under every schedule: who has found
// nothing to steal is told of what comes later.
#include "schedules.h"
#include "workers.h"

#include "openmp/team/virtual_team.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

using namespace omp;

// Two workers run a region of four threads: each has a thread of its own, and a range of one more.
// One worker's own thread waits until the other worker has begun the one in the range, as a thread
// that spins. Either worker may come first, so the other one may have found nothing by then.
class SplitRegion {
  public:
    explicit SplitRegion(int waiting) : waiting_(waiting) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] { begin(); };
        for (int i = 0; i < kWorkers; ++i)
            test.threads.emplace_back([this, i] { work(i); });
        test.state = [this] { return static_cast<std::uint64_t>(ended_); };
        test.end = [this] { return ended_ == kThreads ? "" : "a thread has not run once"; };
        return test;
    }

  private:
    static constexpr int kWorkers = 2, kThreads = 4;

    void begin() {
        s_here = this;
        make_anew(team_);
        team_.size = kThreads;
        team_.workers = kWorkers;
        team_.slots = slots_.data();
        team_.body = [](Member &member, void *) { s_here->run(member.index); };
        make_anew(around_);
        team_.encountering_task = &around_;
        for (int i = 0; i < kThreads; ++i) {
            Member &member = members_[i];
            make_anew(member);
            member.team = &team_;
            member.group = &team_;
            member.index = i;
            slots_[i] = &member;
        }
        for (int i = 0; i < kWorkers; ++i)
            make_anew(workers_[i], i);
        make_anew(begun_);
        ended_ = 0;
        threads_ = VirtualTeam::make(team_, false);
        team_.threads = threads_;
        threads_->begin(team_);
    }

    // A thread of the region.
    void run(int thread) {
        ++ended_;
        if (thread == VirtualTeam::first_of(waiting_, team_) + 1)
            begun_.store(1, std::memory_order_release);
        else if (thread == VirtualTeam::first_of(waiting_, team_))
            wait_while(begun_.word(), 0);
    }

    // Its part, and then what it is told of, until all have arrived at the join.
    void work(int worker) {
        Member &mine = members_[VirtualTeam::first_of(worker, team_)];
        const std::uint32_t seen = team_.barrier.epoch();
        threads_->begin_part(workers_[worker], team_, mine);
        run(mine.index);
        arrive(team_, Team::kJoin, 1 + threads_->run_others(workers_[worker], team_, mine));
        for (;;) {
            begin_anew(static_cast<std::uint64_t>(ended_));
            if (team_.barrier.epoch() != seen)
                return;
            if (!threads_->has_any(mine) || !threads_->run_one(workers_[worker], team_, mine))
                wait_for_change();
        }
    }

    static inline SplitRegion *s_here = nullptr;
    const int waiting_; // which worker
    Team team_;
    Task around_;
    std::array<sched::Slot *, kThreads> slots_{};
    std::array<Member, kThreads> members_;
    std::array<TestWorker, kWorkers> workers_{TestWorker(0), TestWorker(1)};
    VirtualTeam *threads_ = nullptr;
    Atomic<int> begun_{0};
    int ended_ = 0;
};

TEST(VirtualTeam, AWorkerIsToldOfWhatItCanSteal) {
    SplitRegion first(0), second(1);
    EXPECT_EQ(failure_of(first.test()), "");
    EXPECT_EQ(failure_of(second.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({first.test(), second.test()},
                          {{lost, "full_fence(); // pairs with that in steal"},
                           {lost, "full_fence(); // and look again"},
                           {late, "exhausted_.store(true"}, // no second look
                           {lost, "exhausted_.store(false"}}),
              "");
}

} // namespace
} // namespace sennit::schedules
