// SPDX-License-Identifier: Apache-2.0
// mpi/crowd/length.h: which messages are long, whose two ends then ring for each other.
#include "mpi/crowd/rings.h"

#include "mpi/call/call_path.h"
#include "mpi/crowd/length.h"

#include "fake.h"
#include "known_ranks.h"

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

TEST_F(LengthTest, ALengthBeyondAllNumbersIsLong) {
    EXPECT_EQ(message_length(std::int64_t{1} << 60, kLargeType),
              std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(message_length(1, MPI_DATATYPE_NULL), 0);
}

// ---- collectives --------------------------------------------------------------------------------

struct VolumeTest : LengthTest {
    VolumeTest() { fake::know_ranks(&ranks.get()); }
    ~VolumeTest() override { fake::know_ranks(nullptr); }
    static constexpr int kRanks = 3;
    KnownRanks ranks{kRanks};
};

TEST_F(VolumeTest, EachPartnerCounts) {
    EXPECT_EQ(volume_of_all(2, kLargeType, MPI_COMM_WORLD), 2 * kRanks * std::int64_t{kLargeType});
    EXPECT_EQ(volume_of_all(-1, kLargeType, MPI_COMM_WORLD), 0);
    const int counts[kRanks] = {1, 0, 4};
    EXPECT_EQ(volume_of_each(counts, MPI_INT, MPI_COMM_WORLD), 5 * sizeof(int));
    const MPI_Count large[kRanks] = {1, 0, MPI_Count{1} << 40};
    EXPECT_EQ(volume_of_each(large, MPI_BYTE, MPI_COMM_WORLD), (std::int64_t{1} << 40) + 1);
    const MPI_Datatype types[kRanks] = {MPI_INT, MPI_DATATYPE_NULL, kLargeType};
    EXPECT_EQ(volume_of_each(counts, types, MPI_COMM_WORLD),
              4 * std::int64_t{kLargeType} + std::int64_t{sizeof(int)});
}

TEST_F(VolumeTest, WhatIsTooMuchToCountIsLong) {
    EXPECT_EQ(volume_of_all(std::int64_t{1} << 62, MPI_INT, MPI_COMM_WORLD), kLengthUnlimited);
}

TEST_F(VolumeTest, OnlyWhatIsSignificantIsLookedAt) {
    const auto at_root = [] { return std::int64_t{7}; };
    const auto elsewhere = [] { return std::int64_t{5}; };
    EXPECT_EQ(volume_by_root(0, MPI_COMM_WORLD, at_root, elsewhere), 7); // this is rank 0
    EXPECT_EQ(volume_by_root(1, MPI_COMM_WORLD, at_root, elsewhere), 5);
    EXPECT_EQ(volume_by_root(MPI_ROOT, MPI_COMM_WORLD, at_root, elsewhere), 7);
    EXPECT_EQ(volume_by_root(MPI_PROC_NULL, MPI_COMM_WORLD, at_root, elsewhere), 0);
}

// Who waits for its request does not know what that is of.
TEST_F(VolumeTest, ACollectiveThatIsPostedIsNotedForItsPartners) {
    const auto volume = [] { return std::int64_t{1000}; };
    awaits_partners(MPI_COMM_WORLD, -1, MPI_SUCCESS, volume, MPI_INT, MPI_DOUBLE);
    EXPECT_EQ(fake::long_messages(), Noted{1000});
    awaits_partners(MPI_COMM_WORLD, -1, MPI_SUCCESS, volume, MPI_INT, kLargeType);
    EXPECT_GT(fake::long_messages().at(0), 1000); // smaller pieces
    awaits_partners(MPI_COMM_WORLD, -1, MPI_ERR_OTHER, volume, MPI_INT);
    EXPECT_TRUE(fake::long_messages().empty());
}

// MPI has not seen the arguments yet: they may be wrong.
TEST_F(VolumeTest, ACallThatFailedHasNoVolume) {
    const auto volume = []() -> std::int64_t {
        ADD_FAILURE();
        return 0;
    };
    EXPECT_EQ(rings_partners(MPI_COMM_WORLD, -1, MPI_ERR_OTHER, volume), -1);
}
