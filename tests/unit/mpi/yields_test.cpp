// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/yields.h"

#include "base/clock.h"

#include <gtest/gtest.h>

namespace {

using sennit::mpi::Yields;
using sennit::node::CoreWork;

constexpr std::int64_t kSliceNs = 3'000'000;

// Do yields pay after a hundred of a time slice each, of which ranks of the node write down
// `theirs`?
bool pay_if_others_compute(std::int64_t theirs) {
    static CoreWork work{};
    Yields yields;
    yields.begin(work);
    std::int64_t now = 1;
    for (int i = 0; i < 100; ++i, now += kSliceNs) {
        yields.look();
        for (int core = 0; core < sennit::node::kMostCores; ++core) // the thread may move
            work.add(core, theirs);
        yields.note(now, now + kSliceNs);
    }
    return yields.pay(now);
}

TEST(Yields, ToAnotherProgramTheyAreALossToRanksThatComputeNone) {
    EXPECT_FALSE(pay_if_others_compute(0));
    EXPECT_TRUE(pay_if_others_compute(kSliceNs));
}

TEST(Yields, WhoStopsWorkWritesDownWhatItHasComputed) {
    static CoreWork work{};
    Yields yields;
    yields.begin(work);
    const auto written = [] {
        std::int64_t sum = 0;
        for (int core = 0; core < sennit::node::kMostCores; ++core)
            sum += work.of(core);
        return sum;
    };
    yields.stops_work(1'000'000'000);
    const std::int64_t before = written();
    const std::int64_t begin = sennit::thread_work_ns();
    while (sennit::thread_work_ns() == begin) {
    }
    yields.begins_work(1'000'000'100);
    yields.stops_work(1'000'000'200); // too soon to be worth it
    EXPECT_EQ(written(), before);
    yields.stops_work(1'000'100'000);
    EXPECT_GT(written(), before);
}

} // namespace
