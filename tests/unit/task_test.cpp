// SPDX-License-Identifier: Apache-2.0
// task/ and omp/team: the life of a task, without a compiler in between.
#include "openmp/team/team.h"
#include "sennit.h"
#include "tasks/task/task.h"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

using namespace sennit;
using task::Depend;
using task::DependKind;

namespace {

// A deferred task that calls `body`.
Task *make(std::function<void()> body, std::uint32_t flags = 0, int priority = 0) {
    using Body = std::function<void()>;
    sched::Worker &worker = omp::here();
    Task *made = task::allocate(worker, sizeof(Body *));
    auto invoke = [](Task &self) {
        auto *kept = *static_cast<Body **>(self.payload());
        (*kept)();
        delete kept;
    };
    task::set_up(worker, *made, invoke, nullptr, flags, priority);
    *static_cast<Body **>(made->payload()) = new Body(std::move(body));
    return made;
}

void create(std::function<void()> body, std::vector<Depend> depends = {}, std::uint32_t flags = 0) {
    Task *made = make(std::move(body), flags);
    task::submit(omp::here(), *made, depends.data(), static_cast<int>(depends.size()));
}

// Run `body` on thread 0 of a team of `threads`.
void in_region(int threads, std::function<void()> body) {
    omp::parallel(
        omp::here(), threads,
        [](omp::Member &member, void *data) {
            if (member.index == 0)
                (*static_cast<std::function<void()> *>(data))();
        },
        &body);
}

int v; // something to depend on
Depend on(void *address, DependKind kind) {
    return {address, kind};
}

} // namespace

class Tasks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, Tasks, testing::Values(1, 2, 4));

TEST_P(Tasks, AllHaveRunWhenTheRegionEnds) {
    std::atomic<int> ran{0};
    in_region(GetParam(), [&] {
        for (int i = 0; i < 10000; ++i)
            create([&] { ++ran; });
    });
    EXPECT_EQ(ran, 10000);
}

TEST_P(Tasks, TaskwaitWaitsForChildrenOnly) {
    in_region(GetParam(), [&] {
        std::atomic<int> children{0};
        for (int i = 0; i < 100; ++i)
            create([&] { ++children; });
        task::wait_children(omp::here());
        EXPECT_EQ(children, 100);
    });
}

TEST_P(Tasks, TaskgroupWaitsForDescendants) {
    in_region(GetParam(), [&] {
        std::atomic<int> all{0};
        Taskgroup group;
        task::begin_taskgroup(omp::here(), group);
        for (int i = 0; i < 10; ++i)
            create([&] {
                for (int j = 0; j < 10; ++j)
                    create([&] { ++all; });
            });
        task::end_taskgroup(omp::here());
        EXPECT_EQ(all, 100);
    });
}

TEST_P(Tasks, WritersAreOrderedReadersShare) {
    in_region(GetParam(), [&] {
        int value = 0;
        std::atomic<int> read{0};
        for (int round = 0; round < 50; ++round) {
            create([&] { ++value; }, {on(&v, DependKind::out)});
            for (int reader = 0; reader < 4; ++reader)
                create([&, round] { read += value == round + 1; }, {on(&v, DependKind::in)});
        }
        task::wait_children(omp::here());
        EXPECT_EQ(value, 50);
        EXPECT_EQ(read, 200);
    });
}

TEST_P(Tasks, MutexinoutsetExcludesWithoutOrder) {
    in_region(GetParam(), [&] {
        int inside = 0;
        int total = 0;
        bool after = false;
        for (int i = 0; i < 200; ++i)
            create(
                [&] {
                    EXPECT_EQ(inside, 0);
                    ++inside;
                    ++total;
                    --inside;
                },
                {on(&v, DependKind::mutexinoutset)});
        create([&] { after = total == 200; }, {on(&v, DependKind::in)});
        task::wait_children(omp::here());
        EXPECT_TRUE(after);
    });
}

TEST_P(Tasks, InoutsetIsASetBetweenWriters) {
    in_region(GetParam(), [&] {
        int first = 0;
        std::atomic<int> set{0};
        int last = 0;
        create([&] { first = 1; }, {on(&v, DependKind::out)});
        for (int i = 0; i < 20; ++i)
            create([&] { set += first; }, {on(&v, DependKind::inoutset)});
        create([&] { last = set; }, {on(&v, DependKind::in)});
        task::wait_children(omp::here());
        EXPECT_EQ(last, 20);
    });
}

