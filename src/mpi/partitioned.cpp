// SPDX-License-Identifier: Apache-2.0
#include "mpi/partitioned.h"

#include "mpi/batch.h"

#include <vector>

namespace sennit::mpi {

namespace {

constexpr auto kTestall = SENNIT_BARE(Testall);

#if MPI_VERSION >= 4
std::atomic<bool> g_partitioned{false}; // is there any such request in the program?

int test_together(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    static constexpr auto get_status = SENNIT_BARE(Request_get_status); // completes nothing
    for (int i = 0; i < count; ++i) {
        MPI_Status status;
        const int error = get_status(requests[i], flag, &status);
        if (error != MPI_SUCCESS || !*flag)
            return error;
    }
    std::vector<MPI_Status> own;
    if (is_ignored(statuses)) {
        own.resize(static_cast<std::size_t>(count));
        statuses = own.data();
    }
    const int error = kTestall(count, requests, flag, statuses);
    if (error != MPI_ERR_IN_STATUS)
        return error;
    for (int i = 0; i < count; ++i)
        if (statuses[i].MPI_ERROR != MPI_SUCCESS)
            return error;
    return MPI_SUCCESS;
}
#endif

} // namespace

int test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
#if MPI_VERSION >= 4
    if (g_partitioned.load(std::memory_order_relaxed) && count > 1)
        return test_together(count, requests, flag, statuses);
#endif
    return kTestall(count, requests, flag, statuses);
}

} // namespace sennit::mpi

#if MPI_VERSION >= 4

using namespace sennit::mpi;

// Local calls, which are only noted.
SENNIT_DEFINE(Psend_init, const void *buffer, int partitions, MPI_Count count, MPI_Datatype type,
              int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    static constexpr auto bare = SENNIT_BARE(Psend_init);
    g_partitioned.store(true, std::memory_order_relaxed);
    return bare(buffer, partitions, count, type, dest, tag, comm, info, request);
}

SENNIT_DEFINE(Precv_init, void *buffer, int partitions, MPI_Count count, MPI_Datatype type,
              int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    static constexpr auto bare = SENNIT_BARE(Precv_init);
    g_partitioned.store(true, std::memory_order_relaxed);
    return bare(buffer, partitions, count, type, source, tag, comm, info, request);
}

#endif
