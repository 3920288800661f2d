// SPDX-License-Identifier: Apache-2.0
// watch/: threads that want a processor and get none.
#include "tasks/watch/blocked.h"

#include <gtest/gtest.h>
#include <unistd.h>

using namespace sennit::watch;

namespace {

constexpr bool kRuns = true, kSleeps = false;

// A thread as it is at one look after another; true if it starves at the last.
class Thread {
  public:
    explicit Thread(Starved &starved, int id = 7) : starved_(starved), id_(id) {}
    bool look(std::uint64_t used, bool runs) {
        return starved_.starves(id_, used, [runs] { return runs; });
    }

  private:
    Starved &starved_;
    int id_;
};

} // namespace

TEST(Starved, WhoRunsAndGetsNoProcessorStarves) {
    Starved starved;
    Thread thread(starved);
    EXPECT_FALSE(thread.look(5'000'000, kRuns)); // there is no look before
    starved.begin_look();
    EXPECT_TRUE(thread.look(5'000'000, kRuns));
    starved.begin_look();
    EXPECT_TRUE(thread.look(5'000'000 + Starved::kEnough / 2, kRuns)); // on its way out of a wait
}

TEST(Starved, WhoSleepsDoesNot) {
    Starved starved;
    Thread thread(starved);
    thread.look(5'000'000, kSleeps);
    starved.begin_look();
    EXPECT_FALSE(thread.look(5'000'000, kSleeps));
    starved.begin_look();
    EXPECT_TRUE(thread.look(5'000'000, kRuns)); // somebody woke it
}

TEST(Starved, WhoSpinsDoesNot) {
    Starved starved;
    Thread thread(starved);
    thread.look(0, kRuns);
    starved.begin_look();
    EXPECT_FALSE(thread.look(Starved::kEnough, kRuns));
}

TEST(Starved, ThreadsComeAndGo) {
    Starved starved;
    Thread first(starved, 1), second(starved, 2), third(starved, 3);
    first.look(10, kRuns);
    second.look(20, kRuns);
    starved.begin_look();
    EXPECT_TRUE(second.look(20, kRuns));
    EXPECT_FALSE(third.look(0, kRuns));
    starved.begin_look();
    EXPECT_TRUE(third.look(0, kRuns));
    EXPECT_FALSE(first.look(10, kRuns)); // it was not there
    EXPECT_FALSE(second.look(0, kRuns)); // another one of its number
}

TEST(Starved, TheKernelTellsProcessorTime) {
    const std::uint64_t before = used_by(gettid());
    while (used_by(gettid()) < before + Starved::kEnough) {
    }
    EXPECT_TRUE(state_of(gettid()).runs);
}
