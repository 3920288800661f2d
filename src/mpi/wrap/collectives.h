// SPDX-License-Identifier: Apache-2.0
// SENNIT_COLLECTIVES: a decision of the whole job, taken in MPI_Init.
#pragma once

#include <atomic>

namespace sennit::mpi {

class Collectives {
  public:
    // MPI is initialized: what SENNIT_COLLECTIVES asks for.
    void choose();
    bool all_nonblocking() const { return all_nonblocking_.load(std::memory_order_relaxed); }

  private:
    std::atomic<bool> all_nonblocking_{false};
};

// How a collective call of the calling thread is made. MPI does not match a blocking collective
// with a non-blocking one, so all ranks have to decide alike: by where the call stands in the
// program, not by how far this rank's tasks have come, nor by whether it ever had any. In an
// explicit task and in a callback it is the non-blocking form, everywhere else the blocking one.
// With SENNIT_COLLECTIVES=nonblocking, which is every rank's, it is always the non-blocking one.
enum class CollectiveForm {
    blocking,    // by the calling thread
    delegated,   // blocking, by a helper thread: tasks of this rank need the calling one
    nonblocking, // the task is suspended, or a callback polls
    started,     // non-blocking, and the calling thread blocks in a wait for it
};
// So it is where ranks outnumber cores, on communicators within the job.
// `has_twin`: may the non-blocking form be used in its place? Alike on all ranks, too.
// `crowded`: crowds(comm), see crowd/rings.h.
CollectiveForm collective_form(bool has_twin, bool crowded);

} // namespace sennit::mpi
