// SPDX-License-Identifier: Apache-2.0
// How much of its part a worker of a virtual team offers to others, and what is remembered of
// regions.
#include "openmp/env/split.h"
#include "openmp/team/virtual_team.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace sennit::omp {
namespace {

// A team of 24 threads on 3 workers, none of which is there: the tests do their steps.
class VirtualTeamOfThree : public testing::Test {
  protected:
    static constexpr int kWorkers = 3;
    static constexpr int kThreads = 24;

    VirtualTeamOfThree() : adapted_(detail::g_split.adapts) {
        detail::g_split.adapts = true;
        team_ = make_team(kThreads, kWorkers);
        team_->threads = VirtualTeam::make(*team_, false);
        team_->outermost = team_;
        team_->data = &function_;
    }
    ~VirtualTeamOfThree() override {
        VirtualTeam::drop(team_->threads);
        drop_team(team_);
        detail::g_split.adapts = adapted_;
    }

    VirtualTeam &threads() { return *team_->threads; }
    const Member &first_of(int worker) {
        return team_->member(VirtualTeam::first_of(worker, *team_));
    }
    std::uint64_t offers(int worker) {
        threads().begin_part(here(), *team_, first_of(worker));
        return threads().offered(first_of(worker));
    }
    // So many threads have come to the join.
    void arrive(int count) { team_->arrived = count * (Team::kJoin + 1); }

    Team *team_;

  private:
    bool adapted_;
    const void *function_ = &function_;
};

TEST_F(VirtualTeamOfThree, OffersNothingWhereNobodyHasTakenAnything) {
    threads().begin(*team_);
    EXPECT_EQ(offers(0), 0U);
    threads().end();
}

TEST_F(VirtualTeamOfThree, WhoIsLateOffersAThreadForEachWorkerThatIsIdle) {
    threads().begin(*team_);
    EXPECT_EQ(offers(0), 0U);
    arrive(kThreads / kWorkers);
    EXPECT_EQ(offers(1), 1U);
    arrive(2 * kThreads / kWorkers);
    EXPECT_EQ(offers(2), 2U);
    arrive(0);
    threads().end();
}

// A region's function is told by its address, and functions begin at multiples of 16.
alignas(16) std::array<char, 16> g_functions[4096];

TEST(RegionHistory, TwoRegionsThatMeetInTheTableKeepTheirHistories) {
    RegionHistory history;
    const void *const first = &g_functions[0];
    balance::Exposure &of_first = history.of(first);
    of_first.record(2, 2);
    // Whoever takes a place of its table, it stays as long as it is asked for in between.
    for (const auto &function : g_functions) {
        history.of(&function);
        ASSERT_EQ(&history.of(first), &of_first);
        ASSERT_GT(of_first.mean(), 0);
    }
    // What is not asked for is forgotten at last.
    for (const auto &function : g_functions)
        if (&function != first)
            history.of(&function);
    EXPECT_EQ(history.of(first).mean(), 0);
}

constexpr std::uint64_t kMs = 1'000'000;

TEST(Patience, ThreadsThatSpinAreFoundInTheSecondRegionThatStandsStill) {
    Patience patience;
    EXPECT_EQ(patience.ns(), 200 * kMs);
    EXPECT_FALSE(patience.judge(210 * kMs, 5 * kMs));
    EXPECT_EQ(patience.ns(), 420 * kMs);
    EXPECT_TRUE(patience.judge(430 * kMs, 5 * kMs));
}

// On a crowded machine they end late, or soon at one time and late at the next.
TEST(Patience, ThreadsThatSpinAreFoundHoweverLateTheyEnd) {
    for (int late = 0; late < 10; ++late) {
        Patience patience;
        for (int run = 0; run < late; ++run)
            EXPECT_FALSE(patience.judge(patience.ns(), patience.ns()));
        EXPECT_FALSE(patience.judge(patience.ns(), 5 * kMs)) << late;
        EXPECT_TRUE(patience.judge(patience.ns(), 5 * kMs)) << late;
    }
}

TEST(Patience, OneRegionThatEndsSoonMakesNobodyWaitLongerFromThenOn) {
    Patience patience;
    for (int run = 0; run < 10; ++run)
        patience.judge(patience.ns(), patience.ns());
    const std::uint64_t longest = patience.ns();
    patience.judge(longest, 5 * kMs);
    patience.judge(patience.ns(), patience.ns());
    EXPECT_EQ(patience.ns(), longest);
}

// However long they take, and whenever the ticker looks.
TEST(Patience, ThreadsThatComputeAreNotTakenForOnesThatSpin) {
    for (std::uint64_t takes = 100; takes < 8000; takes += 10)
        for (const std::uint64_t late : {0, 40, 150}) {
            Patience patience;
            for (int run = 0; run < 20; ++run) {
                const std::uint64_t stood = patience.ns() + late * kMs;
                if (takes * kMs > stood) {
                    EXPECT_FALSE(patience.judge(stood, takes * kMs - stood)) << takes;
                }
            }
        }
}

} // namespace
} // namespace sennit::omp
