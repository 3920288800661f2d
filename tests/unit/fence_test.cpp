// SPDX-License-Identifier: Apache-2.0
// The fence of two prices (base/fence.h), while its mode changes: a model with store buffers, the
// rule of when it changes, and the real thing.
#include "interleavings.h"
#include "store_buffers.h"

#include "base/fence.h"

#include <array>
#include <atomic>
#include <compare>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace sennit::model {
namespace {

enum Thread { kPublisher, kSleeper, kChanger, kThreads };
enum Cell { kWork, kAsleep, kFree, kFull, kCells };

// What is left out, or done in another order.
enum class Fault { none, full_barrier, full_first, free_first, heavy };

struct Fences {
    BufferedMemory<kThreads, kCells, 2> memory;
    std::array<signed char, kThreads> pc{};
    bool saw_sleeper = false, saw_work = false;
    auto operator<=>(const Fences &) const = default;
};

// A step is one access to memory that others see. Numbers from kThreads on are the drains.
class Model {
  public:
    explicit Model(Fault fault) : fault_(fault) {}

    Outcome operator()(Fences &s, int number, std::string &broken) const {
        if (number >= kThreads)
            return s.memory.drain(number - kThreads) ? Outcome::ran : Outcome::ended;
        signed char &pc = s.pc[static_cast<std::size_t>(number)];
        if (pc == kEnd)
            return Outcome::ended;
        if (!s.memory.has_room(number, 1))
            return Outcome::waits;
        const signed char before = pc;
        if (number == kPublisher)
            publish(s, pc);
        else if (number == kSleeper)
            sleep(s, pc);
        else
            change(s, pc);
        if (s.pc[kPublisher] == kEnd && s.pc[kSleeper] == kEnd && !s.saw_sleeper && !s.saw_work)
            broken = "a wake-up is lost";
        return pc != before ? Outcome::ran : Outcome::waits;
    }

  private:
    static constexpr signed char kEnd = 100;

    void publish(Fences &s, signed char &pc) const {
        BufferedMemory<kThreads, kCells, 2> &memory = s.memory;
        switch (pc) {
        case 0: // fence_light
            memory.store(kPublisher, kWork, 1);
            pc = 1;
            break;
        case 1:
            pc = memory.load(kPublisher, kFree) != 0 ? 3 : 2;
            break;
        case 2:
            pc = memory.is_drained(kPublisher) ? 3 : 2;
            break;
        default:
            s.saw_sleeper = memory.load(kPublisher, kAsleep) != 0;
            pc = kEnd;
        }
    }

    // The membarrier makes one thread after the other fence.
    void sleep(Fences &s, signed char &pc) const {
        BufferedMemory<kThreads, kCells, 2> &memory = s.memory;
        switch (pc) {
        case 0:
            memory.store(kSleeper, kAsleep, 1);
            pc = 1;
            break;
        case 1: // fence_heavy
            pc = memory.is_drained(kSleeper) ? 2 : 1;
            break;
        case 2:
            pc = memory.load(kSleeper, kFull) != 0 || fault_ == Fault::heavy ? 5 : 3;
            break;
        case 3:
        case 4: {
            const int other = pc == 3 ? kPublisher : kChanger;
            pc = static_cast<signed char>(memory.is_drained(other) ? pc + 1 : pc);
            break;
        }
        default:
            s.saw_work = memory.load(kSleeper, kWork) != 0;
            pc = kEnd;
        }
    }

    // become_full, become_free, become_full: each a store, a membarrier and a store.
    void change(Fences &s, signed char &pc) const {
        constexpr int kSteps = 5;
        const int round = pc / kSteps;
        if (round == 3) {
            pc = kEnd;
            return;
        }
        const bool full = round != 1;
        const bool swapped = fault_ == (full ? Fault::full_first : Fault::free_first);
        const bool barrier = !full || fault_ != Fault::full_barrier;
        const int step = pc % kSteps;
        bool done = true;
        if (step == 0 || step == 4) {
            const bool first_word = (step == 0) != swapped;
            if (first_word)
                s.memory.store(kChanger, full ? kFree : kFull, 0);
            else
                s.memory.store(kChanger, full ? kFull : kFree, 1);
        } else if (barrier) {
            constexpr std::array kOrder{kChanger, kPublisher, kSleeper};
            done = s.memory.is_drained(kOrder[static_cast<std::size_t>(step - 1)]);
        }
        pc = static_cast<signed char>(done ? pc + 1 : pc);
    }

