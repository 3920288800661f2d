// SPDX-License-Identifier: Apache-2.0
// Policies that think: what `fair` and `moldable` make of what was measured.
#include "core_game.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace core_game;

using SpeedUp = std::function<double(double)>;

SpeedUp amdahl(double serial) {
    return [=](double cores) { return 1 / (serial + (1 - serial) / cores); };
}
SpeedUp saturating(double most) {
    return [=](double cores) { return std::min(cores, most); };
}
SpeedUp bad_beyond(double best) {
    return [=](double cores) { return cores / (1 + cores * cores / (best * best)); };
}

// Programs that get exactly what they own, and get on as their curves say.
struct Programs {
    Game game;
    std::vector<SpeedUp> curves;
    std::mt19937 random{5};
    double noise = 0;
    std::int64_t now_ns = 1;

    Programs(const char *policy, int cores) : game(*policy_of(policy), cores) {}

    void add(SpeedUp curve, double share = 1) {
        game.join(game.claimant_count(), share);
        curves.push_back(std::move(curve));
        game.divide();
    }
    void run(double seconds) {
        for (int look = 0; look < std::lround(seconds * 10); ++look) {
            now_ns += kRethinkNs;
            for (int one = 0; one < game.claimant_count(); ++one) {
                Claimant &program = game.claimant(one);
                const double factor = std::uniform_real_distribution(1 - noise, 1 + noise)(random);
                program.used_ns += kRethinkNs * program.owns;
                program.progress += factor * speed(one, program.owns);
            }
            game.rethink(now_ns);
        }
    }
    double speed(int one, int cores) const {
        return cores > 0 ? curves[static_cast<std::size_t>(one)](cores) : 1e-9;
    }
    // The mean (geometric) of the speeds, by shares.
    double worth(const std::vector<int> &cores) const {
        double sum = 0, shares = 0;
        for (int one = 0; one < static_cast<int>(cores.size()); ++one) {
            const double share = game.claimants[static_cast<std::size_t>(one)].share;
            sum += share * std::log(speed(one, cores[static_cast<std::size_t>(one)]));
            shares += share;
        }
        return std::exp(sum / shares);
    }
    double worth_now() const {
        std::vector<int> cores(game.claimants.size());
        std::transform(game.claimants.begin(), game.claimants.end(), cores.begin(),
                       [](const Claimant &one) { return one.owns; });
        return worth(cores);
    }
    double best() const {
        std::vector<int> cores(curves.size(), 1);
        double most = 0;
        const std::function<void(std::size_t, int)> place = [&](std::size_t one, int left) {
            for (int count = 1; count <= left; ++count) {
                cores[one] = count;
                if (one + 1 < cores.size())
                    place(one + 1, left - count);
                else
                    most = std::max(most, worth(cores));
            }
        };
        place(0, game.core_count());
        return most;
    }
    std::string text() const {
        std::string all;
        for (const Claimant &one : game.claimants)
            all += std::to_string(one.owns) + " ";
        return all;
    }
};

TEST(Moldable, FindsTheBestDivision) {
    const std::vector<std::vector<SpeedUp>> sets = {
        {amdahl(.01), amdahl(.2)},
        {saturating(6), amdahl(.02)},
        {bad_beyond(8), saturating(30)},
        {bad_beyond(20), bad_beyond(5)},
        {amdahl(0), amdahl(0)},
        {amdahl(.1), saturating(4), bad_beyond(12)},
        {amdahl(.02), amdahl(.05), saturating(10), bad_beyond(6)},
        {saturating(2), saturating(2), saturating(3), amdahl(.001)},
        {bad_beyond(10)},
        {amdahl(.05)},
    };
    for (const double noise : {0., .03}) {
        for (std::size_t set = 0; set < sets.size(); ++set) {
            Programs programs("moldable", 48);
            programs.noise = noise;
            for (const SpeedUp &curve : sets[set])
                programs.add(curve);
            programs.run(10);
            EXPECT_GE(programs.worth_now(), .95 * programs.best())
                << "set " << set << ", noise " << noise << ": " << programs.text();
        }
    }
}

