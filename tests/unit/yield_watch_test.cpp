// SPDX-License-Identifier: Apache-2.0
#include "wait/yield_watch.h"

#include <gtest/gtest.h>

namespace {

using sennit::wait::YieldWatch;

constexpr std::uint64_t kTicks = 1000; // a microsecond
constexpr std::uint64_t kSlice = 3000 * kTicks;
constexpr std::uint64_t us(std::uint64_t time) {
    return time * kTicks;
}
// Yields until `now` that took so long that their mean is more than a wake-up takes.
void lose_slices(YieldWatch &watch, std::uint64_t now) {
    for (int i = 0; i < 2; ++i)
        watch.note(kSlice, now, kTicks);
}

TEST(YieldWatch, HandOversAmongWaitingThreadsSayNothing) {
    YieldWatch watch;
    for (std::uint64_t now = us(1000); now < us(2000); now += us(20))
        watch.note(us(16), now, kTicks);
    EXPECT_FALSE(watch.seen());
    EXPECT_FALSE(watch.wanted(us(2000)));
}

TEST(YieldWatch, OneTimeSliceAmongManyYieldsSaysNothing) {
    YieldWatch watch;
    std::uint64_t now = us(5000);
    for (int i = 0; i < 600; ++i) {
        const std::uint64_t took = i % 200 == 0 ? us(2500) : us(2);
        watch.note(took, now + took, kTicks);
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

TEST(YieldWatch, AsksWhoseWorkLongYieldsWaitedForBeforeItGivesThemUp) {
    YieldWatch watch;
    watch.note_length(us(2), kTicks);
    EXPECT_FALSE(watch.asks(kTicks));
    for (int i = 0; i < 10; ++i)
        watch.note_length(kSlice, kTicks);
    EXPECT_FALSE(watch.seen());
    EXPECT_TRUE(watch.asks(kTicks));
}

TEST(YieldWatch, OwnWorkIsNoLossHoweverLongAYieldTakes) {
    YieldWatch watch;
    std::uint64_t now = us(5000);
    for (int i = 0; i < 1000; ++i) {
        now += kSlice;
        if (watch.asks(kTicks))
            watch.note(us(20), now, kTicks);
        else
            watch.note_length(kSlice, kTicks);
    }
    EXPECT_FALSE(watch.seen());
}

// Programs may be over before there is a second one.
TEST(YieldWatch, TheFirstYieldIsAskedAbout) {
    YieldWatch watch;
    EXPECT_TRUE(watch.asks(kTicks));
    const std::uint64_t now = us(5000);
    watch.note(2 * kSlice, now, kTicks);
    EXPECT_TRUE(watch.wanted(now));
}

TEST(YieldWatch, TheFirstYieldAfterAPauseIsAskedAbout) {
    YieldWatch watch;
    std::uint64_t now = us(5000);
    lose_slices(watch, now);
    EXPECT_TRUE(watch.asks(kTicks));
    now += us(YieldWatch::kShortestPauseUs) + kSlice;
    watch.note(kSlice, now, kTicks); // one is enough
    EXPECT_TRUE(watch.wanted(now + us(2 * YieldWatch::kShortestPauseUs) - 1));
}

TEST(YieldWatch, AsksNoLongerWhereYieldsAreShort) {
    YieldWatch watch;
    for (int i = 0; i < 10; ++i)
        watch.note_length(kSlice, kTicks);
    for (std::uint64_t now = us(1000); now < us(1200); now += us(2))
        watch.note(us(2), now, kTicks);
    EXPECT_FALSE(watch.asks(kTicks));
    EXPECT_FALSE(watch.seen());
}

} // namespace
