// SPDX-License-Identifier: Apache-2.0
// StealableRange (openmp/team/stealable_range.h) under load; tests/schedules runs it under every
// schedule.
#include "base/fence.h"
#include "openmp/team/stealable_range.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

// An owner of a few chunks at a time, and two thieves who run what they steal.
TEST(StealableRange, StressEveryChunkIsTakenOnce) {
    sennit::fence_setup();
    constexpr std::uint64_t kRounds = 500000;
    constexpr std::uint64_t kEach = 4;
    auto range = std::make_unique<sennit::omp::StealableRange>();
    std::vector<std::atomic<int>> taken(kRounds * kEach);
    std::atomic<bool> over{false};
    const auto steal = [&] {
        while (!over.load(std::memory_order_relaxed)) {
            std::uint64_t first = 0;
            std::uint64_t last = 0;
            if (range->left() > 0 && range->steal_half(&first, &last))
                for (; first < last; ++first)
                    taken[first].fetch_add(1, std::memory_order_relaxed);
        }
    };
    std::thread second(steal);
    std::thread third(steal);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        range->refill(round * kEach, (round + 1) * kEach);
        std::uint64_t chunk = 0;
        if (round % 2 == 0)
            while (range->take(&chunk))
                taken[chunk].fetch_add(1, std::memory_order_relaxed);
        else
            while (const std::uint64_t count = range->take_some(1 + round % 3, &chunk))
                for (std::uint64_t i = 0; i < count; ++i)
                    taken[chunk + i].fetch_add(1, std::memory_order_relaxed);
    }
    over.store(true, std::memory_order_relaxed);
    second.join();
    third.join();
    for (std::uint64_t i = 0; i < kRounds * kEach; ++i)
        ASSERT_EQ(taken[i].load(), 1) << "chunk " << i;
}
