// SPDX-License-Identifier: Apache-2.0
// How many long sends MPI gets at once, if the policy orders them.
//
// It gets few, so that an urgent send that comes later has few before it on the card. But it must
// not get so few that sends wait for each other: a receiver may want first what is sent last. Then
// the sends under way never leave.
//
// So when no send has left for a while, MPI gets more, four times as many. The first send that
// leaves then tells the reason:
// - It was one of those that were let go just now. So receivers do not want the sends in our order.
//   The larger number stays, until long after.
// - It was under way before. So the card is only slow, and patience was too short. The number goes
//   back to few, with more patience.
//
// A send is *wanted* if its receiver has told that it waits for it (urgency.h). A wanted send
// leaves as soon as the card is free. All sends under way may wait for receivers that do not want
// them yet, so a wanted send goes beside them. At most two wanted sends are under way, one on the
// card and one to follow, because wanted sends are to leave in the receivers' order. While there
// are any, patience is ten times as long: what a receiver told may have been about an earlier
// message, or the card is only slow.
//
// Thread-safety: any thread calls enter() and leave(). The thread that polls calls let_go().
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

    // A send comes. At least `fewest` sends may be under way. Returns 0 if it has to wait.
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

    // A send comes, and has to wait in any case. Notes `fewest` for let_go().
    void queue_all(int fewest) { fewest_.store(fewest, std::memory_order_relaxed); }

    // A send that waits may go now, or (0) has to wait longer.
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
        // The first one to leave since more were allowed tells the reason.
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
    static constexpr Place kWanted = Place{1} << 31; // a bit in the place of a wanted send

    void allow_more() {
        const int more = std::min(4 * limit(), kMostAllowed);
        allowed_.store(more, std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_relaxed);
        in_doubt_.store(true, std::memory_order_relaxed);
        calm_ = 0;
    }

    void notice_those_that_left(std::int64_t now) {
        if (begun_.exchange(false, std::memory_order_relaxed))
            moved_at_ = now; // no matter when it last was: since then there was nothing to move
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
    std::atomic<int> allowed_{0};       // how many may go, if that is more than the fewest
    std::atomic<int> under_way_{0};     // without wanted sends
    std::atomic<int> wanted_{0};        // wanted sends under way
    std::atomic<bool> begun_{false};    // a send has begun when none was under way
    std::atomic<Place> generation_{1};  // how often more were allowed
    std::atomic<bool> in_doubt_{false}; // it is not known yet whether that was right
    std::atomic<bool> slow_{false};     // it was wrong: the card is slow
    std::atomic<std::uint64_t> left_{0};
    // Used by the thread that polls:
    std::uint64_t seen_ = 0;
    std::uint64_t calm_ = 0; // sends that have left since more were allowed
    std::uint64_t calm_enough_ = 256;
    std::int64_t moved_at_ = 0;
    std::int64_t patience_ = kPatienceNs;
};

} // namespace sennit::mpi
