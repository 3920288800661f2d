// SPDX-License-Identifier: Apache-2.0
// Cores of a node that processes share: who takes, lends, recalls them. Those of threads that
// sleep, and of the dead: core_sleepers_test.cpp.
#include "node/look.h"
#include "node/share.h"
#include "shared_cores.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace sennit::node;

TEST_F(SharedCores, EachOwnsItsPart) {
    Process one(board_, 1, 4);
    Process two(board_, 2, 4);
    divide_cores(board_);
    int owned[2] = {};
    for (int core = 0; core < 4; ++core)
        ++owned[board_.core_table().state(core).owner == board_.number_of(*two.slot)];
    EXPECT_EQ(owned[0], 2);
    EXPECT_EQ(owned[1], 2);
}

// A machine of two NUMA domains: the even cores, and the odd ones.
class SharedDomains : public SharedCores {
  protected:
    void SetUp() override {
        SharedCores::SetUp();
        write("online", "0-1");
        write("node0/cpulist", "0,2,4");
        write("node1/cpulist", "1,3,5");
        setenv("SENNIT_SYSTEM_FILES", folder_.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("SENNIT_SYSTEM_FILES");
        SharedCores::TearDown();
    }
    void write(const std::string &name, const char *text) const {
        const fs::path path = folder_ + "/node/" + name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text << '\n';
    }
    std::vector<int> owned(const Process &process) {
        std::vector<int> cores;
        for (int core = 0; core < board_.core_table().end(); ++core)
            if (board_.core_table().state(core).owner == board_.number_of(*process.slot))
                cores.push_back(core);
        return cores;
    }
};

TEST_F(SharedDomains, EachOwnsCoresOfOneDomain) {
    const Process one(board_, 7, 6);
    const Process two(board_, 8, 6);
    std::set<int> domains;
    for (const Process *process : {&one, &two}) {
        const std::vector<int> cores = owned(*process);
        ASSERT_EQ(cores.size(), 3U);
        for (const int core : cores)
            EXPECT_EQ(core % 2, cores[0] % 2);
        domains.insert(cores[0] % 2);
    }
    EXPECT_EQ(domains.size(), 2U);
}

// Two cores each: one of the three has a core in either domain.
TEST_F(SharedDomains, WhatIsLentIsOfTheBorrowersDomainFirst) {
    Process one(board_, 7, 6);
    Process two(board_, 8, 6);
    Process three(board_, 9, 6);
    int looked = 0;
    for (Process *process : {&one, &two, &three}) {
        const std::vector<int> own = owned(*process);
        ASSERT_EQ(own.size(), 2U);
        if (own[0] % 2 != own[1] % 2)
            continue;
        ++looked;
        Hold holds[6];
        for (Hold &hold : holds) {
            hold = process->share.take(kNobody);
            ASSERT_TRUE(hold);
        }
        EXPECT_EQ(std::set<int>({holds[0].core, holds[1].core}),
                  std::set<int>(own.begin(), own.end()));
        EXPECT_EQ(holds[2].core % 2, own[0] % 2) << "the third one of its domain, lent";
        EXPECT_NE(holds[3].core % 2, own[0] % 2);
        for (const Hold &hold : holds)
            process->share.give(hold);
    }
    EXPECT_EQ(looked, 2);
}

TEST_F(SharedCores, AnIdleOneLendsAndGetsBack) {
    Process one(board_, 1, 2);
    Process two(board_, 2, 2);
    const Hold first = one.share.take(kNobody);
    const Hold second = one.share.take(kNobody);
    ASSERT_TRUE(first);
    ASSERT_TRUE(second) << "nobody else wants it";
    EXPECT_NE(first.core, second.core);
    const Hold lent =
        board_.core_table().state(first.core).owner == board_.number_of(*two.slot) ? first : second;
    EXPECT_FALSE(one.share.is_to_leave(lent));
    // The owner comes back: it runs at once, and the borrower is to leave at its next point.
    EXPECT_FALSE(two.share.take(kNobody));
    EXPECT_TRUE(one.share.is_to_leave(lent));
    EXPECT_FALSE(one.share.is_to_leave(lent.core == first.core ? second : first));
    EXPECT_FALSE(two.share.is_to_leave({}));
    // It leaves, and waits for another one.
    std::atomic<int> next{-2};
    Hold again;
    std::thread borrower([&] {
        again = one.share.leave(lent);
        next = again.core;
    });
    while (!two.share.is_to_leave({}))
        std::this_thread::yield();
    const Hold back = two.share.leave({});
    EXPECT_EQ(back.core, lent.core);
    EXPECT_EQ(next, -2);
    two.share.give(back);
    borrower.join();
    EXPECT_EQ(next, lent.core) << "as its owner is idle again";
    EXPECT_EQ(used(), 2);
    one.share.give(lent.core == first.core ? second : first);
    EXPECT_FALSE(board_.core_table().give(lent, board_.number_of(*one.slot)))
        << "it has been taken anew since";
    one.share.give(again);
    EXPECT_EQ(used(), 0);
    EXPECT_EQ(one.slot->cores.recalled.load(), 1U);
}

// A core that its owner wants back, and that is not left within two milliseconds, is counted.
TEST_F(SharedCores, ACoreThatIsKeptTooLongIsCounted) {
    Process one(board_, 1, 2);
    Process two(board_, 2, 2);
    const CoreTable &table = board_.core_table();
    const auto is_of_two = [&](Hold hold) {
        return table.state(hold.core).owner == board_.number_of(*two.slot);
    };
    const Hold first = one.share.take(kNobody);
    const Hold second = one.share.take(kNobody);
    const Hold lent = is_of_two(first) ? first : second;
    EXPECT_EQ(table.recalled_since(lent), 0);
    EXPECT_FALSE(two.share.take(kNobody));
    EXPECT_NE(table.recalled_since(lent), 0);
    EXPECT_EQ(table.recalled_since(is_of_two(first) ? second : first), 0);
    std::this_thread::sleep_for(std::chrono::nanoseconds(kKeptNs + 1'000'000));
    one.share.give(lent);
    EXPECT_EQ(one.slot->cores.kept.load(), 1U);
    EXPECT_EQ(table.recalled_since(lent), 0) << "it has been left";
    one.share.give(is_of_two(first) ? second : first);
    EXPECT_EQ(one.slot->cores.kept.load(), 1U) << "nobody wanted this one back";
    two.share.give({});
}

TEST_F(SharedCores, WhoAsksGetsWhatIsFreeAndItsOwnBack) {
    Process one(board_, 1, 4);
    Process two(board_, 2, 4);
    sennit_pool_state state{};
    two.share.tell(state);
    EXPECT_EQ(state.cores, 4);
    EXPECT_EQ(state.free, 4);
    EXPECT_EQ(state.process.owned, 2);
    Hold held[3];
    for (Hold &core : held)
        core = one.share.take(kNobody); // its own two, and one that it borrows
    state = {};
    two.share.tell(state);
    EXPECT_EQ(state.free, 1);
    EXPECT_EQ(state.process.lent, 1);
    EXPECT_EQ(state.process.borrowed, 0);
    state = {};
    one.share.tell(state);
    EXPECT_EQ(state.program.borrowed, 1);
    EXPECT_EQ(state.program.used, 3);
    EXPECT_EQ(two.share.ask(1), 1) << "a free one: nobody has to leave";
    for (const Hold core : held)
        EXPECT_FALSE(one.share.is_to_leave(core));
    EXPECT_EQ(two.share.ask(9), 2) << "the free one, and its own";
    int leave = 0;
    for (const Hold core : held)
        leave += one.share.is_to_leave(core) ? 1 : 0;
    EXPECT_EQ(leave, 1);
    for (Hold &core : held)
        if (one.share.is_to_leave(core)) {
            one.share.give_recalled(core);
            core = {};
        }
    const Hold first = two.share.take(kNobody), second = two.share.take(kNobody);
    EXPECT_TRUE(first);
    EXPECT_TRUE(second);
    EXPECT_EQ(two.share.ask(1), 0) << "nothing is free, and all are used by their owners";
    two.share.give(first);
    two.share.give(second);
    for (const Hold core : held)
        if (core)
            one.share.give(core);
    EXPECT_EQ(two.share.ask(0), 0);
    EXPECT_EQ(used(), 0);
}

// For kAskedNs. Where this thread had no processor for longer, the round says nothing.
TEST_F(SharedCores, WhatIsAskedIsKeptForWhoHasAsked) {
    Process one(board_, 1, 2);
    Process two(board_, 2, 2);
    const std::atomic<std::int32_t> tries_once{0};
    for (bool in_time = false; !in_time;) {
        const auto before = std::chrono::steady_clock::now();
        EXPECT_EQ(one.share.ask(2), 2);
        const Hold own = two.share.take(kNobody);
        const Hold other = two.share.take_spare(tries_once, kNobody);
        in_time = std::chrono::steady_clock::now() - before < std::chrono::nanoseconds(kAskedNs);
        EXPECT_TRUE(own);
        EXPECT_TRUE(!in_time || !other) << "it is kept";
        if (other)
            two.share.give(other);
        two.share.give(own);
    }
}

TEST_F(SharedCores, WhatIsAskedIsNotKeptForLong) {
    Process one(board_, 1, 2);
    Process two(board_, 2, 2);
    EXPECT_EQ(one.share.ask(2), 2);
    const Hold own = two.share.take(kNobody);
    std::atomic<bool> over{false};
    std::thread other([&] { // it wants a core that is kept, and gets it as nobody comes
        const Hold core = two.share.take(kNobody);
        EXPECT_TRUE(core);
        EXPECT_NE(core.core, own.core);
        two.share.give(core);
        over = true;
    });
    while (!over) // awake, or its own core would be taken from this thread
        std::this_thread::yield();
    other.join();
    two.share.give(own);
}

TEST_F(SharedCores, OneThreadOfAProcessAlwaysRuns) {
    Process one(board_, 1, 1);
    Process two(board_, 2, 1);
    Process three(board_, 3, 1);
    const Hold core = one.share.take(kNobody);
    EXPECT_EQ(core.core, 0);
    EXPECT_FALSE(two.share.take(kNobody));
    EXPECT_FALSE(three.share.take(kNobody));
    one.share.give(core);
    const Hold next = two.share.leave({});
    EXPECT_EQ(next.core, 0);
    two.share.give(next);
    three.share.give({});
}

TEST_F(SharedCores, WhoWaitsIsWokenWhenItsProcessRests) {
    Process one(board_, 1, 1);
    const Hold core = one.share.take(kNobody);
    Hold got;
    std::thread other([&] { got = one.share.take(kNobody); });
    while (one.wants() == 0)
        std::this_thread::yield();
    one.share.give(core);
    other.join();
    EXPECT_EQ(got.core, core.core);
    one.share.give(got);
}

TEST_F(SharedCores, WhoWaitsTooLongRunsAllTheSame) {
    Process one(board_, 1, 1);
    one.share.end();
    one.share.set_patience(2'000'000);
    one.share.begin(board_, *one.slot);
    const Hold core = one.share.take(kNobody);
    EXPECT_FALSE(one.share.take(kNobody));
    EXPECT_EQ(one.slot->cores.late.load(), 1U);
    one.share.give({});
    one.share.give(core);
}

TEST_F(SharedCores, WhoIsNeededNoMoreWaitsNoMore) {
    Process one(board_, 1, 1);
    std::atomic<std::int32_t> needed{1};
    const auto core = one.share.take_while(needed, kNobody);
    ASSERT_TRUE(core && *core);
    std::optional<Hold> other;
    std::thread waits([&] { other = one.share.take_while(needed, kNobody); });
    while (one.wants() == 0)
        std::this_thread::yield();
    needed.store(0);
    waits.join();
    EXPECT_FALSE(other) << "it has begun to compute";
    EXPECT_EQ(one.wants(), 0);
    EXPECT_EQ(one.slot->cores.late.load(), 0U);
    EXPECT_EQ(one.slot->cores.without.load(), 0);
    needed.store(1);
    std::thread gets([&] { other = one.share.take_while(needed, kNobody); });
    while (one.wants() == 0)
        std::this_thread::yield();
    one.share.give_recalled(*core);
    gets.join();
    ASSERT_TRUE(other && *other);
    EXPECT_EQ(one.slot->cores.recalled.load(), 1U);
    one.share.give(*other);
}

TEST_F(SharedCores, WhoCanBeSparedNeverRunsBeyondTheCores) {
    Process one(board_, 1, 1);
    one.share.end();
    one.share.set_patience(2'000'000);
    one.share.begin(board_, *one.slot);
    std::atomic<std::int32_t> needed{1};
    EXPECT_TRUE(one.share.could_have_more());
    const Hold core = one.share.take_spare(needed, kNobody);
    ASSERT_TRUE(core);
    EXPECT_FALSE(one.share.could_have_more());
    EXPECT_FALSE(one.share.take_spare(needed, kNobody)) << "it waits for 2 ms";
    needed.store(0);
    EXPECT_FALSE(one.share.take_spare(needed, kNobody));
    EXPECT_EQ(one.wants(), 0);
    EXPECT_EQ(one.slot->cores.late.load(), 0U);
    EXPECT_EQ(one.slot->cores.without.load(), 0);
    one.share.give(core);
    EXPECT_TRUE(one.share.could_have_more());
}

TEST_F(SharedCores, TheEndWakesThoseWhoWait) {
    Process one(board_, 1, 1);
    const Hold core = one.share.take(kNobody);
    std::thread other([&] { EXPECT_FALSE(one.share.take(kNobody)); });
    while (one.wants() == 0)
        std::this_thread::yield();
    one.share.end();
    other.join();
    EXPECT_EQ(one.wants(), 0);
    one.share.begin(board_, *one.slot);
    one.share.give({});
    one.share.give(core);
}

TEST_F(SharedCores, WhatRestsIsForItsProcessAndItsOwner) {
    Process one(board_, 1, 2);
    Process two(board_, 2, 2);
    CoreTable &table = board_.core_table();
    const Hold first = one.share.take(kNobody);
    const Hold second = one.share.take(kNobody);
    const bool is_first = table.state(first.core).owner == board_.number_of(*one.slot);
    const Hold own = is_first ? first : second;
    const Hold lent = is_first ? second : first;
    one.share.rest(own);
    EXPECT_TRUE(one.share.still_rests(own));
    EXPECT_EQ(used(), 2) << "nobody else may take it";
    // Another thread of its process.
    const Hold sibling = one.share.take(kNobody);
    EXPECT_EQ(sibling.core, own.core);
    EXPECT_FALSE(one.share.still_rests(own));
    one.share.rest(lent);
    // Its owner, without a recall.
    const Hold back = two.share.take(kNobody);
    EXPECT_EQ(back.core, lent.core);
    EXPECT_FALSE(one.share.still_rests(lent));
    EXPECT_FALSE(one.share.is_to_leave(sibling));
    two.share.give(back);
    one.share.give(sibling);
    EXPECT_EQ(used(), 0);
}

TEST_F(SharedCores, WhoWaitsGetsWhatItsSiblingRestsFrom) {
    Process one(board_, 1, 1);
    Process two(board_, 2, 1);
    const Hold core = one.share.take(kNobody);
    EXPECT_FALSE(two.share.take(kNobody)); // it runs all the same
    Hold got;
    std::thread other([&] { got = one.share.take(kNobody); });
    while (one.wants() == 0)
        std::this_thread::yield();
    one.share.rest(core);
    other.join();
    EXPECT_EQ(got.core, core.core);
    one.share.give(got);
    two.share.give({});
}

TEST_F(SharedCores, WhoSleepsGivesWhatRestsButForThoseAwake) {
    Process one(board_, 1, 2);
    const Hold first = one.share.take(kNobody);
    const Hold second = one.share.take(kNobody);
    one.share.rest(first);
    one.share.rest(second);
    one.share.sleep(first);
    EXPECT_EQ(used(), 1) << "one of the two is awake";
    EXPECT_TRUE(one.share.still_rests(second)) << "who sleeps gives its own";
    one.share.count_awake(1); // a third one, whom the second wakes
    one.share.sleep(second);
    EXPECT_EQ(used(), 1) << "for the one that has been woken";
    one.share.sleep({});
    EXPECT_EQ(used(), 0) << "it has not wanted it";
}

// What was kept for it while it was awake is not kept for ever.
TEST_F(SharedCores, WhoGoesOnWithAnotherCoreGivesWhatRests) {
    Process one(board_, 1, 3);
    const Hold first = one.share.take(kNobody);
    const Hold second = one.share.take(kNobody);
    one.share.rest(first);
    one.share.rest(second);
    one.share.sleep({}); // it has lost its core: one of the two is kept
    EXPECT_EQ(used(), 1);
    const Hold now = one.share.go_on({}, 2);
    EXPECT_EQ(now.core, 2);
    EXPECT_EQ(used(), 1) << "its own";
    one.share.give(now);
    EXPECT_EQ(used(), 0);
}

// Who waits in MPI lends all that its process has at once.
TEST_F(SharedCores, TheLastOneToStopGivesWhatRests) {
    Process one(board_, 1, 2);
    const Hold first = one.share.take(kNobody);
    const Hold second = one.share.take(kNobody);
    one.share.rest(first);
    EXPECT_EQ(used(), 2);
    one.share.give(second);
    EXPECT_EQ(used(), 0);
}

TEST_F(SharedCores, WhatIsRecalledDoesNotRest) {
    Process one(board_, 1, 2);
    Process two(board_, 2, 2);
    CoreTable &table = board_.core_table();
    const Hold holds[] = {one.share.take(kNobody), one.share.take(kNobody)};
    EXPECT_FALSE(two.share.take(kNobody)); // and recalls its own
    const Hold lent =
        table.state(holds[0].core).owner == board_.number_of(*two.slot) ? holds[0] : holds[1];
    one.share.rest(lent);
    EXPECT_EQ(table.state(lent.core).user, kNobody);
    // What rests already is free as soon as it is recalled, for whomever.
    const Hold again = two.share.leave({});
    EXPECT_EQ(again.core, lent.core);
    two.share.rest(again);
    EXPECT_TRUE(table.recall(again.core, board_.number_of(*one.slot)));
    EXPECT_EQ(table.state(again.core).user, kNobody);
}

TEST(Wanters, WhoeverWantsACoreIsSeen) {
    const auto wanters = std::make_unique<Wanters<kMostSlots>>(); // zeroed, as a board is
    EXPECT_FALSE(wanters->any());
    for (const int slot : {0, 1, 63, 64, kMostSlots - 1}) {
        wanters->add(slot);
        wanters->add(slot);
        wanters->remove(slot);
        EXPECT_TRUE(wanters->any()) << slot;
        wanters->remove(slot);
        EXPECT_FALSE(wanters->any()) << slot;
        wanters->add(slot);
        wanters->reset(slot);
        EXPECT_FALSE(wanters->any()) << slot;
        EXPECT_EQ(wanters->count(slot), 0);
    }
}

// One of them stays.
TEST(Wanters, StressTheBitIsThereWhenAllHaveLeftButOne) {
    const auto wanters = std::make_unique<Wanters<kMostSlots>>();
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back([&, i] {
                wanters->add(7);
                if (i != 0)
                    wanters->remove(7);
            });
        for (std::thread &thread : threads)
            thread.join();
        ASSERT_EQ(wanters->count(7), 1);
        ASSERT_TRUE(wanters->any()) << round;
        wanters->remove(7);
        ASSERT_FALSE(wanters->any()) << round;
    }
}

