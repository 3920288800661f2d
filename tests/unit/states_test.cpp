// SPDX-License-Identifier: Apache-2.0
// base/assert.h and SENNIT_ASSERT: a step that no machine has, and a count that falls below zero,
// end the program with one line. Tickets have theirs in mpi/ticket_test.cpp.
#include "node/assembly.h"
#include "node/core_table.h"
#include "ranks/fibers/rank_fiber.h"
#include "tasks/sched/fiber.h"
#include "tasks/sched/group.h"
#include "tasks/task/task.h"

#include <gtest/gtest.h>

#include <memory>

using sennit::virt::RankFiber;
using sennit::virt::Stage;

namespace {

void take(RankFiber &fiber, std::initializer_list<Stage> places) {
    for (const Stage stage : places)
        fiber.go(stage);
}

} // namespace

TEST(States, ARankFiberLeavesHomeAndComesBack) {
    using enum Stage;
    RankFiber fiber;
    take(fiber,
         {waiting, ready, running, ready, running, waiting, ready, running, returning, home});
    take(fiber, {waiting, ready, returning, home, home}); // wanted there, then another thread's
    take(fiber, {waiting, gone, home});
    EXPECT_EQ(fiber.stage.load(), home);
}

TEST(States, WhatRestsIsNotToBeLeft) {
    sennit::node::CoreState core;
    EXPECT_TRUE(core.is_sound());
    core.rests = true;
    EXPECT_FALSE(core.is_sound()) << "nobody uses it";
    core.begin_use(3);
    EXPECT_TRUE(core.is_sound());
    core.rests = core.recalled = true;
    EXPECT_FALSE(core.is_sound());
}

#if defined(SENNIT_CHECKED)
constexpr const char *kLine = "^sennit: .*:[0-9]+: assertion failed: .*\n$";

TEST(StatesDeathTest, ARankFiberThatWaitsDoesNotRun) {
    RankFiber fiber;
    fiber.go(Stage::waiting);
    EXPECT_DEATH(fiber.go(Stage::running), kLine);
    fiber.go(Stage::ready);
    EXPECT_DEATH(fiber.go(Stage::home), kLine);
}

TEST(StatesDeathTest, ATaskIsQueuedOnceAndCompletesOnce) {
    using enum sennit::TaskState;
    sennit::TaskStates state{created};
    EXPECT_TRUE(state.step(ready));
    EXPECT_DEATH(SENNIT_ASSERT(state.step(ready)), kLine);
    EXPECT_TRUE(state.step(running) && state.step(completed));
    EXPECT_DEATH(SENNIT_ASSERT(state.step(completed)), kLine);
}

TEST(StatesDeathTest, OneFiberWaitsInACell) {
    sennit::sched::Fiber one;
    sennit::sched::Fiber other;
    sennit::sched::WaitCell cell;
    EXPECT_TRUE(cell.arm(&one));
    EXPECT_DEATH(cell.arm(&other), kLine);
    EXPECT_DEATH(cell.disarm(&other), kLine);
    EXPECT_TRUE(cell.disarm(&one));
}

TEST(StatesDeathTest, WhoLeavesAGroupWasThere) {
    struct : sennit::sched::Group {
    } group;
    group.visit();
    group.leave();
    EXPECT_DEATH(group.leave(), kLine);
}

TEST(StatesDeathTest, WhoWantsACoreNoMoreWantedIt) {
    auto wanters = std::make_unique<sennit::node::Wanters<64>>();
    wanters->add(5);
    wanters->remove(5);
    EXPECT_DEATH(wanters->remove(5), kLine);
}

TEST(StatesDeathTest, ARankComesToACallOnce) {
    const auto assembly = std::make_unique<sennit::node::Assembly>();
    const auto parts = std::make_unique<sennit::node::Assembly::Part[]>(3);
    assembly->begin(3);
    EXPECT_FALSE(assembly->come(parts[0], 1, 7));
    EXPECT_DEATH(assembly->come(parts[0], 1, 7), kLine);
    EXPECT_FALSE(assembly->come(parts[1], 1, 7));
    EXPECT_DEATH(assembly->end(1), kLine);
    EXPECT_TRUE(assembly->come(parts[2], 1, 7));
    assembly->end(1);
}
#endif
