// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/parking_lot.h"

#include "tasks/sched/worker.h"

namespace sennit::sched {

ParkingLot::Waiter::Waiter(const void *address) : address_(address), worker_(Worker::self()) {}

ParkingLot::Waiter *ParkingLot::Bucket::take(const void *address) {
    return waiters.take_if([=](const Waiter &waiter) { return waiter.address_ == address; });
}

bool ParkingLot::remove(Waiter &waiter) {
    Bucket &bucket = bucket_of(waiter.address_);
    const Guard guard(bucket.lock);
    return bucket.waiters.take_if([&](const Waiter &at) { return &at == &waiter; }) != nullptr;
}

int ParkingLot::Bucket::keep_own() {
    int kept = 0;
    Waiter *at = waiters.pop_all();
    for (Waiter *next; at; at = next) {
        next = at->next;
        if (at->worker_ == Worker::self()) {
            waiters.push(at);
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
