// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/parking_lot.h"

#include "tasks/sched/worker.h"

namespace sennit::sched {

ParkingLot::Waiter::Waiter(const void *address) : address_(address), worker_(Worker::self()) {}

ParkingLot::Waiter *ParkingLot::Bucket::take(const void *address) {
    Waiter *before = nullptr;
    for (Waiter *at = first; at; before = at, at = at->next_) {
        if (at->address_ != address)
            continue;
        unlink(before, *at);
        return at;
    }
    return nullptr;
}

bool ParkingLot::remove(Waiter &waiter) {
    Bucket &bucket = bucket_of(waiter.address_);
    const Guard guard(bucket.lock);
    Waiter *before = nullptr;
    Waiter *at = bucket.first;
    while (at && at != &waiter) {
        before = at;
        at = at->next_;
    }
    if (at)
        bucket.unlink(before, *at);
    return at != nullptr;
}

int ParkingLot::Bucket::keep_own() {
    int kept = 0;
    Waiter *at = first;
    first = last = nullptr;
    for (Waiter *next; at; at = next) {
        next = at->next_;
        if (at->worker_ == Worker::self()) {
            append(*at);
            ++kept;
        }
    }
    return kept;
}

void ParkingLot::before_fork() SENNIT_ACROSS_FORK {
    for (Bucket &bucket : buckets_)
        bucket.lock.lock();
}

void ParkingLot::after_fork() SENNIT_ACROSS_FORK {
    for (Bucket &bucket : buckets_)
        bucket.lock.unlock();
}

int ParkingLot::after_fork_in_child() SENNIT_ACROSS_FORK {
    int kept = 0;
    for (Bucket &bucket : buckets_)
        kept += bucket.keep_own();
    after_fork();
    return kept;
}

} // namespace sennit::sched
