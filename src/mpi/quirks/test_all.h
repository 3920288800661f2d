// SPDX-License-Identifier: Apache-2.0
// MPI_Testall for a wait in a task, which must do what MPI_Waitall does. MPICH 4.0's does not. With
// several partitioned requests or persistent collectives it says MPI_ERR_IN_STATUS although nothing
// has failed, and completes some without the others. What works is to wait for one after the other,
// in order.
#pragma once

#include "mpi/interpose/statuses.h"

#include <mpi.h>

namespace sennit::mpi {

class TestAll {
  public:
    // To be called again until *flag or an error; always with the same arguments.
    int operator()(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);

  private:
    int give_back(int error);

    [[maybe_unused]] int over_ = 0; // of the requests
    [[maybe_unused]] interpose::ErrorsInStatuses errors_;
    [[maybe_unused]] bool unraised_ = false; // a handler was not called
};

} // namespace sennit::mpi
