// SPDX-License-Identifier: Apache-2.0
// What each rank gives, for all of the program's ranks or for those of the node: for TALP's calls
// (addons/dlb), which know no MPI.
//
// The communicators are made by the first of these calls, so MPI_Init waits for nobody, and a rank
// that counts no time can still take part.
#pragma once

#include <mpi.h>

namespace sennit::mpi {

class Gathering {
  public:
    // In MPI_Init and MPI_Finalize.
    void begin() { is_open_ = true; }
    void end();
    // See sennit_gather() in sennit.h.
    int gather(bool node, const void *mine, int bytes, void *all, int room);

  private:
    bool make();

    MPI_Comm job_{}; // valid while has_comms_
    MPI_Comm node_{};
    bool is_open_ = false;
    bool has_comms_ = false;
};

} // namespace sennit::mpi
