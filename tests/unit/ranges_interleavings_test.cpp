// SPDX-License-Identifier: Apache-2.0
// StealableRange (openmp/team/stealable_range.h), step by step as the code does it.
//
// Stores wait in buffers (store_buffers.h), because the range relies on fence_light and
// fence_heavy. fence_light is nothing. fence_heavy empties one buffer after the other, as a
// membarrier does.
#include "interleavings.h"
#include "store_buffers.h"

#include "base/compiler.h"
#include "base/fence.h"
#include "openmp/team/stealable_range.h"

#include <array>
#include <atomic>
#include <compare>
#include <memory>
#include <thread>
#include <utility>

namespace sennit::model {
namespace {

constexpr int kMost = 3;  // threads
constexpr int kRoom = 6;  // stores in a buffer
constexpr int kCells = 3; // of each range
enum Cell : signed char { kLow, kHigh, kLock };

// What is left out, or done in another order.
enum class Fault { none, heavy_fence, look_first, thief_lock, give_back, slow_path, hint };

// What thieves may take at once, and what owners want (take_some).
struct Part {
    int from = 0, most = 100;
    int piece = 1;
};

struct Thread {
    signed char pc = 0, victim = 0;
    signed char mine = 0, high = 0, middle = 0; // the locals of take and steal
    auto operator<=>(const Thread &) const = default;
};

// Thread i owns range i. A chunk is a bit of `taken`.
struct Ranges {
    BufferedMemory<kMost, kMost * kCells, kRoom> memory;
    std::array<Thread, kMost> threads{};
    unsigned taken = 0;
    auto operator<=>(const Ranges &) const = default;

    Thread &thread(int number) { return threads[static_cast<std::size_t>(number)]; }
};

signed char cell_of(int range, Cell cell) {
    return static_cast<signed char>(range * kCells + cell);
}

// A thread's accesses. A store is no step of its own: nobody sees it before it leaves the buffer.
class Access {
  public:
    Access(Ranges &s, int thread) : memory_(s.memory), thread_(thread) {}

    signed char load(int range, Cell cell) const {
        return memory_.load(thread_, cell_of(range, cell));
    }
    void store(int range, Cell cell, int value) {
        memory_.store(thread_, cell_of(range, cell), value);
    }
    // An acquire exchange acts on memory itself. It does not empty the buffer, but waits there for
    // an unlock of our own.
    bool lock(int range) {
        return std::exchange(memory_.cell(cell_of(range, kLock)), static_cast<signed char>(1)) == 0;
    }
    void unlock(int range) { store(range, kLock, 0); } // release: behind the stores before
    bool has_room(int stores) const { return memory_.has_room(thread_, stores); }
    bool is_drained() const { return memory_.is_drained(thread_); }

  private:
    decltype(Ranges::memory) &memory_;
    int thread_;
};

// A step is one access to memory that others see, with what the thread does by itself before or
// after it.
class Model {
  public:
    Model(int threads, int chunks, Fault fault, Part part)
        : threads_(threads), all_((1U << chunks) - 1), fault_(fault), part_(part) {}

    // Numbers from `threads` on are the drains.
    Outcome operator()(Ranges &s, int number, std::string &broken) const {
        if (number >= threads_)
            return s.memory.drain(number - threads_) ? Outcome::ran : Outcome::ended;
        Thread &me = s.thread(number);
        if (me.pc == kEnd)
            return Outcome::ended;
        Access access(s, number);
        if (!access.has_room(3)) // more than any step stores
            return Outcome::waits;
        const bool ran =
            me.pc < kSteal ? take(s, number, me, access, broken) : steal(s, number, me, access);
        if (me.pc == kEnd && s.taken != all_ && everybody_ended(s))
            broken = "a chunk is lost";
        return ran ? Outcome::ran : Outcome::waits;
    }

  private:
    // A thread's places in the code.
    enum Place : signed char {
        kTake,
        kTakeLate, // the owner who looks before it stores
        kSlow,     // take_some_slow
        kSlowLook,
        kSteal, // steal_chunks: the longest of the other ranges
        kVictimLock,
        kVictimLook,
        kFence,
        kCheck,
        kRefill,
        kEnd
    };

    bool everybody_ended(Ranges &s) const {
        for (int i = 0; i < threads_; ++i)
            if (s.thread(i).pc != kEnd)
                return false;
        return true;
    }

    static void go_on(Thread &me, Place place) {
        me.pc = place;
        if (place == kTake || place == kSteal || place == kEnd)
            me.victim = me.mine = me.high = me.middle = 0; // fewer states
    }

