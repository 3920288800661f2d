// SPDX-License-Identifier: Apache-2.0
// The fence of two prices (base/fence.h): the rule of when its mode changes, and the real thing.
// tests/schedules runs the changes.
#include "base/fence.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace sennit {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(SleepRate, BothSidesPayWhileSleepsAreFrequent) {
    SleepRate rate;
    std::int64_t now = 5000 * kMs;
    EXPECT_FALSE(rate.wants_full(1, now, false)) << "nothing to compare with";
    now += kMs;
    EXPECT_FALSE(rate.wants_full(10, now, false));
    now += kMs;
    EXPECT_TRUE(rate.wants_full(42, now, false));
    EXPECT_TRUE(rate.wants_full(42, now + kMs, true)) << "too early to say";
    now += 8 * kMs;
    EXPECT_TRUE(rate.wants_full(42 + 40, now, true)) << "fewer, but not few";
    now += 8 * kMs;
    EXPECT_FALSE(rate.wants_full(82 + 20, now, true));
}

TEST(SleepRate, CountsBeyondTheEndOfItsNumber) {
    SleepRate rate;
    rate.wants_full(0xffffffff, kMs, false);
    EXPECT_TRUE(rate.wants_full(31, 2 * kMs, false));
    EXPECT_FALSE(rate.wants_full(31, 100 * kMs, true));
}

// Two threads, each with a word for each round. None waits for the other.
TEST(SleepRate, WhatIsExpectedHoldsForAWhile) {
    SleepRate rate;
    rate.begin(100, 1'000'000'000);
    EXPECT_TRUE(rate.wants_full(101, 1'000'000'000 + SleepRate::kShortestNs / 2, true));
    EXPECT_FALSE(rate.wants_full(101, 1'000'000'000 + SleepRate::kShortestNs, true));
}

TEST(Fence, BothSidesPayWhereSleepsAreExpectedUntilThereAreNone) {
    fence_setup();
    if (!g_light_fence_is_free.load())
        GTEST_SKIP() << "the kernel has no membarrier";
    fence_expect_sleeps();
    EXPECT_FALSE(g_light_fence_is_free.load());
    while (!g_light_fence_is_free.load())
        fence_light();
}

TEST(Fence, StressOneOfTheTwoSeesTheOther) {
    fence_setup();
    constexpr std::size_t kRounds = 100'000;
    std::vector<std::atomic<int>> work(kRounds), asleep(kRounds);
    std::vector<char> saw_work(kRounds), saw_sleeper(kRounds);
    std::thread sleeper([&] {
        for (std::size_t round = 0; round < kRounds; ++round) {
            asleep[round].store(1, std::memory_order_relaxed);
            fence_before_sleep();
            saw_work[round] = work[round].load(std::memory_order_relaxed) != 0;
        }
    });
    for (std::size_t round = 0; round < kRounds; ++round) {
        work[round].store(1, std::memory_order_relaxed);
        if (round % 8192 == 0)
            fence_expect_sleeps();
        fence_light();
        saw_sleeper[round] = asleep[round].load(std::memory_order_relaxed) != 0;
    }
    sleeper.join();
    for (std::size_t round = 0; round < kRounds; ++round)
        ASSERT_TRUE(saw_work[round] || saw_sleeper[round]) << round;
}

} // namespace
} // namespace sennit