    Fault fault_;
};

std::string fence_failure(Fault fault) {
    Fences start;
    start.memory.cell(kFree) = 1;
    return failure_of(start, 2 * kThreads, Model(fault));
}

TEST(Interleavings, AFenceOfTwoPricesMayChangeThem) {
    EXPECT_EQ(fence_failure(Fault::none), "");
}

// The membarrier of become_free is for processors whose loads may be early: the model has none.
TEST(Interleavings, AFenceOfTwoPricesNeedsEachStep) {
    EXPECT_NE(fence_failure(Fault::heavy), "");
    EXPECT_NE(fence_failure(Fault::full_barrier), "");
    EXPECT_NE(fence_failure(Fault::full_first), "");
    EXPECT_NE(fence_failure(Fault::free_first), "");
}

} // namespace
} // namespace sennit::model

namespace sennit {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(SleepRate, BothSidesPayWhileSleepsAreFrequent) {
    SleepRate rate;
    std::int64_t now = 5000 * kMs;
    EXPECT_FALSE(rate.wants_full(1, now, false)) << "nothing to compare with";
    now += kMs;
    EXPECT_FALSE(rate.wants_full(10, now, false));
    now += kMs;
    EXPECT_TRUE(rate.wants_full(42, now, false));
    EXPECT_TRUE(rate.wants_full(42, now + kMs, true)) << "too early to say";
    now += 8 * kMs;
    EXPECT_TRUE(rate.wants_full(42 + 40, now, true)) << "fewer, but not few";
    now += 8 * kMs;
    EXPECT_FALSE(rate.wants_full(82 + 20, now, true));
}

TEST(SleepRate, CountsBeyondTheEndOfItsNumber) {
    SleepRate rate;
    rate.wants_full(0xffffffff, kMs, false);
    EXPECT_TRUE(rate.wants_full(31, 2 * kMs, false));
    EXPECT_FALSE(rate.wants_full(31, 100 * kMs, true));
}

// Two threads, each with a word for each round. None waits for the other.
TEST(SleepRate, WhatIsExpectedHoldsForAWhile) {
    SleepRate rate;
    rate.begin(100, 1'000'000'000);
    EXPECT_TRUE(rate.wants_full(101, 1'000'000'000 + SleepRate::kShortestNs / 2, true));
    EXPECT_FALSE(rate.wants_full(101, 1'000'000'000 + SleepRate::kShortestNs, true));
}

TEST(Fence, BothSidesPayWhereSleepsAreExpectedUntilThereAreNone) {
    fence_setup();
    if (!g_light_fence_is_free.load())
        GTEST_SKIP() << "the kernel has no membarrier";
    fence_expect_sleeps();
    EXPECT_FALSE(g_light_fence_is_free.load());
    while (!g_light_fence_is_free.load())
        fence_light();
}

TEST(Fence, StressOneOfTheTwoSeesTheOther) {
    fence_setup();
    constexpr std::size_t kRounds = 100'000;
    std::vector<std::atomic<int>> work(kRounds), asleep(kRounds);
    std::vector<char> saw_work(kRounds), saw_sleeper(kRounds);
    std::thread sleeper([&] {
        for (std::size_t round = 0; round < kRounds; ++round) {
            asleep[round].store(1, std::memory_order_relaxed);
            fence_before_sleep();
            saw_work[round] = work[round].load(std::memory_order_relaxed) != 0;
        }
    });
    for (std::size_t round = 0; round < kRounds; ++round) {
        work[round].store(1, std::memory_order_relaxed);
        if (round % 8192 == 0)
            fence_expect_sleeps();
        fence_light();
        saw_sleeper[round] = asleep[round].load(std::memory_order_relaxed) != 0;
    }
    sleeper.join();
    for (std::size_t round = 0; round < kRounds; ++round)
        ASSERT_TRUE(saw_work[round] || saw_sleeper[round]) << round;
}

} // namespace
} // namespace sennit
