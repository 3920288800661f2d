// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

namespace sennit {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(SeenTime, IsTheSumOfShortSteps) {
    SeenTime seen(5 * kSecond);
    for (int i = 1; i <= 10; ++i)
        EXPECT_EQ(seen.look(5 * kSecond + i * kSecond / 10), i * kSecond / 10);
}

TEST(SeenTime, OfAStopIsASecond) {
    SeenTime seen(0);
    EXPECT_EQ(seen.look(kSecond / 2), kSecond / 2);
    EXPECT_EQ(seen.look(3600 * kSecond), 3 * kSecond / 2);
    EXPECT_EQ(seen.look(3600 * kSecond + 1), 3 * kSecond / 2 + 1);
}

} // namespace
} // namespace sennit
