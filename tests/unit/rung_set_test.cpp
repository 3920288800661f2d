// SPDX-License-Identifier: Apache-2.0
// ranks/fibers/fiber_table.h: who was rung for is visited once, and never lost.
#include "ranks/fibers/fiber_table.h"

#include <atomic>
#include <gtest/gtest.h>
#include <new>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace sennit::virt {
namespace {

std::vector<int> taken_of(RungSet &set, int count) {
    std::vector<int> taken;
    set.take(count, [&](std::int32_t number) { taken.push_back(number); });
    return taken;
}

TEST(RungSet, VisitsEachOnceInTheOrderOfTheirNumbers) {
    static RungSet set;
    EXPECT_FALSE(set.any(RungSet::kMost));
    using enum RungSet::Added;
    EXPECT_EQ(set.add(70), first);
    EXPECT_EQ(set.add(5), first);
    EXPECT_EQ(set.add(63), further);
    EXPECT_EQ(set.add(63), again);
    EXPECT_EQ(set.add(RungSet::kMost - 1), first);
    EXPECT_TRUE(set.any(6));
    EXPECT_EQ(taken_of(set, RungSet::kMost), (std::vector{5, 63, 70, RungSet::kMost - 1}));
    EXPECT_FALSE(set.any(RungSet::kMost));
    EXPECT_EQ(taken_of(set, RungSet::kMost), std::vector<int>{});
    EXPECT_EQ(set.add(63), first) << "it may be rung for again";
}

TEST(RungSet, LooksNoFurtherThanItIsTold) {
    static RungSet set;
    set.add(64);
    EXPECT_FALSE(set.any(64));
    EXPECT_EQ(taken_of(set, 64), std::vector<int>{});
    EXPECT_TRUE(set.any(65));
    EXPECT_EQ(taken_of(set, 65), std::vector<int>{64});
}

// Each ringer changes its own word before it rings, as ranks do.
TEST(RungSet, StressNoRingIsLost) {
    constexpr int ringers = 4;
    constexpr int rounds = 20'000;
    constexpr int between = 40; // their bits are in several words
    static RungSet set;
    static std::atomic<int> words[ringers];
    std::vector<std::thread> threads;
    for (int i = 0; i < ringers; ++i)
        threads.emplace_back([i] {
            for (int round = 0; round < rounds; ++round) {
                words[i].fetch_add(1);
                set.add(i * between);
            }
        });
    int seen[ringers] = {};
    const auto all_seen = [&] {
        for (const int changes : seen)
            if (changes != rounds)
                return false;
        return true;
    };
    while (!all_seen()) {
        set.take(ringers * between, [&](std::int32_t number) {
            const int ringer = number / between;
            seen[ringer] = words[ringer].load();
        });
        sched_yield();
    }
    for (std::thread &thread : threads)
        thread.join();
    SUCCEED();
}

// At whatever instruction: the next ring reaches the fiber.
TEST(RungSet, ARingerThatIsKilledKeepsNobodyOut) {
    struct Shared {
        RungSet set;
        std::atomic<bool> begun{false};
    };
    void *const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    for (int i = 0; i < 50; ++i) {
        auto &shared = *new (memory) Shared;
        const pid_t ringer = fork();
        ASSERT_GE(ringer, 0);
        if (ringer == 0)
            for (;;) {
                shared.set.add(3);
                shared.begun.store(true);
            }
        while (!shared.begun.load())
            sched_yield();
        for (int takes = 0; takes < i; ++takes)
            taken_of(shared.set, 4);
        kill(ringer, SIGKILL);
        waitpid(ringer, nullptr, 0);
        taken_of(shared.set, 4);
        EXPECT_EQ(shared.set.add(3), RungSet::Added::first);
        EXPECT_EQ(taken_of(shared.set, 4), std::vector<int>{3});
    }
    munmap(memory, sizeof(Shared));
}

} // namespace
} // namespace sennit::virt
