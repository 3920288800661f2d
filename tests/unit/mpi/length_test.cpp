// SPDX-License-Identifier: Apache-2.0
// mpi/crowd/length.h: which messages are long, whose two ends then ring for each other.
#include "mpi/crowd/rings.h"

#include "mpi/call/call_path.h"

#include "fake.h"

#include <gtest/gtest.h>

#include <memory>
#include <mpi.h>

using namespace sennit::mpi;

namespace {

constexpr MPI_Datatype kLargeType = 10 << 20;

using Noted = std::vector<std::int64_t>;

class LengthTest : public testing::Test {
  protected:
    LengthTest() {
        attend_to(kCrowd);
        fake::long_messages();
    }
    ~LengthTest() override { attend_no_more_to(kCrowd); }
};

} // namespace

// One element of a vector type of 10 MiB crawled, for its count was taken for its length.
TEST_F(LengthTest, OneElementOfALargeTypeIsLong) {
    rings(MPI_COMM_WORLD, 1, 1, kLargeType, MPI_SUCCESS);
    EXPECT_EQ(fake::long_messages(), Noted{kLargeType});
    awaits(MPI_COMM_WORLD, 1, 2, kLargeType, MPI_SUCCESS);
    EXPECT_EQ(fake::long_messages(), Noted{2 * std::int64_t{kLargeType}});
}

TEST_F(LengthTest, MpiIsNotAskedForTheSizeOfCommonTypes) {
    const int before = fake::sizes_asked();
    rings(MPI_COMM_WORLD, 1, 8, MPI_DOUBLE, MPI_SUCCESS);
    rings(MPI_COMM_WORLD, 1, kMaybeLong - 1, MPI_BYTE, MPI_SUCCESS);
    EXPECT_EQ(fake::long_messages(), Noted{});
    rings(MPI_COMM_WORLD, 1, kMaybeLong, MPI_BYTE, MPI_SUCCESS);
    rings(MPI_COMM_WORLD, 1, 1024, MPI_INT, MPI_SUCCESS);
    EXPECT_EQ(fake::long_messages(), (Noted{kMaybeLong, 4096}));
    EXPECT_EQ(fake::sizes_asked(), before);
}

// Two ranks would wake each other in vain.
TEST_F(LengthTest, WhatMpiWasSeenToSendAtOnceIsNotLong) {
    constexpr MPI_Request under_way = 1, over = 2;
    g_born_complete.store(handle_bits(over));
    const auto send = [](int bytes, MPI_Request request) {
        rings(MPI_COMM_WORLD, 1, bytes, MPI_BYTE, MPI_SUCCESS, &request);
        return fake::long_messages();
    };
    const auto receive = [](int bytes) {
        awaits(MPI_COMM_WORLD, 1, bytes, MPI_BYTE, MPI_SUCCESS);
        return fake::long_messages();
    };
    EXPECT_EQ(send(4096, under_way), Noted{4096});
    EXPECT_EQ(receive(4096), Noted{4096});
    EXPECT_EQ(send(4096, over), Noted{});
    EXPECT_EQ(receive(4096), Noted{});
    EXPECT_EQ(receive(4097), Noted{4097});
    EXPECT_EQ(send(1 << 20, over), Noted{}); // it says nothing of others as long
    EXPECT_EQ(receive(1 << 20), Noted{1 << 20});
    g_born_complete.store(0);
    std::construct_at(&g_crowd.lengths); // for the tests after this one
}

// MPI has refused the call: its type may be anything.
TEST_F(LengthTest, WhatWasRefusedHasNoLength) {
    const int before = fake::sizes_asked();
    rings(MPI_COMM_WORLD, 1, 1, kLargeType, MPI_ERR_OTHER);
    EXPECT_EQ(fake::long_messages(), Noted{});
    EXPECT_EQ(fake::sizes_asked(), before);
}

TEST_F(LengthTest, WhatIsWaitedForKnowsItsLength) {
    Operation receive = {.name = "MPI_Recv", .count = 3, .type = kLargeType};
    note_length(receive);
    EXPECT_EQ(receive.bytes, 3 * std::int64_t{kLargeType});
    Operation barrier = {.name = "MPI_Barrier", .turn = communicator(MPI_COMM_WORLD)};
    note_length(barrier);
    EXPECT_EQ(barrier.bytes, -1);
}

// Which of its two datatypes counts depends on the rank, and the other one may be anything.
TEST_F(LengthTest, AGatherIsAtLeastAsLongAsItsCount) {
    Operation gather = {
        .name = "MPI_Gather", .turn = communicator(MPI_COMM_WORLD), .count = 1 << 20};
    note_length(gather);
    EXPECT_EQ(gather.bytes, 1 << 20);
}

TEST_F(LengthTest, ALengthBeyondAllNumbersIsLong) {
    EXPECT_EQ(message_length(std::int64_t{1} << 60, kLargeType),
              std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(message_length(1, MPI_DATATYPE_NULL), 0);
}
