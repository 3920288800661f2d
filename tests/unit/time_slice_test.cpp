// SPDX-License-Identifier: Apache-2.0
#include "base/time_slice.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>

namespace {

using namespace sennit;

// Each in a thread of its own: it changes what the calling thread has.
template <class Body>
void in_thread(Body body) {
    if (time_slice_ns() == 0)
        GTEST_SKIP() << "threads have no slices of their own here";
    std::thread(body).join();
}

TEST(TimeSlice, IsSetAndNothingElseChanges) {
    in_thread([] {
        const int nice = getpriority(PRIO_PROCESS, 0);
        ASSERT_TRUE(set_time_slice(3'000'000));
        EXPECT_EQ(time_slice_ns(), 3'000'000U);
        EXPECT_EQ(getpriority(PRIO_PROCESS, 0), nice);
        EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    });
}

TEST(TimeSlice, IsAnotherThreadsToo) {
    in_thread([] {
        const pid_t thread = gettid();
        const std::uint64_t own = time_slice_ns();
        std::thread([=] { EXPECT_TRUE(set_time_slice(own / 2, thread)); }).join();
        EXPECT_EQ(time_slice_ns(), own / 2);
        std::thread([=] { EXPECT_EQ(time_slice_ns(thread), own / 2); }).join();
    });
}

TEST(TimeSlice, TheUsualOneComesBack) {
    in_thread([] {
        ASSERT_TRUE(set_time_slice(0));
        const std::uint64_t usual = time_slice_ns();
        ASSERT_TRUE(set_time_slice(usual / 2));
        EXPECT_TRUE(set_time_slice(0));
        EXPECT_EQ(time_slice_ns(), usual);
    });
}

TEST(TimeSlice, OtherClassesHaveNone) {
    in_thread([] {
        const sched_param none{};
        ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
        EXPECT_EQ(time_slice_ns(), 0U);
        EXPECT_FALSE(set_time_slice(200'000));
    });
}

} // namespace
