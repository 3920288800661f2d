// SPDX-License-Identifier: Apache-2.0
// How many bytes the tasks of an account send, and receive, for each of the other processes and
// each tag (sennit_traffic_watch() in sennit.h).
//
// State: a hash table of lists: the accounts that somebody watches, each with a hash table of what
// it has sent and received. Under a mutex; any thread. Capacity: any number of accounts, of each
// kMostRows pairs of process and tag. What finds no place or no memory is not counted.
#pragma once

#include "base/chains.h"
#include "base/guard.h"
#include "sennit.h"

#include <atomic>
#include <cstdint>

namespace sennit::mpi {

// A message, as its sender or its receiver knows it.
struct CountedMessage {
    int direction; // enum sennit_notice; 0: none that is counted
    int peer;      // its rank in MPI_COMM_WORLD, or SENNIT_TRACE_ANY
    int tag;       // or SENNIT_TRACE_ANY
    std::uint64_t bytes;
};

class Traffic {
  public:
    constexpr Traffic() = default;
    Traffic(const Traffic &) = delete;
    Traffic &operator=(const Traffic &) = delete;

    bool any() const { return watched_.load(std::memory_order_relaxed) != 0; }

    int watch(std::uint32_t account, bool on);
    // The calling task's message. Ignored if nobody watches its account.
    void note(const CountedMessage &mail);
    // Visits what was counted for the account; counting begins anew. The visitor must not call MPI.
    int take(std::uint32_t account, void (*visit)(void *arg, const sennit_traffic *row), void *arg);

  private:
    struct Rows;

    Mutex mutex_;
    Chains<Rows, 10> table_ SENNIT_GUARDED_BY(mutex_); // by account
    std::atomic<int> watched_{0};
};

} // namespace sennit::mpi
