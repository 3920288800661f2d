// SPDX-License-Identifier: Apache-2.0
// What the threads of a team share in worksharing constructs (openmp/loops/worksharing.cpp) under
// every schedule: the ring of descriptors, and the turn of an ordered loop.
#include "schedules.h"
#include "workers.h"

#include "openmp/loops/worksharing.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::omp {

// In place of plans.cpp: each thread has the iteration of its own number, if the loop has one.
void begin_loop(Loop &loop, std::uint64_t count, const LoopSchedule &schedule, int) {
    class OneEach final : public Plan {
        bool next(Member &member, Loop &of, std::uint64_t *first,
                  std::uint64_t *last) const override {
            *first = static_cast<std::uint64_t>(member.index);
            *last = *first + 1;
            return *first < of.count && member.work.position++ == 0;
        }
    };
    static const OneEach plan;
    loop.describe(count, schedule);
    loop.plan = &plan;
}

} // namespace sennit::omp

namespace sennit::schedules {
namespace {

using namespace omp;

class Threads {
  public:
    static constexpr int kMost = 3;
    virtual ~Threads() = default;

  protected:
    Test test_of(int threads, std::span<std::byte> memory) {
        Test test;
        test.memory = {memory};
        test.begin = [this, threads] {
            make_team(threads);
            begin();
        };
        for (int i = 0; i < threads; ++i)
            test.threads.emplace_back([this, i] { run(i); });
        test.state = [this] { return state(); };
        test.end = [this] {
            for (const TestWorker &worker : workers_)
                if (worker.is_ready())
                    return "a wake-up is left over";
            return "";
        };
        return test;
    }
    virtual void begin() = 0;
    virtual void run(int me) = 0;
    virtual std::uint64_t state() const = 0;

    Team team_;
    std::array<sched::Slot *, kMost> slots_{};
    std::array<Member, kMost> members_;
    std::array<TestWorker, kMost> workers_{TestWorker(0), TestWorker(1), TestWorker(2)};

  private:
    void make_team(int threads) {
        sched::g_processors.set_active(kMost); // they wait asleep
        make_anew(team_);
        team_.size = threads;
        team_.slots = slots_.data();
        for (int i = 0; i < threads; ++i) {
            make_anew(members_[i]);
            members_[i].team = &team_;
            members_[i].group = &team_;
            members_[i].index = i;
            slots_[i] = &members_[i];
            make_anew(workers_[i], i);
            workers_[i].slot = &members_[i];
            workers_[i].task = &members_[i].implicit;
        }
        make_workshares(team_);
    }
};

// Two threads go through constructs that have the same descriptor, one after the other. A construct
// has more iterations than those before it.
class Ring final : public Threads {
  public:
    Test test() { return test_of(2, memory_of(*this)); }

  private:
    static constexpr std::uint32_t kConstructs = 3;
    void begin() override { taken_ = 0; }
    void run(int me) override {
        Member &member = members_[me];
        for (std::uint32_t i = 0; i < kConstructs; ++i) {
            begin_anew(i);
            member.work.begun = i * Workshares::kRing;
            loop_begin(workers_[me], i, {});
            if (static_cast<LoopState *>(member.work.loop)->count != i)
                fail("a thread takes pieces of another construct");
            for (std::uint64_t first, last; loop_next(workers_[me], &first, &last);)
                ++taken_;
            loop_end(workers_[me]);
        }
    }
    std::uint64_t state() const override { return taken_; }

    std::uint64_t taken_ = 0;
};

TEST(Loops, ADescriptorIsForOneConstructAtATime) {
    Ring ring;
    const Result result = explore(ring.test());
    EXPECT_EQ(result.failure, "") << result.schedule;
    EXPECT_EQ(result.ends, std::set<std::uint64_t>{3});
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({ring.test()},
                          {{late, "state.setup.store(LoopState::kFree", 2}, // after the turn
                           {lost, "state.setup.store(LoopState::kFree"},
                           {lost, "state.setup.store(LoopState::kReady"},
                           {lost, "state.construct.store"},
                           {lost, "state.left.fetch_add"},
                           {torn, "state.left.fetch_add"},
                           {lost, "state.left.store(0"}}),
              "");
}

// Each thread has an iteration of an ordered loop.
class Ordered final : public Threads {
  public:
    Test test() { return test_of(kMost, memory_of(*this)); }

  private:
    void begin() override {
        next_ = 0;
        LoopSchedule schedule;
        schedule.ordered = true;
        for (int i = 0; i < kMost; ++i) {
            loop_begin(workers_[i], kMost, schedule);
            std::uint64_t first = 0, last = 0;
            if (!loop_next(workers_[i], &first, &last))
                std::abort();
        }
    }
    void run(int me) override {
        ordered_begin(workers_[me]);
        if (next_++ != static_cast<std::uint64_t>(me))
            fail("a piece is out of order");
        ordered_end(workers_[me]);
    }
    std::uint64_t state() const override { return next_; }

    std::uint64_t next_ = 0;
};

TEST(Loops, AnOrderedTurnReachesWhoSleeps) {
    Ordered ordered;
    EXPECT_EQ(failure_of(ordered.test()), "");
    using enum Flaw::Kind;
    EXPECT_NE(explore(ordered.test(), {no_fence, "", 0}).failure, "");
    EXPECT_EQ(not_refused({ordered.test()}, {{late, "parked_.fetch_add"}, // looks first
                                             {lost, "parked_.fetch_add"},
                                             {lost, "state.ordered_from.store(to"},
                                             {late, "state.ordered_from.store(to"},
                                             {stale, "state_.ordered_from.load"}}),
              "");
}

} // namespace
} // namespace sennit::schedules
