// SPDX-License-Identifier: Apache-2.0
// A doorbell (wait/bell.h) under every schedule.
#include "schedules.h"

#include "wait/bell.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

// The first `sleepers` threads wait for a message each, and sleep on one bell; each of the others
// sends one of them a message, and rings.
class Messages {
  public:
    static constexpr int kMost = 2;
    Messages(int sleepers, bool looks_again) : sleepers_(sleepers), looks_again_(looks_again) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] {
            make_anew(bell_);
            for (Atomic<int> &message : messages_)
                make_anew(message);
        };
        for (int i = 0; i < sleepers_; ++i)
            test.threads.emplace_back([this, i] { receive(i); });
        for (int i = 0; i < sleepers_; ++i)
            test.threads.emplace_back([this, i] {
                messages_[i].store(1, std::memory_order_relaxed);
                bell_.ring();
            });
        test.state = [] { return 0; };
        test.end = [] { return ""; };
        return test;
    }

  private:
    bool has_come(int me) const { return messages_[me].load(std::memory_order_relaxed) != 0; }
    void receive(int me) {
        while (!has_come(me)) {
            begin_anew(0);
            const std::uint32_t seen = bell_.arm();
            if (looks_again_ && has_come(me))
                return;
            bell_.sleep(seen, -1);
        }
    }

    const int sleepers_;
    const bool looks_again_;
    wait::Bell bell_;
    std::array<Atomic<int>, kMost> messages_;
};

TEST(Bell, WhoSleepsOnItHearsOfItsMessage) {
    for (const int sleepers : {1, 2}) {
        Messages messages(sleepers, true), wrong(sleepers, false);
        EXPECT_EQ(failure_of(messages.test()), "");
        EXPECT_EQ(explore(wrong.test()).failure, "somebody waits for ever");
    }
    Messages one(1, true), two(2, true);
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({one.test(), two.test()}, {{lost, "full_fence(); // pairs with arm()"},
                                                     {lost, "armed_.fetch_or"},
                                                     {late, "armed_.fetch_or"},
                                                     {lost, "rings_.fetch_add"},
                                                     {late, "rings_.fetch_add"}}),
              "");
}

} // namespace
} // namespace sennit::schedules
