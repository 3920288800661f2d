// SPDX-License-Identifier: Apache-2.0
// mpi/engine/quick_flushes.h: which flushes a task makes itself.
#include "mpi/engine/quick_flushes.h"

#include <gtest/gtest.h>

using namespace sennit::mpi;

namespace {

constexpr std::int64_t kShort = SeenFlushes::kLongNs / 10;
const char *const kFlush = "MPI_Win_flush";
const char *const kFlushAll = "MPI_Win_flush_all";

SameCall flush(std::uintptr_t window, int target, const char *name = kFlush) {
    return {name, {Object::Kind::window, window}, target, true};
}

struct Flushes : SeenFlushes {
    void took(const SameCall &flush, std::int64_t ns) { add(flush, locks(), ns); }
};

TEST(SeenFlushes, AreMadeHereOnceOneOfTheirTargetWasShort) {
    Flushes seen;
    EXPECT_FALSE(seen.may_make(flush(64, 1)));
    seen.took(flush(64, 1), kShort);
    EXPECT_TRUE(seen.may_make(flush(64, 1)));
    EXPECT_TRUE(seen.may_make(flush(64, 1)));
}

TEST(SeenFlushes, OfOthersSayNothing) {
    Flushes seen;
    seen.took(flush(64, 1), kShort);
    EXPECT_FALSE(seen.may_make(flush(64, 2)));
    EXPECT_FALSE(seen.may_make(flush(80, 1)));
    EXPECT_FALSE(seen.may_make(flush(80, 0))); // the same slot
    EXPECT_FALSE(seen.may_make(flush(64, 1, kFlushAll)));
}

// The lock of a new epoch may not be granted: to wait for it here could be for ever.
TEST(SeenFlushes, OfEarlierEpochsSayNothing) {
    Flushes seen;
    const std::uint32_t before = seen.locks();
    seen.took(flush(64, 1), kShort);
    seen.count_lock();
    EXPECT_FALSE(seen.may_make(flush(64, 1)));
    seen.add(flush(64, 1), before, kShort); // it began before the lock
    EXPECT_FALSE(seen.may_make(flush(64, 1)));
    seen.took(flush(64, 1), kShort);
    EXPECT_TRUE(seen.may_make(flush(64, 1)));
}

TEST(SeenFlushes, GoToHelpersForAWhileAfterALongOne) {
    Flushes seen;
    seen.took(flush(64, 1), kShort);
    seen.took(flush(64, 1), SeenFlushes::kLongNs);
    for (int i = 0; i < SeenFlushes::kWary; ++i) {
        seen.took(flush(64, 1), kShort);
        EXPECT_FALSE(seen.may_make(flush(64, 1))) << i;
    }
    EXPECT_TRUE(seen.may_make(flush(64, 1)));
}

} // namespace
