// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/gathering.h"

#include "base/compiler.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/members.h"
#include "mpi/record/record.h"
#include "sennit.h"

namespace sennit::mpi {

void Gathering::begin() {
    static constexpr auto split = SENNIT_BARE(Comm_split_type);
    has_job_ = make_private_comm(&job_, "SENNIT_TALP");
    has_node_ = has_job_ && outside_task([&] {
                                return split(job_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
                            }) == MPI_SUCCESS;
}

void Gathering::end() {
    static constexpr auto free_comm = SENNIT_BARE(Comm_free);
    outside_task([&] {
        if (has_node_)
            free_comm(&node_);
        if (has_job_)
            free_comm(&job_);
        return MPI_SUCCESS;
    });
    has_job_ = has_node_ = false;
}

int Gathering::gather(bool node, const void *mine, int bytes, void *all, int room) const {
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    static constexpr auto gather_all = SENNIT_BARE(Iallgather);
    if (node ? !has_node_ : !has_job_)
        return 0;
    const MPI_Comm comm = node ? node_ : job_;
    int size = 0;
    if (outside_task([&] { return get_size(comm, &size); }) != MPI_SUCCESS)
        return 0;
    if (room / bytes < size)
        return size;
    const bool came = meet(
        [&](MPI_Request *request) {
            return gather_all(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm, request);
        },
        LateRanks());
    return came ? size : 0;
}

} // namespace sennit::mpi

extern "C" SENNIT_EXPORT int sennit_gather(int node, const void *mine, int bytes, void *all,
                                           int room) {
    return bytes > 0 ? sennit::mpi::g_record.timeline.gather(node != 0, mine, bytes, all, room) : 0;
}
