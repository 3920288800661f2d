// SPDX-License-Identifier: Apache-2.0
// How many long sends MPI gets at once, where the policy orders them.
//
// Few: then an urgent one that comes later has few before it on the card. But not so few that they
// wait for each other: a receiver may want first what was sent last, and then those under way never
// leave.
//
// So when none has left for a while, more are let go, four times as many. The first send that
// leaves then tells the reason:
// - It was let go just now. Receivers do not want the sends in our order. So it stays at so many,
//   until long after.
// - It is from before. The card is only slow, and patience was too short. Back to few, with more
//   patience.
//
// A send is *wanted* when its receiver has told that it waits for it (urgency.h). A wanted send
// leaves as soon as the card is free. Those under way may all wait for receivers that do not want
// them yet. So a wanted one goes beside them. At most two do, one on the card and one to follow:
// among themselves they are to leave in the receivers' order. While there are some, patience is ten
// times as long: what was told may have been of an earlier message, or the card is only slow.
//
// Thread-safety: enter() and leave() by any thread; let_go() by the one that polls.
#pragma once

#include "base/assert.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sennit::mpi {

class Flow {
  public:
    // The place of a send that is under way; 0: none.
    using Place = std::uint32_t;

    // A send comes, of which at least `fewest` may be under way. 0: it has to wait.
    Place enter(int fewest) {
        fewest_.store(fewest, std::memory_order_relaxed);
        const int others = under_way_.fetch_add(1, std::memory_order_relaxed);
        if (others == 0)
            begun_.store(true, std::memory_order_relaxed);
        if (others < limit())
            return generation_.load(std::memory_order_relaxed);
        under_way_.fetch_sub(1, std::memory_order_relaxed);
        return 0;
    }

    // None may go before those that wait: `fewest` for let_go().
    void queue_all(int fewest) { fewest_.store(fewest, std::memory_order_relaxed); }

    // One that waits may go now, or must wait on.
    Place let_go(std::int64_t now, bool wanted = false) {
        notice_those_that_left(now);
        std::atomic<int> &beside = wanted ? wanted_ : under_way_;
        const int most =
            wanted ? std::max(kMostWanted, allowed_.load(std::memory_order_relaxed)) : limit();
        if (beside.load(std::memory_order_relaxed) >= most) {
            const bool any_wanted = wanted_.load(std::memory_order_relaxed) > 0;
            if (now - moved_at_ < (any_wanted ? 10 : 1) * patience_)
                return 0;
            allow_more();
        }
        moved_at_ = now;
        beside.fetch_add(1, std::memory_order_relaxed);
        return generation_.load(std::memory_order_relaxed) | (wanted ? kWanted : 0);
    }

    void leave(Place place) {
        [[maybe_unused]] const int before =
            (place & kWanted ? wanted_ : under_way_).fetch_sub(1, std::memory_order_relaxed);
        SENNIT_ASSERT(before > 0);
        left_.fetch_add(1, std::memory_order_relaxed);
        // The first to leave since more were allowed is the one that tells why.
        if (in_doubt_.load(std::memory_order_relaxed) &&
            in_doubt_.exchange(false, std::memory_order_relaxed) &&
            (place & ~kWanted) < generation_.load(std::memory_order_relaxed)) {
            allowed_.store(0, std::memory_order_relaxed);
            slow_.store(true, std::memory_order_relaxed);
        }
    }

    int limit() const {
        return std::max(fewest_.load(std::memory_order_relaxed),
                        allowed_.load(std::memory_order_relaxed));
    }

  private:
    static constexpr std::int64_t kPatienceNs = 5'000'000;
    static constexpr std::int64_t kMostPatienceNs = 1'000'000'000;
    static constexpr int kMostAllowed = 1 << 20;
    static constexpr int kMostWanted = 2;
    static constexpr Place kWanted = Place{1} << 31; // a bit of the places of those

    void allow_more() {
        const int more = std::min(4 * limit(), kMostAllowed);
        allowed_.store(more, std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_relaxed);
        in_doubt_.store(true, std::memory_order_relaxed);
        calm_ = 0;
    }

    void notice_those_that_left(std::int64_t now) {
        if (begun_.exchange(false, std::memory_order_relaxed))
            moved_at_ = now; // whenever it last was: there was nothing to move since
        const std::uint64_t left = left_.load(std::memory_order_relaxed);
        if (left == seen_)
            return;
        calm_ += left - seen_;
        seen_ = left;
        moved_at_ = now;
        if (slow_.exchange(false, std::memory_order_relaxed)) {
            patience_ = std::min(2 * patience_, kMostPatienceNs);
        } else if (calm_ > calm_enough_ && allowed_.load(std::memory_order_relaxed) > 0) {
            allowed_.store(limit() / 4, std::memory_order_relaxed);
            calm_ = 0;
            calm_enough_ *= 2; // it may have been right
        }
    }

    std::atomic<int> fewest_{0};
    std::atomic<int> allowed_{0};   // where more than the fewest
    std::atomic<int> under_way_{0}; // without those that are wanted
    std::atomic<int> wanted_{0};
    std::atomic<bool> begun_{false};    // after a time with none under way
    std::atomic<Place> generation_{1};  // how often more were allowed
    std::atomic<bool> in_doubt_{false}; // whether that was right
    std::atomic<bool> slow_{false};     // it was not
    std::atomic<std::uint64_t> left_{0};
    // Who polls:
    std::uint64_t seen_ = 0;
    std::uint64_t calm_ = 0; // sends that have left since more were allowed
    std::uint64_t calm_enough_ = 256;
    std::int64_t moved_at_ = 0;
    std::int64_t patience_ = kPatienceNs;
};

} // namespace sennit::mpi
