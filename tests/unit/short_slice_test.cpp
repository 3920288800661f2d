// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/sharing.h"

#include "base/time_slice.h"

#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace sennit;
using sched::ShortSlice;

constexpr std::uint64_t kOwnNs = 3'000'000; // not the system's usual one

bool goes_on() {
    return true;
}
bool is_over() {
    return false;
}
const std::atomic<int> caller{0}; // as the kernel calls it, too

// Each in a thread of its own, which has a slice of its own.
template <class Body>
void in_thread(Body body) {
    if (time_slice_ns() == 0)
        GTEST_SKIP() << "threads have no slices of their own here";
    std::thread([&] {
        ASSERT_TRUE(set_time_slice(kOwnNs));
        body();
    }).join();
}

TEST(ShortSlice, TheThreadsOwnComesBack) {
    in_thread([] {
        ShortSlice slice;
        slice.begin(goes_on);
        EXPECT_EQ(time_slice_ns(), ShortSlice::kShortNs);
        slice.end(caller);
        EXPECT_EQ(time_slice_ns(), kOwnNs);
        slice.begin(goes_on);
        EXPECT_EQ(time_slice_ns(), ShortSlice::kShortNs) << "and so once more";
    });
}

TEST(ShortSlice, AnotherThreadGivesItBack) {
    in_thread([] {
        ShortSlice slice;
        slice.begin(goes_on);
        const std::atomic<int> thread{gettid()};
        std::thread([&] { slice.end(thread); }).join();
        EXPECT_EQ(time_slice_ns(), kOwnNs);
    });
}

TEST(ShortSlice, StaysIfSharingIsOver) {
    in_thread([] {
        ShortSlice slice;
        slice.begin(is_over);
        EXPECT_EQ(time_slice_ns(), kOwnNs);
        ASSERT_TRUE(set_time_slice(2 * kOwnNs));
        slice.end(caller);
        EXPECT_EQ(time_slice_ns(), 2 * kOwnNs);
    });
}

TEST(ShortSlice, AShorterOneStays) {
    in_thread([] {
        ASSERT_TRUE(set_time_slice(ShortSlice::kShortNs));
        ShortSlice slice;
        slice.begin(goes_on);
        ASSERT_TRUE(set_time_slice(kOwnNs));
        slice.end(caller);
        EXPECT_EQ(time_slice_ns(), kOwnNs);
    });
}

TEST(ShortSlice, OnesThatAreLeftStay) {
    in_thread([] {
        ShortSlice slice;
        slice.leave();
        slice.begin(goes_on);
        EXPECT_EQ(time_slice_ns(), kOwnNs);
    });
}

TEST(ShortSlice, OfAThreadThatHasEndedIsNobodys) {
    in_thread([] {
        ShortSlice slice;
        slice.begin(goes_on);
        slice.forget();
        slice.end(caller);
        EXPECT_EQ(time_slice_ns(), ShortSlice::kShortNs);
    });
}

TEST(ShortSlice, AThreadDoesNotInheritIt) {
    in_thread([] {
        ShortSlice slice;
        slice.begin(goes_on);
        ShortSlice created;
        created.note_creator(&slice);
        std::thread([&] {
            created.put_right();
            EXPECT_EQ(time_slice_ns(), kOwnNs);
            created.begin(goes_on);
            EXPECT_EQ(time_slice_ns(), ShortSlice::kShortNs);
            created.end(caller);
            EXPECT_EQ(time_slice_ns(), kOwnNs);
        }).join();
    });
}

TEST(ShortSlice, AThreadOfNobodysKeepsWhatItHas) {
    in_thread([] {
        ShortSlice created;
        created.note_creator(nullptr);
        created.put_right();
        EXPECT_EQ(time_slice_ns(), kOwnNs);
    });
}

} // namespace
