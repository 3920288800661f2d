// SPDX-License-Identifier: Apache-2.0
// Counters of threads: the list of them, and how one is read without the kernel. That the kernel's
// numbers come to the right tasks is tools.counters.
#include "tasks/trace/counters.h"

#include <gtest/gtest.h>

namespace sennit::trace {
namespace {

TEST(Counters, AreListedByName) {
    CounterList found;
    const char *bad = nullptr;
    EXPECT_TRUE(read_counter_list("on", found, bad));
    EXPECT_EQ(found.count, 3);
    CounterList same;
    EXPECT_TRUE(read_counter_list("instructions,cycles,cache-misses", same, bad));
    EXPECT_EQ(same.count, 3);
    EXPECT_TRUE(std::equal(found.which, found.which + 3, same.which));
    EXPECT_TRUE(read_counter_list("page-faults,cycles", found, bad));
    EXPECT_EQ(found.count, 2);
    EXPECT_EQ(found.which[1], same.which[1]);
    EXPECT_FALSE(read_counter_list("cycles,clouds", found, bad));
    EXPECT_STREQ(bad, "clouds");
    EXPECT_FALSE(read_counter_list("cycles,", found, bad));
    EXPECT_STREQ(bad, "");
    EXPECT_FALSE(read_counter_list("cycle", found, bad));
    EXPECT_FALSE(read_counter_list("cycles,cycles,cycles,cycles,task-clock", found, bad));
    EXPECT_STREQ(bad, "task-clock");
}

perf_event_mmap_page shown(std::uint32_t index, std::int64_t offset) {
    perf_event_mmap_page page{};
    page.cap_user_rdpmc = 1;
    page.index = index;
    page.offset = offset;
    page.pmc_width = 48;
    return page;
}

TEST(Counters, AreReadWithoutTheKernelWhereItShowsThem) {
    perf_event_mmap_page page = shown(3, 1000);
    Word value = 0;
    EXPECT_TRUE(
        read_shown(page, [](std::uint32_t index) { return Word{index == 2 ? 34u : 0u}; }, value));
    EXPECT_EQ(value, 1034u);
    // The processor's bits are a signed number: the kernel begins below zero.
    EXPECT_TRUE(read_shown(page, [](std::uint32_t) { return (Word{1} << 48) - 10; }, value));
    EXPECT_EQ(value, 990u);
    const auto none = [](std::uint32_t) -> Word {
        ADD_FAILURE() << "the processor was asked";
        return 0;
    };
    page.index = 0; // it does not count now
    EXPECT_FALSE(read_shown(page, none, value));
    page = shown(3, 1000);
    page.cap_user_rdpmc = 0;
    EXPECT_FALSE(read_shown(page, none, value));
}

TEST(Counters, AreReadAgainIfTheKernelHasMovedThem) {
    perf_event_mmap_page page = shown(1, 1000);
    Word value = 0;
    int reads = 0;
    EXPECT_TRUE(read_shown(
        page,
        [&](std::uint32_t) {
            if (reads++ > 0)
                return Word{5};
            page.lock = 2; // the thread was interrupted, and is on another processor now
            page.offset = 1234;
            return Word{77};
        },
        value));
    EXPECT_EQ(reads, 2);
    EXPECT_EQ(value, 1239u);
}

} // namespace
} // namespace sennit::trace
