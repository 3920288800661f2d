// SPDX-License-Identifier: Apache-2.0
// StealableRange (openmp/team/stealable_range.h) under every schedule.
#include "schedules.h"

#include "openmp/team/stealable_range.h"

#include <array>
#include <bitset>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

using omp::StealableRange;

// What thieves may take at once, and what owners want.
struct Part {
    std::uint64_t from = 0, most = 100, piece = 1;
    bool believes_hint = false; // an owner that takes left() for the truth
};

// Thread i begins with sizes[i] chunks. It does them, steals when it has none left, and ends when
// it sees none.
class Loop {
  public:
    static constexpr std::size_t kRanges = 3, kChunks = 4;
    Loop(std::vector<std::uint64_t> sizes, Part part, std::size_t threads)
        : sizes_(std::move(sizes)), part_(part), threads_(threads) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] { begin(); };
        for (std::size_t i = 0; i < threads_; ++i)
            test.threads.emplace_back([this, i] { work(i); });
        test.state = [this] { return done_.to_ullong(); };
        test.end = [this] { return done_.count() == chunks_ ? "" : "a chunk is lost"; };
        return test;
    }

  private:
    void begin() {
        chunks_ = 0;
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            make_anew(ranges_[i]);
            ranges_[i].assign(chunks_, chunks_ + sizes_[i]);
            chunks_ += sizes_[i];
        }
        done_.reset();
    }
    void run(std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t chunk = first; chunk < first + count; ++chunk) {
            if (done_[chunk])
                fail("a chunk is run twice");
            done_[chunk] = true;
        }
    }
    void work(std::size_t me) {
        StealableRange &mine = ranges_[me];
        do
            for (std::uint64_t first = 0, count; (count = take(mine, first)) != 0;)
                run(first, count);
        while (steal(me));
    }
    std::uint64_t take(StealableRange &mine, std::uint64_t &first) {
        begin_anew(1);
        if (part_.believes_hint && mine.left() == 0)
            return 0;
        return part_.piece == 1 ? mine.take(&first) : mine.take_some(part_.piece, &first);
    }
    // As omp::take_over.
    bool steal(std::size_t me) {
        for (;;) {
            begin_anew(2);
            StealableRange *victim = nullptr;
            std::uint64_t most = 0;
            for (std::size_t i = 0; i < sizes_.size(); ++i) {
                if (i == me)
                    continue;
                const std::uint64_t left = ranges_[i].left(part_.from);
                if (left > most) {
                    most = left;
                    victim = &ranges_[i];
                }
            }
            if (!victim)
                return false;
            std::uint64_t first = 0, last = 0;
            if (victim->steal(&first, &last, part_.from, part_.most)) {
                ranges_[me].refill(first, last);
                return true;
            }
            wait_for_change();
        }
    }

    std::vector<std::uint64_t> sizes_;
    Part part_;
    std::size_t threads_;
    std::array<StealableRange, kRanges> ranges_;
    std::uint64_t chunks_ = 0;
    std::bitset<kChunks> done_;
};

using Sizes = std::vector<std::uint64_t>;

Result explored(const Sizes &sizes, Part part = {}, const Flaw &flaw = {},
                std::size_t threads = 2) {
    Loop loop(sizes, part, threads);
    return explore(loop.test(), flaw);
}

TEST(StealableRange, EveryChunkIsRunOnce) {
    for (const Sizes &sizes : {Sizes{1, 0}, Sizes{2, 0}, Sizes{1, 1}}) {
        Loop loop(sizes, {}, 2);
        EXPECT_EQ(failure_of(loop.test()), "");
    }
}

TEST(StealableRange, EveryChunkIsRunOnceIfThievesTakeLess) {
    EXPECT_EQ(explored({2, 0}, {.from = 0, .most = 1}).failure, "");
    EXPECT_EQ(explored({3, 0}, {.from = 2}).failure, "");
}

TEST(StealableRange, EveryChunkIsRunOnceIfOwnersTakeMore) {
    EXPECT_EQ(explored({2, 0}, {.piece = 2}).failure, "");
}

// The explorer's slower ways come to the same ends.
TEST(StealableRange, HasTheSameEndsByAllWaysOfTheExplorer) {
    Loop loop({1, 0}, {}, 2);
    const Result result = explore(loop.test());
    const Result by_steps = explore(loop.test(), {}, {.goes_back_by_steps = true});
    EXPECT_EQ(by_steps.failure, "");
    EXPECT_EQ(by_steps.states, result.states);
    EXPECT_EQ(by_steps.ends, result.ends);
    const Result all_loads = explore(loop.test(), {}, {.stops_at_all_loads = true});
    EXPECT_EQ(all_loads.failure, "");
    EXPECT_EQ(all_loads.ends, result.ends);
}

