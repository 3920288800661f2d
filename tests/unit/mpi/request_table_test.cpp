// SPDX-License-Identifier: Apache-2.0
// mpi/record/request_table.h: what is known of a request is true.
#include "mpi/record/request_table.h"

#include <gtest/gtest.h>

using namespace sennit::mpi;

namespace {
constexpr sennit_call kSend{"MPI_Isend", SENNIT_NOTICE_SEND, 0};
constexpr sennit_call kReceive{"MPI_Irecv", SENNIT_NOTICE_RECEIVE, 0};
constinit RequestTable g_table;
} // namespace

TEST(RequestTable, KnowsTheLastUseOfAHandle) {
    const MPI_Request request = 17;
    g_table.put(&request, {&kSend, 3, 5, 1});
    g_table.put(&request, {&kReceive, 4, 6, 2});
    RequestFacts facts;
    ASSERT_TRUE(g_table.find(request, facts));
    EXPECT_EQ(facts.call, &kReceive);
    EXPECT_EQ(facts.peer, 4);
    EXPECT_EQ(facts.tag, 6);
    EXPECT_EQ(facts.group, 2u);
}

TEST(RequestTable, TellsNothingOfAnotherHandleAtThePlace) {
    const unsigned width = RequestTable::kEntryBits;
    const MPI_Request request = 18;
    MPI_Request other = request + 1;
    while (sennit::hash_place(handle_bits(other), width) !=
           sennit::hash_place(handle_bits(request), width))
        ++other;
    g_table.put(&request, {&kSend, 3, 5, 1});
    RequestFacts facts;
    EXPECT_FALSE(g_table.find(other, facts));
    g_table.put(&other, {&kReceive, 1, 1, 1});
    EXPECT_TRUE(g_table.find(other, facts));
    EXPECT_FALSE(g_table.find(request, facts)) << "overwritten";
}

TEST(RequestTable, NothingIsNotedBeforeThereIsATaskRuntime) {
    const MPI_Request request = 1234;
    g_table.note(MPI_SUCCESS, &request, {&kSend, 3, 5, 1});
    RequestFacts facts;
    EXPECT_FALSE(g_table.find(request, facts));
}

TEST(RequestTable, ForgetsWhatWasPostedOnACommunicator) {
    const MPI_Request request = 4321;
    const MPI_Request other = 4322;
    const MPI_Comm comm = 5;
    attend_to(static_cast<Attention>(kTasks | kRequestTable));
    g_table.put(&request, {&kSend, 3, 5, handle_bits(comm)});
    g_table.put(&other, {&kSend, 3, 5, handle_bits(comm) + 1});
    g_table.forget(&comm);
    attend_no_more_to(static_cast<Attention>(kTasks | kRequestTable));
    RequestFacts facts;
    EXPECT_FALSE(g_table.find(request, facts));
    EXPECT_TRUE(g_table.find(other, facts));
}

namespace {
struct Following {
    Following() { attend_to(kAll); }
    ~Following() { attend_no_more_to(kAll); }
    static constexpr auto kAll = static_cast<Attention>(kTasks | kRequestTable | kFollowed);
};
int known(RequestTable &table) {
    int count = 0;
    table.each([&](MPI_Request, const RequestFacts &) { ++count; });
    return count;
}
} // namespace

TEST(RequestTable, StrikesOutWhatIsOverIfRequestsAreFollowed) {
    static constinit RequestTable table;
    MPI_Request requests[] = {1, 2, 3};
    const Following following;
    for (const MPI_Request &request : requests)
        table.put(&request, {&kSend, 3, 5, 1});
    EXPECT_EQ(known(table), 3);
    {
        const Completions completions(table, 3, requests);
        requests[0] = requests[2] = MPI_REQUEST_NULL;
    }
    RequestFacts facts;
    EXPECT_FALSE(table.find(1, facts));
    EXPECT_TRUE(table.find(2, facts));
    table.strike(2);
    EXPECT_EQ(known(table), 0);
}

TEST(RequestTable, FollowedRequestsHaveSeveralPlaces) {
    static constinit RequestTable table;
    const unsigned width = RequestTable::kEntryBits;
    const Following following;
    MPI_Request same[RequestTable::kWays] = {1};
    for (unsigned i = 1; i < RequestTable::kWays; ++i)
        for (same[i] = same[i - 1] + 1; sennit::hash_place(handle_bits(same[i]), width) !=
                                        sennit::hash_place(handle_bits(same[0]), width);)
            ++same[i];
    for (const MPI_Request &request : same)
        table.put(&request, {&kSend, static_cast<int>(request), 5, 1});
    table.put(&same[1], {&kReceive, static_cast<int>(same[1]), 5, 1}); // used again
    RequestFacts facts;
    for (const MPI_Request request : same) {
        ASSERT_TRUE(table.find(request, facts));
        EXPECT_EQ(facts.peer, static_cast<int>(request));
    }
    EXPECT_EQ(known(table), static_cast<int>(RequestTable::kWays));
}

TEST(RequestTable, CountsThePartsThatAreNotReady) {
    static constinit RequestTable table;
    const MPI_Request request = 7;
    const Following following;
    table.put(&request, {&kSend, 3, 5, 1, -1, -1, 4});
    RequestFacts facts;
    for (int start = 0; start < 2; ++start) {
        table.restarted(request);
        table.ready(request, 3);
        ASSERT_TRUE(table.find(request, facts));
        EXPECT_EQ(facts.withheld, 1);
    }
}
