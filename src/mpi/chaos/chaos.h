// SPDX-License-Identifier: Apache-2.0
// Faults to inject into the MPI calls of tasks (SENNIT_CHAOS). So tests meet what a slow or failing
// network would do: completions that come late, in any order, or not at all. Off by default; then
// it costs the load of one flag.
//
// What happens to a call depends on the seed, the rank, and how many calls of its kind (name, peer,
// tag) went before. It does not depend on how threads interleave. A collective fails on all ranks
// or on none.
//
// State         what                                     touched by
//   on_, plan_  what SENNIT_CHAOS asks for               configure(), before any call of MPI
//   decisions_  how many of each kind there were         any thread
//   link_free_, random_                                  who tests tickets
//
// Capacity: kinds that share a counter only share their luck.
#pragma once

#include "mpi/call/operation.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sennit::mpi {

class Chaos {
  public:
    constexpr Chaos() = default;
    Chaos(const Chaos &) = delete;
    Chaos &operator=(const Chaos &) = delete;

    bool on() const { return __builtin_expect(on_, 0); }

    // What SENNIT_CHAOS asks for; null or empty: nothing. When the library is loaded, and in tests.
    void configure(const char *option);

    // Do completions come late? Then nothing is complete at once.
    bool delays() const { return plan_.latency_us > 0 || plan_.bandwidth > 0; }
    // An error code, after the error handler was called; MPI_SUCCESS: the call may be made.
    int failure(const Operation &operation) { return on() ? fail(operation) : MPI_SUCCESS; }
    // With a status of fewer elements than were received, now and then.
    void shorten(const Operation &operation, MPI_Status *status);

    // Do tests come in any order?
    bool shuffles() const { return plan_.order; }
    template <class T>
    void shuffle(Pending<T> &array) {
        shuffle(static_cast<int>(array.size()),
                [&](int a, int b) { std::swap(array[a], array[b]); });
    }
    // Of two arrays that belong together.
    template <class T, class U>
    void shuffle(Pending<T> &array, Pending<U> &other) {
        shuffle(static_cast<int>(array.size()), [&](int a, int b) {
            std::swap(array[a], array[b]);
            std::swap(other[a], other[b]);
        });
    }

    // By the thread that tests tickets: when a message of `bytes` that came just now would be here,
    // in monotonic_ns().
    std::uint64_t arrival(std::uint64_t bytes);

  private:
    struct Plan {
        bool seeded = false;
        std::uint64_t seed = 0;
        std::uint64_t latency_us = 0;
        std::uint64_t bandwidth = 0; // MB/s; 0: no limit
        std::uint64_t one_in_fails = 0;
        std::uint64_t one_in_short = 0;
        bool order = false;
    };
    static constexpr std::size_t kKinds = 4096;

    int fail(const Operation &operation);
    bool happens(const Operation &operation, std::uint64_t one_in, std::uint64_t what);
    int any_below(int limit);
    template <class Swap>
    void shuffle(int size, Swap swap) {
        for (int i = size - 1; i > 0; --i)
            swap(i, any_below(i + 1));
    }

    bool on_ = false;
    Plan plan_;
    std::uint64_t rank_ = 0;
    std::uint64_t link_free_ = 0; // when the last message that came by it was through
    std::uint64_t random_ = 0;
    std::atomic<std::uint64_t> decisions_[kKinds] = {};
};

#pragma GCC visibility push(hidden)
extern constinit Chaos g_chaos;
#pragma GCC visibility pop

} // namespace sennit::mpi