TEST_P(Tasks, AllMemoryOrdersEverything) {
    in_region(GetParam(), [&] {
        int a = 0, b = 0, sum = 0;
        create([&] { a = 1; }, {on(&a, DependKind::out)});
        create([&] { b = 2; }, {on(&b, DependKind::out)});
        create([&] { sum = a + b; }, {task::all_memory()});
        create([&] { a = sum; }, {on(&a, DependKind::out)});
        int fresh = 0;
        create([&] { fresh = sum; }, {on(&fresh, DependKind::out)});
        task::wait_children(omp::here());
        EXPECT_EQ(sum, 3);
        EXPECT_EQ(a, 3);
        EXPECT_EQ(fresh, 3);
    });
}

// Random graphs against a sequential execution: each task folds its inputs into its output.
TEST_P(Tasks, RandomGraphsGiveTheSequentialResult) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        constexpr std::size_t kCells = 12;
        std::mt19937 random(seed);
        struct Step {
            std::size_t in1, in2, out;
            bool update;
        };
        std::vector<Step> steps(400);
        for (auto &step : steps)
            step = {random() % kCells, random() % kCells, random() % kCells, random() % 2 == 0};
        auto apply = [](std::vector<std::uint64_t> &cells, const Step &step) {
            const std::uint64_t fold = cells[step.in1] * 31 + cells[step.in2] * 17 + 7;
            cells[step.out] = step.update ? cells[step.out] * 5 + fold : fold;
        };
        std::vector<std::uint64_t> expected(kCells, 1);
        for (const auto &step : steps)
            apply(expected, step);
        std::vector<std::uint64_t> cells(kCells, 1);
        in_region(GetParam(), [&] {
            for (const auto &step : steps)
                create([&cells, step, apply] { apply(cells, step); },
                       {on(&cells[step.in1], DependKind::in), on(&cells[step.in2], DependKind::in),
                        on(&cells[step.out], DependKind::out)});
        });
        EXPECT_EQ(cells, expected) << "seed " << seed;
    }
}

TEST_P(Tasks, EventsHoldDependencesBack) {
    in_region(GetParam(), [&] {
        std::atomic<sennit_task *> handle{nullptr};
        std::atomic<bool> released{false};
        create(
            [&] {
                sennit_task *self = nullptr;
                ASSERT_EQ(sennit_task_self(&self), SENNIT_SUCCESS);
                ASSERT_EQ(sennit_task_events_increase(self, 2), SENNIT_SUCCESS);
                handle = self;
            },
            {on(&v, DependKind::out)});
        create([&] { released = true; }, {on(&v, DependKind::in)});
        create([&] {
            while (!handle)
                omp::here().yield();
            EXPECT_FALSE(released);
            sennit_task_events_decrease(handle, 1);
            EXPECT_FALSE(released);
            std::thread([&] { sennit_task_events_decrease(handle, 1); }).join();
        });
        task::wait_children(omp::here());
        EXPECT_TRUE(released);
    });
}

TEST_P(Tasks, SuspendGivesTheThreadAway) {
    in_region(GetParam(), [&] {
        constexpr std::size_t kTasks = 1000;
        std::vector<std::atomic<sennit_task *>> handles(kTasks);
        std::atomic<int> resumed{0};
        for (std::size_t i = 0; i < kTasks; ++i)
            create([&, i] {
                sennit_task *self = nullptr;
                sennit_task_self(&self);
                const std::thread::id thread = std::this_thread::get_id();
                handles[i] = self;
                ASSERT_EQ(sennit_task_suspend(self), SENNIT_SUCCESS);
                EXPECT_EQ(std::this_thread::get_id(), thread) << "tied means tied";
                ++resumed;
            });
        create([&] {
            for (auto &handle : handles) {
                while (!handle)
                    omp::here().yield();
                EXPECT_EQ(sennit_task_resume(handle), SENNIT_SUCCESS);
            }
        });
        task::wait_children(omp::here());
        EXPECT_EQ(resumed, static_cast<int>(kTasks));
    });
}