TEST(Moldable, StaysThere) {
    Programs programs("moldable", 48);
    programs.noise = .02;
    programs.add(amdahl(.01));
    programs.add(saturating(8));
    programs.add(bad_beyond(12));
    programs.run(10);
    const double best = programs.best();
    double sum = 0;
    for (int second = 0; second < 60; ++second) {
        programs.run(1);
        sum += programs.worth_now();
    }
    EXPECT_GE(sum / 60, .95 * best);
}

TEST(Moldable, FollowsAProgramThatDoesSomethingElse) {
    Programs programs("moldable", 48);
    programs.add(amdahl(.01));
    programs.add(saturating(4));
    programs.run(10);
    EXPECT_GE(programs.worth_now(), .95 * programs.best()) << programs.text();
    programs.curves = {saturating(6), amdahl(.01)};
    programs.run(12);
    EXPECT_GE(programs.worth_now(), .95 * programs.best()) << programs.text();
}

TEST(Moldable, AProgramThatComesGetsItsPlaceAndLeavesItAgain) {
    Programs programs("moldable", 48);
    programs.add(amdahl(.01));
    programs.run(5);
    EXPECT_GE(programs.worth_now(), .95 * programs.best()) << programs.text();
    programs.add(saturating(10));
    programs.add(amdahl(.3));
    programs.run(10);
    EXPECT_GE(programs.worth_now(), .95 * programs.best()) << programs.text();
    programs.game.claimants.resize(1);
    programs.curves.resize(1);
    for (Core &core : programs.game.cores)
        core.owner = core.owner > 0 ? kNobody : core.owner;
    programs.game.divide();
    programs.run(5);
    EXPECT_GE(programs.worth_now(), .95 * programs.best()) << programs.text();
}

TEST(Moldable, BorrowsNoneThatMakeItSlower) {
    Programs programs("moldable", 48);
    programs.add(bad_beyond(10));
    programs.run(10);
    programs.game.set_threads(0, 48);
    EXPECT_GE(programs.speed(0, programs.game.claimant(0).uses), .95 * programs.best());
}

TEST(Moldable, GivesUpThoseThatMakeItSlower) {
    Programs programs("moldable", 48);
    programs.add(bad_beyond(10));
    programs.game.set_threads(0, 48);
    programs.run(10);
    programs.game.settle(2);
    EXPECT_GE(programs.speed(0, programs.game.claimant(0).uses), .95 * programs.best());
}

TEST(Moldable, SharesCount) {
    Programs programs("moldable", 48);
    programs.add(amdahl(.001), 3);
    programs.add(amdahl(.001), 1);
    programs.run(5);
    EXPECT_NEAR(programs.game.claimant(0).owns, 36, 3);
}

TEST(Moldable, AProgramWithoutProgressKeepsItsShare) {
    Programs programs("moldable", 48);
    programs.add(amdahl(.001));
    programs.add([](double) { return 0.; });
    programs.add(saturating(4));
    programs.run(10);
    EXPECT_EQ(programs.game.claimant(1).owns, 16);
    EXPECT_GE(programs.game.claimant(0).owns, 24);
}

TEST(Moldable, AsManyProgramsAsCoresStillLend) {
    for (const int programs_there : {3, 4, 6}) {
        Programs programs("moldable", 4);
        for (int one = 0; one < programs_there; ++one)
            programs.add(amdahl(.01));
        programs.run(5);
        for (const Claimant &one : programs.game.claimants)
            EXPECT_TRUE(one.limit == 0 || one.limit > 1) << programs_there;
    }
}

