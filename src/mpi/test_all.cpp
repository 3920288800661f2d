// SPDX-License-Identifier: Apache-2.0
#include "mpi/test_all.h"

#include "mpi/batch.h"

#include <vector>

namespace sennit::mpi {

int test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    static constexpr auto testall = SENNIT_BARE(Testall);
#if defined MPICH_NUMVERSION || defined MPI_ABI
    // One after the other as MPI_Waitall does, without completing any.
    static constexpr auto get_status = SENNIT_BARE(Request_get_status);
    for (int i = 0; i < count; ++i) {
        MPI_Status status;
        const int error = get_status(requests[i], flag, &status);
        if (error != MPI_SUCCESS)
            break; // the other call says it as it should be said
        if (!*flag)
            return MPI_SUCCESS;
    }
    std::vector<MPI_Status> own;
    if (count > 1 && is_ignored(statuses)) {
        own.resize(static_cast<std::size_t>(count));
        statuses = own.data();
    }
    const int error = testall(count, requests, flag, statuses);
    if (error != MPI_ERR_IN_STATUS)
        return error;
    for (int i = 0; i < count; ++i)
        if (statuses[i].MPI_ERROR != MPI_SUCCESS)
            return error;
    return MPI_SUCCESS;
#else
    return testall(count, requests, flag, statuses);
#endif
}

} // namespace sennit::mpi
