// SPDX-License-Identifier: Apache-2.0
// omp/loops: the plans of all schedules give out every iteration once, and a plan from above is
// asked where its planner wants to.
#include "openmp/loops/exposed.h"
#include "openmp/loops/lent.h"
#include "openmp/loops/plans.h"
#include "openmp/loops/worksharing.h"
#include "openmp/team/cancel.h"

#include <gtest/gtest.h>
#include <memory>

using namespace sennit;
using namespace sennit::omp;

namespace {

struct Work {
    LoopSchedule schedule;
    std::uint64_t count;
    int loops = 1;
    bool leave_early = false;
    std::atomic<int> *hits;
};

void body(Member &member, void *data) {
    const Work &run = *static_cast<Work *>(data);
    sched::Worker &worker = *sched::Worker::self();
    for (int i = 0; i < run.loops; ++i) {
        loop_begin(worker, run.count, run.schedule);
        if (run.leave_early && member.index == 0) {
            member.team->cancelled.store(true);
            return;
        }
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        while (loop_next(worker, &first, &last))
            for (; first < last; ++first)
                run.hits[first].fetch_add(1);
        loop_end(worker);
    }
}

void expect_each_once(LoopSchedule schedule, std::uint64_t count, int threads) {
    constexpr int kLoops = 20; // more than the ring
    const auto hits = std::make_unique<std::atomic<int>[]>(count + 1);
    Work run{schedule, count, kLoops, false, hits.get()};
    parallel(here(), threads, body, &run);
    for (std::uint64_t i = 0; i < count; ++i)
        ASSERT_EQ(hits[i].load(), kLoops) << "iteration " << i << " of " << count;
}

// Thread 0 gets all, in one piece.
class Selfish final : public Plan {
  public:
    void begin(Loop &loop, int) const override {
        ++begun;
        loop.own = const_cast<Selfish *>(this);
    }
    bool next(Member &member, Loop &loop, std::uint64_t *first,
              std::uint64_t *last) const override {
        *first = 0;
        *last = loop.count;
        return member.index == 0 && member.work.position++ == 0 && loop.count > 0;
    }
    void end(Loop &loop) const override {
        EXPECT_EQ(loop.own, this);
        ++ended;
    }
    mutable std::atomic<int> begun{0};
    mutable std::atomic<int> ended{0};
};

class OfGuided final : public Planner {
  public:
    OfGuided() { set_planner(this); }
    ~OfGuided() { set_planner(nullptr); }
    const Plan *plan_for(const LoopSchedule &schedule, std::uint64_t, int) override {
        return schedule.kind == Sched::guided ? &plan : nullptr;
    }
    Selfish plan;
};

} // namespace

TEST(Loops, EveryPlanGivesOutEachIterationOnce) {
    for (const Sched kind : {Sched::static_, Sched::dynamic, Sched::guided, Sched::trapezoidal})
        for (const std::uint64_t chunk : {0, 1, 3})
            for (const bool monotonic : {false, true})
                for (const std::uint64_t multiple : {1, 4})
                    for (const std::uint64_t count : {0, 1, 2, 7, 64, 301})
                        for (const int threads : {1, 2, 3})
                            expect_each_once({.kind = kind,
                                              .chunk = chunk,
                                              .monotonic = monotonic,
                                              .multiple = multiple},
                                             count, threads);
}