    // The owner has found chunks: it runs them.
    static void run_mine(Ranges &s, Thread &me, int count, std::string &broken) {
        const unsigned chunks = ((1U << count) - 1) << me.mine;
        if ((s.taken & chunks) != 0)
            broken = "a chunk is run twice";
        s.taken |= chunks;
        go_on(me, kTake);
    }

    bool take(Ranges &s, int number, Thread &me, Access &access, std::string &broken) const {
        switch (me.pc) {
        case kTake:
            // Whoever believes left().
            if (fault_ == Fault::hint && access.load(number, kLow) >= access.load(number, kHigh)) {
                go_on(me, kSteal);
                return true;
            }
            me.mine = access.load(number, kLow);
            if (fault_ == Fault::look_first) {
                me.high = access.load(number, kHigh);
                go_on(me, kTakeLate);
                return true;
            }
            access.store(number, kLow, me.mine + part_.piece);
            me.high = access.load(number, kHigh);
            break;
        case kTakeLate:
            access.store(number, kLow, me.mine + part_.piece);
            break;
        case kSlow:
            if (!access.lock(number))
                return false;
            go_on(me, kSlowLook);
            return true;
        default: { // kSlowLook
            me.high = access.load(number, kHigh);
            const int found = std::clamp(me.high - me.mine, 0, part_.piece);
            if (found > 0)
                access.store(number, kLow, me.mine + found);
            access.unlock(number);
            if (found > 0)
                run_mine(s, me, found, broken);
            else
                go_on(me, kSteal);
            return true;
        }
        }
        if (me.mine + part_.piece <= me.high) {
            run_mine(s, me, part_.piece, broken);
            return true;
        }
        access.store(number, kLow, me.mine);
        go_on(me, fault_ == Fault::slow_path ? kSteal : kSlow);
        return true;
    }

    bool find_victim(int number, Thread &me, const Access &access) const {
        int most = 0;
        for (int i = 0; i < threads_; ++i) {
            const int left =
                access.load(i, kHigh) - std::max<int>(access.load(i, kLow), part_.from);
            if (i != number && left > most) {
                most = left;
                me.victim = static_cast<signed char>(i);
            }
        }
        return most > 0;
    }

    bool steal(Ranges &s, int number, Thread &me, Access &access) const {
        switch (me.pc) {
        case kSteal:
            if (!find_victim(number, me, access))
                go_on(me, kEnd);
            else
                go_on(me, fault_ == Fault::thief_lock ? kVictimLook : kVictimLock);
            return true;
        case kVictimLock:
            if (!access.lock(me.victim))
                return false;
            go_on(me, kVictimLook);
            return true;
        case kVictimLook: {
            me.high = access.load(me.victim, kHigh);
            const int count = me.high - std::max<int>(access.load(me.victim, kLow), part_.from);
            me.middle = static_cast<signed char>(me.high - std::min((count + 1) / 2, part_.most));
            if (count > 0) {
                access.store(me.victim, kHigh, me.middle);
                go_on(me, fault_ == Fault::heavy_fence ? kCheck : kFence);
            } else {
                access.unlock(me.victim);
                go_on(me, kSteal);
            }
            return true;
        }
        case kFence: // our own buffer, then the victim's; the others' need not be emptied
            if (!access.is_drained())
                return false;
            while (s.memory.drain(me.victim)) {
            }
            go_on(me, kCheck);
            return true;
        case kCheck: {
            const bool stolen = access.load(me.victim, kLow) <= me.middle;
            if (!stolen && fault_ != Fault::give_back)
                access.store(me.victim, kHigh, me.high);
            access.unlock(me.victim);
            go_on(me, stolen ? kRefill : kSteal);
            return true;
        }
        default: // kRefill
            if (!access.lock(number))
                return false;
            access.store(number, kLow, me.middle);
            access.store(number, kHigh, me.high);
            access.unlock(number);
            go_on(me, kTake);
            return true;
        }
    }