TEST_P(Tasks, AResumeThatComesFirstIsKept) {
    in_region(GetParam(), [&] {
        bool done = false;
        create([&] {
            sennit_task *self = nullptr;
            sennit_task_self(&self);
            sennit_task_resume(self);
            sennit_task_suspend(self);
            done = true;
        });
        task::wait_children(omp::here());
        EXPECT_TRUE(done);
    });
}

TEST_P(Tasks, YieldLetsAnotherTaskRun) {
    in_region(GetParam(), [&] {
        std::atomic<int> turn{0};
        create([&] {
            turn = 1;
            while (turn != 2)
                omp::here().yield();
            turn = 3;
        });
        create([&] {
            while (turn != 1)
                omp::here().yield();
            turn = 2;
        });
        task::wait_children(omp::here());
        EXPECT_EQ(turn, 3);
    });
}

TEST_P(Tasks, WaitNsFreesTheThreadAndTakesItsTime) {
    in_region(GetParam(), [&] {
        std::atomic<bool> other{false};
        bool other_ran_meanwhile = false;
        create([&] {
            std::uint64_t actual = 0;
            EXPECT_EQ(sennit_task_wait_ns(3'000'000, &actual), SENNIT_SUCCESS);
            EXPECT_GE(actual, 3'000'000u);
            other_ran_meanwhile = other;
        });
        create([&] { other = true; });
        task::wait_children(omp::here());
        EXPECT_TRUE(other_ran_meanwhile);
    });
}

TEST(Spawn, RunsWithoutAParallelRegion) {
    struct Probe {
        std::atomic<bool> body{false};
        std::atomic<bool> done{false};
    } probe;
    ASSERT_EQ(sennit_task_spawn([](void *p) { static_cast<Probe *>(p)->body = true; }, &probe,
                                [](void *p) { static_cast<Probe *>(p)->done = true; }, &probe,
                                "probe"),
              SENNIT_SUCCESS);
    while (!probe.done)
        std::this_thread::yield();
    EXPECT_TRUE(probe.body);
}

TEST(Api, RefusesWhatIsNotTheCaller) {
    sennit_task *self = nullptr;
    ASSERT_EQ(sennit_task_self(&self), SENNIT_SUCCESS);
    int kind = -1;
    EXPECT_EQ(sennit_task_get_kind(self, &kind), SENNIT_SUCCESS);
    EXPECT_EQ(kind, SENNIT_TASK_INITIAL);
    EXPECT_EQ(sennit_task_self(nullptr), SENNIT_ERR_PARAMETER);
    EXPECT_EQ(sennit_task_suspend(nullptr), SENNIT_ERR_PARAMETER);
    Task stranger;
    EXPECT_EQ(sennit_task_suspend(&stranger), SENNIT_ERR_NOT_SELF);
    std::thread([&] {
        EXPECT_EQ(sennit_should_suspend(), 0);
        sennit_task *none = nullptr;
        EXPECT_EQ(sennit_task_self(&none), SENNIT_ERR_OUTSIDE_TASK);
    }).join();
}

TEST(Teams, RegionsOfChangingSizesRunOnAllThreads) {
    for (int round = 0; round < 200; ++round)
        for (int size : {2, 1, 4, 3}) {
            struct Probe {
                std::atomic<int> ran{0};
                std::atomic<unsigned> indices{0};
            } probe;
            omp::parallel(
                omp::here(), size,
                [](omp::Member &member, void *data) {
                    auto &p = *static_cast<Probe *>(data);
                    ++p.ran;
                    p.indices |= 1u << member.index;
                },
                &probe);
            ASSERT_EQ(probe.ran, size);
            ASSERT_EQ(probe.indices, (1u << size) - 1);
        }
}

TEST(Teams, BarriersSeparate) {
    struct Probe {
        std::atomic<int> before{0};
        std::atomic<bool> wrong{false};
    } probe;
    omp::parallel(
        omp::here(), 4,
        [](omp::Member &, void *data) {
            auto &p = *static_cast<Probe *>(data);
            for (int round = 1; round <= 500; ++round) {
                ++p.before;
                omp::barrier(omp::here());
                if (p.before != 4 * round)
                    p.wrong = true;
                omp::barrier(omp::here());
            }
        },
        &probe);
    EXPECT_FALSE(probe.wrong);
}