TEST(LoopHistory, AsMuchIsOfferedAsIdleWorkersAreOrWasTaken) {
    static const int region = 0;
    const std::uint64_t loop = LoopHistory::key_of(&region, 1, 1000);
    LoopHistory history;
    EXPECT_EQ(history.begin(loop, 0, 100), 0);
    EXPECT_EQ(history.begin(loop, 2, 100), 2);
    for (int run = 0; run < balance::Exposure::kLength; ++run)
        history.end(loop, 10, 5);
    EXPECT_EQ(history.begin(loop, 0, 100), 50);
    // Another loop of the region, and the same of another size, are others.
    EXPECT_EQ(history.begin(LoopHistory::key_of(&region, 2, 1000), 0, 100), 0);
    EXPECT_EQ(history.begin(LoopHistory::key_of(&region, 1, 100000), 0, 100), 0);
    EXPECT_EQ(history.begin(LoopHistory::key_of(&region, 1, 1020), 0, 100), 50);
    for (int run = 0; run < balance::Exposure::kEnd; ++run)
        history.end(loop, 50, 0);
    EXPECT_EQ(history.begin(loop, 0, 100), 0);
}

TEST(LoopHistory, ATaskloopIsCutUntilEnoughIsKnownAndAsFarAsOthersTakeTasks) {
    static const int code = 0;
    constexpr std::uint64_t kMost = 12;
    const std::uint64_t loop = LoopHistory::key_of(&code, 0, 1000);
    LoopHistory history;
    for (int run = 0; run < balance::Exposure::kEnd; ++run) {
        EXPECT_EQ(history.tasks(loop, 0, kMost), kMost);
        history.end(loop, kMost - 1, 0);
    }
    EXPECT_EQ(history.tasks(loop, 0, kMost), 1U); // nobody helps
    EXPECT_EQ(history.tasks(loop, 3, kMost), 4U);
    EXPECT_EQ(history.tasks(loop, 100, kMost), kMost);
    // Somebody has even taken the only task.
    history.end(loop, 0, 1);
    EXPECT_EQ(history.tasks(loop, 0, kMost), 2U);

    const std::uint64_t other = LoopHistory::key_of(&code, 0, 100000);
    for (int run = 0; run < balance::Exposure::kLength; ++run) {
        EXPECT_EQ(history.tasks(other, 0, kMost), kMost);
        history.end(other, kMost - 1, kMost - 1);
    }
    EXPECT_EQ(history.tasks(other, 0, kMost), kMost);
    for (int run = 0; run < balance::Exposure::kLength; ++run)
        history.end(other, 10, 5);
    EXPECT_EQ(history.tasks(other, 0, kMost), 7U);
}

TEST(LentLoop, APieceIsWhatTakesSomeMicroseconds) {
    EXPECT_EQ(next_lent_piece(0, 0, 1000), 1U); // nobody knows yet what an iteration costs
    EXPECT_EQ(next_lent_piece(8, 1, 1000), 16U);
    EXPECT_EQ(next_lent_piece(8, 30, 1000), 8U);
    EXPECT_EQ(next_lent_piece(8, 100, 1000), 4U);
    EXPECT_EQ(next_lent_piece(1, 1000000, 1000), 1U);
    // The rest of a thread's share can be stolen at all times.
    EXPECT_EQ(next_lent_piece(512, 1, 1000), 250U);
    EXPECT_EQ(next_lent_piece(512, 1, 3), 1U);
}

TEST(Loops, APlannerHasASayBeforeTheSchedule) {
    const OfGuided planner;
    expect_each_once({.kind = Sched::guided}, 100, 2);
    EXPECT_EQ(planner.plan.begun.load(), 20);
    EXPECT_EQ(planner.plan.ended.load(), 20);
    expect_each_once({.kind = Sched::dynamic}, 100, 2);
    EXPECT_EQ(planner.plan.begun.load(), 20);
}

TEST(Loops, APlanIsToldOfTheEndOfACancelledLoop) {
    const OfGuided planner;
    std::atomic<int> hits[8] = {};
    Work run{{.kind = Sched::guided}, 8, 1, true, hits};
    parallel(here(), 2, body, &run);
    EXPECT_EQ(planner.plan.begun.load(), 1);
    run.leave_early = false;
    parallel(here(), 2, body, &run);
    EXPECT_EQ(planner.plan.begun.load(), 2);
    EXPECT_EQ(planner.plan.ended.load(), 2);
}
