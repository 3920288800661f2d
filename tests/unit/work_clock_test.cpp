// SPDX-License-Identifier: Apache-2.0
// The processor time of a flow that goes from one kernel thread to another, each with its own
// clock; and the clock of a carrier, which asks the system seldom.
#include "ranks/fibers/carrier.h"
#include "ranks/fibers/rank_fiber.h"

#include <gtest/gtest.h>

namespace sennit::virt {
namespace {

TEST(WorkClock, AddsUpWhatTheFlowHasWorkedOnEachThread) {
    WorkClock clock;
    const auto begin = clock.start(ClockUse::account, 1000); // at home
    clock.leave(1010);
    clock.come(50); // on a carrier, whose clock has another time
    clock.leave(57);
    clock.come(1012);
    EXPECT_EQ(clock.start(ClockUse::account, 1015) - begin, 10 + 7 + 3);
}

TEST(WorkClock, DoesNotRunWhenNobodyAsks) {
    WorkClock clock;
    EXPECT_FALSE(clock.runs());
    clock.start(ClockUse::account, 5);
    EXPECT_TRUE(clock.runs());
    clock.stop(ClockUse::account);
    EXPECT_FALSE(clock.runs());
}

TEST(WorkClock, RunsAsLongAsAnybodyAsks) {
    WorkClock clock;
    const auto begin = clock.start(ClockUse::task_time, 5);
    clock.start(ClockUse::account, 6);
    clock.stop(ClockUse::account);
    EXPECT_TRUE(clock.runs());
    clock.leave(9);
    clock.come(100);
    EXPECT_EQ(clock.start(ClockUse::task_time, 101) - begin, 4 + 1);
}

TEST(WorkClock, BeginsAnewOnAnotherThread) {
    WorkClock clock;
    clock.start(ClockUse::account, 1000);
    clock.stop(ClockUse::account);
    const auto begin = clock.start(ClockUse::account, 20); // without a word it has gone there
    EXPECT_EQ(clock.start(ClockUse::account, 21) - begin, 1);
}

// A processor of two ticks a nanosecond.
class CarrierTime : public testing::Test {
  protected:
    static constexpr std::uint64_t kRate = CarrierClock::kOfRate / 2;
    static constexpr std::int64_t kShort = CarrierClock::kShort;

    // In ticks. Others have had the processor for `others` of them.
    std::int64_t after(std::int64_t more, std::int64_t others = 0) {
        ticks_ += static_cast<std::uint64_t>(more);
        system_ns_ += (more - others) / 2;
        return clock_.now_ns(ticks_, rate_, [this] {
            ++asked_;
            return system_ns_;
        });
    }

    CarrierClock clock_;
    std::uint64_t ticks_ = 1 << 30;
    std::uint64_t rate_ = kRate;
    std::int64_t system_ns_ = 777;
    int asked_ = 0;
};

TEST_F(CarrierTime, IsToldInTicksWhileQuestionsComeSoon) {
    const auto begin = after(0);
    asked_ = 0;
    for (int i = 0; i < 1000; ++i)
        after(100);
    EXPECT_EQ(after(0) - begin, 1000 * 100 / 2);
    EXPECT_EQ(asked_, 0);
}

TEST_F(CarrierTime, IsTheSystemsAfterALongTime) {
    const auto begin = after(0);
    EXPECT_EQ(after(10 * kShort, 4 * kShort) - begin, 6 * kShort / 2);
}

TEST_F(CarrierTime, IsSetRightByTheNextLook) {
    const auto begin = after(0);
    after(1000, 600); // too short a time for the system to be asked: 600 too many
    after(2 * kShort);
    EXPECT_EQ(after(0) - begin, (2 * kShort + 400) / 2);
}

TEST_F(CarrierTime, NeverGoesBack) {
    after(0);
    const auto before = after(kShort - 1, kShort - 1);
    EXPECT_EQ(after(kShort, kShort), before);
}

TEST_F(CarrierTime, IsTheSystemsWhileTheRateIsNotKnown) {
    rate_ = 0;
    const auto begin = after(0);
    EXPECT_EQ(after(100, 50) - begin, 25);
}

} // namespace
} // namespace sennit::virt
