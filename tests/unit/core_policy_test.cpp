// SPDX-License-Identifier: Apache-2.0
// Who gets which core of a node: the rules of each policy, and what must hold of any view.
#include "core_game.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace core_game;

const CorePolicy &policy(const char *name) {
    return *policy_of(name);
}

std::vector<int> owners_of(const Game &game) {
    std::vector<int> owners(game.cores.size());
    std::transform(game.cores.begin(), game.cores.end(), owners.begin(),
                   [](const Core &core) { return core.owner; });
    return owners;
}
using Owners = std::vector<int>;

// --- who owns what

TEST(Divide, ByShares) {
    Game game(policy("lend"), 8);
    game.join(0, 3);
    game.join(1, 1);
    game.divide();
    EXPECT_EQ(game.claimant(0).owns, 6);
    EXPECT_EQ(game.claimant(1).owns, 2);
}

TEST(Divide, RanksOfAProgramAlike) {
    Game game(policy("lend"), 12);
    for (int rank = 0; rank < 4; ++rank)
        game.join(0, 2);
    game.join(1, 1);
    game.divide();
    for (int rank = 0; rank < 4; ++rank)
        EXPECT_EQ(game.claimant(rank).owns, 2) << rank;
    EXPECT_EQ(game.claimant(4).owns, 4);
}

