// SPDX-License-Identifier: Apache-2.0
// mpi/crowd/children.h: what ranks offer for a communicator that the program has made, and what
// they agree on. This process is rank 0; what the others offer, the tests do.
#include "mpi/crowd/children.h"

#include "assembled_fixture.h"

using namespace sennit;
using namespace sennit::mpi;

namespace {

constexpr MPI_Comm kMade = 5;

class ChildrenTest : public BoardTest {
  protected:
    void SetUp() override {
        BoardTest::SetUp();
        children_.begin(board_, 0, kJob, MPI_COMM_SELF, false);
        fake::know_ranks(&ranks_.get());
    }
    void TearDown() override {
        fake::free_communicator(kMade);
        fake::reset();
        BoardTest::TearDown();
    }

    Children children_{g_crowd.neighbours};
};

TEST_F(ChildrenTest, RanksThatAllOfferSomethingAgree) {
    Offer own;
    Child *const child = children_.prepare(kMade, own);
    ASSERT_NE(child, nullptr);
    EXPECT_GE(own.lane, 1);
    EXPECT_GE(own.place, 0);
    const Offer offers[kRanks] = {own, {2, -1}, {1, -1}};
    children_.agree(*child, own, offers);
    const Assembled *const calls = children_.of(kMade);
    ASSERT_NE(calls, nullptr);
    EXPECT_EQ(&calls->part(0), &board_.part(0, own.lane));
    EXPECT_EQ(&calls->part(1), &board_.part(1, 2));
    EXPECT_EQ(&calls->part(2), &board_.part(2, 1));
}

TEST_F(ChildrenTest, OneRankThatOffersNothingIsEnough) {
    Offer own;
    Child *const child = children_.prepare(kMade, own);
    ASSERT_NE(child, nullptr);
    const Offer offers[kRanks] = {own, {}, {1, -1}};
    children_.agree(*child, own, offers);
    EXPECT_EQ(children_.of(kMade), nullptr);
    Offer again; // lane and place are free again
    fake::free_communicator(kMade);
    ASSERT_NE(children_.prepare(kMade, again), nullptr);
    EXPECT_EQ(again.lane, own.lane);
    EXPECT_EQ(again.place, own.place);
}

// The root of a reduction may still read what it has brought.
TEST_F(ChildrenTest, ALaneWhosePartIsReadIsFreeWhenAllHaveLeft) {
    Offer own;
    Child *const child = children_.prepare(kMade, own);
    ASSERT_NE(child, nullptr);
    const Offer offers[kRanks] = {own, {2, -1}, {1, -1}};
    children_.agree(*child, own, offers);
    const int mine = 5;
    Reduction reduction;
    reduction.in = &mine;
    reduction.bytes = sizeof mine;
    reduction.root = 1;
    ReduceCall call(*children_.of(kMade), "MPI_Reduce", reduction);
    ASSERT_TRUE(call.test());
    fake::free_communicator(kMade);
    Offer next;
    ASSERT_NE(children_.prepare(kMade, next), nullptr);
    EXPECT_NE(next.lane, own.lane);
    EXPECT_EQ(std::memcmp(board_.part(0, own.lane).brought, &mine, sizeof mine), 0);
    fake::free_communicator(kMade);
    for (int rank = 1; rank < kRanks; ++rank)
        board_.assembly(own.place).leave();
    Offer last;
    ASSERT_NE(children_.prepare(kMade, last), nullptr);
    EXPECT_EQ(last.lane, own.lane);
}

// No memory, or MPI refuses to keep what is found out.
TEST_F(ChildrenTest, WhoDoesNotKnowTheRanksOffersNothing) {
    fake::know_ranks(nullptr);
    Offer own;
    EXPECT_EQ(children_.prepare(kMade, own), nullptr);
    EXPECT_EQ(own.lane, -1);
    EXPECT_EQ(own.place, -1);
}

TEST_F(ChildrenTest, WithoutAnAttributeNothingIsOffered) {
    Offer own;
    for (int i = 0; i < 2 * node::Board::kLanes; ++i) {
        fake::refuse_attributes(true);
        EXPECT_EQ(children_.prepare(kMade, own), nullptr);
        EXPECT_EQ(own.lane, -1);
    }
    fake::refuse_attributes(false);
    EXPECT_NE(children_.prepare(kMade, own), nullptr);
}

} // namespace
