// SPDX-License-Identifier: Apache-2.0
// The fence of two prices (base/fence.cpp) while its mode changes, under every schedule.
#include "schedules.h"

#include "base/fence.cpp" // the changes of its mode have no name outside

#include <gtest/gtest.h>

namespace sennit {

namespace schedules {
namespace {

// Thread 0 publishes work, thread 1 goes to sleep, thread 2 changes the mode.
class Fences {
  public:
    Test test() {
        Test test;
        test.memory = {memory_of(*this), memory_of(g_light_fence_is_free),
                       memory_of(g_light_fences_are_full)};
        test.begin = [this] {
            make_anew(*this);
            make_anew(g_light_fence_is_free, true);
            make_anew(g_light_fences_are_full, false);
        };
        test.threads = {[this] {
                            work_.store(true, std::memory_order_relaxed);
                            fence_light();
                            saw_sleeper_ = asleep_.load(std::memory_order_relaxed);
                        },
                        [this] {
                            asleep_.store(true, std::memory_order_relaxed);
                            fence_heavy();
                            saw_work_ = work_.load(std::memory_order_relaxed);
                        },
                        [] {
                            become_full();
                            become_free();
                            become_full();
                        }};
        test.state = [this] { return static_cast<std::uint64_t>(saw_sleeper_ + 2 * saw_work_); };
        test.end = [this] { return saw_sleeper_ || saw_work_ ? "" : "a wake-up is lost"; };
        return test;
    }

  private:
    Atomic<bool> work_{false}, asleep_{false};
    bool saw_sleeper_ = false, saw_work_ = false;
};

TEST(Fence, OfTwoPricesMayChangeThem) {
    Fences fences;
    EXPECT_EQ(failure_of(fences.test()), "");
    using enum Flaw::Kind;
    // The membarrier of become_free() is for processors whose loads may be early.
    EXPECT_EQ(not_refused({fences.test()}, {{lost, "membarrier(); // light fences that were free"},
                                            {lost, "membarrier(); // for those whose light fence"},
                                            {lost, "full_fence();"},
                                            {late, "g_light_fence_is_free.store(false"},
                                            {late, "g_light_fences_are_full.store(false"}}),
              "");
}

} // namespace
} // namespace schedules
} // namespace sennit