TEST(Moldable, OneThatHasMostAndOneThatHasLittleAreForgottenAndFoundAgain) {
    Programs programs("moldable", 48);
    programs.add(amdahl(.001));
    programs.add(saturating(3));
    programs.run(10);
    programs.curves = {[](double cores) { return 10 * std::min(cores, 3.); },
                       [](double cores) { return 10 * amdahl(.001)(cores); }};
    programs.run(12);
    EXPECT_GE(programs.worth_now(), .95 * programs.best()) << programs.text();
}

// --- fair: time on cores

// Programs with threads that come and go; the game is played as in the runtime.
struct Clock {
    Game game;
    std::int64_t now_ns = 1;
    explicit Clock(const char *policy, int cores) : game(*policy_of(policy), cores) {}
    void run(double seconds, const std::function<void(double)> &at) {
        constexpr std::int64_t kStep = 10'000'000;
        const std::int64_t end = now_ns + std::lround(seconds * 1e9);
        for (; now_ns < end; now_ns += kStep) {
            at(static_cast<double>(now_ns) * 1e-9);
            game.pass();
            for (Claimant &one : game.claimants)
                one.used_ns += kStep * one.uses;
            if (now_ns % kRethinkNs < kStep)
                game.rethink(now_ns);
        }
    }
    double used(int one) const {
        return static_cast<double>(game.claimants[static_cast<std::size_t>(one)].used_ns) * 1e-9;
    }
};

TEST(Fair, OneThatWaitsHalfOfTheTimeGetsItsShare) {
    for (const char *name : {"lend", "fair"}) {
        Clock clock(name, 24);
        clock.game.join(0);
        clock.game.join(1);
        clock.game.divide();
        const auto work = [&](double now) {
            clock.game.set_threads(0, std::fmod(now, .3) < .15 ? 24 : 0);
            clock.game.set_threads(1, 24);
        };
        clock.run(10, work);
        const double before[] = {clock.used(0), clock.used(1)};
        clock.run(20, work);
        const double share =
            (clock.used(0) - before[0]) / (clock.used(0) - before[0] + clock.used(1) - before[1]);
        if (std::string(name) == "lend")
            EXPECT_NEAR(share, .25, .03);
        else
            EXPECT_NEAR(share, .5, .06);
    }
}

TEST(Fair, ConvergesToShares) {
    Clock clock("fair", 24);
    clock.game.join(0, 3);
    clock.game.join(1, 2);
    clock.game.join(2, 1);
    clock.game.divide();
    clock.run(20, [&](double) {
        for (int one = 0; one < 3; ++one)
            clock.game.set_threads(one, 24);
    });
    EXPECT_NEAR(clock.used(0) / (24 * 20), 3. / 6, .02);
    EXPECT_NEAR(clock.used(1) / (24 * 20), 2. / 6, .02);
    EXPECT_NEAR(clock.used(2) / (24 * 20), 1. / 6, .02);
}

TEST(Fair, WhatNobodyWantedIsNobodysLoss) {
    Clock clock("fair", 24);
    clock.game.join(0);
    clock.game.join(1);
    clock.game.divide();
    clock.run(20, [&](double) {
        clock.game.set_threads(0, 24);
        clock.game.set_threads(1, 0);
    });
    EXPECT_NEAR(clock.used(0), 24 * 20, 5);
    const double before = clock.used(1);
    clock.run(10, [&](double) {
        clock.game.set_threads(0, 24);
        clock.game.set_threads(1, 24);
    });
    EXPECT_NEAR(clock.used(1) - before, 12 * 10, 12) << "the past is paid back";
}

TEST(Fair, CoresDoNotBounce) {
    Clock clock("fair", 24);
    for (int one = 0; one < 3; ++one)
        clock.game.join(one, 1 + one);
    clock.game.divide();
    const auto work = [&](double) {
        for (int one = 0; one < 3; ++one)
            clock.game.set_threads(one, 24);
    };
    clock.run(5, work);
    const int before = clock.game.recalls;
    clock.run(10, work);
    EXPECT_LE(clock.game.recalls - before, 20);
}

} // namespace
