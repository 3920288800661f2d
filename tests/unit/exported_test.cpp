// SPDX-License-Identifier: Apache-2.0
// What virtual ranks export (src/ranks/exported): names, versions, who may do what, the end of a
// rank.
#include "ranks/exported/registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace sennit::exported {
namespace {

constexpr pid_t kSelf = 10;
constexpr pid_t kOther = 11;

struct Exported : testing::Test {
    std::uint64_t add(pid_t who, const std::string &name, std::uint64_t address = 64) {
        ExportState state;
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
    EXPECT_EQ(registry->find("field"), id);
    EXPECT_EQ(registry->find("fiel"), 0U);
    ExportState state;
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
    ExportState state;
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
    ExportState state;
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
        ExportState state;
        EXPECT_TRUE(registry->wait(-1, [&] { return !registry->get(id, state); }));
    });
    registry->end_of(kSelf);
    waiting.join();
    ExportState state;
    EXPECT_TRUE(registry->get(kept, state));
    EXPECT_EQ(registry->find("field"), 0U);
}

TEST_F(Exported, AWaitIsOverInTime) {
    EXPECT_FALSE(registry->wait(1'000'000, [] { return false; }));
    EXPECT_FALSE(registry->wait(0, [] { return false; }));
    EXPECT_TRUE(registry->wait(0, [] { return true; }));
}

TEST_F(Exported, AWaitMayBeAsLongAsThereAreNumbers) {
    std::atomic<bool> is_over{false};
    std::thread others([&] {
        while (!is_over)
            registry->remove(kOther, add(kOther, "field"));
    });
    int looks = 0;
    EXPECT_TRUE(registry->wait(INT64_MAX, [&] { return ++looks == 2; }));
    is_over = true;
    others.join();
}

TEST_F(Exported, NoVersionIsMissed) {
    constexpr std::uint64_t versions = 20'000;
    const std::uint64_t field = add(kSelf, "field");
    const std::uint64_t read = add(kOther, "read");
    const auto wait_for = [&](std::uint64_t id, std::uint64_t version) {
        ExportState state;
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
                ExportState state;
                // Also if it ended meanwhile: then the state is as it was.
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

// In memory that processes share, as virtual ranks share all.
TEST(ExportedByProcesses, NobodyWaitsForARankThatIsStoppedOrKilled) {
    struct Shared {
        Registry registry;
        std::atomic<int> rounds{0};
    };
    void *const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto &shared = *new (memory) Shared;
    const auto add_and_remove = [&shared](pid_t self, const char *name) {
        std::uint64_t id = 0;
        return shared.registry.add(self, name, ExportState{}, id) == Outcome::done &&
               shared.registry.remove(self, id) == Outcome::done;
    };
    const pid_t other = fork();
    if (other == 0)
        for (;; shared.rounds.fetch_add(1))
            if (!add_and_remove(getpid(), "theirs"))
                _exit(1);
    constexpr int times = 200;
    for (int i = 0; i < times; ++i) {
        for (const int before = shared.rounds.load(); shared.rounds.load() == before;)
            std::this_thread::yield();
        kill(other, i + 1 < times ? SIGSTOP : SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(other, &status, WUNTRACED), other);
        ASSERT_TRUE(WIFSTOPPED(status) || WIFSIGNALED(status));
        EXPECT_TRUE(add_and_remove(kSelf, "mine"));
        EXPECT_EQ(shared.registry.find("mine"), 0U);
        kill(other, SIGCONT);
    }
    shared.registry.end_of(other);
    EXPECT_EQ(shared.registry.find("theirs"), 0U);
    for (std::size_t i = 0; i < Registry::kMost; ++i) {
        std::uint64_t id = 0;
        EXPECT_EQ(shared.registry.add(kSelf, std::to_string(i).c_str(), ExportState{}, id),
                  Outcome::done);
    }
    munmap(memory, sizeof(Shared));
}

TEST_F(Exported, ANumberThatIsNoRangeIsNone) {
    const std::uint64_t id = add(kSelf, "field");
    ExportState state;
    for (const std::uint64_t bit : {std::uint64_t{1} << 63, std::uint64_t{1} << 62}) {
        EXPECT_FALSE(registry->get(bit | id, state));
        EXPECT_EQ(registry->publish(kSelf, bit | id), Outcome::ended);
        EXPECT_EQ(registry->remove(kSelf, bit | kSelf), Outcome::ended);
    }
    EXPECT_EQ(registry->publish(kSelf, 0), Outcome::ended);
    EXPECT_EQ(registry->find("field"), id);
}

TEST_F(Exported, StressANameIsOneRanksAtATime) {
    std::atomic<int> holders{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
            for (int round = 0; round < 2'000; ++round) {
                std::uint64_t id = 0;
                const Outcome mine = registry->add(kSelf + i, "field", ExportState{}, id);
                if (mine != Outcome::done) {
                    EXPECT_EQ(mine, Outcome::exists);
                    continue;
                }
                EXPECT_EQ(holders.fetch_add(1), 0);
                EXPECT_EQ(registry->publish(kSelf + i, id), Outcome::done);
                ExportState state;
                EXPECT_TRUE(registry->get(id, state));
                EXPECT_EQ(state.version, 1U);
                holders.fetch_sub(1);
                EXPECT_EQ(registry->remove(kSelf + i, id), Outcome::done);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(registry->find("field"), 0U);
}

} // namespace
} // namespace sennit::exported
