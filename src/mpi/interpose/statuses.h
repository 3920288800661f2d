// SPDX-License-Identifier: Apache-2.0
// What a call like MPI_Waitall says of errors (MPI 4.0, 3.7.5), if the requests complete one after
// the other: MPI_ERROR is written only if one has failed, and then in all statuses.
#pragma once

#include <mpi.h>

namespace sennit::interpose {

class ErrorsInStatuses {
  public:
    // Request `at` is the next one that is over. Null: the statuses are ignored.
    void note(MPI_Status *statuses, int at, int error) {
        const bool first = error != MPI_SUCCESS && !failed_;
        failed_ = failed_ || first;
        if (!statuses || !failed_)
            return;
        for (int before = 0; first && before < at; ++before)
            statuses[before].MPI_ERROR = MPI_SUCCESS;
        statuses[at].MPI_ERROR = error;
    }
    int result() const { return failed_ ? MPI_ERR_IN_STATUS : MPI_SUCCESS; }

  private:
    bool failed_ = false;
};

} // namespace sennit::interpose
