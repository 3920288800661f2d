// SPDX-License-Identifier: Apache-2.0
// Dormitory (wait/dormitory.h) under every schedule.
#include "schedules.h"

#include "wait/dormitory.h"

#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

// A sleeper, whose state says so already, and the thread that wakes it, by the state and by the
// count of wakes.
struct Night {
    static constexpr std::uint32_t kAwake = 0, kAsleep = 1;
    wait::Dormitory dormitory;
    FutexWord state{kAsleep};

    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] { make_anew(*this); };
        test.threads = {[this] {
                            const bool asleep = state.load(std::memory_order_relaxed) == kAsleep;
                            if (asleep)
                                dormitory.sleep(1, state, kAsleep, -1);
                        },
                        [this] {
                            state.store(kAwake, std::memory_order_release);
                            dormitory.wake(wait::Dormitory::bit_of(1));
                        }};
        test.state = [] { return 0; };
        test.end = [] { return ""; };
        return test;
    }
};

TEST(Dormitory, NobodySleepsOn) {
    Night night;
    EXPECT_EQ(failure_of(night.test()), "");
}

TEST(Dormitory, NeedsEachOfItsSteps) {
    Night night;
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({night.test()}, {{lost, "wakes_.fetch_add"},
                                           {late, "wakes_.fetch_add"},
                                           {stale, "(state.load"}}), // asked before the count
              "");
}

} // namespace
} // namespace sennit::schedules
