// SPDX-License-Identifier: Apache-2.0
// Spare threads and helpers (openmp/team/spare_threads.cpp) under every schedule: they are in a
// region that runs.
#include "schedules.h"
#include "workers.h"

#include "openmp/team/spare_threads.cpp" // what all teams share has no name outside

#include <gtest/gtest.h>

namespace sennit {

static std::uint64_t g_now_ns = 0;
static void (*g_started)(void *) = nullptr;
static void *g_started_with = nullptr;
static std::function<bool()> g_start_thread;

std::uint64_t poll::now_ns() {
    return g_now_ns;
}
void poll::set_watch(Watcher, void (*)(void *), void *, std::uint64_t) {}
void poll::begin_watch() {}
bool sched::start_thread(void (*main)(void *), void *argument, Begins) {
    g_started = main;
    g_started_with = argument;
    return g_start_thread();
}
void sched::join_pool(Worker &) {}

namespace schedules {
namespace {

class Region final : public omp::Unbegun {
  public:
    ~Region() { sched::Worker::forget_thread(); }
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;
    // What the other thread is.
    enum class Other : std::uint8_t { helper, spare };
    explicit Region(Other other) : other_(other) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this), memory_of(omp::g_all)};
        test.begin = [this] { begin(); };
        test.threads = {[this] { make(); }};
        if (other_ == Other::helper) {
            test.threads.emplace_back([this] { omp::SpareThreads::help_any(workers_[1]); });
        } else {
            test.threads.emplace_back([this] { tick(); });
            test.threads.emplace_back([this] { run_spare_thread(); });
        }
        test.state = [] { return 0; };
        test.end = [] { return ""; };
        return test;
    }

  private:
    static constexpr std::uint64_t kLater = 1'000'000'000'000;
    enum Phase : int { undecided, started, not_started };

    std::uint64_t unbegun() const override { return 1; }
    std::uint64_t trail() const override { return 1; }
    const void *function() const override { return nullptr; }
    void run_spare(sched::Worker &) override { look(); }
    void help(sched::Worker &) override { look(); }
    void look() {
        if (is_over_.load(std::memory_order_relaxed) != 0)
            fail("a thread is in a region that has ended");
    }

    void begin() {
        make_anew(is_over_);
        make_anew(phase_);
        make_anew(omp::g_all);
        make_anew(workers_[0], 0);
        make_anew(workers_[1], 1);
        workers_[1].adopt_thread(0, nullptr);
        std::destroy_at(&threads_);
        std::construct_at(&threads_, static_cast<omp::Unbegun &>(*this));
        threads_.begin();
        g_now_ns = 1; // it stands still since then
        omp::g_all.look();
        g_now_ns = kLater;
        g_start_thread = [this] {
            phase_.store(started);
            return true;
        };
    }
    // The team's maker ends the region; with a helper, another one begins, and ends.
    void make() {
        threads_.end();
        is_over_.store(1);
        if (other_ == Other::spare)
            return;
        is_over_.store(0);
        threads_.begin();
        threads_.end();
        is_over_.store(1);
    }
    void tick() {
        omp::g_all.look();
        if (phase_.load(std::memory_order_relaxed) == undecided)
            phase_.store(not_started);
    }
    void run_spare_thread() {
        wait_while(phase_.word(), undecided);
        if (phase_.load(std::memory_order_relaxed) == started)
            g_started(g_started_with);
    }

    const Other other_;
    omp::SpareThreads threads_{*this};
    std::array<TestWorker, 2> workers_{TestWorker(0), TestWorker(1)};
    Atomic<int> is_over_{0}, phase_{undecided};
};

void check(Region::Other other) {
    Region region(other);
    EXPECT_EQ(failure_of(region.test()), "");
    EXPECT_NE(explore(region.test(), {Flaw::Kind::no_fence, "", 0}).failure, "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({region.test()}, {{lost, "inside_.fetch_add"},
                                            {late, "inside_.fetch_add"},
                                            {lost, "inside_.fetch_sub"},
                                            {lost, "runs_.store(false"},
                                            {late, "runs_.store(false"}}),
              "");
}

TEST(SpareThreads, AreInARegionThatRuns) {
    check(Region::Other::spare);
}

TEST(SpareThreads, HelpersAreInARegionThatRuns) {
    check(Region::Other::helper);
}

} // namespace
} // namespace schedules
} // namespace sennit
