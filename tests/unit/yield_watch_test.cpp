// SPDX-License-Identifier: Apache-2.0
#include "base/yield_watch.h"

#include <gtest/gtest.h>

namespace {

using sennit::YieldWatch;

constexpr std::uint64_t kTicks = 1000; // a microsecond
constexpr std::uint64_t kSlice = 3000 * kTicks;
constexpr std::uint64_t us(std::uint64_t time) {
    return time * kTicks;
}
// Yields until `now` that took so long that their mean is more than a wake-up takes.
void lose_slices(YieldWatch &watch, std::uint64_t now) {
    for (int i = 0; i < 2; ++i)
        watch.note(now - kSlice, now, kTicks);
}

TEST(YieldWatch, HandOversAmongWaitingThreadsSayNothing) {
    YieldWatch watch;
    for (std::uint64_t now = us(1000); now < us(2000); now += us(20))
        watch.note(now, now + us(16), kTicks);
    EXPECT_FALSE(watch.seen());
    EXPECT_FALSE(watch.wanted(us(2000)));
}

TEST(YieldWatch, OneTimeSliceAmongManyYieldsSaysNothing) {
    YieldWatch watch;
    std::uint64_t now = us(5000);
    for (int i = 0; i < 600; ++i) {
        const std::uint64_t took = i % 200 == 0 ? us(2500) : us(2);
        watch.note(now, now + took, kTicks);
        now += took;
    }
    EXPECT_FALSE(watch.seen());
}

TEST(YieldWatch, AfterYieldsThatTookTimeSlicesThreadsSleepForAWhile) {
    YieldWatch watch;
    const std::uint64_t now = us(5000);
    lose_slices(watch, now);
    EXPECT_TRUE(watch.wanted(now));
    EXPECT_TRUE(watch.wanted(now + us(YieldWatch::kShortestPauseUs) - 1));
    EXPECT_FALSE(watch.wanted(now + us(YieldWatch::kShortestPauseUs)));
}

TEST(YieldWatch, TriesThatFailBecomeSeldom) {
    YieldWatch watch;
    std::uint64_t now = us(5000);
    std::uint64_t pause = YieldWatch::kShortestPauseUs;
    for (int tries = 0; tries < 12; ++tries) {
        lose_slices(watch, now);
        EXPECT_TRUE(watch.wanted(now + us(pause) - 1)) << tries;
        now += us(pause);
        EXPECT_FALSE(watch.wanted(now)) << tries;
        now += kSlice;
        pause = std::min(2 * pause, YieldWatch::kLongestPauseUs);
    }
}

TEST(YieldWatch, ATimeSliceLongAfterTheLastOneBeginsAnew) {
    YieldWatch watch;
    std::uint64_t now = us(5000);
    lose_slices(watch, now);
    now += us(YieldWatch::kShortestPauseUs) + kSlice;
    lose_slices(watch, now); // twice the pause from here on
    now += us(10 * YieldWatch::kLongestPauseUs);
    lose_slices(watch, now);
    EXPECT_FALSE(watch.wanted(now + us(YieldWatch::kShortestPauseUs)));
}

TEST(YieldWatch, ThreadsThatComeBackMeanwhileDoNotProlongThePause) {
    YieldWatch watch;
    const std::uint64_t now = us(5000);
    lose_slices(watch, now);
    lose_slices(watch, now + us(100));
    EXPECT_FALSE(watch.wanted(now + us(YieldWatch::kShortestPauseUs)));
}

} // namespace
