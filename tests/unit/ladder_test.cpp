// SPDX-License-Identifier: Apache-2.0
// wait/ladder.h: in which order a thread tests, yields, arms and sleeps, and how often.
#include "wait/ladder.h"

#include <gtest/gtest.h>

#include <cstdint>

using namespace sennit::wait;

namespace {

constexpr LadderRow kEach = {
    .tests = 3, .yield_ns = INT64_MAX, .tests_of_ring = 4, .tests_of_nap = 2, .naps = {100, 350}};

const auto kAlone = [] { return true; };
const auto kPays = [](std::int64_t) { return true; };
const auto kPaysNot = [](std::int64_t) { return false; };

// Up to the first sleep.
Ladder asleep(const LadderRow &row) {
    Ladder ladder;
    while (ladder.next(row, kAlone, kPaysNot) != Rung::sleeps)
        ;
    return ladder;
}

int tests_before_it_arms(Ladder &ladder, const LadderRow &row) {
    int tests = 1;
    while (ladder.next(row) == Rung::tests)
        ++tests;
    EXPECT_EQ(ladder.rung(), Rung::arms);
    return tests;
}

} // namespace

TEST(Ladder, EachRungComesInItsOrder) {
    Ladder ladder;
    EXPECT_EQ(ladder.next(kEach), Rung::tests);
    EXPECT_EQ(ladder.next(kEach), Rung::tests);
    EXPECT_EQ(ladder.next(kEach), Rung::yields); // the third test was in vain
    EXPECT_GT(ladder.began_ns(), 0);
    EXPECT_EQ(ladder.next(kEach), Rung::yields);
    EXPECT_EQ(ladder.next(kEach, kAlone, kPaysNot), Rung::arms);
    EXPECT_EQ(ladder.next(kEach), Rung::sleeps);
    ladder.slept(kEach, true);
    EXPECT_EQ(ladder.next(kEach), Rung::tests); // it yields no more
}

TEST(Ladder, AfterARingItTestsMoreOftenThanAfterANap) {
    Ladder ladder = asleep(kEach);
    ladder.slept(kEach, true);
    EXPECT_EQ(tests_before_it_arms(ladder, kEach), kEach.tests_of_ring);
    EXPECT_EQ(ladder.next(kEach), Rung::sleeps);
    ladder.slept(kEach, false);
    EXPECT_EQ(tests_before_it_arms(ladder, kEach), kEach.tests_of_nap);
}

// The bell that was armed is so still, but what was found may be followed by more.
TEST(Ladder, WhatIsFoundCountsAsARing) {
    Ladder ladder = asleep(kEach);
    ladder.slept(kEach, false);
    ladder.test_again();
    EXPECT_EQ(tests_before_it_arms(ladder, kEach), kEach.tests_of_ring);
    ladder.test_again();
    EXPECT_EQ(tests_before_it_arms(ladder, kEach), kEach.tests_of_ring);
    Ladder fresh;
    EXPECT_EQ(fresh.next(kEach), Rung::tests);
    fresh.test_again();
    EXPECT_EQ(fresh.next(kEach), Rung::tests);
    EXPECT_EQ(fresh.next(kEach), Rung::tests);
    EXPECT_EQ(fresh.next(kEach), Rung::yields);
}

TEST(Ladder, NapsGrowUntilTheyAreLongest) {
    Ladder ladder = asleep(kEach);
    for (const std::int64_t nap : {100, 200, 350, 350}) {
        EXPECT_EQ(ladder.nap_ns(kEach), nap);
        ladder.slept(kEach, true); // as long again: it has not missed anything
        EXPECT_EQ(ladder.nap_ns(kEach), nap);
        ladder.slept(kEach, false);
    }
}

TEST(Ladder, WhereNobodyRingsNothingIsArmed) {
    constexpr LadderRow timer = {.tests = 2, .naps = {100, 400, 4}};
    Ladder ladder;
    EXPECT_EQ(ladder.next(timer), Rung::tests);
    for (const std::int64_t nap : {100, 125, 156}) {
        EXPECT_EQ(ladder.next(timer), Rung::sleeps);
        EXPECT_EQ(ladder.nap_ns(timer), nap);
        ladder.slept(timer, false);
    }
}

TEST(Ladder, ItTestsOnOnlyWhileNobodyElseWantsTheProcessor) {
    constexpr LadderRow row = {.tests = 2, .idle_tests = 5};
    Ladder ladder;
    int asked = 0;
    int tests = 1;
    for (; ladder.tests(row, [&] { return ++asked > 0; }); ++tests)
        ;
    EXPECT_EQ(tests, row.idle_tests);
    EXPECT_EQ(asked, row.idle_tests - row.tests); // not before the tests that it has in any case
    Ladder other;
    for (tests = 1; other.tests(row, [] { return false; }); ++tests)
        ;
    EXPECT_EQ(tests, row.tests);
}

TEST(Ladder, IdleTestsEndWithTheirTime) {
    constexpr LadderRow row = {.tests = 2, .idle_tests = kAnyNumber, .idle_ns = 100'000};
    Ladder ladder;
    const std::int64_t begin = sennit::monotonic_ns();
    while (ladder.tests(row, kAlone))
        ;
    EXPECT_GE(sennit::monotonic_ns() - begin, row.idle_ns);
}

TEST(Ladder, AWaitThatBeginsAnewTestsAsAtFirst) {
    Ladder ladder = asleep(kEach);
    ladder.begin(kEach.tests - 2);
    EXPECT_TRUE(ladder.counts(kEach));
    EXPECT_FALSE(ladder.counts(kEach));
    EXPECT_EQ(ladder.beyond_tests(kEach, kPays), Rung::yields);
    EXPECT_FALSE(ladder.counts(kEach));
}

TEST(Ladder, NapsOfAWaitArePartsOfIt) {
    constexpr Naps naps = {20, 2000, 32, true};
    EXPECT_EQ(naps.of(0), 20);
    EXPECT_EQ(naps.of(3200), 100);
    EXPECT_EQ(naps.of(std::int64_t{1} << 40), 2000);
}