    int threads_;
    unsigned all_;
    Fault fault_;
    Part part_;
};

// Thread i begins with `sizes[i]` chunks.
std::string ranges_failure(const std::vector<int> &sizes, Fault fault, Part part = {}) {
    const int threads = static_cast<int>(sizes.size());
    Ranges start;
    int chunks = 0;
    for (int i = 0; i < threads; ++i) {
        start.memory.cell(cell_of(i, kLow)) = static_cast<signed char>(chunks);
        chunks += sizes[static_cast<std::size_t>(i)];
        start.memory.cell(cell_of(i, kHigh)) = static_cast<signed char>(chunks);
    }
    return failure_of(start, 2 * threads, Model(threads, chunks, fault, part));
}

TEST(Interleavings, EveryChunkOfStealableRangesIsRunOnce) {
    for (const auto &sizes :
         std::vector<std::vector<int>>{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {1, 1}, {2, 1}, {1, 0, 0}})
        EXPECT_EQ(ranges_failure(sizes, Fault::none), "") << sizes[0] << sizes[1] << sizes.size();
}

// A million and a half states: under a sanitizer, which finds nothing in a model, a minute.
TEST(Interleavings, EveryChunkOfStealableRangesIsRunOnceWithTwoThieves) {
#if SENNIT_ASAN || SENNIT_TSAN
    GTEST_SKIP();
#else
    EXPECT_EQ(ranges_failure({2, 0, 0}, Fault::none), "");
#endif
}

TEST(Interleavings, StealableRangesNeedEachOfTheirSteps) {
    EXPECT_NE(ranges_failure({2, 0}, Fault::heavy_fence), "");
    EXPECT_NE(ranges_failure({2, 0}, Fault::look_first), "");
    EXPECT_NE(ranges_failure({2, 0, 0}, Fault::thief_lock), "");
    EXPECT_NE(ranges_failure({2, 0}, Fault::give_back), "");
    EXPECT_NE(ranges_failure({1, 0}, Fault::slow_path), "");
}

// An owner that takes left() for the truth, while a thief is about to give back, steals elsewhere
// and puts that where its own chunks still are.
TEST(Interleavings, StealableRangesNeedAnOwnerWhoMakesSure) {
#if SENNIT_ASAN || SENNIT_TSAN
    GTEST_SKIP(); // as above
#else
    EXPECT_NE(ranges_failure({3, 0, 1}, Fault::hint), "");
#endif
}

TEST(Interleavings, EveryChunkOfStealableRangesIsRunOnceIfThievesTakeLess) {
    EXPECT_EQ(ranges_failure({4, 0}, Fault::none, {0, 1}), "");
    EXPECT_EQ(ranges_failure({4, 0}, Fault::none, {2, 100}), "");
    EXPECT_EQ(ranges_failure({3, 1}, Fault::none, {1, 1}), "");
}

TEST(Interleavings, EveryChunkOfStealableRangesIsRunOnceIfOwnersTakeMore) {
    EXPECT_EQ(ranges_failure({4, 0}, Fault::none, {0, 100, 2}), "");
    EXPECT_EQ(ranges_failure({4, 0}, Fault::none, {0, 100, 3}), "");
    EXPECT_EQ(ranges_failure({3, 1}, Fault::none, {0, 100, 2}), "");
    EXPECT_NE(ranges_failure({4, 0}, Fault::heavy_fence, {0, 100, 2}), "");
    EXPECT_NE(ranges_failure({3, 0}, Fault::slow_path, {0, 100, 2}), "");
}

} // namespace
} // namespace sennit::model

// The real thing: an owner of a few chunks at a time, and two thieves who run what they steal.
TEST(StealableRange, StressEveryChunkIsTakenOnce) {
    sennit::fence_setup();
    constexpr std::uint64_t kRounds = 500000;
    constexpr std::uint64_t kEach = 4;
    auto range = std::make_unique<sennit::omp::StealableRange>();
    std::vector<std::atomic<int>> taken(kRounds * kEach);
    std::atomic<bool> over{false};
    const auto steal = [&] {
        while (!over.load(std::memory_order_relaxed)) {
            std::uint64_t first = 0;
            std::uint64_t last = 0;
            if (range->left() > 0 && range->steal_half(&first, &last))
                for (; first < last; ++first)
                    taken[first].fetch_add(1, std::memory_order_relaxed);
        }
    };
    std::thread second(steal);
    std::thread third(steal);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        range->refill(round * kEach, (round + 1) * kEach);
        std::uint64_t chunk = 0;
        if (round % 2 == 0)
            while (range->take(&chunk))
                taken[chunk].fetch_add(1, std::memory_order_relaxed);
        else
            while (const std::uint64_t count = range->take_some(1 + round % 3, &chunk))
                for (std::uint64_t i = 0; i < count; ++i)
                    taken[chunk + i].fetch_add(1, std::memory_order_relaxed);
    }
    over.store(true, std::memory_order_relaxed);
    second.join();
    third.join();
    for (std::uint64_t i = 0; i < kRounds * kEach; ++i)
        ASSERT_EQ(taken[i].load(), 1) << "chunk " << i;
}
