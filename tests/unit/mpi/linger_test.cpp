// SPDX-License-Identifier: Apache-2.0
// mpi/engine/engine.h: who waits a moment before a request is bound to a task.
#include "mpi/engine/engine.h"

#include "wait/rows.h"

#include "fake.h"

#include <gtest/gtest.h>

using namespace sennit::mpi;
using sennit::wait::kBoundRequest;

namespace {

// Of `calls` whose requests are never over in time: how many wait?
int waits_in_vain(Linger &linger, int calls) {
    int waits = 0;
    for (int i = 0; i < calls; ++i)
        if (linger.pays()) {
            ++waits;
            linger.note(false);
        }
    return waits;
}

} // namespace

TEST(Linger, WhatIsInVainIsTriedLessAndLess) {
    Linger linger;
    EXPECT_EQ(waits_in_vain(linger, 1), 1);
    EXPECT_EQ(waits_in_vain(linger, 1), 0);
    EXPECT_EQ(waits_in_vain(linger, 4), 1);
    // 1 + 1, 1 + 3, 1 + 7, ... and then one of 256.
    Linger other;
    EXPECT_LE(waits_in_vain(other, 10'000), 8 + 10'000 / 256 + 1);
}

TEST(Linger, WhatPaysOnceIsTriedAgainEachTime) {
    Linger linger;
    waits_in_vain(linger, 1000);
    while (!linger.pays())
        ;
    linger.note(true);
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(linger.pays());
        linger.note(true);
    }
}

// It ends, whether the message comes or not.
TEST(Linger, TestsAgainWhileTheThreadHasNothingElseToDo) {
    fake::reset();
    fake::be_wanted(false);
    MPI_Request request = fake::make_request();
    const int before = fake::tests();
    EXPECT_FALSE(test_a_while(&request, MPI_STATUS_IGNORE).over);
    EXPECT_EQ(fake::tests() - before, kBoundRequest.idle_tests);
    EXPECT_FALSE(test_a_while(&request, MPI_STATUS_IGNORE).over); // it was in vain
    EXPECT_EQ(fake::tests() - before, 1 + kBoundRequest.idle_tests);
    fake::be_wanted(true);
    EXPECT_FALSE(test_a_while(&request, MPI_STATUS_IGNORE).over);
    EXPECT_EQ(fake::tests() - before, 2 + kBoundRequest.idle_tests);
    fake::complete(request);
    EXPECT_TRUE(test_a_while(&request, MPI_STATUS_IGNORE).over);
    EXPECT_EQ(fake::pending(), 0);
}
