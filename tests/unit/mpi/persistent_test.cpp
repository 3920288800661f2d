// SPDX-License-Identifier: Apache-2.0
// mpi/record/record.h: which requests are persistent, and what the start of one is.
#include "fake.h"

#include "mpi/record/record.h"

#include <gtest/gtest.h>
#include <memory>

using namespace sennit::mpi;

namespace {

class PersistentRequestsTest : public testing::Test {
  protected:
    PersistentRequestsTest() { fake::reset(); }

    void remember(MPI_Request request, Notice notice, int peer, std::uint64_t bytes = 8) {
        const CallFacts facts = {.name = "MPI_Start", .peer = peer};
        record_->remember(notice, facts, request, [&] { return bytes; });
    }
    bool has(MPI_Request request) { return record_->persistent.has(request); }

    std::unique_ptr<Record> record_ = std::make_unique<Record>();
};

} // namespace

TEST_F(PersistentRequestsTest, AreKnownUntilTheyAreFreed) {
    EXPECT_FALSE(has(17));
    remember(17, Notice::send, 1);
    remember(17 + 1024, Notice::receive, 2);
    EXPECT_TRUE(has(17));
    EXPECT_FALSE(has(18));
    record_->forget(17);
    EXPECT_FALSE(has(17));
    EXPECT_TRUE(has(17 + 1024));
    record_->forget(17 + 1024);
    EXPECT_FALSE(has(17 + 1024));
}

TEST_F(PersistentRequestsTest, AHandleThatComesBackIsTheNewOne) {
    remember(17, Notice::send, 1);
    remember(17, Notice::receive, 1);
    const MPI_Request handle = 17;
    record_->starts(1, &handle);
    EXPECT_EQ(fake::sends_noted(), 0);
    record_->forget(17);
    EXPECT_FALSE(has(17)) << "once, not twice";
}

TEST_F(PersistentRequestsTest, TheRuntimeIsToldOfSendsThatStart) {
    remember(1, Notice::send, 1);
    remember(2, Notice::receive, 1);
    remember(3, Notice::send, 1);
    const MPI_Request handles[] = {1, 2, 3, 4};
    record_->starts(4, handles);
    EXPECT_EQ(fake::sends_noted(), 2);
    for (MPI_Request handle : {1, 2, 3})
        record_->forget(handle);
}

TEST_F(PersistentRequestsTest, ThoseOfTheMpiLibraryAreNotRemembered) {
    const Inside inside;
    remember(1, Notice::send, 1);
    EXPECT_FALSE(has(1));
}

// Nobody rang for them: who waited for such a message slept until its timer looked.
TEST_F(PersistentRequestsTest, WhereRanksOutnumberCoresAStartRingsForWhoeverWaits) {
    attend_to(kCrowd);
    remember(1, Notice::send, 5, 8);
    remember(2, Notice::receive, 6, kMaybeLong);
    remember(3, Notice::send, 7, kMaybeLong + 1);
    const MPI_Request collective = 4;
    record_->remember(MPI_SUCCESS, &collective);
    fake::rung_slots();
    fake::long_messages();
    const MPI_Request messages[] = {1, 2, 3};
    record_->started(3, messages);
    EXPECT_EQ(fake::rung_slots(), (std::vector<int>{5, 7}));
    EXPECT_EQ(fake::long_messages(), (std::vector<std::int64_t>{kMaybeLong, kMaybeLong + 1}));
    record_->started(1, &collective);
    EXPECT_EQ(fake::rung_slots(), std::vector<int>{-1});
    for (const MPI_Request handle : {1, 2, 3, 4})
        record_->forget(handle);
    attend_no_more_to(kCrowd);
}
