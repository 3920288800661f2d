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

} // namespace sennit::mpi
