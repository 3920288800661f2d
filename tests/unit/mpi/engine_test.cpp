// SPDX-License-Identifier: Apache-2.0
// mpi/engine/engine.h: a call in a task, from its start to its return.
#include "fake.h"
#include "mpi/engine/engine.h"

#include <gtest/gtest.h>

#include <vector>

using namespace sennit::mpi;

namespace {

class EngineTest : public testing::Test {
  protected:
    EngineTest() {
        fake::reset();
        g_engine.plug(nullptr);
    }
    ~EngineTest() override { g_engine.plug(nullptr); }
};

const Operation kReceive = {.name = "MPI_Recv", .path = Path::suspends};
MPI_Request g_request;
int g_polls;

// A receive, of which the fake knows.
int receive(MPI_Request *request) {
    *request = g_request = fake::make_request();
    return MPI_SUCCESS;
}

} // namespace

TEST_F(EngineTest, WhatIsCompleteAtOnceSuspendsNobody) {
    fake::while_suspended([] { FAIL(); });
    const int error = start_and_wait(kReceive, MPI_STATUS_IGNORE, [](MPI_Request *request) {
        receive(request);
        fake::complete(*request);
        return MPI_SUCCESS;
    });
    EXPECT_EQ(error, MPI_SUCCESS);
    EXPECT_EQ(fake::pending(), 0);
}

TEST_F(EngineTest, ATaskIsSuspendedUntilItsMessageIsThere) {
    g_polls = 0;
    fake::while_suspended([] {
        if (++g_polls == 3)
            fake::complete(g_request, MPI_SUCCESS, 8);
        g_engine.progress();
    });
    MPI_Status status{};
    EXPECT_EQ(start_and_wait(kReceive, &status, receive), MPI_SUCCESS);
    EXPECT_EQ(g_polls, 3);
    EXPECT_EQ(status.bytes, 8);
    EXPECT_EQ(fake::pending(), 0);
}

TEST_F(EngineTest, TheCallReturnsTheErrorOfItsRequest) {
    fake::while_suspended([] {
        fake::complete(g_request, MPI_ERR_TRUNCATE);
        g_engine.progress();
    });
    EXPECT_EQ(start_and_wait(kReceive, MPI_STATUS_IGNORE, receive), MPI_ERR_TRUNCATE);
}

TEST_F(EngineTest, WhatCannotBeStartedReturnsAtOnce) {
    EXPECT_EQ(
        start_and_wait(kReceive, MPI_STATUS_IGNORE, [](MPI_Request *) { return MPI_ERR_OTHER; }),
        MPI_ERR_OTHER);
    EXPECT_EQ(fake::pending(), 0);
}

TEST_F(EngineTest, APolledCallIsTestedUntilItsFlagIsSet) {
    int left = 20;
    fake::while_suspended([] { g_engine.progress(); });
    EXPECT_EQ(poll_and_wait(kReceive,
                            [&](int *flag) {
                                *flag = --left == 0;
                                return MPI_SUCCESS;
                            }),
              MPI_SUCCESS);
    EXPECT_EQ(left, 0);
}

TEST_F(EngineTest, WhatCallsBackMayMakeProgressItself) {
    static int called;
    called = 0;
    Ticket ticket;
    ticket.request = fake::make_request();
    ticket.finished = [](Ticket &) {
        ++called;
        g_engine.progress(); // as one that blocks
    };
    g_engine.tickets.begin_pending();
    g_engine.tickets.file(ticket);
    g_engine.progress();
    EXPECT_EQ(called, 0);
    fake::complete(ticket.request);
    EXPECT_EQ(g_engine.progress(), 1);
    EXPECT_EQ(called, 1);
    EXPECT_EQ(fake::pending(), 0);
}

TEST_F(EngineTest, WhatIsAboveGoesOnOnlyWhileSomethingIsPending) {
    static std::vector<bool> gone_on;
    gone_on.clear();
    g_engine.plug([](bool application) {
        gone_on.push_back(application);
        return 5;
    });
    EXPECT_EQ(g_engine.progress(), 0);
    g_engine.tickets.begin_pending();
    EXPECT_EQ(g_engine.progress(), 5);
    EXPECT_EQ(g_engine.progress(false), 5);
    g_engine.tickets.end_pending();
    EXPECT_EQ(gone_on, (std::vector<bool>{true, false}));
}
