// SPDX-License-Identifier: Apache-2.0
// Where a worker of a virtual team has its part: equal numbers of threads, or what was balanced.
#include "openmp/team/virtual_team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace sennit::omp {
namespace {

// A region's function is told by its address, and functions begin at multiples of 16.
alignas(16) std::array<char, 16> g_functions[2000];

struct Freed {
    void operator()(PartHistory *parts) const { std::free(parts); }
};

class Parts {
  public:
    Parts(int workers, int threads) : workers_(workers), threads_(threads) {
        std::vector<int> own;
        for (int i = 0; i < workers; ++i)
            own.push_back(threads * i / workers);
        parts_.reset(
            PartHistory::make(std::malloc(PartHistory::size_for(workers, threads)), own, threads));
        own_ = own;
    }

    // A run of the region in which each thread takes so long. Returns who has most to do; each
    // thread must be somebody's once.
    std::uint64_t run(const std::function<std::uint64_t(int)> &load, bool taken = true,
                      bool waited = false, const void *function = &g_functions[0]) {
        parts_->begin(function);
        measured_ = parts_->measures();
        std::vector<int> times(static_cast<std::size_t>(threads_));
        std::uint64_t most = 0;
        for (int worker = 0; worker < workers_; ++worker) {
            std::vector<int> mine{own_[static_cast<std::size_t>(worker)]};
            for (std::uint64_t at = parts_->first(worker); at < parts_->last(worker); ++at)
                mine.push_back(parts_->thread_of(at));
            std::uint64_t all = 0;
            for (const int thread : mine) {
                ++times[static_cast<std::size_t>(thread)];
                all += load(thread);
                if (measured_)
                    parts_->note_load(thread, load(thread));
            }
            most = std::max(most, all);
        }
        parts_->end(taken, waited);
        EXPECT_EQ(std::count(times.begin(), times.end(), 1), threads_);
        return most;
    }
    bool measured() const { return measured_; }

  private:
    int workers_, threads_;
    std::vector<int> own_;
    std::unique_ptr<PartHistory, Freed> parts_;
    bool measured_ = false;
};

std::uint64_t triangle(int thread) {
    return 2 * static_cast<std::uint64_t>(thread) + 1;
}

TEST(PartHistory, ATriangleIsBalancedInTheThirdRun) {
    Parts parts(2, 16); // 256 in all
    EXPECT_EQ(parts.run(triangle), 192U);
    EXPECT_FALSE(parts.measured());
    EXPECT_EQ(parts.run(triangle), 192U);
    EXPECT_TRUE(parts.measured());
    EXPECT_LE(parts.run(triangle), 144U);
}

TEST(PartHistory, WhatIsBalancedIsNeitherMeasuredNorMoved) {
    Parts parts(4, 32);
    for (int run = 0; run < 10; ++run) {
        EXPECT_EQ(parts.run([](int) { return 10; }, false), 80U);
        EXPECT_FALSE(parts.measured());
    }
    // Somebody takes a thread all the same, and all is as good as it can be: nothing moves, and it
    // is measured ever more seldom.
    int measured = 0;
    for (int run = 0; run < 1000; ++run) {
        EXPECT_EQ(parts.run([](int thread) { return thread == 3 ? 11U : 10U; }), 81U);
        measured += parts.measured() ? 1 : 0;
    }
    EXPECT_LE(measured, 15);
    // But never not at all.
    std::uint64_t most = 0;
    for (int run = 0; run < 300; ++run)
        most = parts.run([](int thread) { return triangle(31 - thread); });
    EXPECT_LE(most, 300U); // of 1024; it was 448
}

TEST(PartHistory, ItFollowsALoadThatMoves) {
    Parts parts(4, 32);
    for (int at = 0; at <= 16; at += 4) {
        const auto load = [at](int thread) { return thread >= at && thread < at + 16 ? 100U : 1U; };
        for (int run = 0; run < 3; ++run)
            parts.run(load);
        EXPECT_LE(parts.run(load), 440U) << at; // of 1616
    }
}

TEST(PartHistory, FewLargeThreadsStayWhereThievesReachThem) {
    Parts parts(2, 8); // 64 in all: cut at 27, the last worker could give nothing away at 22
    for (int run = 0; run < 6; ++run)
        EXPECT_EQ(parts.run(triangle), 48U);
}

TEST(PartHistory, TimesOfThreadsThatWaitedSayNothing) {
    Parts parts(2, 16);
    for (int run = 0; run < 6; ++run)
        EXPECT_EQ(parts.run(triangle, true, true), 192U);
}

TEST(PartHistory, RegionsAreToldApart) {
    Parts parts(2, 16);
    for (int run = 0; run < 3; ++run) {
        parts.run(triangle, true, false, &g_functions[0]);
        parts.run([](int thread) { return triangle(15 - thread); }, true, false, &g_functions[1]);
    }
    EXPECT_LE(parts.run(triangle, false, false, &g_functions[0]), 144U);
    EXPECT_LE(
        parts.run([](int thread) { return triangle(15 - thread); }, false, false, &g_functions[1]),
        144U);
    EXPECT_EQ(parts.run(triangle, true, false, nullptr), 192U); // one without a name
    // More of them than there is room for: some are forgotten.
    for (const auto &function : g_functions)
        parts.run(triangle, true, false, &function);
    EXPECT_EQ(parts.run(triangle, false, false, &g_functions[0]), 192U);
}

TEST(PartHistory, EachThreadIsSomebodysWhateverTheLoads) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const int workers = 1 + static_cast<int>(random() % 9);
        const int threads = workers + static_cast<int>(random() % 40);
        Parts parts(workers, threads);
        for (int run = 0; run < 8; ++run) {
            std::vector<std::uint64_t> loads(static_cast<std::size_t>(threads));
            for (std::uint64_t &load : loads)
                load = random() % 4 == 0 ? std::uint64_t{random()} << 16 : random() % 100;
            parts.run([&](int thread) { return loads[static_cast<std::size_t>(thread)]; },
                      random() % 2 == 0, random() % 4 == 0);
        }
    }
}

