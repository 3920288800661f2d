// SPDX-License-Identifier: Apache-2.0
// mpi/record/record.h: the counts by which reports of hangs compare ranks.
#include "mpi/record/record.h"

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace sennit::mpi;

namespace {

Object comm(MPI_Comm handle) {
    return communicator(handle);
}

struct Made {
    int calls = 0;
    std::vector<std::string> names;
};

std::map<std::uint64_t, Made> visit(const CollectiveCalls &calls) {
    std::map<std::uint64_t, Made> all;
    calls.visit(
        [](void *arg, const sennit_collectives *made) {
            Made &one = (*static_cast<std::map<std::uint64_t, Made> *>(arg))[made->group];
            one.calls = made->calls;
            for (int i = 0; i < SENNIT_COLLECTIVES_KEPT && made->names[i]; ++i)
                one.names.emplace_back(made->names[i]);
        },
        &all);
    return all;
}

} // namespace

TEST(CollectiveCalls, CountsEachCommunicatorAlone) {
    const auto calls = std::make_unique<CollectiveCalls>();
    EXPECT_EQ(calls->count(comm(5), "MPI_Bcast", 0), 1);
    EXPECT_EQ(calls->count(comm(6), "MPI_Barrier", -1), 1);
    EXPECT_EQ(calls->count(comm(5), "MPI_Barrier", -1), 2);
    const auto all = visit(*calls);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all.at(5).calls, 2);
    EXPECT_EQ(all.at(5).names, (std::vector<std::string>{"MPI_Barrier", "MPI_Bcast"}))
        << "the latest first";
    EXPECT_EQ(all.at(6).calls, 1);
}

TEST(CollectiveCalls, AHandleThatComesBackBeginsAnew) {
    const auto calls = std::make_unique<CollectiveCalls>();
    const MPI_Comm handle = 7;
    calls->count(comm(handle), "MPI_Barrier", -1);
    calls->forget(&handle);
    EXPECT_TRUE(visit(*calls).empty());
    EXPECT_EQ(calls->count(comm(handle), "MPI_Barrier", -1), 1);
}

TEST(CollectiveCalls, KeepsTheLatest) {
    const auto calls = std::make_unique<CollectiveCalls>();
    for (int i = 0; i < 3 * SENNIT_COLLECTIVES_KEPT; ++i)
        calls->count(comm(5), "MPI_Barrier", -1);
    const auto all = visit(*calls);
    EXPECT_EQ(all.at(5).calls, 3 * SENNIT_COLLECTIVES_KEPT);
    EXPECT_EQ(all.at(5).names.size(), static_cast<std::size_t>(SENNIT_COLLECTIVES_KEPT));
}

TEST(CollectiveCalls, DoesNotCountWhatFindsNoPlace) {
    const auto calls = std::make_unique<CollectiveCalls>();
    const int most = CollectiveCalls::kEntries;
    int uncounted = 0;
    for (int i = 0; i < 2 * most; ++i)
        uncounted += calls->count(comm(100 + i), "MPI_Barrier", -1) < 0;
    EXPECT_GE(uncounted, most);
    EXPECT_EQ(calls->count({}, "MPI_File_close", -1), -1) << "no communicator";
}
