// SPDX-License-Identifier: Apache-2.0
// tasks/fiber/: contexts and stacks.
#include "base/compiler.h"
#include "tasks/fiber/context.h"
#include "tasks/fiber/stack.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

using namespace sennit;

namespace {

struct PingPong {
    fiber::Context main;
    fiber::Context other;
    int rounds = 0;
};
PingPong *g_pair;

void bounce(fiber::Context &self) {
    EXPECT_EQ(&self, &g_pair->other);
    for (;;) {
        ++g_pair->rounds;
        fiber::switch_to(g_pair->other, g_pair->main);
    }
}

} // namespace

TEST(Fiber, SwitchesBackAndForthKeepingLocals) {
    PingPong pair;
    g_pair = &pair;
    fiber::adopt_thread(pair.main, 0);
    const fiber::Stack stack = fiber::map_stack();
    ASSERT_TRUE(stack);
    fiber::make(pair.other, stack.low, stack.size, bounce);
    double kept = 0.5;
    for (int i = 1; i <= 1000; ++i) {
        fiber::switch_to(pair.main, pair.other);
        EXPECT_EQ(pair.rounds, i);
        kept += 1;
    }
    EXPECT_EQ(kept, 1000.5);
    fiber::forget(pair.other);
    fiber::unmap_stack(stack);
}

TEST(Fiber, StackIsWritableAndCounted) {
    const auto before = fiber::live_stacks();
    const fiber::Stack stack = fiber::map_stack();
    ASSERT_TRUE(stack);
    EXPECT_EQ(fiber::live_stacks(), before + 1);
    auto *low = static_cast<volatile char *>(stack.low);
    low[0] = 1;
    low[stack.size - 1] = 2;
    EXPECT_EQ(low[0] + low[stack.size - 1], 3);
    fiber::unmap_stack(stack);
    EXPECT_EQ(fiber::live_stacks(), before);
}

TEST(FiberDeathTest, OverflowHitsTheGuardPage) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            const fiber::Stack stack = fiber::map_stack();
            static_cast<volatile char *>(stack.low)[-1] = 1;
        },
        "");
}

// More than a process may have mappings for: the stacks past the limit are packed.
TEST(Fiber, StacksOutnumberMappings) {
#if SENNIT_TSAN
    GTEST_SKIP() << "its own shadow of so many stacks takes the mappings that it needs";
#endif
    constexpr std::size_t kMany = 40'000;
    const auto before = fiber::live_stacks();
    std::vector<fiber::Stack> stacks;
    while (stacks.size() < kMany) {
        stacks.push_back(fiber::map_stack());
        ASSERT_TRUE(stacks.back()) << stacks.size();
    }
    fiber::Stack &last = stacks.back();
    ASSERT_TRUE(last.packed) << "vm.max_map_count is larger than this test thinks";
    EXPECT_FALSE(stacks.front().packed);
    auto *low = static_cast<volatile std::uint64_t *>(last.low);
    low[last.size / sizeof *low - 1] = 1;
    EXPECT_FALSE(fiber::overflowed(last));
    low[3] = 1;
    EXPECT_TRUE(fiber::overflowed(last));
    const void *used = last.low;
    fiber::unmap_stack(last);
    last = fiber::map_stack();
    EXPECT_EQ(last.low, used);
    EXPECT_FALSE(fiber::overflowed(last)) << "a stack given back is fresh again";
    for (const fiber::Stack &stack : stacks)
        fiber::unmap_stack(stack);
    EXPECT_EQ(fiber::live_stacks(), before);
}

TEST(Fiber, SizeIsRaisedToTheMinimum) {
    const std::size_t before = fiber::stack_size();
    fiber::set_stack_size(1);
    EXPECT_EQ(fiber::stack_size(), fiber::kMinimumStack);
    fiber::set_stack_size(100'001);
    EXPECT_EQ(fiber::stack_size() % 4096, 0u);
    EXPECT_GE(fiber::stack_size(), 100'001u);
    fiber::set_stack_size(before);
}

// Nobody has asked for them: 65,536 fit into half of the addresses that there are.
TEST(Stack, DefaultSizesThatAddressesCannotHoldAreForThreadsOnly) {
    constexpr std::size_t kMiB = 1 << 20;
    const auto of = [](std::size_t bytes) {
        return fiber::fiber_stack_size(bytes, UINT64_MAX, false, false);
    };
    EXPECT_EQ(of(kMiB), kMiB);
    EXPECT_EQ(of(64 * kMiB), 64 * kMiB);
    EXPECT_EQ(of(1024 * kMiB), 1024 * kMiB);
    EXPECT_EQ(of(4096 * kMiB), 1024 * kMiB);
    // One address space of many programs; one that is limited; promises that have to be kept.
    EXPECT_EQ(fiber::fiber_stack_size(1024 * kMiB, UINT64_MAX, false, true), 64 * kMiB);
    EXPECT_EQ(fiber::fiber_stack_size(1024 * kMiB, 4096 * kMiB, false, false), 64 * kMiB);
    EXPECT_EQ(fiber::fiber_stack_size(1024 * kMiB, 100 * kMiB, false, false), fiber::kUsualStack);
    EXPECT_EQ(fiber::fiber_stack_size(kMiB, 100 * kMiB, false, false), kMiB);
    EXPECT_EQ(fiber::fiber_stack_size(1024 * kMiB, UINT64_MAX, true, false), fiber::kUsualStack);
}

TEST(Stack, WhatTheSystemRefusesIsTriedSmallerUnlessItWasAskedFor) {
    constexpr std::size_t kHuge = std::size_t{1} << 60; // more than there are addresses
    const std::size_t before = fiber::stack_size();
    fiber::set_default_stack_size(kHuge);
    EXPECT_EQ(fiber::thread_stack_size(), kHuge);
    EXPECT_EQ(fiber::smaller_stack(kHuge), fiber::kUsualStack);
    EXPECT_EQ(fiber::smaller_stack(fiber::kUsualStack), 0u);
    fiber::set_stack_size(kHuge);
    EXPECT_EQ(fiber::smaller_stack(kHuge), 0u);
    EXPECT_FALSE(fiber::map_stack());
    fiber::set_stack_size(before);
}
