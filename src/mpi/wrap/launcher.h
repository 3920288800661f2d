// SPDX-License-Identifier: Apache-2.0
// What `sennit run` hears of MPI_Init: a rank that ends without having called it leaves the others
// waiting in theirs for ever, and nobody but the launcher sees both (tools/sennit/job/rank_ends.h).
#pragma once

namespace sennit::mpi {

// While it lives, the rank is in MPI_Init.
class InInitialization {
  public:
    InInitialization();
    ~InInitialization();
    InInitialization(const InInitialization &) = delete;
    InInitialization &operator=(const InInitialization &) = delete;

  private:
    int link_;
};

// The rank has initialized MPI in a way for which no other rank waits.
void tell_launcher_of_session();

} // namespace sennit::mpi
