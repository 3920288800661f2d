// SPDX-License-Identifier: Apache-2.0
// Locks of libc's for which tasks wait in a parking lot (tasks/pthread/parking.cpp) under every
// schedule. What libc does to its lock is one step here.
#include "schedules.h"
#include "workers.h"

#include "tasks/pthread/parking.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

// Each thread takes the lock, and gives it back. A thread waits as in pthread/mutex.cpp.
class Visits {
  public:
    Visits(int threads, bool looks_again) : threads_(threads), looks_again_(looks_again) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this), memory_of(pthread::g_lot),
                       memory_of(pthread::detail::g_waiting)};
        test.begin = [this] {
            make_anew(word_);
            make_anew(pthread::g_lot);
            make_anew(pthread::detail::g_waiting);
            for (int i = 0; i < kMost; ++i)
                make_anew(workers_[i], i);
            inside_ = ended_ = 0;
        };
        for (int i = 0; i < threads_; ++i)
            test.threads.emplace_back([this, i] { go_through(i); });
        test.state = [this] { return ended_; };
        test.end = [] { return ""; };
        return test;
    }

  private:
    static constexpr int kMost = 3;
    bool try_lock() {
        int expected = 0;
        return word_.compare_exchange_strong(expected, 1, std::memory_order_acquire);
    }
    void lock(int me) {
        while (!try_lock()) {
            begin_anew(0);
            pthread::Parking parking("lock", &word_);
            parking.enter();
            if (looks_again_ && try_lock())
                return parking.leave();
            parking.wait(workers_[me], {});
        }
    }
    void go_through(int me) {
        lock(me);
        begin_anew(1);
        if (++inside_ != 1)
            fail("two have the lock");
        steps_.fetch_add(1, std::memory_order_relaxed); // others may go on meanwhile
        --inside_;
        ++ended_;
        word_.store(0, std::memory_order_release);
        pthread::wake(&word_, 1);
    }

    const int threads_;
    const bool looks_again_;
    Atomic<int> word_{0}, steps_{0};
    std::array<TestWorker, kMost> workers_{TestWorker(0), TestWorker(1), TestWorker(2)};
    std::uint64_t inside_ = 0, ended_ = 0;
};

TEST(LibcLocks, WakeEveryTask) {
    for (const int threads : {2, 3}) {
        Visits visits(threads, true);
        EXPECT_EQ(failure_of(visits.test()), "");
    }
    Visits right(2, true), wrong(2, false);
    EXPECT_EQ(explore(wrong.test()).failure, "somebody waits for ever");
    EXPECT_NE(explore(right.test(), {Flaw::Kind::no_fence, "", 0}).failure, "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({right.test()},
                          {{lost, "g_waiting.fetch_add(1"}, {lost, "waiter_.exchange(mark()"}}),
              "");
}

} // namespace
} // namespace sennit::schedules
