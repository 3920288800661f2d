// SPDX-License-Identifier: Apache-2.0
// Cores of a node that processes share: who sleeps in the kernel with one, and what is left of the
// dead.
#include "node/look.h"
#include "node/share.h"
#include "shared_cores.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace sennit::node;

constexpr bool kTellsThreads = true;

// A thread that sleeps in the kernel, until it is woken.
class Doze {
  public:
    Doze() { EXPECT_EQ(pipe(ends_), 0); }
    ~Doze() {
        close(ends_[0]);
        close(ends_[1]);
    }
    Doze(const Doze &) = delete;
    Doze &operator=(const Doze &) = delete;
    void sleep() {
        asleep_ = gettid();
        char word = 0;
        EXPECT_EQ(read(ends_[0], &word, 1), 1);
    }
    void wait_until_asleep() const {
        while (asleep_ == 0 || !is_asleep(getpid(), asleep_))
            std::this_thread::yield();
    }
    void wake() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }

  private:
    int ends_[2] = {};
    std::atomic<int> asleep_{0};
};

TEST_F(SharedCores, WhoSleepsInTheKernelLosesItsCores) {
    Process one(board_, 1, 2, kTellsThreads);
    Process two(board_, 2, 2, kTellsThreads);
    CoreTable &table = board_.core_table();
    Doze dozes[2];
    Hold slept[2], after[2];
    std::vector<std::thread> sleepers;
    for (int i = 0; i < 2; ++i)
        sleepers.emplace_back([&, i] {
            slept[i] = one.share.take(kNobody);
            dozes[i].sleep();
            EXPECT_TRUE(one.share.is_to_leave(slept[i]));
            after[i] = one.share.leave(slept[i]); // if the other one is not back yet, without
            while (!after[i])
                if (one.share.is_to_leave({}))
                    after[i] = one.share.leave({});
        });
    for (const Doze &doze : dozes)
        doze.wait_until_asleep();
    EXPECT_EQ(used(), 2);
    EXPECT_FALSE(two.share.take(kNobody)) << "one of each process runs at once";
    // Its second thread waits, and gets one core; its third one gets the other.
    const Hold second = two.share.take(kNobody), third = two.share.take(kNobody);
    EXPECT_TRUE(second);
    EXPECT_TRUE(third);
    EXPECT_EQ(one.slot->cores.slept.load(), 2U);
    EXPECT_GE(one.slot->cores.used_ns.load(), 2 * kKeptNs) << "until then";
    for (const Hold hold : slept) {
        EXPECT_TRUE(table.has_lost(hold));
        EXPECT_FALSE(table.give(hold, board_.number_of(*one.slot)));
        EXPECT_EQ(table.state(hold.core).user, board_.number_of(*two.slot));
    }
    // They wake up, go on, and get cores again.
    for (const Doze &doze : dozes)
        doze.wake();
    two.share.give(second);
    two.share.give(third);
    two.share.give({}); // or a core would be kept for it
    for (std::thread &sleeper : sleepers)
        sleeper.join();
    for (const Hold hold : after) {
        EXPECT_FALSE(table.has_lost(hold));
        one.share.give(hold);
    }
    EXPECT_EQ(used(), 0);
    EXPECT_EQ(one.slot->cores.recalled.load(), 0U) << "they had none that an owner wanted back";
    EXPECT_EQ(one.slot->cores.without.load(), 0);
}

TEST_F(SharedCores, ASiblingGetsTheCoreOfWhoSleeps) {
    Process one(board_, 1, 1, kTellsThreads);
    Doze doze;
    Hold slept;
    std::thread sleeper([&] {
        slept = one.share.take(kNobody);
        doze.sleep();
        one.share.give(slept);
    });
    doze.wait_until_asleep();
    const Hold hold = one.share.take(kNobody);
    EXPECT_EQ(hold.core, slept.core);
    doze.wake();
    sleeper.join();
    EXPECT_EQ(used(), 1) << "who was robbed has nothing to give";
    one.share.give(hold);
    EXPECT_EQ(used(), 0);
}

TEST_F(SharedCores, WhoSleepsKeepsNoCoreForThreadsWithoutOne) {
    Process one(board_, 1, 1, kTellsThreads);
    Process two(board_, 2, 1, kTellsThreads);
    ASSERT_EQ(board_.core_table().state(0).owner, board_.number_of(*one.slot));
    Doze doze;
    std::thread sleeper([&] {
        const Hold slept = one.share.take(kNobody);
        one.slot->cores.without.fetch_add(1); // another one, which does not look for a core
        doze.sleep();
        one.slot->cores.without.fetch_sub(1);
        one.share.give(slept);
    });
    doze.wait_until_asleep();
    EXPECT_FALSE(two.share.take(kNobody));
    const Hold hold = two.share.take(kNobody);
    EXPECT_EQ(hold.core, 0);
    doze.wake();
    sleeper.join();
    two.share.give(hold);
    two.share.give({});
    EXPECT_EQ(used(), 0);
}

