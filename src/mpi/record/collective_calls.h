// SPDX-License-Identifier: Apache-2.0
// The collective calls that the process has made on each communicator, for reports of hangs.
//
// All ranks of a communicator must make its collective calls in the same order (MPI 4.0, section
// 6.14). So the n-th call of one rank belongs to the n-th of every other. A rank with a lower count
// has not come to a call. A rank whose n-th call is another one has mixed them up. The calls in
// which the ranks are now do not tell either: the root of a broadcast goes on before the others.
//
// Every call that the program makes is counted, those that block and those that do not. What MPI
// libraries and this one call themselves is not counted.
//
// State: a hash table of communicators without a lock. A place belongs to a handle for good:
// handles come back, and their counts begin anew. The calls on a communicator are one after the
// other (the standard demands it), so its place has one writer at a time. Any thread may visit; it
// may get a call that has begun meanwhile.
//
// Capacity: kPlaces communicators, of each the last SENNIT_COLLECTIVES_KEPT calls. Those of one
// that finds no place are not counted.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/object.h"
#include "sennit.h"

#include <atomic>
#include <cstdint>

namespace sennit::mpi {

class CollectiveCalls {
  public:
    static constexpr unsigned kPlaceBits = 8;
    static constexpr unsigned kPlaces = 1u << kPlaceBits;

    constexpr CollectiveCalls() = default;
    CollectiveCalls(const CollectiveCalls &) = delete;
    CollectiveCalls &operator=(const CollectiveCalls &) = delete;

    // Begin the program's next collective call on the communicator; returns its number, from 1, or
    // -1 when nobody counts. `root`: -1 for calls without one.
    int count(Object comm, const char *name, int root);

    // The same where the call may be one of the MPI library's own.
    int count_unless_inside(Object comm, const char *name, int root) {
        return inside_mpi() ? -1 : count(comm, name, root);
    }

    // The communicator is about to go: its handle may come back, for another one.
    void forget(const MPI_Comm *comm);

    void visit(void (*visit)(void *arg, const sennit_collectives *made), void *arg) const;

  private:
    struct Place {
        std::atomic<std::uintptr_t> handle{0}; // 0: free
        std::atomic<int> calls{0};
        std::atomic<const char *> names[SENNIT_COLLECTIVES_KEPT] = {};
        std::atomic<int> roots[SENNIT_COLLECTIVES_KEPT] = {};
    };
    static constexpr unsigned kProbes = 16;

    Place *find(std::uintptr_t handle, bool make);

    Place places_[kPlaces];
};

} // namespace sennit::mpi
