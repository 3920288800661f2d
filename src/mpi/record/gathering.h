// SPDX-License-Identifier: Apache-2.0
// What each rank gives, for all of the job or of the node: for TALP's calls (addons/dlb), which
// know no MPI. The communicators are there only if time is counted (SENNIT_TALP).
#pragma once

#include <mpi.h>

namespace sennit::mpi {

class Gathering {
  public:
    // In MPI_Init and MPI_Finalize; collective.
    void begin();
    void end();
    // See sennit_gather() in sennit.h.
    int gather(bool node, const void *mine, int bytes, void *all, int room) const;

  private:
    MPI_Comm job_{};
    MPI_Comm node_{};
    bool has_job_ = false;
    bool has_node_ = false;
};

} // namespace sennit::mpi