bool is_refused(const Flaw &flaw) {
    return !explored({1, 0}, {}, flaw).failure.empty() ||
           !explored({2, 0}, {.piece = 2}, flaw).failure.empty() ||
           !explored({2, 0}, {}, flaw).failure.empty();
}

TEST(StealableRange, NeedsEachOfItsStores) {
    auto stores = explored({1, 0}).stores;
    stores.merge(explored({1, 0}, {.piece = 2}).stores);
    EXPECT_EQ(stores.size(), 9U);
    for (const auto &[file, line] : stores) {
        const std::string text = line_of(file, line);
        // There the owner only tells thieves that less is left than they believe.
        if (text.find("low_.store(mine, ") == std::string::npos)
            EXPECT_TRUE(is_refused({Flaw::Kind::lost, file, line}))
                << file << ":" << line << ": " << text;
        else
            EXPECT_FALSE(is_refused({Flaw::Kind::lost, file, line}));
    }
}

TEST(StealableRange, NeedsItsLocksAndItsFence) {
    EXPECT_TRUE(is_refused({Flaw::Kind::no_fence, "", 0}));
    EXPECT_TRUE(is_refused({Flaw::Kind::no_lock, "", 0}));
}

// The owner stores before it looks, and looks again under the lock. So does a thief.
TEST(StealableRange, NeedsToLookAfterItsStores) {
    int late = 0, stale = 0;
    const Result all = explored({1, 0});
    for (const auto &[file, line] : all.stores)
        if (line_of(file, line).find("low_.store(mine + 1") != std::string::npos) {
            EXPECT_TRUE(is_refused({Flaw::Kind::late, file, line}));
            ++late;
        }
    for (const auto &[file, line] : all.loads) {
        const std::string text = line_of(file, line);
        if (text.find(" high = high_.load(") != std::string::npos ||
            text.find(" stolen = low_.load(") != std::string::npos) {
            EXPECT_TRUE(is_refused({Flaw::Kind::stale, file, line})) << text;
            ++stale;
        }
    }
    EXPECT_EQ(late, 1);
    EXPECT_EQ(stale, 3);
}

// An owner that takes left() for the truth, while a thief is about to give back, steals elsewhere
// and puts that where its own chunks still are. The third range is somebody's who does not come.
TEST(StealableRange, NeedsAnOwnerWhoMakesSure) {
    EXPECT_NE(explored({3, 0, 1}, {.believes_hint = true}).failure, "");
}

// Ranges are filled anew region by region. A thief that has its part in the last region only must
// not have a chunk of the next one (openmp/team/virtual_team.h).
class NextRegion {
  public:
    explicit NextRegion(bool asks_under_lock) : asks_under_lock_(asks_under_lock) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] {
            make_anew(range_);
            make_anew(regions_, 1U);
            done_ = 0;
        };
        test.threads = {[this] { own(); }, [this] { steal(); }};
        test.state = [this] { return done_; };
        test.end = [this] { return done_ == 2 ? "" : "a chunk is lost"; };
        return test;
    }

  private:
    void own() {
        regions_.store(2, std::memory_order_release);
        range_.refill(0, 2);
        for (std::uint64_t chunk = 0; range_.take(&chunk);)
            ++done_;
    }
    bool is_late() const { return regions_.load(std::memory_order_acquire) != 1; }
    void steal() {
        std::uint64_t first = 0, last = 0;
        const bool stolen =
            asks_under_lock_ ? range_.steal_if([this] { return !is_late(); }, &first, &last, 0, 1)
                             : !is_late() && range_.steal(&first, &last, 0, 1);
        if (stolen)
            fail("a thief has a chunk of a region that it has no part in yet");
    }

    bool asks_under_lock_;
    StealableRange range_;
    Atomic<std::uint32_t> regions_{1};
    std::uint64_t done_ = 0;
};

TEST(StealableRange, IsOfOneRegion) {
    EXPECT_EQ(failure_of(NextRegion(true).test()), "");
    EXPECT_NE(explore(NextRegion(false).test()).failure, "");
}

} // namespace
} // namespace sennit::schedules
