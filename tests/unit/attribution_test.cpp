// SPDX-License-Identifier: Apache-2.0
// Whose is a thread's time? By a clock that the tests turn; and the table of accounts, by threads.
#include "decide/objects/attribution.h"
#include "tasks/task/accounts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

namespace sennit {
namespace {

using balance::Account;
using balance::Attribution;
using balance::kNobody;

struct FakeThread {
    std::int64_t now = 0;
    int looks = 0;
    std::map<Account, std::int64_t> paid;
    Attribution attribution;

    void switch_to(Account next) {
        attribution.switch_to(
            next,
            [this] {
                ++looks;
                return now;
            },
            [this](Account account, std::int64_t ns) { paid[account] += ns; });
    }
    void settle() {
        attribution.settle([this] { return now; },
                           [this](Account account, std::int64_t ns) { paid[account] += ns; });
    }
};

TEST(Attribution, TimeGoesToWhomTheThreadWorksFor) {
    FakeThread thread;
    thread.now = 100;
    thread.switch_to(1);
    thread.now += 10;
    thread.switch_to(2);
    thread.now += 5;
    thread.switch_to(kNobody);
    thread.now += 1000;
    thread.switch_to(1);
    thread.now += 1;
    thread.switch_to(kNobody);
    EXPECT_EQ(thread.paid, (std::map<Account, std::int64_t>{{1, 11}, {2, 5}}));
}

TEST(Attribution, WhoGoesOnReadsNoClock) {
    FakeThread thread;
    thread.switch_to(kNobody);
    EXPECT_EQ(thread.looks, 0);
    thread.switch_to(1);
    thread.now += 10;
    thread.switch_to(1);
    EXPECT_EQ(thread.looks, 1);
    thread.now += 10;
    thread.switch_to(kNobody);
    EXPECT_EQ(thread.paid[1], 20);
}

TEST(Attribution, WhatIsSettledIsPaidOnce) {
    FakeThread thread;
    thread.settle();
    EXPECT_TRUE(thread.paid.empty());
    thread.switch_to(1);
    thread.now += 10;
    thread.settle();
    EXPECT_EQ(thread.paid[1], 10);
    thread.now += 10;
    thread.switch_to(kNobody);
    EXPECT_EQ(thread.paid[1], 20);
}

// The clock of another kernel thread may be behind.
TEST(Attribution, TimeThatRunsBackwardsIsNotPaid) {
    FakeThread thread;
    thread.now = 1000;
    thread.switch_to(1);
    thread.now = 10;
    thread.switch_to(kNobody);
    EXPECT_EQ(thread.paid[1], 0);
}

TEST(Attribution, NothingIsLostOrPaidTwice) {
    std::mt19937 random(1);
    FakeThread thread;
    std::map<Account, std::int64_t> expected;
    Account at = kNobody;
    for (int i = 0; i < 10'000; ++i) {
        const std::int64_t ns = random() % 100;
        thread.now += ns;
        if (at != kNobody)
            expected[at] += ns;
        if (random() % 4 == 0)
            thread.settle();
        else
            thread.switch_to(at = random() % 5);
    }
    thread.switch_to(kNobody);
    EXPECT_EQ(thread.paid, expected);
}

TEST(Accounts, OpenOnesDiffer) {
    std::vector<std::vector<Account>> opened(4);
    std::vector<std::thread> threads;
    for (auto &mine : opened)
        threads.emplace_back([&mine] {
            for (int i = 0; i < 2000; ++i) {
                mine.push_back(task::open_account());
                if (i % 3 == 0) {
                    task::close_account(mine.back());
                    mine.pop_back();
                }
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    std::map<Account, int> times;
    for (const auto &mine : opened)
        for (const Account account : mine) {
            EXPECT_NE(account, kNobody);
            EXPECT_EQ(times[account]++, 0);
            task::close_account(account);
        }
}

TEST(Accounts, AClosedOneHasNothingAndIsNotTheNext) {
    const Account first = task::open_account();
    task::close_account(first);
    task::close_account(first); // no harm
    const Account second = task::open_account();
    EXPECT_NE(first, second);
    EXPECT_EQ(task::paid_ns(first), 0u);
    EXPECT_EQ(task::paid_ns(kNobody), 0u);
    task::close_account(second);
}

} // namespace
} // namespace sennit
