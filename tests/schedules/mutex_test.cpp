// SPDX-License-Identifier: Apache-2.0
// TaskMutex and its parking lot (openmp/sync/sync.cpp) under every schedule.
#include "schedules.h"
#include "workers.h"

#include "openmp/sync/sync.cpp" // its lot has no name outside

#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

constexpr int kThreads = 3;

// Threads without tasks take a mutex several times, and give it back.
class Visits {
  public:
    Visits(int threads, int visits) : threads_(threads), visits_(visits) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this), memory_of(omp::g_lot)};
        test.begin = [this] {
            sched::g_processors.set_active(kThreads); // so many that they wait asleep
            make_anew(mutex_);
            make_anew(omp::g_lot);
            inside_ = 0;
            ended_ = 0;
        };
        for (int i = 0; i < threads_; ++i)
            test.threads.emplace_back([this] {
                for (int visit = 0; visit < visits_; ++visit)
                    go_through();
            });
        test.state = [this] { return ended_; };
        test.end = [] { return ""; };
        return test;
    }

  private:
    static constexpr int kThreads = 3;
    void go_through() {
        begin_anew(0);
        mutex_.lock();
        if (++inside_ != 1)
            fail("two have the mutex");
        begin_anew(1);
        steps_.fetch_add(1, std::memory_order_relaxed); // others may go on meanwhile
        --inside_;
        ++ended_;
        mutex_.unlock();
    }

    const int threads_, visits_;
    omp::TaskMutex mutex_;
    Atomic<int> steps_{0};
    int inside_ = 0;
    std::uint64_t ended_ = 0;
};

TEST(Mutex, ExcludesAndWakesEverybody) {
    Visits once(3, 1), twice(2, 2);
    for (const schedules::Test &test : {once.test(), twice.test()})
        EXPECT_EQ(failure_of(test), "");
    // A mark that is not set under the bucket's lock.
    EXPECT_NE(explore(once.test(), {Flaw::Kind::no_lock, "", 0}).failure, "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({once.test()}, {{lost, "word_.fetch_or(kHeld | kContended"},
                                          {torn, "word_.fetch_or(kHeld | kContended"},
                                          {lost, "word_.exchange(0"},
                                          {torn, "word_.compare_exchange_strong"},
                                          {lost, "woken.store(1"}}),
              "");
}

} // namespace
} // namespace sennit::schedules
