// SPDX-License-Identifier: Apache-2.0
// A thread's short time slice (tasks/sched/sharing.cpp) beside the end of sharing, under every
// schedule.
#include "schedules.h"

#include "base/time_slice.h"
#include "tasks/sched/sharing.h"

#include <gtest/gtest.h>

namespace sennit {
namespace schedules {
namespace {

// Thread 0 shortens its slice, thread 1 ends sharing.
class Sharing {
  public:
    static constexpr std::uint64_t kOwnNs = 3'000'000;
    // Does thread 0 look whether cores are shared still?
    explicit Sharing(bool looks) : looks_(looks) {}
    static Sharing &here() { return *s_here; }

    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] {
            s_here = this;
            make_anew(slice_);
            make_anew(shares_, true);
            make_anew(slice_ns_, kOwnNs);
        };
        test.threads = {[this] { slice_.begin(still); },
                        [this] { // as end_sharing()
                            shares_.store(false, std::memory_order_relaxed);
                            full_fence();
                            slice_.end(kThread);
                        }};
        test.state = [] { return 0; };
        test.end = [this] { return slice_ns_.load() == kOwnNs ? "" : "the slice stays short"; };
        return test;
    }
    Atomic<std::uint64_t> &slice_ns() { return slice_ns_; }

  private:
    static bool still() {
        return !s_here->looks_ || s_here->shares_.load(std::memory_order_relaxed);
    }

    static inline Sharing *s_here = nullptr;
    static inline const std::atomic<int> kThread{1};
    const bool looks_;
    sched::ShortSlice slice_;
    Atomic<bool> shares_{true};
    Atomic<std::uint64_t> slice_ns_{kOwnNs};
};

TEST(ShortSlice, IsGivenBackWhenSharingEnds) {
    Sharing sharing(true), wrong(false);
    EXPECT_EQ(failure_of(sharing.test()), "");
    EXPECT_EQ(explore(wrong.test()).failure, "the slice stays short");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({sharing.test()}, {{lost, "full_fence(); // pairs with that before"},
                                             {lost, "former_ns_.store(former"},
                                             {late, "former_ns_.store(former"},
                                             {lost, "shares_.store(false"}}),
              "");
}

} // namespace
} // namespace schedules

std::uint64_t time_slice_ns(pid_t) {
    return schedules::Sharing::here().slice_ns().load(std::memory_order_relaxed);
}
bool set_time_slice(std::uint64_t ns, pid_t) {
    schedules::Sharing::here().slice_ns().store(ns, std::memory_order_relaxed);
    return true;
}

} // namespace sennit
