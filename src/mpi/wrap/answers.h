// SPDX-License-Identifier: Apache-2.0
// Answers to the runtime's questions (describer.h) beside MPI_Finalize. The runtime asks on a
// thread of its own, which MPI_Finalize has to wait for. Each of the two threads writes its word
// before it reads the other's: one of them sees that the other was first.
#pragma once

#include <atomic>

namespace sennit::mpi {

class Answers {
  public:
    // An answer is being given, on the runtime's thread. May MPI be asked for it?
    bool begin();
    void end() { asking_.fetch_sub(1, std::memory_order_release); }
    // From now on they are given without MPI, which is about to be finalized.
    void close();

  private:
    std::atomic<int> asking_{0};
};

} // namespace sennit::mpi
