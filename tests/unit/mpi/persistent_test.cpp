// SPDX-License-Identifier: Apache-2.0
// mpi/record/persistent.h: which requests are persistent, and what the start of one is.
#include "fake.h"

#include "mpi/record/record.h"

#include <gtest/gtest.h>
#include <memory>

using namespace sennit::mpi;

namespace {

class PersistentRequestsTest : public testing::Test {
  protected:
    PersistentRequestsTest() { fake::reset(); }

    void remember(MPI_Request request, Notice notice, int peer) {
        const CallFacts facts = {.name = "MPI_Start", .peer = peer};
        record_->remember(notice, facts, request, [] { return std::uint64_t{8}; });
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
