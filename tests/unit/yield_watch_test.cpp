// SPDX-License-Identifier: Apache-2.0
#include "base/yield_watch.h"

#include <gtest/gtest.h>

namespace {

using sennit::YieldWatch;

constexpr std::uint64_t kTicks = 3; // a microsecond
constexpr std::uint64_t kSlice = 3000 * kTicks;
constexpr std::uint64_t us(std::uint64_t time) {
    return time * kTicks;
}

TEST(YieldWatch, HandOversAmongWaitingThreadsSayNothing) {
    YieldWatch watch;
    for (std::uint64_t now = us(1000); now < us(2000); now += us(20))
        watch.note(now, now + us(16), kTicks);
    EXPECT_FALSE(watch.seen());
    EXPECT_FALSE(watch.wanted(us(2000)));
}

TEST(YieldWatch, AfterAYieldThatTookATimeSliceThreadsSleepForAWhile) {
    YieldWatch watch;
    const std::uint64_t now = us(5000);
    watch.note(now - kSlice, now, kTicks);
    EXPECT_TRUE(watch.wanted(now));
    EXPECT_TRUE(watch.wanted(now + us(YieldWatch::kShortestPauseUs) - 1));
    EXPECT_FALSE(watch.wanted(now + us(YieldWatch::kShortestPauseUs)));
}

TEST(YieldWatch, TriesThatFailBecomeSeldom) {
    YieldWatch watch;
    std::uint64_t now = us(5000);
    std::uint64_t pause = YieldWatch::kShortestPauseUs;
    for (int tries = 0; tries < 12; ++tries) {
        watch.note(now - kSlice, now, kTicks);
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
    watch.note(now - kSlice, now, kTicks);
    now += us(YieldWatch::kShortestPauseUs) + kSlice;
    watch.note(now - kSlice, now, kTicks); // twice the pause from here on
    now += us(10 * YieldWatch::kLongestPauseUs);
    watch.note(now - kSlice, now, kTicks);
    EXPECT_FALSE(watch.wanted(now + us(YieldWatch::kShortestPauseUs)));
}

TEST(YieldWatch, ThreadsThatComeBackMeanwhileDoNotProlongThePause) {
    YieldWatch watch;
    const std::uint64_t now = us(5000);
    watch.note(now - kSlice, now, kTicks);
    watch.note(now - kSlice, now + us(100), kTicks);
    EXPECT_FALSE(watch.wanted(now + us(YieldWatch::kShortestPauseUs)));
}

} // namespace