// Threads of four processes come and go: no core is used twice, and all that wait get on.
TEST_F(SharedCores, StressNoCoreIsUsedTwice) {
    constexpr int kCores = 3;
    constexpr int kThreads = 3;
    constexpr int kRounds = 2000;
    std::vector<std::unique_ptr<Process>> processes;
    for (std::uint64_t job = 1; job <= 4; ++job)
        processes.push_back(std::make_unique<Process>(board_, job, kCores));
    std::atomic<int> users[kCores] = {};
    std::atomic<int> twice{0};
    std::vector<std::thread> threads;
    for (auto &process : processes)
        for (int i = 0; i < kThreads; ++i)
            threads.emplace_back([&, i, share = &process->share] {
                std::mt19937 random(static_cast<unsigned>(i) + 1);
                const auto use = [&](Hold hold, int by) {
                    if (hold && users[hold.core].fetch_add(by) != (by > 0 ? 0 : 1))
                        ++twice;
                };
                Hold hold;
                bool rests = false;
                for (int round = 0; round < kRounds; ++round) {
                    hold = rests ? share->go_on(hold, hold.core) : share->take(hold.core);
                    use(hold, 1);
                    for (int point = static_cast<int>(random() % 4); point > 0; --point)
                        if (share->is_to_leave(hold)) {
                            use(hold, -1);
                            hold = share->leave(hold);
                            use(hold, 1);
                        }
                    use(hold, -1);
                    rests = random() % 2 != 0;
                    if (!rests) {
                        share->give(hold);
                        continue;
                    }
                    share->rest(hold);
                    if (random() % 4 == 0) {
                        share->sleep(hold);
                        std::this_thread::yield();
                        share->count_awake(1);
                    }
                }
                if (rests)
                    share->sleep(hold);
            });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(twice, 0);
    EXPECT_EQ(used(), 0);
    EXPECT_FALSE(board_.core_table().anybody_wants());
    for (auto &process : processes) {
        EXPECT_EQ(process->wants(), 0);
        EXPECT_EQ(process->slot->cores.without.load(), 0);
    }
}

} // namespace
