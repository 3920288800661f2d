// SPDX-License-Identifier: Apache-2.0
// What virtual ranks export (src/exported): names, versions, who may do what, the end of a rank.
#include "exported/registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sennit::exported {
namespace {

constexpr pid_t kSelf = 10;
constexpr pid_t kOther = 11;

struct Exported : testing::Test {
    std::uint64_t add(pid_t who, const std::string &name, std::uint64_t address = 64) {
        State state;
        state.address = address;
        state.bytes = address * 2;
        std::uint64_t id = 0;
        outcome = registry->add(who, name.c_str(), state, id);
        return id;
    }
    std::unique_ptr<Registry> registry = std::make_unique<Registry>();
    Outcome outcome = Outcome::done;
};

TEST_F(Exported, ARangeIsFoundByItsName) {
    const std::uint64_t id = add(kSelf, "field");
    EXPECT_EQ(outcome, Outcome::done);
    EXPECT_EQ(registry->find(kOther, "field"), id);
    EXPECT_EQ(registry->find(kOther, "fiel"), 0U);
    State state;
    ASSERT_TRUE(registry->get(id, state));
    EXPECT_EQ(state.address, 64U);
    EXPECT_EQ(state.bytes, 128U);
    EXPECT_EQ(state.version, 0U);
    EXPECT_EQ(state.owner, kSelf);
}

TEST_F(Exported, ANameIsExportedOnce) {
    add(kSelf, "field");
    EXPECT_EQ(add(kOther, "field"), 0U);
    EXPECT_EQ(outcome, Outcome::exists);
}

TEST_F(Exported, OnlyTheExporterPublishesAndTakesBack) {
    const std::uint64_t id = add(kSelf, "field");
    EXPECT_EQ(registry->publish(kOther, id), Outcome::not_own);
    EXPECT_EQ(registry->remove(kOther, id), Outcome::not_own);
    EXPECT_EQ(registry->publish(kSelf, id), Outcome::done);
    State state;
    ASSERT_TRUE(registry->get(id, state));
    EXPECT_EQ(state.version, 1U);
    EXPECT_EQ(registry->remove(kSelf, id), Outcome::done);
    EXPECT_EQ(registry->publish(kSelf, id), Outcome::ended);
    EXPECT_FALSE(registry->get(id, state));
}

TEST_F(Exported, ARangeOfTheSameNameIsAnother) {
    const std::uint64_t first = add(kSelf, "field");
    registry->remove(kSelf, first);
    const std::uint64_t second = add(kOther, "field");
    EXPECT_NE(first, second);
    State state;
    EXPECT_FALSE(registry->get(first, state));
    EXPECT_TRUE(registry->get(second, state));
}

TEST_F(Exported, ThereIsAnEndOfRoom) {
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < Registry::kMost; ++i)
        ids.push_back(add(kSelf, "range " + std::to_string(i)));
    EXPECT_EQ(outcome, Outcome::done);
    add(kSelf, "one more");
    EXPECT_EQ(outcome, Outcome::full);
    registry->remove(kSelf, ids[5]);
    add(kSelf, "one more");
    EXPECT_EQ(outcome, Outcome::done);
}

TEST_F(Exported, TheEndOfARankTakesItsRangesBackAndWakesWhoWaits) {
    const std::uint64_t id = add(kSelf, "field");
    const std::uint64_t kept = add(kOther, "other");
    std::thread waiting([&] {
        State state;
        EXPECT_TRUE(registry->wait(-1, [&] { return !registry->get(id, state); }));
    });
    registry->end_of(kSelf);
    waiting.join();
    State state;
    EXPECT_TRUE(registry->get(kept, state));
    EXPECT_EQ(registry->find(kOther, "field"), 0U);
}

TEST_F(Exported, AWaitIsOverInTime) {
    EXPECT_FALSE(registry->wait(1'000'000, [] { return false; }));
    EXPECT_FALSE(registry->wait(0, [] { return false; }));
    EXPECT_TRUE(registry->wait(0, [] { return true; }));
}

TEST_F(Exported, NoVersionIsMissed) {
    constexpr std::uint64_t versions = 20'000;
    const std::uint64_t field = add(kSelf, "field");
    const std::uint64_t read = add(kOther, "read");
    const auto wait_for = [&](std::uint64_t id, std::uint64_t version) {
        State state;
        registry->wait(-1, [&] { return registry->get(id, state) && state.version >= version; });
    };
    std::uint64_t value = 0; // of the exporter; the reader looks at it in between
    std::thread reader([&] {
        for (std::uint64_t i = 1; i <= versions; ++i) {
            wait_for(field, i);
            EXPECT_EQ(value, i);
            registry->publish(kOther, read);
        }
    });
    for (std::uint64_t i = 1; i <= versions; ++i) {
        value = i;
        registry->publish(kSelf, field);
        wait_for(read, i);
    }
    reader.join();
}

TEST_F(Exported, StressReadersSeeWholeRangesWhileOthersComeAndGo) {
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> latest{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&] {
            while (!over.load()) {
                State state;
                registry->get(latest.load(), state);
                EXPECT_EQ(state.bytes, state.address * 2);
            }
        });
    for (std::uint64_t round = 1; round <= 20'000; ++round) {
        const std::uint64_t id = add(kSelf, "field", round);
        ASSERT_EQ(outcome, Outcome::done);
        latest = id;
        if (round % 2 == 0)
            registry->end_of(kSelf);
        else
            registry->remove(kSelf, id);
    }
    over = true;
    for (std::thread &thread : threads)
        thread.join();
}

} // namespace
} // namespace sennit::exported
