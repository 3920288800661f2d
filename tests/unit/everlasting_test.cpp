// SPDX-License-Identifier: Apache-2.0
#include "base/everlasting.h"

#include <gtest/gtest.h>

namespace sennit {
namespace {

struct Counted {
    constexpr Counted() = default;
    ~Counted() { ++destroyed; }
    int value = 42;
    static int destroyed;
};
int Counted::destroyed = 0;

TEST(Everlasting, IsMadeAndNeverDestroyed) {
    {
        const Everlasting<Counted> one;
        EXPECT_EQ(one.object.value, 42);
    }
    EXPECT_EQ(Counted::destroyed, 0);
}

} // namespace
} // namespace sennit
