// SPDX-License-Identifier: Apache-2.0
// Faults to inject into the MPI calls of tasks (SENNIT_CHAOS). So tests meet what a slow or failing
// network would do: completions that come late, in any order, or not at all. Off by default; then
// it costs the load of one flag.
//
// What happens to a call depends on the seed, the rank, and how many calls of its kind (name, peer,
// tag) went before. It does not depend on how threads interleave. A collective fails on all ranks
// or on none.
#pragma once

#include "mpi/call/array.h"
#include "mpi/call/operation.h"

#include <cstdint>

namespace sennit::mpi::chaos {

extern bool g_on;
inline bool on() {
    return __builtin_expect(g_on, 0);
}

// What SENNIT_CHAOS asks for; null or empty: nothing. When the library is loaded, and in tests.
void configure(const char *option);

// Do completions come late? Then nothing is complete at once.
bool delays();
// An error code, after the error handler was called; MPI_SUCCESS: the call may be made.
int fail(const Operation &operation);
inline int failure(const Operation &operation) {
    return on() ? fail(operation) : MPI_SUCCESS;
}
// With a status of fewer elements than were received, now and then.
void shorten(const Operation &operation, MPI_Status *status);

// A number below `limit`, for the order of tests.
int any_below(int limit);
bool shuffles();

// By the thread that tests tickets: when a message of `bytes` that came just now would be here, in
// monotonic_ns().
std::uint64_t arrival(std::uint64_t bytes);

template <class T>
void swap(Array<T> &array, int a, int b) {
    const T kept = array[a];
    array[a] = array[b];
    array[b] = kept;
}

} // namespace sennit::mpi::chaos