TEST(Divide, AClaimantHasCoresOfOneDomain) {
    Game game(policy("lend"), 8, 2);
    game.join(0);
    game.join(1);
    game.divide();
    EXPECT_EQ(owners_of(game), (Owners{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Divide, ThoseWhoStayKeepTheirCores) {
    Game game(policy("lend"), 8, 2);
    game.join(0);
    game.divide();
    EXPECT_EQ(owners_of(game), (Owners(8, 0)));
    game.join(1);
    game.divide();
    EXPECT_EQ(owners_of(game), (Owners{0, 0, 0, 0, 1, 1, 1, 1}));
    game.join(2, 2);
    const Owners before = owners_of(game);
    game.divide();
    for (std::size_t core = 0; core < 8; ++core)
        EXPECT_TRUE(game.cores[core].owner == before[core] || game.cores[core].owner == 2) << core;
    EXPECT_EQ(game.claimant(2).owns, 4);
}

TEST(Divide, WhoGetsWhatOthersLeaveOwnsNone) {
    Game game(policy("lend"), 4);
    game.join(0);
    game.join(1, 8, 0, true);
    game.divide();
    EXPECT_EQ(owners_of(game), Owners(4, 0));
}

TEST(Divide, ByTargetsWhereTheyAreKnown) {
    Game game(policy("lend"), 12);
    game.join(5);
    game.join(6);
    game.memory.programs[0].taken = 1;
    game.memory.programs[0].program = 6;
    game.memory.programs[0].target = 2;
    game.divide();
    EXPECT_EQ(game.claimant(1).owns, 2);
    EXPECT_EQ(game.claimant(0).owns, 6); // its share; what nobody gains from stays free
    game.memory.programs[1].taken = 1;
    game.memory.programs[1].program = 5;
    game.memory.programs[1].target = 30; // there are fewer
    game.divide();
    EXPECT_EQ(game.claimant(0).owns, 11);
    EXPECT_EQ(game.claimant(1).owns, 1);
}

TEST(Divide, WhatOneMayNotUseGoesToOthers) {
    Game game(policy("lend"), 8);
    game.join(0);
    game.join(1);
    game.allowed = {{true, true, false, false, false, false, false, false},
                    std::vector<bool>(8, true)};
    game.divide();
    EXPECT_EQ(owners_of(game), (Owners{0, 0, 1, 1, 1, 1, 1, 1}));
}

// A container has some of the node's cores; a program may be bound to fewer.
TEST(Divide, CoresThatNobodyMayUseDoNotCount) {
    Game game(policy("lend"), 12);
    game.join(0);
    game.join(1);
    std::vector<bool> set(12);
    for (std::size_t core = 4; core < 8; ++core)
        set[core] = true;
    game.allowed = {set, set};
    game.divide();
    EXPECT_EQ(game.claimant(0).owns, 2);
    EXPECT_EQ(game.claimant(1).owns, 2);
    game.join(2);
    game.allowed.emplace_back(12, true);
    game.divide();
    EXPECT_EQ(game.claimant(0).owns, 2);
    EXPECT_EQ(game.claimant(1).owns, 2);
    EXPECT_EQ(game.claimant(2).owns, 8);
}

TEST(Divide, WhoHasNoneComesRoundIfThereAreTooFew) {
    for (const char *name : {"static", "lend"}) {
        Game game(policy(name), 2);
        for (int rank = 0; rank < 5; ++rank)
            game.join(rank / 3);
        game.divide();
        std::vector<int> turns(5);
        for (int round = 0; round < 20; ++round) {
            for (int one = 0; one < 5; ++one)
                game.set_threads(one, 1);
            game.settle(3);
            for (const Core &core : game.cores)
                ++turns[static_cast<std::size_t>(core.user)];
            game.rethink(round * kRethinkNs);
        }
        for (const int each : turns)
            EXPECT_GE(each, 4) << name;
    }
}

TEST(Divide, OfAnything) {
    std::mt19937 random(7);
    for (int round = 0; round < 3000; ++round) {
        const auto game = random_game(policy("lend"), random);
        if (round % 2 == 0) // some leave, one comes
            game->claimants[0].leftover = true;
        const Owners before = owners_of(*game);
        game->divide();
        for (int core = 0; core < game->core_count(); ++core) {
            const int owner = game->at(core).owner;
            ASSERT_NE(owner, -7);
            if (owner == kNobody) {
                for (int one = 0; one < game->claimant_count(); ++one)
                    ASSERT_TRUE(game->claimant(one).leftover ||
                                !Game::is_allowed(game.get(), core, one))
                        << "core " << core << " is nobody's, round " << round;
                continue;
            }
            ASSERT_TRUE(Game::is_allowed(game.get(), core, owner));
            ASSERT_FALSE(game->claimant(owner).leftover);
        }
        const Owners once = owners_of(*game);
        game->divide();
        if (game->allowed.empty()) {
            ASSERT_EQ(once, owners_of(*game)) << "divided twice, round " << round;
        }
    }
}

// --- lend

TEST(Lend, TheOwnerIsFirstAndGetsItsCoreBack) {
    Game game(policy("lend"), 4);
    game.join(0);
    game.join(1);
    game.divide();
    game.set_threads(0, 4); // 1 waits
    EXPECT_EQ(game.claimant(0).uses, 4);
    game.set_threads(1, 1);
    EXPECT_EQ(game.recalls, 1);
    EXPECT_EQ(game.claimant(1).wants, 1);
    game.settle(1);
    EXPECT_EQ(game.claimant(1).uses, 1);
    EXPECT_EQ(game.claimant(0).uses, 3);
    game.settle();
    EXPECT_EQ(game.recalls, 1) << "cores bounce";
}

TEST(Lend, ACoreIsKeptForAnOwnerThatIsAboutToTakeIt) {
    Game game(policy("lend"), 2);
    game.join(0);
    game.join(1);
    game.divide();
    game.claimant(0).wants = 1;
    EXPECT_FALSE(game.policy.may_take(game.view(), 0, 1));
    EXPECT_TRUE(game.policy.may_take(game.view(), 0, 0));
    EXPECT_EQ(game.policy.receiver(game.view(), 0), 0);
}

TEST(Lend, PriorityFirst) {
    Game game(policy("lend"), 3);
    game.join(0);
    game.join(1);
    game.join(2, 1, 1);
    game.divide();
    game.set_threads(0, 1);
    game.set_threads(1, 2); // one core and one of 2's
    game.set_threads(2, 1);
    game.settle();
    game.set_threads(0, 0);
    game.set_threads(1, 3);
    game.settle();
    game.set_threads(2, 3);
    game.settle();
    EXPECT_EQ(game.claimant(2).uses, 2);
    EXPECT_EQ(game.claimant(1).uses, 1);
}

TEST(Lend, NearCoresFirst) {
    Game game(policy("lend"), 8, 2);
    game.join(0);
    game.join(1);
    game.join(2);
    game.join(3);
    game.divide();
    // 0 and 1 have the first domain, 2 and 3 the second.
    ASSERT_EQ(owners_of(game), (Owners{0, 0, 1, 1, 2, 2, 3, 3}));
    game.set_threads(3, 4);
    EXPECT_EQ(game.at(4).user, 3);
    EXPECT_EQ(game.at(5).user, 3);
    game.set_threads(0, 4);
    EXPECT_EQ(game.at(2).user, 0);
    EXPECT_EQ(game.at(3).user, 0);
}

TEST(Lend, WhatIsLentIsDividedByShares) {
    Game game(policy("lend"), 24);
    game.join(0);
    game.join(1);
    game.join(2, 2);
    game.divide();
    game.set_threads(0, 24); // alone, it has all
    EXPECT_EQ(game.claimant(0).uses, 24);
    game.set_threads(1, 24);
    game.settle();
    EXPECT_EQ(game.claimant(0).uses, 12);
    EXPECT_EQ(game.claimant(1).uses, 12);
    const int before = game.recalls;
    game.settle();
    EXPECT_EQ(game.recalls, before) << "cores bounce";
}

TEST(Lend, AServiceGetsWhatOthersLeave) {
    for (const char *name : {"static", "lend"}) {
        Game game(policy(name), 4);
        game.join(0);
        game.join(1, 1, 0, true);
        game.divide();
        game.set_threads(1, 4);
        EXPECT_EQ(game.claimant(1).uses, 4) << name;
        game.set_threads(0, 3);
        game.settle();
        EXPECT_EQ(game.claimant(0).uses, 3) << name;
        EXPECT_EQ(game.claimant(1).uses, 1) << name;
    }
}

// --- what must hold of each

class EachPolicy : public testing::TestWithParam<std::string_view> {
  protected:
    const CorePolicy &policy_ = *policy_of(GetParam());
};

// Random demands; then: is every core with somebody who may have it?
TEST_P(EachPolicy, KeepsItsRules) {
    std::mt19937 random(3);
    for (int round = 0; round < 1500; ++round) {
        const auto game = random_game(policy_, random);
        for (int step = 0; step < 12; ++step) {
            const int one = static_cast<int>(random() % game->claimants.size());
            game->set_threads(one, static_cast<int>(random() % 8));
            if (random() % 3 == 0)
                game->pass();
            for (int core = 0; core < game->core_count(); ++core) {
                const int user = game->at(core).user;
                ASSERT_TRUE(user == kNobody || Game::is_allowed(game.get(), core, user));
                if (GetParam() == "static" && user != kNobody) {
                    ASSERT_TRUE(game->at(core).owner == user || game->claimant(user).leftover);
                }
            }
        }
        game->settle(60);
        const int recalls = game->recalls;
        game->settle(5);
        ASSERT_EQ(game->recalls, recalls) << "cores bounce, round " << round;
        for (int core = 0; core < game->core_count(); ++core) {
            const Core &at = game->at(core);
            if (at.owner != kNobody && game->claimant(at.owner).wants > 0) {
                ASSERT_EQ(at.user, at.owner) << "a core is kept from its owner, round " << round;
            }
            for (int one = 0; one < game->claimant_count(); ++one) {
                const Claimant &who = game->claimant(one);
                if (who.wants == 0 || !Game::is_allowed(game.get(), core, one))
                    continue;
                if (GetParam() != "static" || who.leftover) {
                    ASSERT_NE(at.user, kNobody) << "idle though wanted, round " << round;
                }
                if (at.user != kNobody && !who.leftover && GetParam() != "static") {
                    ASSERT_FALSE(game->claimant(at.user).leftover)
                        << "a service has what another one wants, round " << round;
                }
            }
        }
    }
}

// Whatever the view: who is told of a core may take it, and somebody may take what somebody wants.
TEST_P(EachPolicy, AnswersAnyView) {
    std::mt19937 random(11);
    for (int round = 0; round < 5000; ++round) {
        const auto game = random_game(policy_, random);
        for (int core = 0; core < game->core_count(); ++core)
            if (random() % 2 == 0) {
                const int user = static_cast<int>(random() % game->claimants.size());
                if (!Game::is_allowed(game.get(), core, user))
                    continue;
                game->at(core).user = user;
                ++game->claimant(user).uses;
                game->is_recalled(core) = random() % 4 == 0;
            }
        for (Claimant &one : game->claimants)
            one.wants = static_cast<int>(random() % 4);
        for (int core = 0; core < game->core_count(); ++core) {
            if (game->at(core).user != kNobody)
                continue;
            const int receiver = policy_.receiver(game->view(), core);
            if (receiver != kNobody) {
                ASSERT_GT(game->claimant(receiver).wants, 0);
                ASSERT_TRUE(Game::is_allowed(game.get(), core, receiver));
                ASSERT_TRUE(policy_.may_take(game->view(), core, receiver)) << round;
            }
        }
        for (int one = 0; one < game->claimant_count(); ++one) {
            if (game->claimant(one).wants == 0)
                continue;
            const int core = policy_.recalls(game->view(), one, game->recalled_span());
            if (core == kNobody)
                continue;
            ASSERT_NE(game->at(core).user, kNobody);
            ASSERT_NE(game->at(core).user, one);
            ASSERT_FALSE(game->is_recalled(core));
            ASSERT_TRUE(Game::is_allowed(game.get(), core, one));
        }
    }
}

TEST_P(EachPolicy, HasRoomForManyRanks) {
    Game game(policy_, 40, 2);
    for (int one = 0; one < 200; ++one)
        game.join(one / 50, one < 50 ? 3 : 1);
    game.divide();
    for (int one = 0; one < 200; one += 3)
        game.set_threads(one, 2);
    game.settle(30);
    const int recalls = game.recalls;
    game.settle(3);
    EXPECT_EQ(game.recalls, recalls) << "cores bounce";
    for (const Core &core : game.cores)
        EXPECT_TRUE(core.user != kNobody || GetParam() == "static");
}

INSTANTIATE_TEST_SUITE_P(Policies, EachPolicy, testing::ValuesIn(policy_names()),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
