// SPDX-License-Identifier: Apache-2.0
// A lock whose users leave what they want to those who have it (base/combining_lock.h), under every
// schedule: all that was left is done, once, in the order of each thread.
#include "schedules.h"

#include "base/combining_lock.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

class Combining {
  public:
    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] {
            make_anew(lock_);
            for (Item &item : items_)
                make_anew(item);
            inside_ = 0;
            done_ = 0;
        };
        for (std::size_t i = 0; i < kThreads; ++i)
            test.threads.emplace_back([this, i] {
                begin_anew(0);
                change(items_[2 * i]);
                begin_anew(1);
                change(items_[2 * i + 1]);
            });
        test.state = [this] {
            auto all = static_cast<std::uint64_t>(4 * done_ + inside_);
            for (const Item &item : items_)
                all = 16 * all + 8 * static_cast<unsigned>(item.done) +
                      static_cast<std::uint64_t>(item.next ? item.next - &items_[0] + 1 : 0);
            return all;
        };
        test.end = [this] { return done_ == 2 * kThreads ? "" : "an item is left behind"; };
        return test;
    }

    struct Item {
        Item *next = nullptr;
        bool done = false;
    };
    void combine(Item &item) {
        const auto at = static_cast<std::size_t>(&item - &items_[0]);
        if (item.done || (at % 2 == 1 && !items_[at - 1].done))
            fail("an item is done twice, or before one of its thread's that came first");
        item.done = true;
        ++done_;
    }
    void settle() {}

  private:
    static constexpr std::size_t kThreads = 2;

    void change(Item &item) SENNIT_NOT_CHECKED {
        if (!lock_.try_lock())
            return lock_.leave(item, *this);
        if (++inside_ != 1)
            fail("two have the lock");
        lock_.catch_up(*this);
        combine(item);
        --inside_;
        lock_.unlock(*this);
    }

    CombiningLock<Item, Combining> lock_;
    std::array<Item, 2 * kThreads> items_;
    int inside_ = 0;
    std::size_t done_ = 0;
};

TEST(Combining, WhatIsLeftIsDoneOnceAndInOrder) {
    Combining combining;
    EXPECT_EQ(failure_of(combining.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({combining.test()}, {{lost, "full_fence(); // see above"},
                                               {torn, "newest_.compare_exchange_weak"},
                                               {lost, "newest_.exchange(nullptr"}}),
              "");
}

} // namespace
} // namespace sennit::schedules
