// SPDX-License-Identifier: Apache-2.0
// The explorer itself, by litmus tests: what threads may see of each other on x86-64, and what they
// may not (Sewell et al., "x86-TSO", CACM 53(7), 2010).
#include "schedules.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;

// Two words, and what threads have read: a hexadecimal digit each.
struct Words {
    using Body = void (*)(Words &);
    Atomic<std::uint64_t> x, y;
    std::array<std::uint64_t, 4> read{};

    Test test(const std::vector<Body> &bodies) {
        Test test;
        test.memory = memory_of(*this);
        test.begin = [this] { make_anew(*this); };
        for (const Body body : bodies)
            test.threads.emplace_back([this, body] { body(*this); });
        test.state = [this] {
            std::uint64_t all = 0;
            for (const std::uint64_t one : read)
                all = 16 * all + one;
            return all;
        };
        test.end = [] { return ""; };
        return test;
    }
};

// All that the threads may read. It is the same however the explorer goes back.
std::set<std::uint64_t> readings(const std::vector<Words::Body> &bodies) {
    Words words;
    const Test test = words.test(bodies);
    const Result by_notes = explore(test);
    const Result by_steps = explore(test, {}, 5'000'000, Back::by_steps);
    EXPECT_EQ(by_notes.failure, "");
    EXPECT_EQ(by_steps.failure, "");
    EXPECT_EQ(by_notes.states, by_steps.states);
    EXPECT_EQ(by_notes.ends, by_steps.ends);
    return by_notes.ends;
}

using Readings = std::set<std::uint64_t>;

TEST(Explorer, StoresWaitInBuffers) {
    EXPECT_EQ(readings({[](Words &of) {
                            of.x.store(1, kRelaxed);
                            of.read[0] = of.y.load(kRelaxed);
                        },
                        [](Words &of) {
                            of.y.store(1, kRelaxed);
                            of.read[1] = of.x.load(kRelaxed);
                        }}),
              (Readings{0x0000, 0x0100, 0x1000, 0x1100}));
}

TEST(Explorer, OrderedStoresDoNot) {
    EXPECT_EQ(readings({[](Words &of) {
                            of.x.store(1);
                            of.read[0] = of.y.load();
                        },
                        [](Words &of) {
                            of.y.store(1);
                            of.read[1] = of.x.load();
                        }}),
              (Readings{0x0100, 0x1000, 0x1100}));
}

TEST(Explorer, StoresOfAThreadAreSeenInOrder) {
    EXPECT_EQ(readings({[](Words &of) {
                            of.x.store(1, kRelaxed);
                            of.y.store(1, kRelaxed);
                        },
                        [](Words &of) {
                            of.read[0] = of.y.load(kRelaxed);
                            of.read[1] = of.x.load(kRelaxed);
                        }}),
              (Readings{0x0000, 0x0100, 0x1100}));
}

// Between a thread's store and its next load of the word, others may see the store, and write over
// it.
TEST(Explorer, OthersWriteBetweenAStoreAndALoad) {
    EXPECT_EQ(readings({[](Words &of) {
                            of.x.store(1, kRelaxed);
                            of.read[0] = of.x.load(kRelaxed);
                        },
                        [](Words &of) { of.x.store(2, kRelaxed); }}),
              (Readings{0x1000, 0x2000}));
}

// Independent reads of independent writes: two readers agree which store came first.
TEST(Explorer, StoresHaveOneOrderForAll) {
    const Readings all = readings({[](Words &of) { of.x.store(1, kRelaxed); },
                                   [](Words &of) { of.y.store(1, kRelaxed); },
                                   [](Words &of) {
                                       of.read[0] = of.x.load(kRelaxed);
                                       of.read[1] = of.y.load(kRelaxed);
                                   },
                                   [](Words &of) {
                                       of.read[2] = of.y.load(kRelaxed);
                                       of.read[3] = of.x.load(kRelaxed);
                                   }});
    EXPECT_EQ(all.size(), 15U);
    EXPECT_FALSE(all.contains(0x1010));
}

// A third thread that has seen a store passes it on.
TEST(Explorer, WhatWasSeenIsPassedOn) {
    const Readings all = readings({[](Words &of) { of.x.store(1, kRelaxed); },
                                   [](Words &of) {
                                       of.read[0] = of.x.load(kRelaxed);
                                       of.y.store(1, kRelaxed);
                                   },
                                   [](Words &of) {
                                       of.read[1] = of.y.load(kRelaxed);
                                       of.read[2] = of.x.load(kRelaxed);
                                   }});
    EXPECT_EQ(all.size(), 7U);
    EXPECT_FALSE(all.contains(0x1100));
}

TEST(Explorer, NothingComesBetweenAReadAndItsWrite) {
    const auto add = [](std::size_t thread, Words &of) {
        of.read[thread] = of.x.fetch_add(1, kRelaxed);
    };
    static const auto of_three = add;
    EXPECT_EQ(readings({[](Words &of) { of_three(0, of); }, [](Words &of) { of_three(1, of); },
                        [](Words &of) { of_three(2, of); }}),
              (Readings{0x0120, 0x0210, 0x1020, 0x1200, 0x2010, 0x2100}));
}

TEST(Explorer, OneOfTwoExchangesIsFirst) {
    const auto claim = [](Words &of) {
        std::uint64_t expected = 0;
        of.read[0] += of.x.compare_exchange_strong(expected, 1, std::memory_order_acq_rel);
        of.read[1] += expected;
    };
    EXPECT_EQ(readings({claim, claim}), (Readings{0x1100}));
}

// Only a read-modify-write that is a release comes after the stores before it.
TEST(Explorer, ChangesThatReleaseWaitForTheBuffer) {
    const auto look = [](Words &of) {
        of.read[0] = of.y.load(kAcquire);
        of.read[1] = of.x.load(kRelaxed);
    };
    EXPECT_EQ(readings({[](Words &of) {
                            of.x.store(1, kRelaxed);
                            of.y.fetch_or(1, kRelease);
                        },
                        look}),
              (Readings{0x0000, 0x0100, 0x1100}));
    EXPECT_EQ(readings({[](Words &of) {
                            of.x.store(1, kRelaxed);
                            of.y.fetch_or(1, kAcquire);
                        },
                        look}),
              (Readings{0x0000, 0x0100, 0x1000, 0x1100}));
}

} // namespace
} // namespace sennit::schedules
