// SPDX-License-Identifier: Apache-2.0
// The explorer itself, by litmus tests: what two threads may see of each other on x86-64, and what
// they may not (Sewell et al., "x86-TSO", CACM 53(7), 2010).
#include "schedules.h"

#include <gtest/gtest.h>
#include <memory>

namespace sennit::schedules {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// Two words, and what each thread has read. Each pair of readings that comes is noted.
class Litmus {
  public:
    using Body = void (*)(Litmus &);
    Litmus(Body first, Body second) : first_(first), second_(second) {}

    bool may_read(std::uint64_t first, std::uint64_t second) {
        Test test;
        test.begin = [this] {
            for (Atomic<std::uint64_t> *word : {&x, &y}) {
                std::destroy_at(word);
                std::construct_at(word, 0U);
            }
            a = b = 0;
        };
        test.threads = {[this] { first_(*this); }, [this] { second_(*this); }};
        test.state = [this] { return a * 16 + b; };
        test.end = [this, first, second] { return a == first && b == second ? "seen" : ""; };
        return !explore(test).failure.empty();
    }

    Atomic<std::uint64_t> x, y;
    std::uint64_t a = 0, b = 0;

  private:
    Body first_, second_;
};

TEST(Explorer, StoresWaitInBuffers) {
    Litmus relaxed(
        [](Litmus &of) {
            of.x.store(1, kRelaxed);
            of.a = of.y.load(kRelaxed);
        },
        [](Litmus &of) {
            of.y.store(1, kRelaxed);
            of.b = of.x.load(kRelaxed);
        });
    EXPECT_TRUE(relaxed.may_read(0, 0));
    EXPECT_TRUE(relaxed.may_read(1, 1));
}

TEST(Explorer, OrderedStoresDoNot) {
    Litmus ordered(
        [](Litmus &of) {
            of.x.store(1);
            of.a = of.y.load();
        },
        [](Litmus &of) {
            of.y.store(1);
            of.b = of.x.load();
        });
    EXPECT_FALSE(ordered.may_read(0, 0));
    EXPECT_TRUE(ordered.may_read(0, 1));
}

TEST(Explorer, StoresOfAThreadAreSeenInOrder) {
    Litmus message(
        [](Litmus &of) {
            of.x.store(1, kRelaxed);
            of.y.store(1, kRelaxed);
        },
        [](Litmus &of) {
            of.a = of.y.load(kRelaxed);
            of.b = of.x.load(kRelaxed);
        });
    EXPECT_FALSE(message.may_read(1, 0));
    EXPECT_TRUE(message.may_read(0, 1));
}

// Between a thread's store and its next load of the word, others may see the store, and write over
// it.
TEST(Explorer, OthersWriteBetweenAStoreAndALoad) {
    Litmus over(
        [](Litmus &of) {
            of.x.store(1, kRelaxed);
            of.a = of.x.load(kRelaxed);
        },
        [](Litmus &of) { of.x.store(2, kRelaxed); });
    EXPECT_TRUE(over.may_read(1, 0));
    EXPECT_TRUE(over.may_read(2, 0));
    EXPECT_FALSE(over.may_read(0, 0));
}

} // namespace
} // namespace sennit::schedules
