// SPDX-License-Identifier: Apache-2.0
// What will happen, by time: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: Faster algorithms for
// the shortest path problem, 1990). Simulated time only goes forward, so an event need not be in
// order with all others: it goes to the bucket of the highest bit in which its time differs from
// now, and nearer as time comes nearer. Each event moves a few times, a few instructions each,
// where a heap compares at every level.
//
// Events of one time are in one bucket, and a bucket keeps the order of arrival: they leave in the
// order in which they came, so runs are reproducible.
#pragma once

#include "machine.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sennit::sim {

class EventQueue {
  public:
    struct Event {
        Time time;
        std::uint32_t what; // kind in the upper bits; see pack()
    };

    bool empty() const { return size_ == 0; }
    Time next_time() const {
        return next_ < buckets_[0].size() ? now_ : least_of(buckets_[first_bucket()]);
    }

    // Not before the time of the last event that was popped.
    void push(Time time, std::uint32_t what) {
        assert(time >= now_);
        ++size_;
        put({time, what});
    }

    // `soon(what)` is called for some of those that are about to come.
    template <class Soon>
    Event pop(Soon soon) {
        --size_;
        std::vector<Event> &here = buckets_[0];
        if (next_ == here.size()) {
            here.clear();
            next_ = 0;
            come_nearer(soon);
        }
        return here[next_++];
    }

    // Visit a few of those that may be the next.
    template <class Visitor>
    void each_near(Visitor visit) const {
        constexpr std::size_t kMost = 2;
        if (next_ < buckets_[0].size())
            return visit(buckets_[0][next_].what);
        if (size_ == 0)
            return;
        const std::vector<Event> &bucket = buckets_[first_bucket()];
        for (std::size_t i = 0; i < bucket.size() && i < kMost; ++i)
            visit(bucket[i].what);
    }

  private:
    static constexpr int kBuckets = 64;

    // 0: now; k: the times agree above bit k - 1.
    int bucket_of(Time time) const {
        return 64 - std::countl_zero(static_cast<std::uint64_t>(time ^ now_));
    }
    void put(const Event &event) {
        const int bucket = bucket_of(event.time);
        buckets_[bucket].push_back(event);
        occupied_ |= std::uint64_t{1} << bucket;
    }
    int first_bucket() const { return std::countr_zero(occupied_ & ~std::uint64_t{1}); }
    static Time least_of(const std::vector<Event> &bucket) {
        Time least = bucket[0].time;
        for (const Event &event : bucket)
            least = std::min(least, event.time);
        return least;
    }

    // Now becomes the time of the next event.
    template <class Soon>
    void come_nearer(Soon soon) {
        constexpr std::size_t kSoon = 8;
        const int first = first_bucket();
        std::vector<Event> &bucket = buckets_[first];
        occupied_ &= ~(std::uint64_t{1} << first);
        now_ = least_of(bucket);
        const bool few = bucket.size() <= kSoon;
        for (const Event &event : bucket) {
            put(event); // always nearer, so never into the same bucket
            if (few)
                soon(event.what);
        }
        bucket.clear();
    }

    std::vector<Event> buckets_[kBuckets];
    std::uint64_t occupied_ = 0; // buckets that may have some; of bucket 0 nothing is said
    std::size_t size_ = 0;
    std::size_t next_ = 0; // in bucket 0
    Time now_ = 0;
};

} // namespace sennit::sim
