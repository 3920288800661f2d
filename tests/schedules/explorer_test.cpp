// SPDX-License-Identifier: Apache-2.0
// The explorer itself, by litmus tests: what threads may see of each other on x86-64, and what they
// may not (Sewell et al., "x86-TSO", CACM 53(7), 2010).
#include "schedules.h"

#include "base/spin.h"

#include <array>
#include <gtest/gtest.h>
#include <new>

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
        test.memory = {memory_of(*this)};
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

// All that the threads may read. It is the same by the explorer's slower ways.
std::set<std::uint64_t> readings(const std::vector<Words::Body> &bodies) {
    Words words;
    const Test test = words.test(bodies);
    const Result result = explore(test);
    EXPECT_EQ(result.failure, "");
    const Result by_steps = explore(test, {}, {.goes_back_by_steps = true});
    EXPECT_EQ(by_steps.states, result.states);
    EXPECT_EQ(by_steps.ends, result.ends);
    const Result all_loads = explore(test, {}, {.stops_at_all_loads = true});
    EXPECT_GE(all_loads.states, result.states);
    EXPECT_EQ(all_loads.ends, result.ends);
    return result.ends;
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

// ---- sleep ----------------------------------------------------------------------------------

void sleep_while_zero(Words &of) {
    while (of.x.load(kRelaxed) == 0)
        futex_wait(of.x.word(), 0);
    of.read[0] = 1;
}

std::string failure_of(const std::vector<Words::Body> &bodies) {
    Words words;
    return explore(words.test(bodies)).failure;
}

TEST(Explorer, ALostWakeUpIsFound) {
    const auto store = [](Words &of) { of.x.store(1, kRelaxed); };
    const auto wake = [](Words &of) {
        of.x.store(1, kRelaxed);
        futex_wake(of.x.word(), 1);
    };
    const auto wake_before = [](Words &of) {
        futex_wake(of.x.word(), 1);
        of.x.store(1, kRelaxed);
    };
    EXPECT_EQ(failure_of({sleep_while_zero, wake}), "");
    EXPECT_EQ(failure_of({sleep_while_zero, store}), "somebody waits for ever");
    EXPECT_EQ(failure_of({sleep_while_zero, wake_before}), "somebody waits for ever");
    EXPECT_EQ(failure_of({sleep_while_zero, sleep_while_zero, wake}), "somebody waits for ever");
    EXPECT_EQ(failure_of({sleep_while_zero, sleep_while_zero, wake, wake}), "");
}

// ---- locks ----------------------------------------------------------------------------------

// The lock's own code comes to the same ends as the explorer's step in its place.
TEST(Explorer, ALockKeepsOthersOut) {
    struct Locked {
        SpinLock lock;
        int inside = 0;
        std::uint64_t order = 0;
        std::array<Atomic<int>, 2> steps;

        void go_through(std::size_t me) {
            lock.lock();
            if (++inside != 1)
                fail("two have the lock");
            steps[1 - me].fetch_add(1, kRelaxed); // others may go on meanwhile
            order = 4 * order + me + 1;
            --inside;
            lock.unlock();
        }
    };
    Locked locked;
    schedules::Test test;
    test.memory = {memory_of(locked)};
    test.begin = [&] { make_anew(locked); };
    test.threads = {[&] { locked.go_through(0); }, [&] { locked.go_through(1); }};
    test.state = [&] { return locked.order; };
    test.end = [] { return ""; };
    for (const bool spins : {false, true}) {
        const Result result = explore(test, {}, {.spins = spins});
        EXPECT_EQ(result.failure, "") << result.schedule;
        EXPECT_EQ(result.ends, (std::set<std::uint64_t>{6, 9}));
    }
    EXPECT_NE(explore(test, {Flaw::Kind::no_lock, "", 0}).failure, "");
}

// ---- memory ---------------------------------------------------------------------------------

TEST(Explorer, WhatIsGivenBackIsNotTouched) {
    struct Block {
        Atomic<std::uint64_t> word;
    };
    const auto first = [](Words &of) {
        auto *const block = new (allocate(sizeof(Block))) Block;
        of.x.store(reinterpret_cast<std::uint64_t>(block), kRelease);
        release(block);
    };
    const auto second = [](Words &of) {
        if (auto *const block = reinterpret_cast<Block *>(of.x.load(kAcquire)))
            block->word.fetch_add(1, kRelaxed);
    };
    EXPECT_EQ(failure_of({first, second}), "a block is touched that was given back");
}

} // namespace
} // namespace sennit::schedules
