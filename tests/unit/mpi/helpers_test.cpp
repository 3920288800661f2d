// SPDX-License-Identifier: Apache-2.0
// mpi/engine/helpers.h: threads for blocking calls, brief ones and others.
#include "mpi/engine/helpers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

using namespace sennit::mpi;

namespace {

struct Call : Job {
    std::atomic<bool> *until = nullptr; // waits until it is set
    std::atomic<bool> begun{false};
    std::atomic<int> *over = nullptr;
    std::atomic<int> *made = nullptr;
    std::atomic<int> *at_once = nullptr; // calls under way
    std::atomic<int> *most = nullptr;    // of them
};

void make(Job &job) {
    auto &self = static_cast<Call &>(job);
    const int now = self.at_once->fetch_add(1) + 1;
    for (int seen = self.most->load(); now > seen && !self.most->compare_exchange_weak(seen, now);)
        ;
    self.made->fetch_add(1);
    self.begun = true;
    while (self.until && !*self.until)
        std::this_thread::yield();
    self.at_once->fetch_sub(1);
    int served = 0;
    for (const Job *one = &job; one; one = one->joined)
        ++served;
    self.over->fetch_add(served);
}

class HelpersTest : public testing::Test {
  protected:
    // The threads stay, and so does what they wait for.
    Helpers &helpers = *new Helpers;
    std::atomic<int> over{0}; // for so many jobs
    std::atomic<int> made{0};
    std::atomic<int> at_once{0};
    std::atomic<int> most{0};

    std::vector<std::unique_ptr<Call>> make_calls(int count, bool brief) {
        std::vector<std::unique_ptr<Call>> calls;
        for (int i = 0; i < count; ++i) {
            calls.push_back(std::make_unique<Call>());
            calls.back()->call = make;
            calls.back()->brief = brief;
            calls.back()->over = &over;
            calls.back()->made = &made;
            calls.back()->at_once = &at_once;
            calls.back()->most = &most;
        }
        return calls;
    }
    void hand_out(std::vector<std::unique_ptr<Call>> &calls) {
        for (auto &call : calls)
            ASSERT_TRUE(helpers.hand_out(*call));
    }
    // The test's own limit ends a wait that is in vain.
    void wait_for(int count) const {
        while (over < count)
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        ASSERT_EQ(over, count);
    }
};

} // namespace

TEST_F(HelpersTest, EachCallThatMayWaitLongHasAThread) {
    std::atomic<bool> all_there{false};
    auto calls = make_calls(16, false);
    for (auto &call : calls)
        call->until = &all_there;
    hand_out(calls);
    while (at_once < 16)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    all_there = true;
    wait_for(16);
}

TEST_F(HelpersTest, BriefCallsFollowEachOther) {
    auto calls = make_calls(1000, true);
    hand_out(calls);
    wait_for(1000);
    EXPECT_LT(most, 100); // a thread more now and then, where the machine is busy
}

TEST_F(HelpersTest, BriefCallsThatWaitForEachOtherAllBegin) {
    auto calls = make_calls(32, true);
    for (int i = 0; i + 1 < 32; ++i)
        calls[i]->until = &calls[i + 1]->begun;
    hand_out(calls);
    wait_for(32);
}

TEST_F(HelpersTest, ABriefCallIsWaitedForByOthers) {
    for (int round = 0; round < 50; ++round) {
        over = 0;
        auto first = make_calls(2, true);
        auto later = make_calls(2, false);
        auto last = make_calls(2, true);
        first[0]->until = &later[1]->begun;
        first[1]->until = &last[1]->begun;
        later[0]->until = &last[0]->begun;
        later[1]->until = &first[1]->begun;
        hand_out(first);
        hand_out(later);
        hand_out(last);
        wait_for(6);
    }
}

// What has begun serves nobody who comes later; else each serves all that it equals.
TEST_F(HelpersTest, EqualCallsAreMadeOnce) {
    static const char name[] = "a flush";
    std::atomic<bool> all_there{false};
    auto first = make_calls(1, true);
    first[0]->same = {name, {}, 1};
    first[0]->until = &all_there;
    hand_out(first);
    while (!first[0]->begun)
        std::this_thread::yield();
    auto calls = make_calls(400, true);
    for (int i = 0; i < 400; ++i)
        calls[i]->same = {i % 4 == 0 ? nullptr : name, {}, i % 4};
    hand_out(calls);
    EXPECT_EQ(first[0]->joined, nullptr);
    all_there = true;
    wait_for(401);
    EXPECT_LT(made, 1 + 100 + 100); // more than 1 + 100 + 3 where a thread is held up
    for (const auto &call : calls)
        EXPECT_TRUE(!call->joined || (call->same.name && call->joined->same == call->same));
}

TEST_F(HelpersTest, StressSeveralThreadsHandOut) {
    constexpr int threads = 4;
    constexpr int each = 500;
    std::vector<std::vector<std::unique_ptr<Call>>> calls;
    for (int i = 0; i < threads; ++i)
        calls.push_back(make_calls(each, i % 2 == 0));
    std::vector<std::thread> hands;
    for (auto &some : calls)
        hands.emplace_back([&] {
            for (auto &call : some) {
                ASSERT_TRUE(helpers.hand_out(*call));
                while (!call->begun) // as many threads as calls are too many
                    std::this_thread::yield();
            }
        });
    for (auto &hand : hands)
        hand.join();
    wait_for(threads * each);
}