TEST_F(SharedCores, WhoComputesIsNotRobbed) {
    Process one(board_, 1, 1, kTellsThreads);
    std::atomic<bool> has{false}, wanted{false};
    std::thread computes([&] {
        const Hold hold = one.share.take(kNobody);
        has = true;
        while (!wanted)
            ;
        for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
             std::chrono::steady_clock::now() < end;)
            ;
        EXPECT_FALSE(one.share.is_to_leave(hold));
        one.share.give(hold);
    });
    while (!has)
        std::this_thread::yield();
    std::thread wants([&] { one.share.give(one.share.take(kNobody)); });
    while (one.wants() == 0)
        std::this_thread::yield();
    wanted = true;
    computes.join();
    wants.join();
    EXPECT_EQ(one.slot->cores.slept.load(), 0U);
}

// What the policy would refuse if the core were free, a sleeper keeps.
TEST_F(SharedCores, WhoSleepsKeepsWhatIsItsAlone) {
    std::snprintf(board_.pool().policy, sizeof board_.pool().policy, "static");
    board_.pool().named = 1;
    Process one(board_, 1, 2, kTellsThreads);
    Process two(board_, 2, 2, kTellsThreads);
    two.share.end();
    two.share.set_patience(10 * kKeptNs);
    two.share.begin(board_, *two.slot);
    Doze doze;
    std::thread sleeper([&] {
        const Hold slept = one.share.take(kNobody);
        doze.sleep();
        EXPECT_FALSE(one.share.is_to_leave(slept));
        one.share.give(slept);
    });
    doze.wait_until_asleep();
    const Hold own = two.share.take(kNobody);
    std::atomic<bool> done{false};
    std::thread second([&] {
        EXPECT_FALSE(two.share.take(kNobody));
        two.share.give({});
        done = true;
    });
    while (!done) // awake: its own core is not to be had, either
        std::this_thread::yield();
    second.join();
    doze.wake();
    sleeper.join();
    two.share.give(own);
    EXPECT_EQ(one.slot->cores.slept.load(), 0U);
}

TEST_F(SharedCores, OnlyTheUseThatWasSeenIsTakenOver) {
    Process one(board_, 1, 1, kTellsThreads);
    CoreTable &table = board_.core_table();
    const int me = board_.number_of(*one.slot);
    const Hold first = table.take(0, me);
    EXPECT_EQ(table.thread_of(first), 0) << "it has not told yet";
    table.note_use(first, 1, 4711);
    EXPECT_EQ(table.thread_of(first), 4711);
    table.give(first, me);
    EXPECT_FALSE(table.take_over(first, me)) << "it is free";
    const Hold second = table.take(0, me);
    EXPECT_EQ(table.thread_of(second), 0) << "the thread of the use before is not its";
    EXPECT_FALSE(table.take_over(first, me));
    const Hold third = table.take_over(second, me);
    EXPECT_TRUE(third);
    EXPECT_FALSE(table.take_over(second, me)) << "once";
    EXPECT_TRUE(table.has_lost(second));
    EXPECT_TRUE(table.rest(third, me));
    EXPECT_FALSE(table.take_over(third, me)) << "what rests is its process's";
    table.give(third, me);
}

TEST(Asleep, WhatTheKernelSaysOfAThread) {
    EXPECT_FALSE(is_asleep(getpid(), gettid()));
    EXPECT_FALSE(is_asleep(getpid(), 1 << 30));
    EXPECT_FALSE(is_asleep(1 << 30, 1));
    const pid_t child = fork();
    if (child == 0)
        for (;;)
            ;
    while (is_asleep(child, child)) // at its first step it may wait for memory
        std::this_thread::yield();
    kill(child, SIGSTOP);
    while (!is_asleep(child, child))
        std::this_thread::yield();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(is_asleep(child, child));
}

// Killed while it holds its core and a borrowed one.
TEST_F(SharedCores, WhatTheDeadHeldIsFree) {
    int said[2];
    ASSERT_EQ(pipe(said), 0);
    const pid_t child = fork();
    if (child == 0) {
        Board board;
        Reason reason;
        ProcessInfo member;
        member.cores.add(0);
        member.cores.add(1);
        if (!board.open((folder_ + "/board").c_str(), reason))
            _exit(1);
        BoardSlot *const slot = board.join(9, member);
        Share share;
        share.begin(board, *slot);
        share.take(kNobody);
        share.take(kNobody);
        board.core_table().want(board.number_of(*slot)); // and is about to sleep
        if (write(said[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char word = 0;
    ASSERT_EQ(read(said[0], &word, 1), 1);
    close(said[0]);
    close(said[1]);
    EXPECT_EQ(used(), 2);
    EXPECT_TRUE(board_.core_table().anybody_wants());
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(board_.sweep(), 1);
    EXPECT_EQ(used(), 0);
    EXPECT_FALSE(board_.core_table().anybody_wants());
    Process one(board_, 1, 2, kTellsThreads);
    for (int core = 0; core < 2; ++core)
        EXPECT_EQ(board_.core_table().state(core).owner, board_.number_of(*one.slot));
}

} // namespace
