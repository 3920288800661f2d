// SPDX-License-Identifier: Apache-2.0
// Persistent requests. MPI_Start does not say what it starts, so we remember by its request which
// call made it. And who completes a request has to know whether it is gone then.
//
// State: a hash table of lists, under a mutex. Any thread. Capacity: any number; without memory a
// request starts unseen.
#pragma once

#include "mpi/call/operation.h"
#include "mpi/record/timeline.h"

#include <atomic>
#include <mpi.h>
#include <pthread.h>

namespace sennit::mpi {

// What its start is.
struct PersistentFacts {
    Notice notice = Notice::none;
    int peer = -1;
    // Empty where nobody wanted to know. Described when it was made: its communicator may be freed
    // before it starts.
    Described described = {};
    // Where ranks outnumber cores: the other rank's slot, or -1, and how long the message is.
    int slot = -1;
    std::int64_t bytes = 0;
};

class PersistentRequests {
  public:
    constexpr PersistentRequests() = default;
    PersistentRequests(const PersistentRequests &) = delete;
    PersistentRequests &operator=(const PersistentRequests &) = delete;

    void put(MPI_Request request, const PersistentFacts &facts);
    void forget(MPI_Request request);
    bool has(MPI_Request request) {
        return known_.load(std::memory_order_relaxed) != 0 && is_known(request);
    }
    // What is known of the request; false: nothing.
    bool find(MPI_Request request, PersistentFacts &facts);

  private:
    struct Known;
    static constexpr unsigned kBucketBits = 10;

    Known **place_of(MPI_Request request);
    bool is_known(MPI_Request request);

    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    Known *buckets_[1u << kBucketBits] = {};
    std::atomic<int> known_{0};
};

} // namespace sennit::mpi
