// SPDX-License-Identifier: Apache-2.0
// The program's communicators, for reports of hangs of programs below MPI_THREAD_MULTIPLE.
//
// While such a program waits, no other thread may ask MPI who a communicator's ranks are. So the
// thread that makes one asks, at once, by calls that are local. Where any thread may ask, nothing
// is kept (wrap/describer.cpp).
//
// All ranks of a communicator name it alike: by the call that made it, and by how many with the
// same ranks were made before. The ranks have made all of these together, in one order. Another
// name may be the same communicator's, where a rank of the job has MPI_THREAD_MULTIPLE and asks
// MPI.
//
// State: a hash table under a mutex. The thread that calls MPI writes, the one that looks for hangs
// reads. An item goes when its communicator is freed, for handles come back. Capacity: any number;
// those of more than kMostRanks ranks, and those of spawned processes, stay unknown.
#pragma once

#include "base/chains.h"
#include "base/guard.h"
#include "mpi/call/call_path.h"
#include "sennit.h"

#include <mpi.h>

namespace sennit::mpi {

class Communicators {
  public:
    static constexpr int kMostRanks = 512;

    constexpr Communicators() = default;
    Communicators(const Communicators &) = delete;
    Communicators &operator=(const Communicators &) = delete;

    // The program's call has made it, and is over. MPI_COMM_NULL: this rank is in none.
    void made(const char *call, MPI_Comm made) {
        if (made != MPI_COMM_NULL && !inside_mpi() && !any_thread_may_call())
            keep(call, made, made);
    }
    // The same of one that is not to be used yet, and that has the ranks of `parent`. The ranks
    // have made these calls in one order, too. MPI_COMM_NULL: it is not known yet.
    void duplicated(const char *call, MPI_Comm parent, MPI_Comm made) {
        if (made != MPI_COMM_NULL && !inside_mpi() && !any_thread_may_call())
            keep(call, parent, made);
    }
    void forget(MPI_Comm comm);
    // What `wait` is on. Unchanged: it is not known.
    void describe(const sennit_wait &wait, sennit_wait_text &text);

  private:
    struct Known;
    struct Ranks;

    // `like`: one with the same ranks, which MPI may be asked about.
    void keep(const char *call, MPI_Comm like, MPI_Comm made);
    int next_number(std::uint64_t members) SENNIT_REQUIRES(mutex_);

    Mutex mutex_;
    Chains<Known, 8> table_ SENNIT_GUARDED_BY(mutex_);
    Chains<Ranks, 8> ranks_ SENNIT_GUARDED_BY(mutex_); // these stay
};

} // namespace sennit::mpi
