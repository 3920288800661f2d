// SPDX-License-Identifier: Apache-2.0
#include "sched/own_work.h"

#include "base/thread_clock.h"
#include "sched/worker.h"

namespace sennit::sched {

OwnWork::OwnWork(const Worker &worker) {
    const int here = worker.processor();
    for (const Worker &other : Worker::all()) {
        if (count_ == kMost)
            break;
        if (&other != &worker && !other.away() && other.processor() == here)
            threads_[count_++] = other.thread_id();
    }
    before_ = sum();
}

std::int64_t OwnWork::ns() const {
    return sum() - before_;
}

std::int64_t OwnWork::sum() const {
    std::int64_t sum = 0;
    for (int i = 0; i < count_; ++i)
        sum += work_ns_of(threads_[i]);
    return sum;
}

} // namespace sennit::sched
