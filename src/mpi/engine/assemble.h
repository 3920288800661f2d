// SPDX-License-Identifier: Apache-2.0
// Make a collective call without messages (crowd/assembled.h). As in every call, the task is
// suspended and other threads poll.
#pragma once

#include "mpi/call/operation.h"
#include "mpi/crowd/assembled.h"

#include <cstdint>

namespace sennit::mpi {

int assemble(Assembled &assembled, Operation operation, const Reduction &reduction);

// A call that makes a communicator from `parent`, which all ranks of `parent` make. It begins when
// the object is made. When MPI has made the communicator, the ranks agree how calls on it are made
// (crowd/children.h).
class Adoption {
  public:
    Adoption(const char *name, MPI_Comm parent);
    Adoption(const Adoption &) = delete;
    Adoption &operator=(const Adoption &) = delete;

    // MPI_COMM_NULL: this rank is in no new communicator.
    void end(MPI_Comm made);

  private:
    void make(const Reduction &call, std::uint32_t number);

    const char *name_;
    MPI_Comm parent_;
    Assembled *assembled_ = nullptr; // of the parent; null: there is nothing to agree on
    std::uint32_t number_ = 0;
};

} // namespace sennit::mpi
