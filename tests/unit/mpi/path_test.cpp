// SPDX-License-Identifier: Apache-2.0
// path_of_call() (mpi/call/call_path.h): where a call is made decides what its wrapper does.
#include "fake.h"
#include "mpi/call/call_path.h"
#include "mpi/call/thread_state.h"

#include <gtest/gtest.h>

using namespace sennit::mpi;

namespace {

class PathTest : public testing::Test {
  protected:
    PathTest() { fake::reset(); }
    ~PathTest() override {
        fake::reset();
        attend_no_more_to(kCrowd);
        set_multiple(true);
        t_taskaware = true;
    }
};

} // namespace

TEST_F(PathTest, ATaskIsSuspendedIfItsThreadHasOtherTasks) {
    fake::calls_begun();
    EXPECT_EQ(path_of_call(), Path::suspends);
    fake::be_in_task(true, false);
    EXPECT_EQ(path_of_call(), Path::blocks);
    EXPECT_EQ(fake::calls_begun(), 2);
}

TEST_F(PathTest, OutsideOfTasksACallBlocks) {
    fake::be_in_task(false, false);
    EXPECT_EQ(path_of_call(), Path::blocks);
    fake::be_in_task(true, true);
    t_taskaware = false;
    EXPECT_EQ(path_of_call(), Path::blocks) << "the program wants it";
    t_taskaware = true;
    set_multiple(false);
    EXPECT_EQ(path_of_call(), Path::blocks) << "tasks may not call MPI from any thread";
}

TEST_F(PathTest, InACrowdNoCallBlocks) {
    attend_to(kCrowd);
    EXPECT_EQ(path_of_call(), Path::suspends);
    fake::be_in_task(true, false);
    EXPECT_EQ(path_of_call(), Path::suspends) << "other ranks want the core";
    fake::be_in_task(false, false);
    EXPECT_EQ(path_of_call(), Path::polls);
    set_multiple(false);
    EXPECT_EQ(path_of_call(), Path::polls);
}

TEST_F(PathTest, ACallbackPollsWhereItCannotBeSuspended) {
    const InCallback::Here here;
    EXPECT_EQ(path_of_call(), Path::suspends);
    fake::be_in_task(false, false);
    EXPECT_EQ(path_of_call(), Path::polls);
}

TEST_F(PathTest, WhatMpiCallsItselfIsBare) {
    attend_to(kCrowd);
    const InCallback::Here here;
    const Inside inside;
    fake::calls_begun();
    EXPECT_EQ(path_of_call(), Path::bare);
    EXPECT_EQ(fake::calls_begun(), 0);
}

TEST_F(PathTest, AMessageToNobodyBlocksNever) {
    attend_to(kCrowd);
    EXPECT_EQ(path_of_call(Notice::send, true), Path::blocks);
}

TEST_F(PathTest, AHelperMakesWhatHasNoOtherForm) {
    EXPECT_EQ(without_twin(Path::suspends), Path::delegates);
    for (const Path path : {Path::bare, Path::blocks, Path::polls})
        EXPECT_EQ(without_twin(path), path);
}