TEST(PartHistory, ItIsNeverWorseThanBefore) {
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        Parts parts(1 + static_cast<int>(random() % 8), 64);
        std::vector<std::uint64_t> loads(64);
        for (std::uint64_t &load : loads)
            load = 1000 + random() % 1000;
        const auto load = [&](int thread) { return loads[static_cast<std::size_t>(thread)]; };
        const std::uint64_t before = parts.run(load);
        parts.run(load);
        EXPECT_LE(parts.run(load), before);
    }
}

// Inner regions: what is offered where nothing is known, where others take, and where nobody does.

const void *function_number(std::size_t number) {
    return &g_functions[number];
}

void run_untaken(InnerHistory &history, const void *function, int runs) {
    for (int run = 0; run < runs; ++run)
        history.record(function, history.offer(function, 0, 4, 3), 0);
}

TEST(InnerHistory, ARegionThatIsNotKnownIsCut) {
    InnerHistory history;
    EXPECT_FALSE(history.is_quiet(function_number(1), 0));
    EXPECT_EQ(history.offer(function_number(1), 0, 4, 3), 3);
    EXPECT_EQ(history.offer(function_number(1), 0, 4, 0), 0); // deeper down
    EXPECT_EQ(history.offer(function_number(1), 2, 4, 0), 2);
    EXPECT_EQ(history.offer(function_number(1), 9, 4, 0), 3);
}

TEST(InnerHistory, ARegionOfWhichNobodyTakesAnythingTurnsQuiet) {
    InnerHistory history;
    const void *const function = function_number(1);
    run_untaken(history, function, balance::Exposure::kEnd);
    EXPECT_FALSE(history.is_quiet(function_number(2), 0)); // another one
    EXPECT_FALSE(history.is_quiet(function, 1));           // somebody is idle
    int quiet = 0;
    while (history.is_quiet(function, 0))
        ++quiet;
    EXPECT_EQ(quiet, InnerHistory::kProbeEvery - 1);
    EXPECT_EQ(history.offer(function, 0, 4, 3), 1); // the probe
    EXPECT_EQ(history.offer(function, 0, 4, 3), 0);
    EXPECT_EQ(history.offer(function, 2, 4, 3), 2);
}

TEST(InnerHistory, ARegionWhoseThreadsAreTakenIsCutThoughNobodyIsIdle) {
    InnerHistory history;
    const void *const function = function_number(1);
    run_untaken(history, function, balance::Exposure::kEnd);
    EXPECT_TRUE(history.is_quiet(function, 0));
    for (int run = 0; run < balance::Exposure::kLength; ++run)
        history.record(function, 3, 3);
    EXPECT_FALSE(history.is_quiet(function, 0));
    EXPECT_EQ(history.offer(function, 0, 4, 3), 3);
}

} // namespace
} // namespace sennit::omp
