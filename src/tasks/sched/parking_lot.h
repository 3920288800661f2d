// SPDX-License-Identifier: Apache-2.0
// A parking lot: queues of waiters, hashed by the address that they wait at. So a lock needs no
// memory of its own for its waiters.
//
// Invariant: a waiter is in the lot from enter() until take() or remove() has given it back. Which
// of the two does is decided once, under its bucket's lock.
#pragma once

#include "base/compiler.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/spin.h"

#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class Worker;

class ParkingLot {
  public:
    // Lives in the waiter's frame.
    class Waiter {
      public:
        explicit Waiter(const void *address);
        const void *address() const { return address_; }

      private:
        friend class ParkingLot;
        const void *const address_;
        const Worker *const worker_;
        Waiter *next = nullptr; // in its bucket

        friend class List<Waiter>;
    };

    // Put `waiter` behind the others, if `has_to_wait()` says so under the bucket's lock.
    template <class HasToWait>
    bool enter(Waiter &waiter, HasToWait has_to_wait) {
        Bucket &bucket = bucket_of(waiter.address_);
        const Guard guard(bucket.lock);
        const bool waits = has_to_wait();
        if (waits)
            bucket.waiters.push(&waiter);
        return waits;
    }

    // Take out the oldest waiters for `address`, `most` at most, and call tell(waiter) for each
    // under the bucket's lock. Returns how many there were.
    template <class Tell>
    int take(const void *address, int most, Tell tell) {
        Bucket &bucket = bucket_of(address);
        int taken = 0;
        const Guard guard(bucket.lock);
        for (Waiter *waiter; taken < most && (waiter = bucket.take(address)); ++taken)
            tell(*waiter);
        return taken;
    }

    // Take `waiter` out; false: take() came first.
    bool remove(Waiter &waiter);

    // Around fork(): nobody is in the middle of parking, and in the child only fibers of the
    // calling thread still wait: so many.
    void before_fork();
    void after_fork();
    int after_fork_in_child();

  private:
    static constexpr unsigned kBucketBits = 8;

    // Waiters of all addresses that hash alike, oldest first.
    struct alignas(kCacheLine) Bucket {
        SpinLock lock;
        List<Waiter> waiters SENNIT_GUARDED_BY(lock);

        Waiter *take(const void *address) SENNIT_REQUIRES(lock);
        int keep_own() SENNIT_REQUIRES(lock);
    };

    Bucket &bucket_of(const void *address) { return buckets_[hash_place(address, kBucketBits)]; }

    Bucket buckets_[std::size_t{1} << kBucketBits];
};

} // namespace sennit::sched
