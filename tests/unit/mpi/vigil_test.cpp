// SPDX-License-Identifier: Apache-2.0
// mpi/crowd/vigil.h: how a thread waits where ranks outnumber cores, and whom it wakes.
#include "mpi/crowd/vigil.h"

#include "mpi/call/call_path.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/spins.h"

#include "fake.h"

#include <gtest/gtest.h>

#include <mpi.h>

using namespace sennit::mpi;

namespace {

class VigilTest : public testing::Test {
  protected:
    VigilTest() { attend_to(kCrowd); }
    ~VigilTest() override { attend_no_more_to(kCrowd); }

    // So long that it sleeps so often, and nobody rings. Returns how often it rings itself.
    static int wait_for(const Operation &operation, int naps = 4) {
        const int before = fake::rings();
        Vigil vigil(operation);
        while (fake::rings() == before) // before its first nap
            vigil.rest();
        for (int nap = 0; nap < naps; ++nap) {
            vigil.rest();
            vigil.rest(); // a test was in vain: it is about to sleep again
        }
        return fake::rings() - before;
    }
};

} // namespace

// The other end rings while this thread tests, and so in vain: both sleep in the midst of it.
TEST_F(VigilTest, WhoWaitsForALongMessageRingsAfterEachNap) {
    const Operation receive = {.name = "MPI_Recv",
                               .notice = Notice::receive,
                               .peer = 1,
                               .object = communicator(MPI_COMM_WORLD),
                               .count = 1 << 20};
    EXPECT_EQ(wait_for(receive), 5);
}

// Or both ends ring while the other one is deaf, and both sleep.
TEST_F(VigilTest, WhoRingsHearsTheAnswer) {
    const Operation wait = {.name = "MPI_Wait", .requests = 1};
    const int before = fake::deaf_rings();
    wait_for(wait);
    EXPECT_EQ(fake::deaf_rings(), before);
}

TEST_F(VigilTest, WhoWaitsForALongCollectiveRingsAfterEachNap) {
    const Operation broadcast = {.name = "MPI_Bcast",
                                 .object = communicator(MPI_COMM_WORLD),
                                 .turn = communicator(MPI_COMM_WORLD),
                                 .bytes = 1 << 20};
    EXPECT_EQ(wait_for(broadcast), 5);
}

// Else the data crawled when at last they came.
TEST_F(VigilTest, WhoWaitsForSomethingLongThatIsLateRingsForAsLong) {
    const Operation receive = {.name = "MPI_Recv",
                               .notice = Notice::receive,
                               .peer = 1,
                               .object = communicator(MPI_COMM_WORLD),
                               .bytes = 1 << 20};
    const int more = 2 * g_crowd.neighbours.answers(receive);
    EXPECT_EQ(wait_for(receive, more), more + 1);
}

TEST_F(VigilTest, WhoWaitsForACollectiveRingsOnceUnlessSomebodyRings) {
    const Operation barrier = {.name = "MPI_Barrier",
                               .object = communicator(MPI_COMM_WORLD),
                               .turn = communicator(MPI_COMM_WORLD)};
    EXPECT_EQ(wait_for(barrier), 1);
}

// It may have answered what it has found, and nobody else rings for that.
TEST_F(VigilTest, WhoHasFoundMessagesRingsAsOften) {
    const Operation barrier = {.name = "MPI_Barrier",
                               .object = communicator(MPI_COMM_WORLD),
                               .turn = communicator(MPI_COMM_WORLD),
                               .assembled = true};
    const int before = fake::rings();
    Vigil vigil(barrier);
    while (fake::rings() == before)
        vigil.rest();
    const int first = fake::rings();
    const int naps = 2 * g_crowd.neighbours.answers(barrier);
    for (int nap = 0; nap < naps; ++nap) {
        vigil.rest();
        t_spins.looked(true);
        for (int test = 0; test < 5; ++test) // MPI may send in a later one
            vigil.rest();
    }
    EXPECT_EQ(fake::rings() - first, naps);
}

// Who is asked may call MPI often, for others.
TEST_F(VigilTest, WhoIsRungInVainStopsAsking) {
    const Operation send = {.name = "MPI_Ssend",
                            .notice = Notice::send,
                            .peer = 1,
                            .object = communicator(MPI_COMM_WORLD)};
    const int before = fake::asks();
    {
        Vigil vigil(send);
        while (!fake::is_asking())
            vigil.rest();
        fake::somebody_rings(true);
        for (int i = 0; i < 100; ++i)
            vigil.rest();
        EXPECT_EQ(fake::asks() - before, 4);
        EXPECT_FALSE(fake::is_asking());
        fake::somebody_rings(false);
        while (!fake::is_asking()) // after a nap
            vigil.rest();
    }
    EXPECT_FALSE(fake::is_asking());
}

// A dozen answers, each of which is found after a nap.
TEST(Spins, NapsOfAFiberMakeALongWaitLittleLonger) {
    constexpr const sennit::wait::Naps &naps = sennit::wait::kSpinOfFiber.naps;
    for (const std::int64_t begin : {100'000, 1'000'000, 10'000'000}) {
        std::int64_t waited = begin;
        for (int answer = 0; answer < 12; ++answer)
            waited += naps.of(waited);
        EXPECT_LT(waited, begin * 3 / 2 + 240'000);
    }
    EXPECT_LE(naps.of(std::int64_t{1} << 40), 2'000'000);
}
