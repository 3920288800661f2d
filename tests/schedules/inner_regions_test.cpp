// SPDX-License-Identifier: Apache-2.0
// The list of inner regions that offer threads (openmp/team/inner_regions.h) under every schedule.
#include "schedules.h"

#include "openmp/team/inner_regions.h"

#include <gtest/gtest.h>
#include <memory>

namespace sennit::schedules {
namespace {

// The maker runs an inner region of two threads beside its own one; an idle worker helps. When the
// region has ended, its memory is used for something else.
class Helped {
  public:
    // Does the worker have a part in the outermost region, and if not, does it ask under the lock?
    enum class Part : std::uint8_t { has_one, asks_under_lock, asks_before };
    // `waits`: does the maker wait at the join for the threads that others have taken?
    explicit Helped(Part part, bool waits = true) : part_(part), waits_(waits) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] {
            make_anew(inner_);
            make_anew(range_);
            std::destroy_at(&region_);
            std::construct_at(&region_, reinterpret_cast<omp::VirtualTeam &>(*this), range_);
            make_anew(begun_, 0);
            make_anew(arrived_, 0);
            make_anew(is_over_, 0);
        };
        test.threads = {[this] { make(); }, [this] { help(); }};
        test.state = [] { return 0; };
        test.end = [this] { return inner_.any() ? "a region is left" : ""; };
        return test;
    }

  private:
    void run() {
        if (is_over_.load(std::memory_order_relaxed) != 0)
            fail("a thread of a region that has ended runs");
        arrived_.fetch_add(1, std::memory_order_acq_rel);
    }
    void make() {
        begun_.store(1, std::memory_order_release);
        range_.refill(0, 2);
        inner_.add(region_);
        for (std::uint64_t thread = 0; range_.take(&thread);)
            run();
        while (waits_ && arrived_.load(std::memory_order_acquire) != 2)
            wait_for_change();
        inner_.remove(region_);
        is_over_.store(1, std::memory_order_relaxed);
        range_.assign(0, 2);
    }
    bool is_late() const {
        return part_ != Part::has_one && begun_.load(std::memory_order_acquire) != 0;
    }
    void help() {
        if (part_ == Part::asks_before && is_late())
            return;
        const auto may = [this] { return part_ == Part::asks_before || !is_late(); };
        for (std::uint64_t thread = 0; inner_.take(may, &thread);) {
            if (part_ != Part::has_one)
                fail("a worker has a thread, but no part in the outermost region");
            run();
        }
    }

    Part part_;
    bool waits_;
    omp::InnerRegions inner_;
    omp::StealableRange range_;
    omp::OfferedRegion region_{reinterpret_cast<omp::VirtualTeam &>(*this), range_};
    Atomic<int> begun_{0};
    Atomic<int> arrived_{0};
    Atomic<int> is_over_{0};
};

Result explored(Helped::Part part, bool waits = true, const Flaw &flaw = {}) {
    Helped helped(part, waits);
    return explore(helped.test(), flaw);
}

TEST(InnerRegions, EndWhenAllThatTheyOfferedHasArrived) {
    EXPECT_EQ(explored(Helped::Part::has_one).failure, "");
    EXPECT_NE(explored(Helped::Part::has_one, false).failure, "");
}

TEST(InnerRegions, AreForWorkersWithAPartInTheOutermostRegion) {
    EXPECT_EQ(explored(Helped::Part::asks_under_lock).failure, "");
    EXPECT_NE(explored(Helped::Part::asks_before).failure, "");
}

TEST(InnerRegions, NeedTheirLocksAndTheFence) {
    EXPECT_NE(explored(Helped::Part::has_one, true, {Flaw::Kind::no_lock, "", 0}).failure, "");
    EXPECT_NE(explored(Helped::Part::has_one, true, {Flaw::Kind::no_fence, "", 0}).failure, "");
}

} // namespace
} // namespace sennit::schedules
