// SPDX-License-Identifier: Apache-2.0
// mpi/record/request_table.h: what is known of a request is true.
#include "mpi/record/request_table.h"

#include <gtest/gtest.h>

using namespace sennit::mpi;

namespace {
constexpr sennit_call kSend{"MPI_Isend", SENNIT_NOTICE_SEND, 0};
constexpr sennit_call kReceive{"MPI_Irecv", SENNIT_NOTICE_RECEIVE, 0};
} // namespace

TEST(RequestTable, KnowsTheLastUseOfAHandle) {
    const MPI_Request request = 17;
    put_in_request_table(&request, {&kSend, 3, 5, 1});
    put_in_request_table(&request, {&kReceive, 4, 6, 2});
    RequestFacts facts;
    ASSERT_TRUE(find_request(request, facts));
    EXPECT_EQ(facts.call, &kReceive);
    EXPECT_EQ(facts.peer, 4);
    EXPECT_EQ(facts.tag, 6);
    EXPECT_EQ(facts.group, 2u);
}

TEST(RequestTable, TellsNothingOfAnotherHandleAtThePlace) {
    const unsigned width = 12;
    const MPI_Request request = 18;
    MPI_Request other = request + 1;
    while (bucket_of_bits(handle_bits(other), width) != bucket_of_bits(handle_bits(request), width))
        ++other;
    put_in_request_table(&request, {&kSend, 3, 5, 1});
    RequestFacts facts;
    EXPECT_FALSE(find_request(other, facts));
    put_in_request_table(&other, {&kReceive, 1, 1, 1});
    EXPECT_TRUE(find_request(other, facts));
    EXPECT_FALSE(find_request(request, facts)) << "overwritten";
}

TEST(RequestTable, NothingIsNotedBeforeThereIsATaskRuntime) {
    const MPI_Request request = 1234;
    note_request(MPI_SUCCESS, &request, {&kSend, 3, 5, 1});
    RequestFacts facts;
    EXPECT_FALSE(find_request(request, facts));
}
